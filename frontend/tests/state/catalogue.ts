// A catalogue of the first components, as the server gives it.
import type { CatalogueEntry, JsonSchema, PortSpec, PortType } from "../../src/state/catalogue";

function port(name: string, type: PortType, hidden = false): PortSpec {
  return { name, type, label: { en: name, zh: name }, required: !hidden, hidden };
}

function entry(
  name: string,
  inputs: PortSpec[],
  outputs: PortSpec[],
  template: string | null,
  properties: Record<string, JsonSchema>,
): [string, CatalogueEntry] {
  const label = { en: name, zh: name };
  const budget = { steps: 0, kv: 0, seconds: 60 };
  const schema = { type: "object", properties };
  return [
    name,
    {
      name,
      version: 1,
      effect: "pure",
      label,
      help: label,
      group: "text",
      glyph: "text",
      inputs,
      outputs,
      schema,
      template,
      budget,
    },
  ];
}

export const catalogue: ReadonlyMap<string, CatalogueEntry> = new Map([
  entry("text.input", [port("given", "text", true)], [port("text", "text")], null, { text: { default: "" } }),
  entry("text.template", [], [port("text", "text")], "template", { template: { default: "{text}" } }),
  entry("text.clean", [port("text", "text")], [port("text", "text")], null, {}),
  entry("math.count", [port("text", "text")], [port("count", "number")], null, {}),
  entry("llm.generate", [port("prompt", "text")], [port("text", "text"), port("usage", "json")], null, {}),
  entry("data.show", [port("value", "json")], [port("value", "any", true), port("shown", "any")], null, {}),
  entry("flow.output", [port("value", "any")], [port("value", "any", true)], null, { name: { default: "result" } }),
]);
