// Patches (docs/formats.md §3): the file, strict apply (all ops or none), invert, and the lenient rebase of pending ops.
import { checkBudget } from "./budget";
import { encode, sameBytes } from "./cbor";
import { isOfConflicts, mergedSection } from "./conflicts";
import { Draft, nodeValue } from "./draft";
import type { Graph, Maybe, Op, Value } from "./graph";
import { body, checkFormat, checkKeys, hashes, withMagic } from "./igb";
import {
  checkNormal,
  checkSecretsOf,
  edgeOf,
  type FieldOp,
  fieldOp,
  invertOps,
  isEdgeOp,
  isFieldOp,
  isNodeOp,
  keyOf,
  type NodeOp,
  readOp,
  sameMaybe,
  sortOps,
} from "./ops";
import { asArray, Invalid, type InvalidCode } from "./shapes";

const MAGIC = Uint8Array.of(0x89, 0x49, 0x47, 0x50, 0x0d, 0x0a, 0x1a, 0x0a);
const KNOWN = new Set([0, 1, 2, 3]);

export interface Hashes {
  readonly sem: Uint8Array;
  readonly file: Uint8Array;
}

export interface Patch {
  readonly base: Hashes;
  readonly target: Hashes;
  readonly ops: readonly Op[]; // in normal form
}

/** An op that no longer fits. */
export interface Dropped {
  readonly op: Op;
  readonly code: InvalidCode;
}

export interface Rebased {
  readonly graph: Graph;
  readonly ops: readonly Op[]; // what applied, each `old` as it was met
  readonly overtaken: readonly FieldOp[]; // those of the given ops that wrote over another value than they knew
  readonly dropped: readonly Dropped[];
}

/** The patch in `bytes`. Throws Malformed or Invalid. */
export function readPatch(bytes: Uint8Array): Patch {
  const sections = body(bytes, MAGIC);
  checkFormat(sections);
  checkKeys(sections, KNOWN, [0, 1, 2, 3], Number.POSITIVE_INFINITY);
  const base = readHashes(sections.get(1), "base");
  const target = readHashes(sections.get(2), "target");
  const ops = asArray(sections.get(3), "ops").map((op, i) => readOp(op, `ops[${i}]`));
  checkNormal(ops);
  for (const [i, op] of ops.entries()) checkSecretsOf(op, `ops[${i}]`);
  return { base, target, ops };
}

function readHashes(value: Value | undefined, path: string): Hashes {
  const [sem, file] = asArray(value, path, 2);
  return { sem: asHash(sem, path), file: asHash(file, path) };
}

function asHash(value: Value | undefined, path: string): Uint8Array {
  if (!(value instanceof Uint8Array) || value.length !== 32) throw new Invalid("section", path);
  return value;
}

export function writePatch({ base, target, ops }: Patch): Uint8Array {
  const sections = new Map<number, Value>([
    [0, [1, 0]],
    [1, [base.sem, base.file]],
    [2, [target.sem, target.file]],
    [3, sortOps(ops)],
  ]);
  return withMagic(MAGIC, encode(sections));
}

export function invert({ base, target, ops }: Patch): Patch {
  return { base: target, target: base, ops: sortOps(invertOps(ops)) };
}

/** The graph after a stored patch, its base and target hashes checked. Throws Invalid. */
export async function apply(patch: Patch, graph: Graph): Promise<Graph> {
  if (!sameHashes(await hashes(graph), patch.base)) throw new Invalid("base", "base");
  const result = applyOps(graph, patch.ops);
  if (!sameHashes(await hashes(result), patch.target)) throw new Invalid("target", "target");
  return result;
}

function sameHashes(a: Hashes, b: Hashes): boolean {
  return sameBytes(a.sem, b.sem) && sameBytes(a.file, b.file);
}

/** The graph after all ops, one after the other; none of them when one does not fit. Throws Invalid. */
export function applyOps(graph: Graph, ops: readonly Op[]): Graph {
  const draft = new Draft(graph);
  for (const [i, op] of ops.entries()) draft.apply(op, `ops[${i}]`);
  const result = draft.finish();
  checkBudget(graph, ops, result);
  return result;
}

/**
 * The graph after the ops that still fit. A field op whose `old` was overtaken applies as last writer, deleting a node
 * takes later edges along, and a structural op that no longer fits is dropped and reported.
 */
export function rebase(graph: Graph, ops: readonly Op[]): Rebased {
  const draft = new Draft(graph);
  const applied: Op[] = [];
  const overtaken: FieldOp[] = [];
  const dropped: Dropped[] = [];
  for (const op of ops) {
    const fitted = fitOp(draft, op);
    if (typeof fitted === "string") {
      dropped.push({ op, code: fitted });
      continue;
    }
    for (const each of fitted) draft.apply(each, "");
    applied.push(...fitted);
    const [first] = fitted;
    if (isFieldOp(op) && isOvertaken(op, first)) overtaken.push(op);
  }
  try {
    const result = draft.finish();
    checkBudget(graph, applied, result);
    return { graph: result, ops: applied, overtaken, dropped };
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    return { graph, ops: [], overtaken: [], dropped: ops.map((op) => ({ op, code: error.code })) }; // too much for one graph
  }
}

/** Whether an op met another value than it knew; on the open conflicts, whether another had done it all already. */
function isOvertaken(op: FieldOp, applied: Op | undefined): boolean {
  if (isOfConflicts(op)) return !applied;
  return applied !== undefined && isFieldOp(applied) && !sameMaybe(applied[2], op[2]);
}

/** The ops that do what `op` meant to the draft as it is, or why there are none. */
function fitOp(draft: Draft, op: Op): readonly Op[] | InvalidCode {
  if (isNodeOp(op)) return fitNode(draft, op);
  if (!isEdgeOp(op)) return fitField(draft, op);
  const [kind, key] = op;
  if (kind === "edge-") return draft.hasEdge(key) ? [op] : "stale";
  const { source, target } = edgeOf(key);
  if (!draft.node(source) || !draft.node(target)) return "dangling";
  if (draft.edgeInto(key)) return "duplicate";
  return draft.reaches(target, source) ? "cycle" : [op];
}

function fitNode(draft: Draft, [kind, [id], value]: NodeOp): readonly Op[] | InvalidCode {
  const node = draft.node(id);
  if (kind === "node+") return node ? "duplicate" : [[kind, [id], value]];
  if (!node) return "dangling";
  const fields: FieldOp[] = [];
  for (const field of [
    ["move", [id], [], []],
    ["label", [id], [], []],
  ] as const) {
    const old = draft.current(field);
    if (old.length > 0) fields.push(fieldOp(field, old, []));
  }
  for (const [group, [label, members]] of draft.groupsWith(id)) {
    const rest = members.filter((member) => member !== id);
    fields.push(["group", [group], [[label, members]], rest.length > 0 ? [[label, rest]] : []]);
  }
  const edges = draft.edgesAt(id).map((edge): Op => ["edge-", keyOf(edge)]);
  return [...edges, ["node-", [id], nodeValue(node)], ...fields];
}

function fitField(draft: Draft, op: FieldOp): readonly Op[] | InvalidCode {
  const [kind, key] = op;
  const onNode = kind === "set" || kind === "flag" || kind === "retype" || kind === "move" || kind === "label";
  // Taking a position or a label away from a node that is gone has happened already.
  if (onNode && !draft.node(key[0]))
    return op[3].length === 0 && (kind === "move" || kind === "label") ? [] : "dangling";
  const old = draft.current(op);
  if (kind === "retype" && !sameMaybe(old, op[2])) return "stale";
  const given = isOfConflicts(op) ? mergedSection(old, op[2], op[3]) : op[3];
  const next = kind === "group" ? present(draft, given) : given;
  if (next === null) return "dangling";
  return sameMaybe(old, next) ? [] : [fieldOp(op, old, next)];
}

/** A group without the members that are gone; null when that leaves none. */
function present(draft: Draft, group: Maybe): Maybe | null {
  if (group.length === 0) return group;
  const [label, members] = group[0] as readonly [string, readonly string[]];
  const left = members.filter((id) => draft.node(id));
  return left.length > 0 ? [[label, left]] : null;
}
