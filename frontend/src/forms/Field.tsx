// A labelled field: title, reset when it differs from the default, the control, and what is wrong with it.
import type { ReactNode } from "react";
import { diagnosis } from "../i18n/facts";
import { useWords } from "../i18n/language";
import type { Value } from "../igb/graph";
import { Glyph } from "../look/Glyph";
import type { Diagnostic } from "../state/editor";
import { type Field as Spec, titleOf } from "./fields";
import type { FieldProblem } from "./verdict";

export interface Control {
  field: Spec;
  value: Value;
  id: string;
  /** Typed text that is not a value yet; it survives leaving the field. */
  draft: string | undefined;
  keepDraft(text: string | undefined): void;
  change(value: Value): void;
  settle(): void;
  describedBy: string | undefined;
  invalid: boolean;
}

interface Props {
  field: Spec;
  id: string;
  changed: boolean;
  problem: FieldProblem | null;
  diagnostics: readonly Diagnostic[];
  aside?: ReactNode;
  wide: boolean; // the control stands under the title
  reset(): void;
  children: ReactNode;
}

export function FieldRow({ field, id, changed, problem, diagnostics, aside, wide, reset, children }: Props) {
  const { t, language } = useWords();
  const title = titleOf(field, language);
  const fallback = brief(field.fallback);
  const resetTitle = fallback ? t("field.reset", { value: fallback }) : t("field.resetEmpty");
  return (
    <div className={`field${wide ? " is-wide" : ""}${changed ? " is-changed" : ""}${problem ? " is-bad" : ""}`}>
      <div className="field-title">
        <label htmlFor={id} title={title}>
          {title}
        </label>
        {changed && (
          <button
            type="button"
            className="reset"
            onClick={reset}
            title={resetTitle}
            aria-label={`${title}: ${resetTitle}`}
            data-testid={`reset-${field.name}`}
          >
            <Glyph name="reset" size={12} />
          </button>
        )}
        {aside && <span className="field-aside">{aside}</span>}
      </div>
      <div className="field-control">{children}</div>
      <Problems id={`${id}-problem`} problem={problem} diagnostics={diagnostics} />
    </div>
  );
}

export function Problems({
  id,
  problem,
  diagnostics,
}: {
  id: string;
  problem: FieldProblem | null;
  diagnostics: readonly Diagnostic[];
}) {
  const { t } = useWords();
  const first = diagnostics[0];
  if (!problem && !first) return null;
  return (
    <p className="field-problem" id={id} role="alert">
      {problem
        ? t(`field.${problem.code}`, { expected: problem.expected, got: problem.got })
        : first && diagnosis(t, first)}
    </p>
  );
}

function brief(value: Value): string {
  const text = typeof value === "string" ? value : Array.isArray(value) && value.length === 0 ? "" : String(value);
  return text.length > 24 ? `${text.slice(0, 23)}…` : text;
}
