// The drawer: the run's nodes in order with their time, and what blocks the next run.
import { useFlowGraph } from "../canvas/flowGraph";
import { useFocusNode } from "../canvas/keyboard";
import { fieldName, nameIn } from "../canvas/names";
import { pinsOf } from "../canvas/ports";
import { isGap, standing } from "../canvas/problems";
import { useEditor, useScreen, useView, useVisit } from "../canvas/screen";
import { sentence } from "../canvas/sentence";
import { isOver, statusOf } from "../canvas/status";
import { secondsText } from "../canvas/values";
import { opened } from "../conflicts/acts";
import { numConflicts } from "../conflicts/section";
import { diagnosis } from "../i18n/facts";
import { useWords } from "../i18n/language";
import { Glyph } from "../look/Glyph";
import { RunTab } from "../runs/RunTab";
import { useElapsed } from "./elapsed";

export interface ProblemCount {
  count: number;
  glyph: "failed" | "over" | "warn"; // the worst: a mistake, a spent budget, a missing wire
  ink: "is-error" | "is-warning";
}

export function useProblemCount(): ProblemCount {
  const count = useEditor((editor) => {
    const found = standing(editor);
    const gaps = found.filter(isGap).length;
    const failed = [...(editor.run?.nodes.values() ?? [])].filter((run) => run.phase === "failed");
    const spent = failed.filter((run) => run.error && isOver(run.error.code)).length;
    return `${found.length - gaps + failed.length - spent} ${spent} ${gaps}`;
  });
  const [mistakes = 0, spent = 0, gaps = 0] = count.split(" ").map(Number);
  const glyph = mistakes > 0 ? "failed" : spent > 0 ? "over" : "warn";
  return { count: mistakes + spent + gaps, glyph, ink: mistakes > 0 ? "is-error" : "is-warning" };
}

export function Drawer() {
  const { t } = useWords();
  const { view } = useScreen();
  const tab = useView((view) => view.drawer);
  const { count: problems, glyph, ink } = useProblemCount();
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
          {problems > 0 && <Glyph name={glyph} size={12} className={ink} />}
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
      {tab === "run" ? <RunTab /> : <Problems />}
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
  const { t, say, language } = useWords();
  const visit = useVisit();
  const focus = useFocusNode();
  const { order } = useFlowGraph();
  const { view } = useScreen();
  const editor = useEditor((editor) => editor);
  const failed = order.filter((id) => editor.run?.nodes.get(id)?.phase === "failed");
  const problems = standing(editor);
  if (problems.length + failed.length === 0) return <p className="panel-empty">{t("drawer.noProblems")}</p>;
  const subject = (id: string | null, field: string | null): string => {
    const node = id ? editor.graph.nodes.get(id) : undefined;
    const entry = node && editor.catalogue.get(node.component);
    return node && field ? fieldName(field, entry, pinsOf(node, entry, [], []).inputs, say) : (field ?? "");
  };
  const go = (node: string | null, field: string | null) => {
    if (!node && numConflicts(editor.graph) > 0) view.getState().set(opened(editor, view.getState()));
    if (!node) return;
    if (!field) focus(node);
    visit(node, field);
  };
  return (
    <ul className="problem-list">
      {problems.map((found) => (
        <li key={`${found.code}\n${found.where}`}>
          <button type="button" onClick={() => go(found.node, found.field)} data-testid="problem">
            <Glyph
              name={isGap(found) ? "warn" : "failed"}
              size={14}
              className={isGap(found) ? "is-warning" : "is-error"}
            />
            <b>{found.node ? nameIn(editor, found.node, language) : found.where}</b>
            <span>{subject(found.node, found.field)}</span>
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
              <span className="mono quiet">{run?.error?.name}</span>
              <span>{words}</span>
              <span className="quiet">{t("drawer.inRun")}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
