// What is wrong with a node, in the body of its card: needed against got. The card keeps its size; the way out is in the foot.
import { diagnosis } from "../i18n/facts";
import { useWords } from "../i18n/language";
import type { Id } from "../igb/graph";
import type { CatalogueEntry } from "../state/catalogue";
import type { Diagnostic, NodeRun } from "../state/editor";
import { fieldName } from "./names";
import type { Pin } from "./ports";
import { useVisit } from "./screen";
import { failure, sentence, spentField } from "./sentence";
import type { Status } from "./status";

export interface Trouble {
  amber: boolean; // a spent budget: the text is kept
  subject: string; // the field or port it is about, as people know it
  words: string;
  field: string | null; // in the inspector, where it is mended
  mend: string; // the button that goes there
}

const NAMELESS = { of: (id: Id) => id, waitsFor: null };

interface Facts {
  run: NodeRun | undefined;
  status: Status;
  problems: readonly Diagnostic[];
  entry: CatalogueEntry | undefined;
  pins: readonly Pin[];
}

/** The one thing to say: a spent budget, else a mistake in the graph, else why the run failed. */
export function useTrouble(): (facts: Facts) => Trouble | null {
  const { t, say } = useWords();
  return ({ run, status, problems, entry, pins }) => {
    if (status === "over") {
      const words = sentence(t, status, run, NAMELESS);
      return { amber: true, subject: "", words, field: `budget.${spentField(run)}`, mend: t("card.raise") };
    }
    const first = problems[0];
    if (first) {
      const subject = first.field ? fieldName(first.field, entry, pins, say) : "";
      const mend = t("card.openField", { field: subject });
      return { amber: false, subject, words: diagnosis(t, first), field: first.field, mend };
    }
    if (status !== "failed") return null;
    const error = run?.error ?? null;
    const field = error?.where === "model" ? "model" : null;
    const mend = field ? t("card.openField", { field: fieldName(field, entry, pins, say) }) : "";
    return { amber: false, subject: "", words: error ? failure(t, error) : t("state.failed"), field, mend };
  };
}

export function CardProblem({ trouble }: { trouble: Trouble }) {
  const { t } = useWords();
  const { amber, subject, words } = trouble;
  const said = subject ? t("card.about", { subject, words }) : words;
  return (
    <p className={`msg${amber ? " is-amber" : ""}`} role="status" title={said}>
      <span>{said}</span>
    </p>
  );
}

export function Mend({ id, trouble }: { id: Id; trouble: Trouble }) {
  const visit = useVisit();
  return (
    <button
      type="button"
      className={`mend nodrag${trouble.amber ? " is-amber" : ""}`}
      tabIndex={-1}
      onClick={() => visit(id, trouble.field)}
    >
      {trouble.mend}
    </button>
  );
}
