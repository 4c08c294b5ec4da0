// The ports a node has: those of its component, and on the input side one for each placeholder of its template.
import type { Graph, GraphNode, Id, Value } from "../igb/graph";
import { slots } from "../igb/template";
import type { CatalogueEntry, PortSpec, PortType } from "./catalogue";

type Catalogue = ReadonlyMap<string, CatalogueEntry>;

/** The value of a param: as authored, else the component's default. */
export function paramOf(entry: CatalogueEntry, node: GraphNode, param: string): Value | undefined {
  const authored = node.params.get(param);
  return authored === undefined ? (entry.schema.properties?.[param]?.default as Value | undefined) : authored;
}

export function inputsOf(catalogue: Catalogue, node: GraphNode): readonly PortSpec[] {
  const entry = catalogue.get(node.component);
  if (!entry) return [];
  if (entry.template === null) return entry.inputs;
  const template = paramOf(entry, node, entry.template);
  return typeof template === "string" ? [...entry.inputs, ...slotPorts(template)] : entry.inputs;
}

export function slotPorts(template: string): PortSpec[] {
  return slots(template).map((name) => ({
    name,
    type: "any",
    label: { en: name, zh: name },
    required: true,
    hidden: false,
  }));
}

export function outputsOf(catalogue: Catalogue, node: GraphNode): readonly PortSpec[] {
  return catalogue.get(node.component)?.outputs ?? [];
}

/** No implicit conversion except into `any` and `json`; what comes out of an `any` is checked when the value is there. */
export function accepts(input: PortType, output: PortType): boolean {
  return input === output || input === "any" || input === "json" || output === "any";
}

/** Nodes that can be reached from `from` along edges, itself included. */
export function downstream(graph: Graph, from: Id): ReadonlySet<Id> {
  const targets = new Map<Id, Id[]>();
  for (const { source, target } of graph.edges) {
    const list = targets.get(source);
    if (list) list.push(target);
    else targets.set(source, [target]);
  }
  const seen = new Set([from]);
  for (const id of seen) for (const next of targets.get(id) ?? []) seen.add(next); // a set grows while it is walked
  return seen;
}
