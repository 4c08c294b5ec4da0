// The drawer: the run's nodes in order with their time, and what blocks the next run.
import { useFlowGraph } from "../canvas/flowGraph";
import { useFocusNode } from "../canvas/keyboard";
import { nameIn } from "../canvas/names";
import { useEditor, useScreen, useView, useVisit } from "../canvas/screen";
import { diagnosis, sentence } from "../canvas/sentence";
import { statusOf } from "../canvas/status";
import { secondsText } from "../canvas/values";
import { useWords } from "../i18n/language";
import { Glyph } from "../look/Glyph";
import { useElapsed } from "./elapsed";
import { Timeline } from "./Timeline";

export function useProblemCount(): number {
  return useEditor((editor) => {
    let count = editor.diagnostics.length;
    for (const run of editor.run?.nodes.values() ?? []) if (run.phase === "failed") count += 1;
    return count;
  });
}

export function Drawer() {
  const { t } = useWords();
  const { view } = useScreen();
  const tab = useView((view) => view.drawer);
  const problems = useProblemCount();
  const hasRun = useEditor((editor) => editor.run !== null);
  if (!tab) return null;
  const open = (name: "run" | "problems") => view.getState().set({ drawer: name });
  return (
    <section className="drawer" aria-label={t("drawer.label")} data-testid="drawer">
      <div className="drawer-tabs" role="tablist">
        <button
          type="button"
          role="tab"
          aria-selected={tab === "run"}
          onClick={() => open("run")}
          data-testid="tab-run"
        >
          {t("drawer.run")}
        </button>
        <button
          type="button"
          role="tab"
          aria-selected={tab === "problems"}
          onClick={() => open("problems")}
          data-testid="tab-problems"
        >
          {problems > 0 && <Glyph name="failed" size={12} className="is-error" />}
          {t("drawer.problems")}
          {problems > 0 && <em>{problems}</em>}
        </button>
        <span className="drawer-right">
          {hasRun && <Elapsed />}
          <button
            type="button"
            className="icon-button"
            aria-label={t("drawer.close")}
            title={t("drawer.close")}
            onClick={() => view.getState().set({ drawer: null })}
          >
            <Glyph name="x" />
          </button>
        </span>
      </div>
      {tab === "run" ? hasRun ? <Timeline /> : <p className="panel-empty">{t("drawer.noRun")}</p> : <Problems />}
    </section>
  );
}

function Elapsed() {
  const { t } = useWords();
  const elapsed = useElapsed();
  return (
    <span>
      {t("drawer.elapsed")} <b>{secondsText(elapsed)} s</b>
    </span>
  );
}

function Problems() {
  const { t, language } = useWords();
  const visit = useVisit();
  const focus = useFocusNode();
  const { order } = useFlowGraph();
  const editor = useEditor((editor) => editor);
  const failed = order.filter((id) => editor.run?.nodes.get(id)?.phase === "failed");
  if (editor.diagnostics.length + failed.length === 0) return <p className="panel-empty">{t("drawer.noProblems")}</p>;
  const go = (node: string | null, field: string | null) => {
    if (!node) return;
    if (!field) focus(node);
    visit(node, field);
  };
  return (
    <ul className="problem-list">
      {editor.diagnostics.map((found) => (
        <li key={`${found.code}\n${found.where}`}>
          <button type="button" onClick={() => go(found.node, found.field)} data-testid="problem">
            <Glyph name="failed" size={14} className="is-error" />
            <b>{found.node ? nameIn(editor, found.node, language) : found.where}</b>
            <span className="mono">{found.field}</span>
            <span>{diagnosis(t, found)}</span>
            <span className="quiet">{t("drawer.blocks")}</span>
          </button>
        </li>
      ))}
      {failed.map((id) => {
        const run = editor.run?.nodes.get(id);
        const status = statusOf(editor.graph.nodes.get(id), run);
        const words = sentence(t, status, run, { of: (other) => nameIn(editor, other, language), waitsFor: null });
        return (
          <li key={id}>
            <button type="button" onClick={() => go(id, null)} data-testid="problem">
              <Glyph name={status} size={14} className={status === "over" ? "is-warning" : "is-error"} />
              <b>{nameIn(editor, id, language)}</b>
              <span className="mono">{run?.error?.code}</span>
              <span>{words}</span>
              <span className="quiet">{t("drawer.inRun")}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
