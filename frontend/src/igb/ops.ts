// Ops as values (docs/formats.md §3): their forms, keys, normal form, inverse and composition. Nothing here touches a graph.
import { compareBytes, encode } from "./cbor";
import type { Edge, EdgeKey, Id, Maybe, NodeValue, Op, Value } from "./graph";
import {
  asArray,
  asComponent,
  asExtra,
  asFlag,
  asGroup,
  asId,
  asInt,
  asLabel,
  asName,
  asNote,
  asPosition,
  asSlot,
  asText,
  asTextMap,
  asVersion,
  checkSecrets,
  Invalid,
  sameValue,
} from "./shapes";

export type Kind = Op[0];
export type FieldOp = Exclude<
  Op,
  readonly ["edge-" | "edge+", EdgeKey] | readonly ["node-" | "node+", readonly [Id], NodeValue]
>;
export type EdgeOp = Extract<Op, readonly ["edge-" | "edge+", EdgeKey]>;
export type NodeOp = Extract<Op, readonly ["node-" | "node+", readonly [Id], NodeValue]>;

/** The phases of the normal form, in order. */
const PHASES: readonly Kind[] = [
  "edge-",
  "node-",
  "node+",
  "retype",
  "set",
  "flag",
  "graph",
  "edge+",
  "move",
  "label",
  "note",
  "group",
  "extra",
];
const PHASE: ReadonlyMap<string, number> = new Map(PHASES.map((kind, i) => [kind, i]));

export const ABSENT: Maybe = [];

export function isEdgeOp(op: Op): op is EdgeOp {
  return op[0] === "edge-" || op[0] === "edge+";
}

export function isNodeOp(op: Op): op is NodeOp {
  return op[0] === "node-" || op[0] === "node+";
}

export function isFieldOp(op: Op): op is FieldOp {
  return !isEdgeOp(op) && !isNodeOp(op);
}

export function sameMaybe(a: Maybe, b: Maybe): boolean {
  return a.length === b.length && (a.length === 0 || sameValue(a[0], b[0] as Value));
}

export function edgeOf([source, output, target, input, slot]: EdgeKey): Edge {
  return { source, output, target, input, slot };
}

export function keyOf({ source, output, target, input, slot }: Edge): EdgeKey {
  return [source, output, target, input, slot];
}

/** What the op writes, as one text: `edge-` and `edge+` of one edge share it, so do `node-` and `node+`. No name holds U+0000. */
export function place(op: Op): string {
  const family = isEdgeOp(op) ? "edge" : isNodeOp(op) ? "node" : op[0];
  return `${family}\0${op[1].join("\0")}`;
}

/** The nodes an op speaks of; an edge speaks of both its ends. */
export function nodesOf(op: Op): readonly Id[] {
  if (isEdgeOp(op)) return [op[1][0], op[1][2]];
  return op[0] === "graph" || op[0] === "note" || op[0] === "group" || op[0] === "extra" ? [] : [op[1][0] as Id];
}

/** Make a field op whose kind is only known at run time. */
export function fieldOp(like: FieldOp, old: Maybe, next: Maybe): FieldOp {
  return [like[0], like[1], old, next] as FieldOp;
}

/** An untrusted value as an op; its secrets are looked at apart (`checkSecretsOf`). Throws Invalid with this path. */
export function readOp(value: Value, path: string): Op {
  const kind = asArray(value, path)[0];
  if (kind === "edge-" || kind === "edge+") return [kind, readEdgeKey(asArray(value, path, 2)[1], path)];
  if (kind === "node-" || kind === "node+") {
    const [, key, node] = asArray(value, path, 3);
    return [kind, [asId(asArray(key, path, 1)[0], path)], readNodeValue(node, path)];
  }
  if (typeof kind !== "string" || !PHASE.has(kind)) throw new Invalid("section", path);
  const [, key, old, next] = asArray(value, path, 4);
  const op = [kind, readKey(kind as FieldOp[0], key, path), old, next] as unknown as FieldOp;
  checkMaybe(op, old, path);
  checkMaybe(op, next, path);
  if (sameMaybe(op[2], op[3])) throw new Invalid("section", path);
  return op;
}

function readEdgeKey(value: Value | undefined, path: string): EdgeKey {
  const [source, output, target, input, slot] = asArray(value, path, 5);
  return [asId(source, path), asName(output, path), asId(target, path), asName(input, path), asSlot(slot, path)];
}

export function readNodeValue(value: Value | undefined, path: string): NodeValue {
  const [component, version, params, flags] = asArray(value, path, 4);
  const named = asTextMap(params, path);
  for (const name of named.keys()) asName(name, path);
  const set = asTextMap(flags, path);
  for (const [flag, setting] of set) asFlag(flag, setting, path);
  return [asComponent(component, path), asVersion(version, path), named, set];
}

function readKey(kind: FieldOp[0], value: Value | undefined, path: string): FieldOp[1] {
  const key = asArray(value, path, kind === "set" || kind === "flag" ? 2 : 1);
  if (kind === "graph") return [asText(key[0], path)];
  if (kind === "extra") return [asInt(key[0], 68, Number.MAX_SAFE_INTEGER, path)];
  const id = asId(key[0], path);
  if (kind === "set") return [id, asName(key[1], path)];
  if (kind === "flag") return [id, asText(key[1], path)];
  return [id];
}

const FORM: Readonly<Record<FieldOp[0], (value: Value, path: string, key: readonly Value[]) => unknown>> = {
  retype: (value, path) => {
    const [component, version] = asArray(value, path, 2);
    asComponent(component, path);
    asVersion(version, path);
  },
  set: () => {},
  graph: () => {},
  flag: (value, path, key) => asFlag(key[1] as string, value, path),
  move: asPosition,
  label: asLabel,
  note: asNote,
  group: asGroup,
  extra: (value, path, key) => asExtra(key[0] as number, value, path),
};

/** Throws Invalid unless the value may stand at this key. */
export function checkForm(kind: FieldOp[0], key: readonly Value[], value: Value, path: string): void {
  FORM[kind](value, path, key);
}

function checkMaybe(op: FieldOp, maybe: Value | undefined, path: string): void {
  const items = asArray(maybe, path);
  if (items.length > 1 || (items.length === 0 && op[0] === "retype")) throw new Invalid("section", path);
  if (items.length > 0) checkForm(op[0], op[1], items[0] as Value, path);
}

/** No value that an op brings or takes away is a raw secret. */
export function checkSecretsOf(op: Op, path: string): void {
  if (isNodeOp(op)) for (const value of op[2][2].values()) checkSecrets(value, path);
  else if (op[0] === "set" || op[0] === "graph")
    for (const value of [...op[2], ...op[3]]) checkSecrets(value as Value, path);
}

/** Ops in normal form order; the ops themselves stay. */
export function sortOps(ops: readonly Op[]): Op[] {
  const keyed = ops.map((op) => ({ op, phase: PHASE.get(op[0]) as number, key: encode(op[1]) }));
  return keyed.sort((a, b) => a.phase - b.phase || compareBytes(a.key, b.key)).map(({ op }) => op);
}

/** Throws Invalid at the first op that breaks the normal form: order in one round, ops that exclude each other in the next. */
export function checkNormal(ops: readonly Op[]): void {
  const keys = ops.map((op) => encode(op[1]));
  for (let i = 1; i < ops.length; i++) {
    const phases = phaseOf(ops[i - 1] as Op) - phaseOf(ops[i] as Op);
    if ((phases || compareBytes(keys[i - 1] as Uint8Array, keys[i] as Uint8Array)) >= 0)
      throw new Invalid("order", `ops[${i}]`);
  }
  const whole = new Set<string>();
  for (const [i, op] of ops.entries()) {
    const there = isEdgeOp(op) ? place(op) : `node\0${op[1][0]}`;
    const excluded = isEdgeOp(op) || isNodeOp(op) || op[0] === "set" || op[0] === "flag" || op[0] === "retype";
    if (excluded && whole.has(there)) throw new Invalid("duplicate", `ops[${i}]`);
    if (isEdgeOp(op) || isNodeOp(op)) whole.add(there);
  }
}

function phaseOf(op: Op): number {
  return PHASE.get(op[0]) as number;
}

/** The ops that take back `ops`, to be applied in their order. */
export function invertOps(ops: readonly Op[]): Op[] {
  return ops.map(invertOp).reverse();
}

function invertOp(op: Op): Op {
  if (isEdgeOp(op)) return [op[0] === "edge-" ? "edge+" : "edge-", op[1]];
  if (isNodeOp(op)) return [op[0] === "node-" ? "node+" : "node-", op[1], op[2]];
  return fieldOp(op, op[3], op[2]);
}

/** The net effect of ops that apply one after the other, in normal form order. */
export function compose(ops: readonly Op[]): Op[] {
  const net = new Map<string, Op>();
  for (const op of ops) {
    if (isEdgeOp(op)) cancel(net, op);
    else if (isNodeOp(op)) composeNode(net, op);
    else composeField(net, op);
  }
  return sortOps([...net.values()]);
}

/** The opposite of an op that stands already takes both away. */
function cancel(net: Map<string, Op>, op: Op): void {
  if (!net.delete(place(op))) net.set(place(op), op);
}

function composeField(net: Map<string, Op>, op: FieldOp): void {
  const whole = op[0] === "set" || op[0] === "flag" || op[0] === "retype" ? net.get(`node\0${op[1][0]}`) : undefined;
  if (whole && whole[0] === "node+") {
    net.set(place(whole), ["node+", whole[1], withField(whole[2], op, op[3])]);
    return;
  }
  const first = net.get(place(op)) as FieldOp | undefined;
  const old = first ? first[2] : op[2];
  if (sameMaybe(old, op[3])) net.delete(place(op));
  else net.set(place(op), fieldOp(op, old, op[3]));
}

function composeNode(net: Map<string, Op>, op: NodeOp): void {
  const [kind, [id], value] = op;
  const before = net.get(place(op));
  if (kind === "node+" && before && isNodeOp(before)) {
    net.delete(place(op)); // removed and added again: what differs stays
    for (const field of differences(id, before[2], value)) net.set(place(field), field);
    return;
  }
  if (kind === "node-" && before) {
    net.delete(place(op)); // added and removed again
    return;
  }
  let original = value;
  for (const field of kind === "node-" ? [...net.values()] : []) {
    if ((field[0] !== "set" && field[0] !== "flag" && field[0] !== "retype") || field[1][0] !== id) continue;
    original = withField(original, field, field[2]); // what was set before the delete is deleted as it was
    net.delete(place(field));
  }
  net.set(place(op), [kind, [id], original]);
}

/** A node's semantic value with one field written. */
function withField(value: NodeValue, op: FieldOp, written: Maybe): NodeValue {
  const [component, version, params, flags] = value;
  if (op[0] === "retype") {
    const [name, number] = written[0] as readonly [string, number];
    return [name, number, params, flags];
  }
  const key = op[1][1] as string;
  return op[0] === "set"
    ? [component, version, withEntry(params, key, written), flags]
    : [component, version, params, withEntry(flags, key, written)];
}

export function withEntry<K, V extends Value>(map: ReadonlyMap<K, V>, key: K, written: Maybe): Map<K, V> {
  const copy = new Map(map);
  if (written.length === 0) copy.delete(key);
  else copy.set(key, written[0] as V);
  return copy;
}

/** The field ops that turn one value of a node into another. */
export function differences(id: Id, a: NodeValue, b: NodeValue): FieldOp[] {
  const ops: FieldOp[] = [];
  if (a[0] !== b[0] || a[1] !== b[1]) ops.push(["retype", [id], [[a[0], a[1]]], [[b[0], b[1]]]]);
  for (const [name, old, next] of changes(a[2], b[2])) ops.push(["set", [id, name], old, next]);
  for (const [name, old, next] of changes(a[3], b[3])) ops.push(["flag", [id, name], old, next]);
  return ops;
}

export function* changes<K>(
  a: ReadonlyMap<K, Value>,
  b: ReadonlyMap<K, Value>,
): Generator<readonly [key: K, old: Maybe, next: Maybe]> {
  for (const [key, old] of a) {
    const next = b.get(key);
    if (next === undefined) yield [key, [old], ABSENT];
    else if (!sameValue(old, next)) yield [key, [old], [next]];
  }
  for (const [key, next] of b) if (!a.has(key)) yield [key, ABSENT, [next]];
}
