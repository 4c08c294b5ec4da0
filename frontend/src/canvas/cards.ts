// Cards of a graph: what each shows and how large it is, known before anything is drawn, so that nothing jumps.
import type { Edge, Graph, GraphNode, Id } from "../igb/graph";
import type { Catalogue, CatalogueEntry } from "../state/catalogue";
import { paramOf } from "../state/ports";
import { type Pins, pinsOf } from "./ports";

export const GRID = 8;
export const HEAD = 30;
const FOOT = 22;
export const ROW = 20;

/** stream: live text and scales · result: what the flow gives · text: a written param · plain: a line or two */
export type Body = "stream" | "result" | "text" | "plain";

const WIDTH: Record<Body, number> = { stream: 248, result: 232, text: 208, plain: 176 };
const BODY: Record<Body, number> = { stream: 146, result: 115, text: 62, plain: 46 };

export interface Card {
  body: Body;
  width: number;
  height: number;
  pins: Pins;
}

export function bodyOf(entry: CatalogueEntry | undefined): Body {
  if (!entry) return "plain";
  if (entry.effect === "anchor") return "stream";
  if (entry.outputs.length > 0 && entry.outputs.every((port) => port.hidden)) return "result";
  const written = Object.values(entry.schema.properties ?? {}).some((param) => param.main);
  return written ? "text" : "plain";
}

/** The text written in a node's main param: its own, else the component's default. */
export function mainText(node: GraphNode, entry: CatalogueEntry | undefined): string {
  const main = Object.entries(entry?.schema.properties ?? {}).find(([, param]) => param.main)?.[0];
  const value = entry && main ? paramOf(entry, node, main) : "";
  return typeof value === "string" ? value : "";
}

/** Middle of a port's row, from the card's top. */
export const rowY = (index: number): number => HEAD + 4 + ROW * index + ROW / 2;

function cardOf(node: GraphNode, entry: CatalogueEntry | undefined, into: Edge[], from: Edge[]): Card {
  const pins = pinsOf(node, entry, into, from);
  const body = bodyOf(entry);
  const rows = Math.max(pins.inputs.length, pins.outputs.length, 1);
  const height = HEAD + 8 + ROW * rows + BODY[body] + FOOT;
  return { body, width: WIDTH[body], height: Math.ceil(height / GRID) * GRID, pins };
}

interface Kept {
  node: GraphNode;
  entry: CatalogueEntry | undefined;
  wires: string;
  card: Card;
}

const NO_EDGES: Edge[] = [];

export interface Ends {
  into: Map<Id, Edge[]>;
  from: Map<Id, Edge[]>;
}

export function endsOf(edges: readonly Edge[]): Ends {
  const into = new Map<Id, Edge[]>();
  const from = new Map<Id, Edge[]>();
  const put = (map: Map<Id, Edge[]>, id: Id, edge: Edge) => {
    const list = map.get(id);
    if (list) list.push(edge);
    else map.set(id, [edge]);
  };
  for (const edge of edges) {
    put(into, edge.target, edge);
    put(from, edge.source, edge);
  }
  return { into, from };
}

/** Gives a graph's cards and keeps every one whose node, component and wires are as before, so React can skip it. */
export function createCards(): (graph: Graph, catalogue: Catalogue) => Map<Id, Card> {
  let kept = new Map<Id, Kept>();
  return (graph, catalogue) => {
    const { into, from } = endsOf(graph.edges);
    const next = new Map<Id, Kept>();
    const cards = new Map<Id, Card>();
    for (const [id, node] of graph.nodes) {
      const entry = catalogue.get(node.component);
      const ins = into.get(id) ?? NO_EDGES;
      const outs = from.get(id) ?? NO_EDGES;
      const wires = `${ins.map((edge) => edge.input).join("\n")}\n\n${outs.map((edge) => edge.output).join("\n")}`;
      const old = kept.get(id);
      const same = old && old.node === node && old.entry === entry && old.wires === wires;
      const item = same ? old : { node, entry, wires, card: cardOf(node, entry, ins, outs) };
      next.set(id, item);
      cards.set(id, item.card);
    }
    kept = next;
    return cards;
  };
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The box around all cards, from the graph alone: the canvas mounts only what is visible and must not be asked. */
export function boundsOf(graph: Graph, cards: ReadonlyMap<Id, Card>, only?: ReadonlySet<Id>): Box | null {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [id, card] of cards) {
    if (only && !only.has(id)) continue;
    const [x, y] = graph.positions.get(id) ?? [0, 0];
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x + card.width);
    bottom = Math.max(bottom, y + card.height);
  }
  return left === Infinity ? null : { x: left, y: top, width: right - left, height: bottom - top };
}
