// The order in which a graph runs, for Tab, lists and timelines; and the steps along its wires.
import type { Graph, Id } from "../igb/graph";
import { endsOf } from "./cards";

/** Topological; among nodes that are ready the upper, then the left one first. */
export function runOrder(graph: Graph): Id[] {
  const { into, from } = endsOf(graph.edges);
  const waits = new Map<Id, number>();
  for (const id of graph.nodes.keys()) waits.set(id, new Set(into.get(id)?.map((edge) => edge.source)).size);
  const place = (id: Id) => graph.positions.get(id) ?? [0, 0];
  const before = (a: Id, b: Id): number => {
    const [ax, ay] = place(a);
    const [bx, by] = place(b);
    return ax - bx || ay - by || (a < b ? -1 : 1);
  };
  const order: Id[] = [];
  let ready = [...waits].filter(([, count]) => count === 0).map(([id]) => id);
  while (ready.length > 0) {
    ready.sort(before);
    const next: Id[] = [];
    for (const id of ready) {
      order.push(id);
      for (const target of new Set(from.get(id)?.map((edge) => edge.target))) {
        const left = (waits.get(target) ?? 0) - 1;
        waits.set(target, left);
        if (left === 0) next.push(target);
      }
    }
    ready = next;
  }
  // What two versions have together, as a comparison draws it, may hold a loop.
  if (order.length < graph.nodes.size) {
    const there = new Set(order);
    for (const id of graph.nodes.keys()) if (!there.has(id)) order.push(id);
  }
  return order;
}

export type Direction = "left" | "right" | "up" | "down";

/** Along a wire: right to what reads this node, left to what feeds it; up and down between the ends of the same node. */
export function step(graph: Graph, from: Id, direction: Direction): Id | null {
  const { into, from: out } = endsOf(graph.edges);
  const height = (id: Id) => graph.positions.get(id)?.[1] ?? 0;
  const sorted = (ids: Iterable<Id>) => [...new Set(ids)].sort((a, b) => height(a) - height(b) || (a < b ? -1 : 1));
  const targets = (id: Id) => sorted((out.get(id) ?? []).map((edge) => edge.target));
  const sources = (id: Id) => sorted((into.get(id) ?? []).map((edge) => edge.source));
  if (direction === "right") return targets(from)[0] ?? null;
  if (direction === "left") return sources(from)[0] ?? null;
  const siblings = sorted([from, ...sources(from).flatMap(targets), ...targets(from).flatMap(sources)]);
  const at = siblings.indexOf(from);
  return siblings[at + (direction === "down" ? 1 : -1)] ?? null;
}
