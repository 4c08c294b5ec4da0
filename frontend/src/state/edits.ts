// What a gesture does to a graph, as ops. Pure: each function looks at a graph and gives the ops, in normal form order;
// `Editor.edit` applies them. A gesture that would change nothing gives no ops.
import type { Edge, EdgeKey, Graph, GraphNode, Group, Id, Maybe, NodeValue, Op, Value } from "../igb/graph";
import { mint } from "../igb/id";
import { compose, type FieldOp, fieldOp, keyOf, place, sameMaybe } from "../igb/ops";
import { byteLength, MAX_LABEL, MAX_POSITION } from "../igb/shapes";
import { slots } from "../igb/template";
import type { Catalogue, CatalogueEntry } from "./catalogue";
import { paramOf } from "./ports";

type Point = readonly [x: number, y: number];

export interface Added {
  readonly ids: readonly Id[]; // of the new nodes
  readonly ops: readonly Op[];
}

/** Nodes cut loose from a graph, to be pasted into it or into another. */
export interface Clip {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly Edge[]; // between these nodes
  readonly positions: ReadonlyMap<Id, Point>;
  readonly labels: ReadonlyMap<Id, string>;
}

/** A new node; `params` holds what is authored, everything else stays the component's default. */
export function addNode(entry: CatalogueEntry, position: Point, params: ReadonlyMap<string, Value> = new Map()): Added {
  const id = mint();
  const value: NodeValue = [entry.name, entry.version, params, new Map()];
  return {
    ids: [id],
    ops: [
      ["node+", [id], value],
      ["move", [id], [], [onGrid(position)]],
    ],
  };
}

/** Delete nodes with their edges, positions, labels and places in groups. */
export function removeNodes(graph: Graph, ids: Iterable<Id>): Op[] {
  const gone = new Set([...ids].filter((id) => graph.nodes.has(id)));
  const ops: Op[] = graph.edges.filter((edge) => gone.has(edge.source) || gone.has(edge.target)).map(without);
  for (const id of gone) {
    const { component, version, params, flags } = graph.nodes.get(id) as GraphNode;
    ops.push(["node-", [id], [component, version, params, flags]]);
    const position = graph.positions.get(id);
    if (position) ops.push(["move", [id], [position], []]);
    const label = graph.labels.get(id);
    if (label !== undefined) ops.push(["label", [id], [label], []]);
  }
  for (const [id, group] of graph.groups) {
    const left: Group = [group[0], group[1].filter((member) => !gone.has(member))];
    if (left[1].length < group[1].length) ops.push(["group", [id], [group], left[1].length > 0 ? [left] : []]);
  }
  return compose(ops);
}

/** Make an edge; the one that stands at that place of the input gives way to it. */
export function connect(graph: Graph, edge: Edge): Op[] {
  const { target, input, slot } = edge;
  const there = graph.edges.find((old) => old.target === target && old.input === input && old.slot === slot);
  return compose([...(there ? [without(there)] : []), ["edge+", keyOf(edge)]]);
}

export function disconnect(graph: Graph, edges: Iterable<Edge>): Op[] {
  const gone = new Set([...edges].map((edge) => place(without(edge))));
  return graph.edges.map(without).filter((op) => gone.has(place(op)));
}

/** Write a param as authored, or take it away (`undefined`: the component's default holds). Edges into slots that a template loses go along. */
export function setParam(graph: Graph, catalogue: Catalogue, id: Id, param: string, value: Value | undefined): Op[] {
  const node = graph.nodes.get(id);
  if (!node) return [];
  const old = maybe(node.params.get(param));
  const next = maybe(typeof value === "string" ? wellFormed(value) : value);
  const entry = catalogue.get(node.component);
  const lost = entry?.template === param ? lostSlots(graph, entry, node, next) : [];
  return compose([...lost, ...written(["set", [id, param], old, next])]);
}

function lostSlots(graph: Graph, entry: CatalogueEntry, node: GraphNode, next: Maybe): Op[] {
  const template = entry.template as string;
  const before = paramOf(entry, node, template);
  const after = next.length > 0 ? next[0] : entry.schema.properties?.[template]?.default;
  if (typeof before !== "string" || typeof after !== "string") return [];
  const kept = new Set([...slots(after), ...entry.inputs.map((port) => port.name)]);
  const gone = new Set(slots(before).filter((name) => !kept.has(name)));
  return graph.edges.filter((edge) => edge.target === node.id && gone.has(edge.input)).map(without);
}

/** `disabled`, `steps`, `kv` (KiB) or `seconds`; `undefined` takes the flag away. */
export function setFlag(graph: Graph, id: Id, flag: string, value: true | number | undefined): Op[] {
  const node = graph.nodes.get(id);
  return node ? written(["flag", [id, flag], maybe(node.flags.get(flag)), maybe(value)]) : [];
}

export function moveNodes(graph: Graph, positions: ReadonlyMap<Id, Point>): Op[] {
  const ops: Op[] = [];
  for (const [id, position] of positions) {
    if (graph.nodes.has(id)) ops.push(...written(["move", [id], maybe(graph.positions.get(id)), [onGrid(position)]]));
  }
  return compose(ops);
}

/** Give a node a name of its own; an empty one takes it away. The id stays. */
export function rename(graph: Graph, id: Id, label: string): Op[] {
  if (!graph.nodes.has(id)) return [];
  const short = cut(wellFormed(label).trim());
  return written(["label", [id], maybe(graph.labels.get(id)), short ? [short] : []]);
}

export function copy(graph: Graph, ids: Iterable<Id>): Clip {
  const chosen = new Set([...ids].filter((id) => graph.nodes.has(id)));
  return {
    nodes: [...chosen].map((id) => graph.nodes.get(id) as GraphNode),
    edges: graph.edges.filter((edge) => chosen.has(edge.source) && chosen.has(edge.target)),
    positions: new Map([...graph.positions].filter(([id]) => chosen.has(id))),
    labels: new Map([...graph.labels].filter(([id]) => chosen.has(id))),
  };
}

/** The clip as new nodes with fresh ids, moved by an offset. */
export function paste(clip: Clip, [dx, dy]: Point): Added {
  const fresh = new Map(clip.nodes.map((node) => [node.id, mint()]));
  const ops: Op[] = [];
  for (const { id, component, version, params, flags } of clip.nodes) {
    const made = fresh.get(id) as Id;
    ops.push(["node+", [made], [component, version, params, flags]]);
    const position = clip.positions.get(id);
    if (position) ops.push(["move", [made], [], [onGrid([position[0] + dx, position[1] + dy])]]);
    const label = clip.labels.get(id);
    if (label !== undefined) ops.push(["label", [made], [], [label]]);
  }
  for (const { source, output, target, input, slot } of clip.edges) {
    const key: EdgeKey = [fresh.get(source) as Id, output, fresh.get(target) as Id, input, slot];
    ops.push(["edge+", key]);
  }
  return { ids: [...fresh.values()], ops: compose(ops) };
}

export function duplicate(graph: Graph, ids: Iterable<Id>, offset: Point): Added {
  return paste(copy(graph, ids), offset);
}

function without(edge: Edge): Op {
  return ["edge-", keyOf(edge)];
}

function written(op: FieldOp): Op[] {
  return sameMaybe(op[2], op[3]) ? [] : [fieldOp(op, op[2], op[3])];
}

function maybe(value: Value | undefined): Maybe {
  return value === undefined ? [] : [value];
}

function onGrid([x, y]: Point): Point {
  return [within(x), within(y)];
}

function within(n: number): number {
  return Math.max(-MAX_POSITION, Math.min(MAX_POSITION, Math.round(n))) + 0; // no -0
}

/** Half a character has no bytes: it becomes the replacement character, as everywhere on the web. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

function cut(label: string): string {
  let length = 0;
  let short = "";
  for (const character of label) {
    length += byteLength(character);
    if (length > MAX_LABEL) break;
    short += character;
  }
  return short;
}
