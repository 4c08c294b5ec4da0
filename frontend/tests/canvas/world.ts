// The smallest graphs and components that the canvas's tests need.
import type { Edge, Graph, GraphNode, Id, Value } from "../../src/igb/graph";
import { EMPTY } from "../../src/igb/igb";
import type { CatalogueEntry, PortSpec, PortType } from "../../src/state/catalogue";

export function port(name: string, type: PortType, extra: Partial<PortSpec> = {}): PortSpec {
  return { name, type, label: { en: name, zh: `中${name}` }, required: true, hidden: false, ...extra };
}

export function entry(name: string, extra: Partial<CatalogueEntry> = {}): CatalogueEntry {
  return {
    name,
    version: 1,
    effect: "pure",
    label: { en: name, zh: `中${name}` },
    help: { en: `Help of ${name}`, zh: "帮助" },
    group: "text",
    glyph: "clean",
    inputs: [],
    outputs: [],
    schema: {},
    template: null,
    budget: { steps: 0, kv: 0, seconds: 60 },
    ...extra,
  };
}

export const CLEAN = entry("text.clean", { inputs: [port("text", "text")], outputs: [port("text", "text")] });
export const GENERATE = entry("llm.generate", {
  effect: "anchor",
  group: "model",
  inputs: [port("prompt", "text")],
  outputs: [port("text", "text"), port("usage", "json")],
  budget: { steps: 256, kv: 8192, seconds: 120 },
});
export const OUTPUT = entry("flow.output", {
  group: "io",
  inputs: [port("value", "any")],
  outputs: [port("value", "any", { hidden: true })],
});
export const TEMPLATE = entry("text.template", {
  effect: "template",
  outputs: [port("text", "text")],
  schema: { properties: { template: { type: "string", default: "{text}", main: true } } },
  template: "template",
});

export const catalogue = new Map([CLEAN, GENERATE, OUTPUT, TEMPLATE].map((one) => [one.name, one]));

export function node(id: Id, component: string, params: Record<string, Value> = {}): GraphNode {
  return { id, component, version: 1, params: new Map(Object.entries(params)), flags: new Map() };
}

export function edge(from: string, to: string): Edge {
  const [source = "", output = ""] = from.split(".");
  const [target = "", input = ""] = to.split(".");
  return { source, output, target, input, slot: 0 };
}

export function graph(nodes: GraphNode[], edges: Edge[] = [], places: Record<Id, [number, number]> = {}): Graph {
  return {
    ...EMPTY,
    nodes: new Map(nodes.map((one) => [one.id, one])),
    edges,
    positions: new Map(Object.entries(places)),
  };
}
