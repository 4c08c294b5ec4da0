// Undo and redo as inverse ops, one entry per gesture. Pure. A key that someone else has written since drops out of an entry:
// undo never takes back another's work.
import { isOfConflicts, mergedSection } from "../igb/conflicts";
import type { Maybe, Op } from "../igb/graph";
import { compose, type FieldOp, fieldOp, invertOps, isEdgeOp, isNodeOp, nodesOf, place, sameMaybe } from "../igb/ops";

export interface Entry {
  readonly label: string;
  readonly ops: readonly Op[]; // what takes the gesture back (or, on the redo side, does it again)
  readonly lost: readonly string[]; // authors of what dropped out
}

export interface History {
  readonly undo: readonly Entry[];
  readonly redo: readonly Entry[];
  readonly gesture: string | null; // of the newest entry, while it is still open
}

export const NOTHING: History = { undo: [], redo: [], gesture: null };
const MOST = 1000;

/** Record ops that applied. Edits of one gesture that follow each other join one entry. */
export function record(history: History, label: string, gesture: string | null, applied: readonly Op[]): History {
  const last = history.undo.at(-1);
  const joins = last !== undefined && gesture !== null && gesture === history.gesture;
  const before = joins ? history.undo.slice(0, -1) : history.undo;
  const ops = compose([...invertOps(applied), ...(joins ? last.ops : [])]);
  const undo =
    ops.length === 0 ? before : [...before, { label: joins ? last.label : label, ops, lost: joins ? last.lost : [] }];
  // A gesture that came back to where it began leaves no entry to join.
  return { undo: undo.slice(-MOST), redo: [], gesture: ops.length === 0 ? null : gesture };
}

export function settle(history: History): History {
  return history.gesture === null ? history : { ...history, gesture: null };
}

/** The history without its newest undo entry; `applied` is what the entry did to the graph and becomes the redo entry. */
export function undone(history: History, applied: readonly Op[]): History {
  const entry = history.undo.at(-1);
  if (!entry) return history;
  return { undo: history.undo.slice(0, -1), redo: grown(history.redo, entry.label, applied), gesture: null };
}

export function redone(history: History, applied: readonly Op[]): History {
  const entry = history.redo.at(-1);
  if (!entry) return history;
  return { undo: grown(history.undo, entry.label, applied), redo: history.redo.slice(0, -1), gesture: null };
}

function grown(entries: readonly Entry[], label: string, applied: readonly Op[]): readonly Entry[] {
  return applied.length === 0 ? entries : [...entries, { label, ops: compose(invertOps(applied)), lost: [] }];
}

/** The history after ops of someone else. */
export function overtaken(history: History, ops: readonly Op[], author: string): History {
  if (ops.length === 0) return history;
  const all = [...ops, ...rewritten(history, ops)];
  const after = (entry: Entry): Entry => dropWritten(bringBack(entry, ops, author), all, author);
  return { ...history, undo: history.undo.map(after), redo: history.redo.map(after) };
}

/** Fields that others wrote by bringing a node back with another value than this client left there: its newest entries know that one. */
function rewritten({ undo, redo }: History, ops: readonly Op[]): readonly Op[] {
  const back = new Map(ops.flatMap((op) => (op[0] === "node+" ? [[op[1][0], op[2]] as const] : [])));
  if (back.size === 0) return [];
  const known = new Map<string, Op>();
  for (const op of [...undo, ...redo].flatMap((entry) => entry.ops)) {
    if (op[0] === "set" || op[0] === "flag") known.set(place(op), op);
  }
  return [...known.values()].filter((op) => {
    const value = back.get(op[1][0] as string);
    if (!value || (op[0] !== "set" && op[0] !== "flag")) return false;
    const there = value[op[0] === "set" ? 2 : 3].get(op[1][1]);
    return !sameMaybe(op[2], there === undefined ? [] : [there]);
  });
}

/** An entry that brings a deleted node back brings it back with what others did to it before the delete reached them, and names them. */
function bringBack(entry: Entry, ops: readonly Op[], author: string): Entry {
  const made = new Set(entry.ops.filter((op) => op[0] === "node+").map((op) => op[1][0] as string));
  for (const op of ops) if (op[0] === "node+") made.delete(op[1][0]); // another brought it back already
  const along = ops.filter((op) => nodesOf(op).some((id) => made.has(id)));
  return along.length === 0 ? entry : lose({ ...entry, ops: compose([...entry.ops, ...along]) }, author);
}

/** An entry without the keys that others wrote, without the delete of a node that they work with, and without the open conflicts they settled. */
function dropWritten(entry: Entry, ops: readonly Op[], author: string): Entry {
  const made = new Set(entry.ops.filter((op) => op[0] === "node+").map((op) => op[1][0] as string));
  const others = ops.filter((op) => op[0] === "node+" || !nodesOf(op).some((id) => made.has(id)));
  const written = new Set(others.map(place));
  const used = new Set(others.filter(isSemantic).flatMap(nodesOf));
  const deleted = entry.ops.filter((op) => op[0] === "node-" && used.has(op[1][0])).map((op) => op[1][0] as string);
  const stay = new Set(deleted);
  const section = others.find(isOfConflicts);
  const kept = entry.ops.flatMap((op) => {
    if (section && isOfConflicts(op)) return withoutTheirs(op, section);
    return written.has(place(op)) || nodesOf(op).some((id) => stay.has(id)) ? [] : [op];
  });
  const shorter = { ...entry, ops: kept };
  return kept.length === entry.ops.length ? shorter : lose(shorter, author);
}

/** An op on the open conflicts as it is after another's: entries that both take out or put in are the other's. */
function withoutTheirs(op: FieldOp, theirs: FieldOp): Op[] {
  const [old, next] = [op[2], op[3]].map((side) => mergedSection(side, theirs[2], theirs[3])) as [Maybe, Maybe];
  return sameMaybe(old, next) ? [] : [fieldOp(op, old, next)];
}

function lose(entry: Entry, author: string): Entry {
  return entry.lost.includes(author) ? entry : { ...entry, lost: [...entry.lost, author] };
}

function isSemantic(op: Op): boolean {
  return isEdgeOp(op) || isNodeOp(op) || op[0] === "set" || op[0] === "flag" || op[0] === "retype";
}
