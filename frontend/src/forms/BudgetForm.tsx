// A node's hard limits. Empty means the component's default, which stands in the field as a hint.
import { useState } from "react";
import { useWords } from "../i18n/language";
import type { Value } from "../igb/graph";
import { Glyph } from "../look/Glyph";
import type { CatalogueEntry } from "../state/catalogue";
import { Problems } from "./Field";
import type { Field } from "./fields";
import { parseNumber } from "./verdict";

export type Flag = "steps" | "kv" | "seconds";

interface Props {
  scope: string;
  flags: ReadonlyMap<string, Value>;
  budget: CatalogueEntry["budget"];
  drafts: Map<string, string>;
  set(flag: Flag, value: number | undefined): void;
  settle(): void;
}

/** Bounds as the file format has them; KV is a whole number of KiB and shown in MB. */
const BOUNDS: Record<Flag, { unit: string; scale: number; most: number; title: "steps" | "kvCache" | "time" }> = {
  steps: { unit: "", scale: 1, most: 1_000_000, title: "steps" },
  kv: { unit: "MB", scale: 1024, most: 16_777_216, title: "kvCache" },
  seconds: { unit: "s", scale: 1, most: 86_400, title: "time" },
};

const FLAGS: readonly Flag[] = ["steps", "kv", "seconds"];

export function BudgetForm(props: Props) {
  const flags = props.budget.steps > 0 ? FLAGS : (["seconds"] as const);
  return (
    <div className="form">
      {flags.map((flag) => (
        <BudgetField key={`${props.scope}.${flag}`} flag={flag} {...props} />
      ))}
    </div>
  );
}

function BudgetField({ flag, scope, flags, budget, drafts, set, settle }: Props & { flag: Flag }) {
  const { t } = useWords();
  const bounds = BOUNDS[flag];
  const key = `${scope}.budget.${flag}`;
  const id = `field-${scope}-budget.${flag}`;
  const [draft, setDraft] = useState(() => drafts.get(key));
  const set_ = flags.get(flag);
  const own = typeof set_ === "number" ? String(set_ / bounds.scale) : "";
  const text = draft ?? own;
  const field: Field = {
    name: flag,
    kind: flag === "kv" ? "number" : "integer",
    schema: { minimum: 1 / bounds.scale, maximum: bounds.most / bounds.scale },
    slider: false,
    fallback: budget[flag],
  };
  const parsed = text.trim() === "" ? null : parseNumber(text, field);
  const keep = (next: string | undefined) => {
    if (next === undefined) drafts.delete(key);
    else drafts.set(key, next);
    setDraft(next);
  };
  const write = (next: string) => {
    keep(next);
    if (next.trim() === "") return set(flag, undefined);
    const { value } = parseNumber(next, field);
    if (value !== null) set(flag, Math.round(value * bounds.scale));
  };
  const reset = () => {
    keep(undefined);
    set(flag, undefined);
    settle();
  };
  const problem = parsed?.problem ?? null;
  const title = t(`field.${bounds.title}`);
  return (
    <div className={`field${problem ? " is-bad" : ""}${own ? " is-changed" : ""}`}>
      <div className="field-title">
        <label htmlFor={id}>{title}</label>
        {own && (
          <button
            type="button"
            className="reset"
            onClick={reset}
            title={t("field.reset", { value: budget[flag] / bounds.scale })}
            aria-label={`${title}: ${t("field.reset", { value: budget[flag] / bounds.scale })}`}
          >
            <Glyph name="reset" size={12} />
          </button>
        )}
      </div>
      <div className="field-control">
        <span className="inp num">
          <input
            id={id}
            value={text}
            inputMode="decimal"
            placeholder={t("field.default", { value: budget[flag] / bounds.scale })}
            aria-invalid={problem !== null}
            aria-describedby={problem ? `${id}-problem` : undefined}
            data-testid={`field-budget-${flag}`}
            onChange={(event) => write(event.target.value)}
            onBlur={() => {
              if (!problem) keep(undefined);
              settle();
            }}
          />
          {bounds.unit && <span className="unit">{bounds.unit}</span>}
        </span>
      </div>
      <Problems id={`${id}-problem`} problem={problem} diagnostics={[]} />
    </div>
  );
}
