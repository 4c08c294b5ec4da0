// Does a value fit its field? The same three words everywhere: which rule, what was expected, what came.
import type { Value } from "../igb/graph";
import type { JsonSchema } from "../state/catalogue";
import type { Field } from "./fields";

export interface FieldProblem {
  code: "notNumber" | "notInteger" | "least" | "above" | "most" | "short" | "long" | "many" | "choice" | "escape";
  expected: string;
  got: string;
}

const problem = (code: FieldProblem["code"], expected: unknown, got: unknown): FieldProblem => ({
  code,
  expected: String(expected),
  got: String(got),
});

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

export type Parsed = { value: number; problem: null } | { value: null; problem: FieldProblem };

/** A number as people type it: a comma or a full-width digit is not guessed at. */
export function parseNumber(text: string, field: Field): Parsed {
  const trimmed = text.trim();
  const integer = field.kind === "integer";
  if (!NUMBER.test(trimmed))
    return { value: null, problem: problem(integer ? "notInteger" : "notNumber", "", trimmed) };
  const value = Number(trimmed);
  if (!Number.isFinite(value)) return { value: null, problem: problem("notNumber", "", trimmed) };
  if (integer && !Number.isSafeInteger(value)) return { value: null, problem: problem("notInteger", "", trimmed) };
  const found = checkNumber(value, field.schema);
  return found ? { value: null, problem: found } : { value, problem: null };
}

function checkNumber(value: number, schema: JsonSchema): FieldProblem | null {
  const { minimum, exclusiveMinimum, maximum } = schema;
  if (minimum !== undefined && value < minimum) return problem("least", minimum, value);
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return problem("above", exclusiveMinimum, value);
  if (maximum !== undefined && value > maximum) return problem("most", maximum, value);
  return null;
}

function checkText(value: string, schema: JsonSchema): FieldProblem | null {
  const { minLength, maxLength } = schema;
  if (minLength === undefined && maxLength === undefined) return null;
  let length = 0;
  for (const _ of value) length += 1;
  if (minLength !== undefined && length < minLength) return problem("short", minLength, length);
  if (maxLength !== undefined && length > maxLength) return problem("long", maxLength, length);
  return null;
}

export function check(value: Value, field: Field): FieldProblem | null {
  const { schema } = field;
  if (field.kind === "choice" && !schema.enum?.includes(value)) {
    return problem("choice", schema.enum?.join(", "), value);
  }
  if (typeof value === "number") {
    if (field.kind === "integer" && !Number.isSafeInteger(value)) return problem("notInteger", "", value);
    return checkNumber(value, schema);
  }
  if (typeof value === "string") return checkText(value, schema);
  if (Array.isArray(value) && schema.maxItems !== undefined && value.length > schema.maxItems) {
    return problem("many", schema.maxItems, value.length);
  }
  return null;
}
