// The input ports a node has: those of its component, and one for each placeholder of its template. Outputs are the component's.
import type { GraphNode, Value } from "../igb/graph";
import { slots } from "../igb/template";
import type { CatalogueEntry, PortSpec, PortType } from "./catalogue";

/** The value of a param: as authored, else the component's default. */
export function paramOf(entry: CatalogueEntry, node: GraphNode, param: string): Value | undefined {
  const authored = node.params.get(param);
  return authored === undefined ? (entry.schema.properties?.[param]?.default as Value | undefined) : authored;
}

export function inputsOf(entry: CatalogueEntry, node: GraphNode): readonly PortSpec[] {
  const template = entry.template === null ? null : paramOf(entry, node, entry.template);
  if (typeof template !== "string") return entry.inputs;
  const own = new Set(entry.inputs.map((port) => port.name));
  const made = slots(template).filter((name) => !own.has(name));
  return [...entry.inputs, ...made.map(slotPort)];
}

function slotPort(name: string): PortSpec {
  return { name, type: "any", label: { en: name, zh: name }, required: true, hidden: false };
}

/** No implicit conversion except into `any` and `json`; what comes out of an `any` is checked when the value is there. */
export function accepts(input: PortType, output: PortType): boolean {
  return input === output || input === "any" || input === "json" || output === "any";
}
