// What is wrong with a node, in one box under its ports: needed against got, and one way to mend it.
import { useWords } from "../i18n/language";
import type { Id } from "../igb/graph";
import type { Diagnostic, NodeRun } from "../state/editor";
import { useVisit } from "./screen";
import { diagnosis, sentence, spentField } from "./sentence";
import type { Status } from "./status";

interface Props {
  id: Id;
  run: NodeRun | undefined;
  status: Status;
  problems: readonly Diagnostic[];
}

const NAMELESS = { of: (id: Id) => id, waitsFor: null };

export function CardProblem({ id, run, status, problems }: Props) {
  const { t } = useWords();
  const visit = useVisit();
  const first = problems[0];
  if (status === "over") {
    return (
      <div className="msg is-amber" role="status">
        {sentence(t, status, run, NAMELESS)}
        <button type="button" className="nodrag" tabIndex={-1} onClick={() => visit(id, `budget.${spentField(run)}`)}>
          {t("card.raise")}
        </button>
      </div>
    );
  }
  if (first) {
    return (
      <div className="msg" role="status">
        {first.field && <b>{first.field}: </b>}
        {diagnosis(t, first)}
        {first.field && (
          <button type="button" className="nodrag" tabIndex={-1} onClick={() => visit(id, first.field)}>
            {t("card.openField", { field: first.field })}
          </button>
        )}
      </div>
    );
  }
  if (status !== "failed" || !run?.error) return null;
  return (
    <div className="msg" role="status">
      {sentence(t, status, run, NAMELESS)}
    </div>
  );
}
