// The hard limits of a node: how much is used, and the limits themselves.
import { limitOf, Scales } from "../canvas/CardBody";
import { useGestures } from "../canvas/gestures";
import { Meter } from "../canvas/Meter";
import { useEditor, useScreen } from "../canvas/screen";
import { statusOf } from "../canvas/status";
import { BudgetForm } from "../forms/BudgetForm";
import { useWords } from "../i18n/language";
import type { Id } from "../igb/graph";
import { drafts } from "./SettingsSection";

export function BudgetSection({ id }: { id: Id }) {
  const { t } = useWords();
  const { editor } = useScreen();
  const gestures = useGestures();
  const node = useEditor((editor) => editor.graph.nodes.get(id));
  const entry = useEditor((editor) => (node ? editor.catalogue.get(node.component) : undefined));
  const run = useEditor((editor) => editor.run?.nodes.get(id));
  if (!node || !entry || entry.budget.steps === 0) return null;
  const status = statusOf(node, run);
  return (
    <section className="sec">
      <h3>
        {t("inspector.budget")}
        <em>{t("inspector.hard")}</em>
      </h3>
      <div className="budget">
        <Scales node={node} entry={entry} run={run} status={status} />
        <Meter
          kind="time"
          label={t("card.time")}
          used={run?.seconds ?? 0}
          limit={limitOf(node, "seconds", entry.budget.seconds)}
          quiet={status !== "running"}
        />
      </div>
      <BudgetForm
        scope={id}
        flags={node.flags}
        budget={entry.budget}
        drafts={drafts()}
        set={(flag, value) => gestures.budget(id, flag, value)}
        settle={() => editor.getState().settle()}
      />
    </section>
  );
}
