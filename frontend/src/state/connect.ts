// Whether an edge may be made, and why not. The codes are `connect.` and one of: self, unknown_node, unknown_component,
// unknown_port, hidden, type, cycle. An edge that stands at the same input is no reason: it gives way (`connect` in edits.ts).
import type { GraphNode } from "../igb/graph";
import { downstream } from "../igb/paths";
import type { PortSpec } from "./catalogue";
import type { CanConnect, ConnectVerdict } from "./editor";
import { accepts, inputsOf } from "./ports";

export const canConnect: CanConnect = (graph, catalogue, edge) => {
  const source = graph.nodes.get(edge.source);
  const target = graph.nodes.get(edge.target);
  if (!source) return verdict("unknown_node", "a node of this graph", edge.source);
  if (!target) return verdict("unknown_node", "a node of this graph", edge.target);
  if (source === target) return verdict("self", "two nodes", "one");
  const from = catalogue.get(source.component);
  const to = catalogue.get(target.component);
  if (!from) return verdict("unknown_component", "a component of the catalogue", source.component);
  if (!to) return verdict("unknown_component", "a component of the catalogue", target.component);
  const output = from.outputs.find((port) => port.name === edge.output);
  const input = inputsOf(to, target).find((port) => port.name === edge.input);
  return (
    portVerdict(output, source, edge.output) ??
    portVerdict(input, target, edge.input) ??
    typeVerdict(output, input) ??
    (downstream(graph.edges, edge.target).has(edge.source) ? verdict("cycle", "no way back", "a loop") : null)
  );
};

function portVerdict(port: PortSpec | undefined, node: GraphNode, name: string): ConnectVerdict {
  if (!port) return verdict("unknown_port", `a port of ${node.component}`, name);
  return port.hidden ? verdict("hidden", "a port that edges may use", name) : null;
}

function typeVerdict(output: PortSpec | undefined, input: PortSpec | undefined): ConnectVerdict {
  if (!output || !input || accepts(input.type, output.type)) return null;
  return verdict("type", input.type, output.type);
}

function verdict(reason: string, expected: string, got: string): ConnectVerdict {
  return { code: `connect.${reason}`, expected, got };
}
