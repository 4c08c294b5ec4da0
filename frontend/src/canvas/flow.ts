// From the graph to what React Flow draws. Sizes and ports are given, never measured; an unchanged node is the same object.
import { type NodeHandle, Position } from "@xyflow/react";
import type { Edge, Graph, Id } from "../igb/graph";
import { type Box, type Card, endsOf, rowY } from "./cards";
import { edgeId } from "./connecting";
import type { CardNode } from "./NodeCard";
import { pinOf } from "./ports";
import { corners, crosses, STUB } from "./route";
import type { WireEdge } from "./Wire";

type Place = readonly [number, number];

function handlesOf(card: Card): NodeHandle[] {
  const inputs = card.pins.inputs.map(
    (pin, row): NodeHandle => ({
      id: pin.name,
      type: "target",
      position: Position.Left,
      x: 0,
      y: rowY(row) - 10,
      width: 1,
      height: 20,
    }),
  );
  const outputs = card.pins.outputs.map(
    (pin, row): NodeHandle => ({
      id: pin.name,
      type: "source",
      position: Position.Right,
      x: card.width - 1,
      y: rowY(row) - 10,
      width: 1,
      height: 20,
    }),
  );
  return [...inputs, ...outputs];
}

export interface NodeInput {
  order: readonly Id[];
  cards: ReadonlyMap<Id, Card>;
  place: (id: Id) => Place;
  selected: ReadonlySet<Id>;
  say: (id: Id) => string;
}

/** Nodes in run order, so that Tab walks the way the graph runs. */
export function createNodes(): (input: NodeInput) => CardNode[] {
  let kept = new Map<Id, CardNode>();
  return ({ order, cards, place, selected, say }) => {
    const next = new Map<Id, CardNode>();
    for (const id of order) {
      const card = cards.get(id);
      if (!card) continue;
      const [x, y] = place(id);
      const old = kept.get(id);
      const ariaLabel = say(id);
      const is = selected.has(id);
      const same =
        old?.data.card === card &&
        old.position.x === x &&
        old.position.y === y &&
        old.selected === is &&
        old.ariaLabel === ariaLabel;
      next.set(id, same ? old : nodeOf(id, card, x, y, is, ariaLabel, old));
    }
    kept = next;
    return [...next.values()];
  };
}

function nodeOf(
  id: Id,
  card: Card,
  x: number,
  y: number,
  selected: boolean,
  ariaLabel: string,
  old?: CardNode,
): CardNode {
  const { width, height } = card;
  const handles = old?.data.card === card && old.handles ? old.handles : handlesOf(card);
  const data = old?.data.card === card ? old.data : { card };
  return {
    id,
    type: "card",
    position: { x, y },
    data,
    width,
    height,
    measured: { width, height },
    handles,
    selected,
    ariaLabel,
    ariaRole: "group",
  };
}

/** Above this many nodes a wire does not look for cards in its way. */
const CAREFUL = 200;

export function createEdges(): (
  graph: Graph,
  cards: ReadonlyMap<Id, Card>,
  selected: ReadonlySet<string>,
) => WireEdge[] {
  let kept = new Map<string, WireEdge>();
  return (graph, cards, selected) => {
    const { from } = endsOf(graph.edges);
    const next = new Map<string, WireEdge>();
    for (const edge of graph.edges) {
      const source = cards.get(edge.source);
      const target = cards.get(edge.target);
      if (!source || !target) continue;
      const output = pinOf(source.pins, "out", edge.output);
      const input = pinOf(target.pins, "in", edge.input);
      const lane = Math.max(
        source.pins.outputs.findIndex((pin) => pin.name === edge.output),
        0,
      );
      const fan = (from.get(edge.source) ?? []).filter((other) => other.output === edge.output).length > 1;
      const late = cards.size <= CAREFUL && fallsLate(graph, cards, edge, lane);
      const between = wayBack(graph, cards, edge);
      const lost = (output?.missing ?? true) || (input?.missing ?? true);
      const type = output?.type ?? "any";
      const id = edgeId(edge);
      const old = kept.get(id);
      const is = selected.has(id);
      const data = old?.data;
      const same =
        data?.type === type &&
        data.lane === lane &&
        data.late === late &&
        data.between === between &&
        data.fan === fan &&
        data.lost === lost;
      const keptData = same ? data : { edge, type, lane, late, between, fan, lost };
      next.set(id, old && same && old.selected === is ? old : wireOf(id, edge, keptData, is));
    }
    kept = next;
    return [...next.values()];
  };
}

function wireOf(id: string, edge: Edge, data: NonNullable<WireEdge["data"]>, selected: boolean): WireEdge {
  return {
    id,
    type: "wire",
    source: edge.source,
    sourceHandle: edge.output,
    target: edge.target,
    targetHandle: edge.input,
    data,
    selected,
    focusable: false,
  };
}

/** Beside which end a wire falls: beside the source, unless only the other side keeps it off the cards between. */
function fallsLate(graph: Graph, cards: ReadonlyMap<Id, Card>, edge: Edge, lane: number): boolean {
  const source = boxOf(graph, cards, edge.source);
  const target = boxOf(graph, cards, edge.target);
  const sourceCard = cards.get(edge.source);
  const targetCard = cards.get(edge.target);
  if (!source || !target || !sourceCard || !targetCard) return false;
  const input = Math.max(
    targetCard.pins.inputs.findIndex((pin) => pin.name === edge.input),
    0,
  );
  const ends = {
    from: [source.x + source.width, source.y + rowY(lane)] as const,
    to: [target.x, target.y + rowY(input)] as const,
    lane,
  };
  const hits = (late: boolean): number => {
    const points = corners({ ...ends, late });
    let count = 0;
    for (const id of cards.keys()) {
      if (id === edge.source || id === edge.target) continue;
      const box = boxOf(graph, cards, id);
      if (box && crosses(points, box)) count += 1;
    }
    return count;
  };
  return hits(true) < hits(false);
}

/** Half way between the lower edge of the upper card and the upper edge of the lower one; under both when they overlap. */
function wayBack(graph: Graph, cards: ReadonlyMap<Id, Card>, edge: Edge): number | null {
  const source = boxOf(graph, cards, edge.source);
  const target = boxOf(graph, cards, edge.target);
  if (!source || !target || target.x - (source.x + source.width) > STUB) return null;
  const [upper, lower] = source.y <= target.y ? [source, target] : [target, source];
  const bottom = upper.y + upper.height;
  return lower.y - bottom >= 2 * STUB ? (bottom + lower.y) / 2 : Math.max(bottom, lower.y + lower.height) + 2 * STUB;
}

function boxOf(graph: Graph, cards: ReadonlyMap<Id, Card>, id: Id): Box | null {
  const card = cards.get(id);
  const [x, y] = graph.positions.get(id) ?? [0, 0];
  return card ? { x, y, width: card.width, height: card.height } : null;
}
