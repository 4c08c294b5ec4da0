// From two ports to the edge between them, whichever end the hand started at.
import type { Edge, Graph } from "../igb/graph";
import type { PortRef } from "./view";

export const edgeId = (edge: Edge): string => [edge.source, edge.output, edge.target, edge.input, edge.slot].join("\n");

export interface Between {
  edge: Edge;
  taken: Edge | null; // the wire that already feeds this input; a new one takes its place
  without: Graph; // the graph as it would be before the new wire
}

export function edgeBetween(graph: Graph, a: PortRef, b: PortRef): Between {
  const [from, to] = a.side === "out" ? [a, b] : [b, a];
  const edge: Edge = { source: from.node, output: from.port, target: to.node, input: to.port, slot: 0 };
  const taken = graph.edges.find((old) => old.target === to.node && old.input === to.port && old.slot === 0) ?? null;
  const without = taken ? { ...graph, edges: graph.edges.filter((old) => old !== taken) } : graph;
  return { edge, taken, without };
}
