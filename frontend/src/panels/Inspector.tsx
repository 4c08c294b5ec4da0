// The inspector: what the selected node is set to, may use, is wired to, and gave last.
import { useEffect, useRef } from "react";
import { useShallow } from "zustand/react/shallow";
import { useGestures } from "../canvas/gestures";
import { glyphOf } from "../canvas/NodeCard";
import { useName } from "../canvas/names";
import { useProblems } from "../canvas/problems";
import { useEditor, useScreen, useView } from "../canvas/screen";
import { useWords } from "../i18n/language";
import type { Id } from "../igb/graph";
import { Glyph } from "../look/Glyph";
import { BudgetSection } from "./BudgetSection";
import { FlowSection } from "./FlowSection";
import { LastOutput } from "./LastOutput";
import { NodeProblems } from "./NodeProblems";
import { PortsSection } from "./PortsSection";
import { SettingsSection } from "./SettingsSection";

export function Inspector({ sheet }: { sheet: boolean }) {
  const { t } = useWords();
  const { view } = useScreen();
  const chosen = useView((view) => view.selected);
  const present = useEditor(useShallow((editor) => [...chosen].filter((id) => editor.graph.nodes.has(id))));
  const open = useView((view) => view.sheet);
  const only = present.length === 1 ? present[0] : undefined;
  if (sheet && (!open || !only)) return null;
  return (
    <aside className={`inspector${sheet ? " is-sheet" : ""}`} aria-label={t("inspector.title")} data-testid="inspector">
      {sheet && (
        <button
          type="button"
          className="icon-button sheet-close"
          aria-label={t("inspector.close")}
          onClick={() => view.getState().set({ sheet: false })}
        >
          <Glyph name="x" />
        </button>
      )}
      {only ? <NodeInspector key={only} id={only} /> : <Nothing count={present.length} />}
    </aside>
  );
}

function Nothing({ count }: { count: number }) {
  const { t } = useWords();
  const gestures = useGestures();
  if (count === 0) return <FlowSection />;
  return (
    <div className="panel-empty">
      <b>{t("inspector.many", { count })}</b>
      <p>{t("inspector.manyHint")}</p>
      <p className="acts">
        <button type="button" className="btn sm" onClick={gestures.duplicate}>
          <Glyph name="copy" size={14} />
          {t("inspector.duplicate")}
        </button>
        <button type="button" className="btn sm" onClick={() => gestures.remove()}>
          <Glyph name="trash" size={14} />
          {t("inspector.delete")}
        </button>
      </p>
    </div>
  );
}

function NodeInspector({ id }: { id: Id }) {
  const problems = useProblems(id);
  const box = useRef<HTMLDivElement>(null);
  const goTo = useView((view) => (view.goTo?.node === id ? view.goTo : null));
  useEffect(() => {
    if (!goTo?.field) return;
    const field =
      document.getElementById(`field-${id}-${goTo.field}`) ?? document.getElementById(`port-of-${goTo.field}`);
    field?.focus();
    field?.scrollIntoView({ block: "nearest" });
  }, [goTo, id]);
  return (
    <div className="inspector-in" ref={box}>
      <Head id={id} />
      <NodeProblems id={id} problems={problems} />
      <SettingsSection id={id} problems={problems} />
      <BudgetSection id={id} />
      <PortsSection id={id} problems={problems} />
      <LastOutput id={id} />
    </div>
  );
}

function Head({ id }: { id: Id }) {
  const { t, say } = useWords();
  const gestures = useGestures();
  const name = useName(id);
  const label = useEditor((editor) => editor.graph.labels.get(id) ?? "");
  const node = useEditor((editor) => editor.graph.nodes.get(id));
  const entry = useEditor((editor) => (node ? editor.catalogue.get(node.component) : undefined));
  const { editor } = useScreen();
  if (!node) return null;
  const off = node.flags.get("disabled") === true;
  return (
    <header className="inspector-head">
      <Glyph name={glyphOf(entry?.glyph)} />
      <input
        className="name-field"
        value={label}
        placeholder={entry ? say(entry.label) : name}
        aria-label={t("inspector.name")}
        data-testid="node-name"
        onChange={(event) => gestures.rename(id, event.target.value)}
        onBlur={() => editor.getState().settle()}
        onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
      />
      <div className="icon-set">
        <button
          type="button"
          className={`icon-button${off ? " is-on" : ""}`}
          aria-pressed={off}
          aria-label={t(off ? "inspector.enable" : "inspector.disable")}
          title={t(off ? "inspector.enable" : "inspector.disable")}
          onClick={() => gestures.toggle(id)}
          data-testid="node-toggle"
        >
          <Glyph name="disabled" />
        </button>
        <button
          type="button"
          className="icon-button"
          aria-label={t("inspector.duplicate")}
          title={t("inspector.duplicate")}
          onClick={gestures.duplicate}
        >
          <Glyph name="copy" />
        </button>
        <button
          type="button"
          className="icon-button"
          aria-label={t("inspector.delete")}
          title={t("inspector.delete")}
          onClick={() => gestures.remove()}
          data-testid="node-delete"
        >
          <Glyph name="trash" />
        </button>
      </div>
      <p className="meta">
        {entry && <span>{say(entry.label)}</span>}
        <span className="mono">
          {node.component}@{node.version}
        </span>
      </p>
      {entry && <p className="help">{say(entry.help)}</p>}
    </header>
  );
}
