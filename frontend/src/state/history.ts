// Undo and redo as inverse ops, one entry per gesture. Pure. A key that someone else has written since drops out of an entry:
// undo never takes back another's work.
import type { Op } from "../igb/graph";
import { compose, invertOps, isEdgeOp, isNodeOp, nodesOf, place } from "../igb/ops";

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
  const written = new Set(ops.map(place));
  const nodes = new Set(ops.filter(isSemantic).flatMap(nodesOf));
  const drop = (entry: Entry): Entry => {
    const gone = new Set(
      entry.ops.filter((op) => op[0] === "node-" && nodes.has(op[1][0])).map((op) => op[1][0] as string),
    );
    const kept = entry.ops.filter((op) => {
      if (written.has(place(op))) return false;
      // Someone works with a node that undo would delete: the node stays, and what belongs to it.
      return gone.size === 0 || !nodesOf(op).some((id) => gone.has(id));
    });
    return kept.length === entry.ops.length
      ? entry
      : { ...entry, ops: kept, lost: [...new Set([...entry.lost, author])] };
  };
  return { ...history, undo: history.undo.map(drop), redo: history.redo.map(drop) };
}

function isSemantic(op: Op): boolean {
  return isEdgeOp(op) || isNodeOp(op) || op[0] === "set" || op[0] === "flag" || op[0] === "retype";
}
