// Whether an edge may be made, and why not. The codes are `connect.` and one of: self, unknown_node, unknown_component,
// unknown_port, hidden, type, cycle, occupied. All but `occupied` forbid the edge; `occupied` names the edge that making
// this one would replace (`connect` in edits.ts does so in one gesture).
import type { Edge, Graph, GraphNode } from "../igb/graph";
import type { PortSpec } from "./catalogue";
import type { CanConnect, ConnectVerdict } from "./editor";
import { accepts, downstream, inputsOf, outputsOf } from "./ports";

export const canConnect: CanConnect = (graph, catalogue, edge) => {
  const source = graph.nodes.get(edge.source);
  const target = graph.nodes.get(edge.target);
  if (!source) return verdict("unknown_node", "a node of this graph", edge.source);
  if (!target) return verdict("unknown_node", "a node of this graph", edge.target);
  if (source === target) return verdict("self", "two nodes", "one");
  for (const { component } of [source, target]) {
    if (!catalogue.has(component)) return verdict("unknown_component", "a component of the catalogue", component);
  }
  const output = portNamed(outputsOf(catalogue, source), edge.output);
  const input = portNamed(inputsOf(catalogue, target), edge.input);
  return (
    portVerdict(output, source, edge.output) ??
    portVerdict(input, target, edge.input) ??
    typeVerdict(output, input) ??
    (downstream(graph, edge.target).has(edge.source)
      ? verdict("cycle", "no way back", "a loop")
      : occupied(graph, edge))
  );
};

/** The edge that stands at the same place of the same input. */
export function edgeInto(graph: Graph, { target, input, slot }: Edge): Edge | undefined {
  return graph.edges.find((edge) => edge.target === target && edge.input === input && edge.slot === slot);
}

function portNamed(ports: readonly PortSpec[], name: string): PortSpec | undefined {
  return ports.find((port) => port.name === name);
}

function portVerdict(port: PortSpec | undefined, node: GraphNode, name: string): ConnectVerdict {
  if (!port) return verdict("unknown_port", `a port of ${node.component}`, name);
  return port.hidden ? verdict("hidden", "a port that edges may use", name) : null;
}

function typeVerdict(output: PortSpec | undefined, input: PortSpec | undefined): ConnectVerdict {
  if (!output || !input || accepts(input.type, output.type)) return null;
  return verdict("type", input.type, output.type);
}

function occupied(graph: Graph, edge: Edge): ConnectVerdict {
  const there = edgeInto(graph, edge);
  return there ? verdict("occupied", "a free input", `${there.source}.${there.output}`) : null;
}

function verdict(reason: string, expected: string, got: string): ConnectVerdict {
  return { code: `connect.${reason}`, expected, got };
}
