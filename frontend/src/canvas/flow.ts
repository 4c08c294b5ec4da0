// From the graph to what React Flow draws. Sizes and ports are given, never measured; an unchanged node is the same object.
import { type NodeHandle, Position } from "@xyflow/react";
import type { Edge, Graph, Id } from "../igb/graph";
import { type Box, type Card, rowY } from "./cards";
import { edgeId } from "./connecting";
import type { CardNode } from "./NodeCard";
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

/** Wires of a graph. Only those with an end that moved, or whose cards changed, are routed again. */
export function createEdges(): (
  graph: Graph,
  cards: ReadonlyMap<Id, Card>,
  selected: ReadonlySet<string>,
) => WireEdge[] {
  let kept = new Map<Edge, WireEdge>();
  let places: Graph["positions"] = new Map();
  let before: ReadonlyMap<Id, Card> = new Map();
  return (graph, cards, selected) => {
    const fans = fansOf(graph.edges);
    const careful = cards.size <= CAREFUL;
    const still = (id: Id) => places.get(id) === graph.positions.get(id) && before.get(id) === cards.get(id);
    const allStill =
      careful && places !== graph.positions ? [...cards.keys()].every(still) : !careful || before === cards;
    const next = new Map<Edge, WireEdge>();
    for (const edge of graph.edges) {
      const source = cards.get(edge.source);
      const target = cards.get(edge.target);
      if (!source || !target) continue;
      const old = kept.get(edge);
      const is = selected.has(old?.id ?? edgeId(edge));
      const fan = (fans.get(`${edge.source}\n${edge.output}`) ?? 0) > 1;
      const fresh = old?.data?.fan === fan && allStill && still(edge.source) && still(edge.target);
      const data = fresh && old?.data ? old.data : routed(graph, cards, edge, fan, careful);
      next.set(edge, old && fresh && old.selected === is ? old : wireOf(old?.id ?? edgeId(edge), edge, data, is));
    }
    kept = next;
    places = graph.positions;
    before = cards;
    return [...next.values()];
  };
}

function fansOf(edges: readonly Edge[]): Map<string, number> {
  const fans = new Map<string, number>();
  for (const { source, output } of edges) fans.set(`${source}\n${output}`, (fans.get(`${source}\n${output}`) ?? 0) + 1);
  return fans;
}

function routed(graph: Graph, cards: ReadonlyMap<Id, Card>, edge: Edge, fan: boolean, careful: boolean) {
  const outputs = cards.get(edge.source)?.pins.outputs ?? [];
  const output = outputs.find((pin) => pin.name === edge.output);
  const input = cards.get(edge.target)?.pins.inputs.find((pin) => pin.name === edge.input);
  const lane = output ? outputs.indexOf(output) : 0;
  return {
    edge,
    type: output?.type ?? "any",
    lane,
    late: careful && fallsLate(graph, cards, edge, lane),
    between: wayBack(graph, cards, edge),
    fan,
    lost: (output?.missing ?? true) || (input?.missing ?? true),
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
