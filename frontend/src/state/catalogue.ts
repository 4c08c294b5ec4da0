// Components as `GET /api/catalogue` gives them.
export type PortType = "text" | "number" | "boolean" | "json" | "any";

export interface Label {
  en: string;
  zh: string;
}

export interface PortSpec {
  name: string;
  type: PortType;
  label: Label;
  required: boolean;
  hidden: boolean;
}

export interface CatalogueEntry {
  name: string;
  version: number;
  effect: "pure" | "template" | "reduce" | "anchor" | "opaque";
  label: Label;
  help: Label;
  group: "io" | "text" | "model" | "flow";
  glyph: string;
  inputs: PortSpec[];
  outputs: PortSpec[];
  schema: JsonSchema;
  template: string | null;
  budget: { steps: number; kv: number; seconds: number };
}

export type Catalogue = ReadonlyMap<string, CatalogueEntry>; // by name of the component

/** The part of JSON Schema that params use (pydantic, draft 2020-12), with `zh`, `widget`, `unit`, `step`, `options`, `when`, `escapes`, `main`. */
export interface JsonSchema {
  type?: string;
  title?: string;
  default?: unknown;
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  zh?: string;
  widget?: string;
  unit?: string;
  step?: number;
  options?: Record<string, [string, string]>;
  when?: Record<string, unknown>;
  escapes?: boolean;
  main?: boolean;
}
