// From a params' JSON Schema to the fields of a form. It reads the part of the schema that the catalogue promises.
import type { Language } from "../i18n/language";
import type { GraphNode, Value } from "../igb/graph";
import type { JsonSchema } from "../state/catalogue";

export type Kind = "line" | "multiline" | "template" | "number" | "integer" | "boolean" | "choice" | "list" | "model";

export interface Field {
  name: string;
  kind: Kind;
  schema: JsonSchema;
  slider: boolean;
  fallback: Value; // the schema's default
}

function kindOf(schema: JsonSchema): Kind {
  if (schema.enum) return "choice";
  if (schema.type === "boolean") return "boolean";
  if (schema.type === "integer") return "integer";
  if (schema.type === "number") return "number";
  if (schema.type === "array") return "list";
  if (schema.widget === "model" || schema.widget === "template" || schema.widget === "multiline") return schema.widget;
  return "line";
}

const EMPTY: Partial<Record<Kind, Value>> = { boolean: false, number: 0, integer: 0, list: [] };

export function isValue(value: unknown): value is Value {
  if (value === null || ["boolean", "number", "string"].includes(typeof value)) return true;
  return Array.isArray(value) && value.every(isValue);
}

export function fieldsOf(schema: JsonSchema): Field[] {
  return Object.entries(schema.properties ?? {}).map(([name, param]) => {
    const kind = kindOf(param);
    const fallback = isValue(param.default) ? param.default : (EMPTY[kind] ?? "");
    const slider = param.widget === "slider" && param.minimum !== undefined ? param.maximum !== undefined : false;
    return { name, kind, schema: param, slider: slider || isOpenSlider(param), fallback };
  });
}

/** A slider may start above an open end: (0, 1] slides from its first step. */
function isOpenSlider(schema: JsonSchema): boolean {
  return schema.widget === "slider" && schema.exclusiveMinimum !== undefined && schema.maximum !== undefined;
}

export interface Range {
  least: number;
  most: number;
  step: number;
}

export function rangeOf({ schema }: Field): Range {
  const step = schema.step ?? 1;
  const least = schema.minimum ?? (schema.exclusiveMinimum ?? 0) + step;
  return { least, most: schema.maximum ?? least + 100 * step, step };
}

export function titleOf(field: Pick<Field, "name" | "schema">, language: Language): string {
  const { title, zh } = field.schema;
  return (language === "zh" && zh) || title || field.name;
}

export function currentOf(field: Field, params: GraphNode["params"]): Value {
  return params.get(field.name) ?? field.fallback;
}

/** A field with `when` stands only while the named params have these values. */
export function isShown(field: Field, all: readonly Field[], params: GraphNode["params"]): boolean {
  return Object.entries(field.schema.when ?? {}).every(([name, wanted]) => {
    const other = all.find((item) => item.name === name);
    return other === undefined || currentOf(other, params) === wanted;
  });
}

/** Choices with their labels in the language shown. */
export function choicesOf(field: Field, language: Language): { value: Value; label: string }[] {
  return (field.schema.enum ?? []).filter(isValue).map((value) => {
    const label = field.schema.options?.[String(value)];
    return { value, label: label ? label[language === "zh" ? 1 : 0] : String(value) };
  });
}
