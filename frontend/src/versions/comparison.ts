// Two graphs side by side: what is drawn (the newer side, with what it lost), its marks, and every change by node. Pure.
import { type Card, createCards } from "../canvas/cards";
import { edgeId } from "../canvas/connecting";
import type { MarkKind, Marks, NodeMark } from "../canvas/marks";
import { diff } from "../igb/diff";
import type { Graph, Id, Maybe, Op } from "../igb/graph";
import { edgeOf, isEdgeOp, isNodeOp } from "../igb/ops";
import type { Catalogue } from "../state/catalogue";

export interface FieldChange {
  readonly kind: "set" | "flag" | "retype" | "label" | "move";
  readonly name: string; // of the setting or the flag
  readonly old: Maybe;
  readonly next: Maybe;
  readonly op: Op; // it comes from
}

export interface Counts {
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  readonly moved: number;
  readonly wires: number;
  readonly other: number; // settings of the graph, notes, groups
}

export interface Comparison {
  readonly old: Graph;
  readonly next: Graph;
  readonly ops: readonly Op[];
  readonly drawn: Graph;
  readonly marks: Marks;
  readonly fields: ReadonlyMap<Id, readonly FieldChange[]>;
  readonly counts: Counts;
}

export function compare(old: Graph, next: Graph, catalogue: Catalogue): Comparison {
  const ops = diff(old, next);
  const drawn = withLost(old, next, ops);
  const nodes = marksOf(ops);
  const wires = new Map<string, "added" | "removed">();
  for (const op of ops) if (isEdgeOp(op)) wires.set(edgeId(edgeOf(op[1])), op[0] === "edge+" ? "added" : "removed");
  const cards = createCards()(drawn, catalogue);
  const marks: Marks = { nodes, wires, ghosts: ghostsOf(old, next, nodes, cards) };
  return { old, next, ops, drawn, marks, fields: fieldsOf(ops), counts: countsOf(ops) };
}

/** The newer graph with the nodes and wires that it lost. It is drawn and nothing else: it may be no valid graph. */
function withLost(old: Graph, next: Graph, ops: readonly Op[]): Graph {
  const nodes = new Map(next.nodes);
  const positions = new Map(next.positions);
  const labels = new Map(next.labels);
  const edges = [...next.edges];
  for (const op of ops) {
    if (op[0] === "edge-") edges.push(edgeOf(op[1]));
    if (op[0] !== "node-") continue;
    const [id] = op[1];
    const node = old.nodes.get(id);
    if (node) nodes.set(id, node);
    const place = old.positions.get(id);
    if (place) positions.set(id, place);
    const label = old.labels.get(id);
    if (label !== undefined) labels.set(id, label);
  }
  return { ...next, nodes, positions, labels, edges };
}

function marksOf(ops: readonly Op[]): Map<Id, NodeMark> {
  const kinds = new Map<Id, NodeMark>();
  for (const op of ops) if (isNodeOp(op)) kinds.set(op[1][0], whole(op[0] === "node+" ? "added" : "removed"));
  for (const op of ops) {
    const id = nodeOf(op);
    if (id === null) continue;
    const { kind, fields, moved } = kinds.get(id) ?? { kind: "moved", fields: 0, moved: false };
    if (kind === "added" || kind === "removed") continue;
    const isMove = op[0] === "move";
    const count = fields + (isMove ? 0 : 1);
    kinds.set(id, { kind: count > 0 ? "changed" : "moved", fields: count, moved: moved || isMove });
  }
  return kinds;
}

const whole = (kind: MarkKind): NodeMark => ({ kind, fields: 0, moved: false });

/** The node of which an op changes a field. */
function nodeOf(op: Op): Id | null {
  const ofNode = op[0] === "set" || op[0] === "flag" || op[0] === "retype" || op[0] === "label" || op[0] === "move";
  return ofNode ? op[1][0] : null;
}

function fieldsOf(ops: readonly Op[]): Map<Id, FieldChange[]> {
  const fields = new Map<Id, FieldChange[]>();
  for (const op of ops) {
    const [kind, key, old, next] = op;
    if (kind === "set" || kind === "flag") put(fields, key[0], { kind, name: key[1], old, next, op });
    else if (kind === "retype" || kind === "label" || kind === "move")
      put(fields, key[0], { kind, name: kind, old, next, op });
  }
  return fields;
}

function put(fields: Map<Id, FieldChange[]>, id: Id, change: FieldChange): void {
  const list = fields.get(id);
  if (list) list.push(change);
  else fields.set(id, [change]);
}

function ghostsOf(old: Graph, next: Graph, marks: ReadonlyMap<Id, NodeMark>, cards: ReadonlyMap<Id, Card>) {
  const ghosts: { id: Id; from: Card & { x: number; y: number }; to: Card & { x: number; y: number } }[] = [];
  for (const [id, { moved }] of marks) {
    const card = cards.get(id);
    if (!moved || !card) continue;
    const [x, y] = old.positions.get(id) ?? [0, 0];
    const [toX, toY] = next.positions.get(id) ?? [0, 0];
    ghosts.push({ id, from: { ...card, x, y }, to: { ...card, x: toX, y: toY } });
  }
  return ghosts;
}

/** How much a patch changes. A node that was moved and changed counts as both. */
export function countsOf(ops: readonly Op[]): Counts {
  const [changed, moved, whole] = [new Set<Id>(), new Set<Id>(), new Set<Id>()];
  let [added, removed, wires, other] = [0, 0, 0, 0];
  for (const op of ops) {
    if (isEdgeOp(op)) wires += 1;
    else if (isNodeOp(op)) {
      whole.add(op[1][0]);
      if (op[0] === "node+") added += 1;
      else removed += 1;
    } else {
      const id = nodeOf(op);
      if (id === null) other += 1;
      else (op[0] === "move" ? moved : changed).add(id);
    }
  }
  for (const id of whole) {
    changed.delete(id);
    moved.delete(id);
  }
  return { added, removed, changed: changed.size, moved: moved.size, wires, other };
}
