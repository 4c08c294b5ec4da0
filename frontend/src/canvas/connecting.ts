// From two ports to the edge between them, whichever end the hand started at.
import type { Edge } from "../igb/graph";
import type { PortRef } from "./view";

export const edgeId = (edge: Edge): string => [edge.source, edge.output, edge.target, edge.input, edge.slot].join("\n");

export function edgeBetween(a: PortRef, b: PortRef): Edge {
  const [from, to] = a.side === "out" ? [a, b] : [b, a];
  return { source: from.node, output: from.port, target: to.node, input: to.port, slot: 0 };
}
