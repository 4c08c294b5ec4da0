// The settings of a node: the form of its component's schema, bound to the graph.
import { useMemo } from "react";
import { useGestures } from "../canvas/gestures";
import { pinsOf } from "../canvas/ports";
import { useEditor, useScreen } from "../canvas/screen";
import { Form } from "../forms/Form";
import { fieldsOf, titleOf } from "../forms/fields";
import { useWords } from "../i18n/language";
import type { Edge, Id } from "../igb/graph";
import type { Diagnostic } from "../state/editor";
import { useEngine } from "./engine";

/** Half-typed fields by node and param. They are this window's, and outlive a change of selection. */
const DRAFTS = new Map<string, string>();
export const drafts = (): Map<string, string> => DRAFTS;

export function SettingsSection({ id, problems }: { id: Id; problems: readonly Diagnostic[] }) {
  const { t, language } = useWords();
  const { editor } = useScreen();
  const gestures = useGestures();
  const engine = useEngine();
  const node = useEditor((editor) => editor.graph.nodes.get(id));
  const entry = useEditor((editor) => (node ? editor.catalogue.get(node.component) : undefined));
  const fields = useMemo(() => (entry ? fieldsOf(entry.schema) : []), [entry]);
  if (!node || !entry) return null;
  const titles = new Map(fields.map((field) => [field.name, titleOf(field, language)]));
  const changed = fields.filter((field) => node.params.has(field.name)).length;
  /** Wires that end at slots the template no longer has. */
  const lost = (): Edge[] => {
    const { graph } = editor.getState();
    const now = graph.nodes.get(id);
    if (!now || entry.template === null) return [];
    const into = graph.edges.filter((edge) => edge.target === id);
    const gone = new Set(pinsOf(now, entry, into, []).inputs.flatMap((pin) => (pin.missing ? [pin.name] : [])));
    return into.filter((edge) => gone.has(edge.input));
  };
  return (
    <section className="sec">
      <h3>
        {t("inspector.settings")}
        <em>{changed > 0 ? t("inspector.changed", { count: changed }) : t("inspector.asDefault")}</em>
      </h3>
      {fields.length === 0 && <p className="hint">{t("inspector.noParams")}</p>}
      <Form
        scope={id}
        schema={entry.schema}
        params={node.params}
        diagnostics={problems}
        drafts={drafts()}
        model={engine.model}
        set={(name, value) => gestures.set(id, name, titles.get(name) ?? name, value)}
        settle={() => gestures.leave(id, entry.template, lost())}
      />
    </section>
  );
}
