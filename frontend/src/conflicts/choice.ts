// From a conflict and a choice to the ops that settle it (docs/formats.md §3 and §6). Pure: looks at a graph, gives a plan.
// What is chosen and the entry that goes are one edit, so undo brings both back. A plan that does not fit says why.
import { encode, Unencodable } from "../igb/cbor";
import { CONFLICTS } from "../igb/conflicts";
import { nodeValue } from "../igb/draft";
import type { Edge, Graph, Group, Id, Maybe, NodeValue, Op, Value } from "../igb/graph";
import { checkSecretsOf, compose, differences, type FieldOp, fieldOp, readOp, sameMaybe } from "../igb/ops";
import { applyOps } from "../igb/patch";
import { downstream } from "../igb/paths";
import { Invalid, type InvalidCode, isArray, MAX_POSITION, sameValue } from "../igb/shapes";
import type { Catalogue } from "../state/catalogue";
import { connect, disconnect, removeNodes, setParam } from "../state/edits";
import { MAX_PUSH } from "../state/replica";
import { type Conflict, isBare, type Key, nodeOf } from "./conflict";
import type { Entry } from "./section";

/** `now`: what stands in the graph stays, whether it is what ours wrote or was edited since. */
export type Choice = "now" | "ours" | "theirs";

export type Reason =
  | "gone" // a node, or all members of a group, are not there (any more)
  | "cycle"
  | "empty" // the file had no room for the values
  | "form" // an entry of unknown form has no theirs
  | "secret"
  | "size" // more than one push, or one file, holds
  | "settled" // someone else was first
  | "unfit";

export type Plan =
  | { readonly ops: readonly Op[]; readonly why: null }
  | { readonly ops: null; readonly why: Reason; readonly node: Id | null };

const BELOW = 320; // a node that comes back stands so far under the top of the lowest one, which is more than any card is high
const WHY: Partial<Record<InvalidCode, Reason>> = { cycle: "cycle", dangling: "gone", secret: "secret" };

const plan = (ops: readonly Op[]): Plan => ({ ops, why: null });
const refusal = (why: Reason, node: Id | null = null): Plan => ({ ops: null, why, node });

/** The ops that settle an entry by a choice, to be applied as one edit; or why that cannot be. */
export function settle(graph: Graph, catalogue: Catalogue, entry: Entry, choice: Choice): Plan {
  const removal = without(graph, entry);
  if (!removal) return refusal("settled");
  const brought = choice === "now" ? plan([]) : taken(graph, catalogue, entry, choice);
  if (brought.ops === null) return brought;
  return looked(graph, compose([...brought.ops, removal]));
}

/** What takes an entry out of the section; null when it is not in there. */
function without(graph: Graph, { at, value }: Entry): Op | null {
  const section = graph.extra.get(CONFLICTS);
  if (!isArray(section)) return null;
  const here = section[at];
  const found = here !== undefined && sameValue(here, value) ? at : section.findIndex((one) => sameValue(one, value));
  if (found < 0) return null;
  const rest = section.filter((_, index) => index !== found);
  return ["extra", [CONFLICTS], [section], rest.length > 0 ? [rest] : []];
}

/** Values of a file become ops of ours: each is looked at as one from a socket, and all of them against the graph. */
function looked(graph: Graph, ops: readonly Op[]): Plan {
  try {
    for (const op of ops) {
      checkSecretsOf(readOp(op as unknown as Value, ""), "");
      if (encode(op as unknown as Value).length > MAX_PUSH) return refusal("size");
    }
    applyOps(graph, ops);
  } catch (error) {
    if (error instanceof Unencodable) return refusal("size"); // an op holds the section twice
    if (error instanceof Invalid) return refusal(WHY[error.code] ?? "unfit");
    throw error;
  }
  return plan(ops);
}

/** The ops that bring a side into the graph, in normal form. */
function taken(graph: Graph, catalogue: Catalogue, { conflict }: Entry, choice: "ours" | "theirs"): Plan {
  if (!conflict) return refusal("form");
  if (isBare(conflict)) return refusal("empty");
  const { key, [choice]: side } = conflict;
  switch (key[0]) {
    case "node":
      return plan(takeNode(graph, key[1], side));
    case "edge":
      return takeEdge(graph, key[1], key[2], key[3], side);
    case "group":
      return takeGroup(graph, key[1], side);
    case "set":
      if (!graph.nodes.has(key[1])) return refusal("gone", key[1]);
      return plan(setParam(graph, catalogue, key[1], key[2], side[0]));
    default: {
      const node = nodeOf(key);
      if (node !== null && !graph.nodes.has(node)) return refusal("gone", node);
      const [kind, ...place] = key;
      return plan(changed([kind, place, standing(graph, conflict), []] as unknown as FieldOp, side));
    }
  }
}

function takeNode(graph: Graph, id: Id, side: Maybe): Op[] {
  if (side.length === 0) return removeNodes(graph, [id]);
  const value = side[0] as unknown as NodeValue;
  const node = graph.nodes.get(id);
  if (node) return compose(differences(id, nodeValue(node), value));
  return [
    ["node+", [id], value],
    ["move", [id], [], [below(graph)]],
  ];
}

/** Under everything that is there, so that it covers nothing. */
function below(graph: Graph): readonly [number, number] {
  let [left, low] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const [x, y] of graph.positions.values()) [left, low] = [Math.min(left, x), Math.max(low, y)];
  return Number.isFinite(left) ? [left, Math.min(low + BELOW, MAX_POSITION)] : [0, 0];
}

function takeEdge(graph: Graph, target: Id, input: string, slot: number, side: Maybe): Plan {
  const there = edgeInto(graph, target, input, slot);
  if (side.length === 0) return plan(there ? disconnect(graph, [there]) : []);
  const [source, output] = side[0] as readonly [Id, string];
  for (const end of [source, target]) if (!graph.nodes.has(end)) return refusal("gone", end);
  const edge: Edge = { source, output, target, input, slot };
  if (there && there.source === source && there.output === output) return plan([]);
  const others = graph.edges.filter((one) => one !== there);
  if (downstream(others, target).has(source)) return refusal("cycle", source);
  return plan(connect(graph, edge));
}

function edgeInto(graph: Graph, target: Id, input: string, slot: number): Edge | undefined {
  return graph.edges.find((edge) => edge.target === target && edge.input === input && edge.slot === slot);
}

/** Of a group that both have a side is a name, else the whole group with those of its members that are there. */
function takeGroup(graph: Graph, id: Id, side: Maybe): Plan {
  const there = graph.groups.get(id);
  const op: FieldOp = ["group", [id], there ? [there] : [], []];
  const value = side[0];
  if (value === undefined) return plan(changed(op, []));
  if (typeof value === "string") return there ? plan(changed(op, [[value, there[1]]])) : refusal("gone");
  const [label, members] = value as unknown as Group;
  const left = members.filter((member) => graph.nodes.has(member));
  return left.length > 0 ? plan(changed(op, [[label, left]])) : refusal("gone");
}

/** The op with what it writes; none where that stands there. */
function changed(op: FieldOp, next: Maybe): Op[] {
  return sameMaybe(op[2], next) ? [] : [fieldOp(op, op[2], next)];
}

/** What stands in the graph now where a conflict is, in the form of its sides. */
export function standing(graph: Graph, { key, ours, theirs }: Conflict): Maybe {
  const node = key[0] === "graph" || key[0] === "extra" ? undefined : graph.nodes.get(key[1]);
  switch (key[0]) {
    case "node":
      return node ? [nodeValue(node)] : [];
    case "retype":
      return node ? [[node.component, node.version]] : [];
    case "set":
      return maybe(node?.params.get(key[2]));
    case "flag":
      return maybe(node?.flags.get(key[2]));
    case "label":
      return maybe(graph.labels.get(key[1]));
    case "note":
      return maybe(graph.notes.get(key[1]));
    case "group": {
      const group = graph.groups.get(key[1]);
      return maybe(group && typeof (ours[0] ?? theirs[0]) === "string" ? group[0] : group);
    }
    case "edge": {
      const there = edgeInto(graph, key[1], key[2], key[3]);
      return there ? [[there.source, there.output]] : [];
    }
    case "graph":
      return key.length === 1 ? [] : maybe(graph.settings.get(key[1]));
    case "extra":
      return maybe(graph.extra.get(key[1]));
  }
}

function maybe(value: Value | undefined): Maybe {
  return value === undefined ? [] : [value];
}

/** Whether what stands there is no longer what ours wrote. A note may lie elsewhere meanwhile. */
export function isEdited(graph: Graph, conflict: Conflict): boolean {
  if (isBare(conflict)) return false;
  const now = standing(graph, conflict);
  const { key, ours } = conflict;
  return key[0] === "note" ? !sameMaybe(textOf(now), textOf(ours)) : !sameMaybe(now, ours);
}

const textOf = (note: Maybe): Maybe => (isArray(note[0]) ? [note[0][4] as Value] : []);

/** Where the inspector edits what a conflict is about: a node that is there, and the field in it. */
export function placeToEdit(graph: Graph, key: Key): { node: Id; field: string | null } | null {
  const node = nodeOf(key);
  if (node === null || !graph.nodes.has(node) || key[0] === "node" || key[0] === "retype") return null;
  if (key[0] === "set" || key[0] === "edge") return { node, field: key[2] };
  if (key[0] === "flag") return { node, field: key[2] === "disabled" ? null : `budget.${key[2]}` };
  return { node, field: null };
}
