// The ports of a node and what they are wired to. Inputs can be wired here, without a mouse.
import { useMemo, useState } from "react";
import { endsOf } from "../canvas/cards";
import { useGestures } from "../canvas/gestures";
import { nameOf } from "../canvas/names";
import { type Pin, pinsOf } from "../canvas/ports";
import { isGap } from "../canvas/problems";
import { useEditor } from "../canvas/screen";
import type { PortRef } from "../canvas/view";
import { useWords } from "../i18n/language";
import type { Edge, Graph, Id } from "../igb/graph";
import { downstream } from "../igb/paths";
import { PortMark } from "../look/PortMark";
import type { Catalogue, PortType } from "../state/catalogue";
import type { Diagnostic } from "../state/editor";
import { accepts } from "../state/ports";

/** In a larger graph the sources are listed when they are asked for. */
const FEW = 200;

export function PortsSection({ id, problems }: { id: Id; problems: readonly Diagnostic[] }) {
  const { t, say, language } = useWords();
  const graph = useEditor((editor) => editor.graph);
  const catalogue = useEditor((editor) => editor.catalogue);
  const node = graph.nodes.get(id);
  const { into, from } = useMemo(() => endsOf(graph.edges), [graph.edges]);
  if (!node) return null;
  const ins = into.get(id) ?? [];
  const outs = from.get(id) ?? [];
  const pins = pinsOf(node, catalogue.get(node.component), ins, outs);
  const name = (other: Id) => nameOf(graph, catalogue, other, language);
  return (
    <section className="sec">
      <h3>
        {t("inspector.ports")}
        <em>{t("inspector.inOut", { inputs: pins.inputs.length, outputs: pins.outputs.length })}</em>
      </h3>
      <div className="port-table">
        {pins.inputs.map((pin) => (
          <InputRow
            key={pin.name}
            id={id}
            pin={pin}
            wire={ins.find((edge) => edge.input === pin.name)}
            graph={graph}
            catalogue={catalogue}
            bad={pin.missing || problems.some((found) => found.field === pin.name && !isGap(found))}
          />
        ))}
        {pins.outputs.map((pin) => {
          const readers = outs.filter((edge) => edge.output === pin.name).map((edge) => name(edge.target));
          return (
            <div className="port-line" key={pin.name}>
              <PortMark type={pin.type} hollow={!pin.connected} />
              <span>{say(pin.label)}</span>
              <span className="port-to">
                {readers.length > 0 ? t("inspector.to", { name: readers.join(", ") }) : t("inspector.nothing")}
              </span>
            </div>
          );
        })}
      </div>
    </section>
  );
}

interface InputProps {
  id: Id;
  pin: Pin;
  wire: Edge | undefined;
  graph: Graph;
  catalogue: Catalogue;
  bad: boolean;
}

function InputRow({ id, pin, wire, graph, catalogue, bad }: InputProps) {
  const { t, say, language } = useWords();
  const gestures = useGestures();
  const at: PortRef = { node: id, port: pin.name, side: "in" };
  const [asked, setAsked] = useState(false);
  const listed = asked || graph.nodes.size <= FEW;
  const sources = useMemo(
    () => (listed && !pin.missing ? sourcesFor(graph, catalogue, id, pin.type) : []),
    [listed, graph, catalogue, id, pin.type, pin.missing],
  );
  const value = wire ? `${wire.source}\n${wire.output}` : "";
  const label = (from: PortRef) => {
    const entry = catalogue.get(graph.nodes.get(from.node)?.component ?? "");
    const port = entry?.outputs.find((output) => output.name === from.port)?.label;
    return `${nameOf(graph, catalogue, from.node, language)} · ${port ? say(port) : from.port}`;
  };
  const pick = (next: string) => {
    if (next === "") {
      if (wire) gestures.disconnect(wire);
      return;
    }
    const [node = "", port = ""] = next.split("\n");
    gestures.connect({ node, port, side: "out" }, at);
  };
  const here = wire ? { node: wire.source, port: wire.output, side: "out" as const } : null;
  const offered =
    here && !sources.some((from) => `${from.node}\n${from.port}` === value) ? [here, ...sources] : sources;
  return (
    <div className={`port-line${bad ? " is-bad" : ""}`}>
      <PortMark type={pin.type} hollow={!pin.connected} />
      <label htmlFor={`port-of-${pin.name}`}>{say(pin.label)}</label>
      <select
        id={`port-of-${pin.name}`}
        className="inp port-source"
        value={value}
        aria-label={t("inspector.connect", { port: say(pin.label) })}
        aria-invalid={bad}
        data-testid={`source-${pin.name}`}
        onFocus={() => setAsked(true)}
        onPointerDown={() => setAsked(true)}
        onChange={(event) => pick(event.target.value)}
      >
        <option value="">{t("inspector.nothing")}</option>
        {offered.map((from) => (
          <option key={`${from.node}\n${from.port}`} value={`${from.node}\n${from.port}`}>
            {label(from)}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Every output that this input may read: of a fitting type, and not fed by this node itself. One walk for all of them. */
function sourcesFor(graph: Graph, catalogue: Catalogue, id: Id, type: PortType): PortRef[] {
  const fed = downstream(graph.edges, id);
  const found: PortRef[] = [];
  for (const [node, { component }] of graph.nodes) {
    if (fed.has(node)) continue;
    for (const output of catalogue.get(component)?.outputs ?? []) {
      if (!output.hidden && accepts(type, output.type)) found.push({ node, port: output.name, side: "out" });
    }
  }
  return found;
}
