// With nothing selected the inspector shows the flow as a whole: the texts it starts from, to write, and what it gives.
import { givenText, useWaitsFor } from "../canvas/CardBody";
import { bodyOf } from "../canvas/cards";
import { useFlowGraph } from "../canvas/flowGraph";
import { useGestures } from "../canvas/gestures";
import { useName, useNaming } from "../canvas/names";
import { useEditor, useScreen, useVisit } from "../canvas/screen";
import { sentence } from "../canvas/sentence";
import { statusOf } from "../canvas/status";
import { Form } from "../forms/Form";
import { fieldsOf, titleOf } from "../forms/fields";
import { useWords } from "../i18n/language";
import type { Id } from "../igb/graph";
import type { CatalogueEntry, JsonSchema } from "../state/catalogue";
import { drafts } from "./SettingsSection";

/** The schema's main param alone. */
function mainOf(entry: CatalogueEntry | undefined): JsonSchema | null {
  const found = Object.entries(entry?.schema.properties ?? {}).find(([, param]) => param.main);
  return found ? { properties: { [found[0]]: found[1] } } : null;
}

export function FlowSection() {
  const { t } = useWords();
  const { order } = useFlowGraph();
  const graph = useEditor((editor) => editor.graph);
  const catalogue = useEditor((editor) => editor.catalogue);
  const entryOf = (id: Id) => catalogue.get(graph.nodes.get(id)?.component ?? "");
  const inputs = order.filter((id) => {
    const entry = entryOf(id);
    return entry?.group === "io" && entry.inputs.every((port) => port.hidden) && mainOf(entry) !== null;
  });
  const results = order.filter((id) => bodyOf(entryOf(id)) === "result");
  if (inputs.length + results.length === 0) return <p className="panel-empty">{t("inspector.none")}</p>;
  return (
    <div className="inspector-in">
      <header className="inspector-head is-flow">
        <h2>{t("inspector.flow")}</h2>
        <p className="help">{t("inspector.none")}</p>
      </header>
      {inputs.length > 0 && (
        <section className="sec">
          <h3>{t("inspector.inputs")}</h3>
          {inputs.map((id) => (
            <FlowInput key={id} id={id} />
          ))}
        </section>
      )}
      {results.length > 0 && (
        <section className="sec">
          <h3>{t("inspector.results")}</h3>
          {results.map((id) => (
            <FlowResult key={id} id={id} />
          ))}
        </section>
      )}
    </div>
  );
}

function NodeLink({ id }: { id: Id }) {
  const visit = useVisit();
  const name = useName(id);
  return (
    <button type="button" className="node-link" onClick={() => visit(id, null)}>
      {name}
    </button>
  );
}

function FlowInput({ id }: { id: Id }) {
  const { language } = useWords();
  const gestures = useGestures();
  const { editor } = useScreen();
  const node = useEditor((editor) => editor.graph.nodes.get(id));
  const entry = useEditor((editor) => (node ? editor.catalogue.get(node.component) : undefined));
  const schema = mainOf(entry);
  if (!node || !schema) return null;
  const title = fieldsOf(schema).map((field) => titleOf(field, language))[0] ?? "";
  return (
    <div className="flow-item">
      <NodeLink id={id} />
      <Form
        scope={id}
        schema={schema}
        params={node.params}
        diagnostics={[]}
        drafts={drafts()}
        model=""
        set={(param, value) => gestures.set(id, param, title, value)}
        settle={() => editor.getState().settle()}
      />
    </div>
  );
}

function FlowResult({ id }: { id: Id }) {
  const { t } = useWords();
  const naming = useNaming();
  const node = useEditor((editor) => editor.graph.nodes.get(id));
  const run = useEditor((editor) => editor.run?.nodes.get(id));
  const status = statusOf(node, run);
  const waitsFor = useWaitsFor(id, status);
  const text = givenText(run);
  return (
    <div className="flow-item">
      <NodeLink id={id} />
      {text ? (
        <p className="last">{text}</p>
      ) : (
        <p className="hint">{sentence(t, status, run, { of: naming, waitsFor })}</p>
      )}
    </div>
  );
}
