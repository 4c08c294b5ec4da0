// Beside a comparison: every node that changed, by kind; and of the chosen one what changed in it.
import { useFlowGraph } from "../canvas/flowGraph";
import { useFocusNode } from "../canvas/keyboard";
import { SIGN } from "../canvas/marks";
import { nameOf } from "../canvas/names";
import { useEditor, useScreen, useView, useVisit } from "../canvas/screen";
import { useWords } from "../i18n/language";
import type { Id } from "../igb/graph";
import { CountMarks } from "./CountMarks";
import type { Comparison } from "./comparison";
import { FieldChanges } from "./FieldChanges";

const KINDS = ["changed", "added", "removed", "moved"] as const;

export function CompareInspector({
  comparison,
  title,
  sheet,
}: {
  comparison: Comparison;
  title: string;
  sheet: boolean;
}) {
  const { t, language } = useWords();
  const { view } = useScreen();
  const catalogue = useEditor((editor) => editor.catalogue);
  const selected = useView((view) => view.selected);
  const visit = useVisit();
  const focus = useFocusNode();
  const { order } = useFlowGraph();
  const only = selected.size === 1 ? [...selected][0] : undefined;
  const name = (id: Id) => nameOf(comparison.drawn, catalogue, id, language);
  const { nodes } = comparison.marks;
  const mark = only === undefined ? undefined : nodes.get(only);
  if (sheet && only === undefined) return null;
  return (
    <aside
      className={`inspector compare-inspector${sheet ? " is-sheet" : ""}`}
      aria-label={t("versions.changes")}
      data-testid="changes"
    >
      <div className="inspector-in">
        <header className="inspector-head is-flow">
          <h2>{title}</h2>
          <CountMarks counts={comparison.counts} />
        </header>
        {only !== undefined && (
          <section className="sec" data-testid="node-changes">
            <h3 className={mark ? `d-${mark.kind}` : ""}>
              <span>
                <b>{mark ? SIGN[mark.kind] : "="}</b> {name(only)}
              </span>
              <em>{t(mark ? `versions.${mark.kind}` : "versions.same")}</em>
            </h3>
            <FieldChanges id={only} comparison={comparison} catalogue={catalogue} />
            <button type="button" className="btn sm quiet" onClick={() => view.getState().select([])}>
              {t("versions.all")}
            </button>
          </section>
        )}
        {only === undefined &&
          KINDS.map((kind) => {
            const ids = order.filter((id) => nodes.get(id)?.kind === kind);
            if (ids.length === 0) return null;
            return (
              <section key={kind} className="sec">
                <h3 className={`d-${kind}`}>
                  <span>
                    <b>{SIGN[kind]}</b> <span className="change-kind">{t(`versions.${kind}`)}</span>
                  </span>
                  <em>{ids.length}</em>
                </h3>
                <ul className="change-list">
                  {ids.map((id) => (
                    <li key={id}>
                      <button
                        type="button"
                        onClick={() => {
                          focus(id);
                          visit(id, null);
                        }}
                        data-testid={`changed-${id}`}
                      >
                        <span>{name(id)}</span>
                        <em>{kind === "changed" && t("versions.fields", { count: nodes.get(id)?.fields ?? 0 })}</em>
                      </button>
                    </li>
                  ))}
                </ul>
              </section>
            );
          })}
      </div>
    </aside>
  );
}
