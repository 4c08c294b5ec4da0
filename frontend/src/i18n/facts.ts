// The facts of a refusal, as the server words them, in the language shown. Names stay as they are.
import type { TFunction } from "i18next";
import type { Diagnostic } from "../state/editor";

const TYPES = new Set(["text", "json", "number", "boolean", "any"]);

/** A port type in the language shown; any other word as it is. */
export const typed = (t: TFunction, word: string): string => (TYPES.has(word) ? t(`type.${word}`) : word);

/** What a check expects of a setting, as the server words it; the rest is names, which stay as they are. */
const FACTS: readonly [RegExp, string][] = [
  [/^greater than or equal to (.+)$/, "fact.least"],
  [/^greater than (.+)$/, "fact.above"],
  [/^less than or equal to (.+)$/, "fact.most"],
  [/^less than (.+)$/, "fact.below"],
  [/^a valid string$/, "fact.text"],
  [/^a valid integer.*$/, "fact.integer"],
  [/^a valid number.*$/, "fact.number"],
  [/^a valid boolean.*$/, "fact.boolean"],
  [/^String should have at most (\d+) characters?$/, "fact.long"],
  [/^String should have at least (\d+) characters?$/, "fact.short"],
  [/^one of (.+)$/, "fact.one"],
  [/^('.+' or '.+')$/, "fact.one"],
  [/^version (.+)$/, "fact.version"],
  [/^a JSON Schema: (.+)$/, "fact.schema"],
  [/^(a JSON Schema, which is an object)$/, "fact.object"],
];

export function fact(t: TFunction, text: string): string {
  for (const [pattern, key] of FACTS) {
    const found = pattern.exec(text);
    if (found) return t(key, { value: (found[1] ?? "").replace(/ or /g, ", ") });
  }
  return text;
}

/** Codes whose facts are port types; under any other a port or a setting may well be called `text`. */
const OF_TYPES: ReadonlySet<string> = new Set(["type_mismatch", "missing_input"]);

/** A diagnostic in words; a code the interface does not know falls back on its facts. */
export function diagnosis(
  t: TFunction,
  { code, expected, got }: Pick<Diagnostic, "code" | "expected" | "got">,
): string {
  const put = OF_TYPES.has(code) ? typed : fact;
  const values = { expected: put(t, expected), got: OF_TYPES.has(code) ? typed(t, got) : got };
  if (code === "missing_input" && expected === "any") return t("diag.missing_any");
  const words = t(`diag.${code}`, { ...values, defaultValue: "" });
  if (words) return words;
  return got ? t("diag.any", values) : t("card.needsOnly", values);
}
