// A node on the canvas. It reads only its own node, run and problems, so a streaming node re-renders alone.
import { type Node, type NodeProps, useStore } from "@xyflow/react";
import { type CSSProperties, memo, useMemo } from "react";
import { ConflictTag, useConflictCount } from "../conflicts/ConflictTag";
import { Glyph } from "../look/Glyph";
import { type GlyphName, isGlyph } from "../look/glyphs";
import { CardBody, limitOf } from "./CardBody";
import { CardFoot } from "./CardFoot";
import { useTrouble } from "./CardProblem";
import { CompactCard } from "./CompactCard";
import type { Card } from "./cards";
import { MarkTag } from "./MarkTag";
import { useMarks } from "./marks";
import { useName } from "./names";
import { PinRow } from "./PinRow";
import { PortRefusalNote } from "./PortRefusalNote";
import { isGap, useProblems } from "./problems";
import { StateMark } from "./StateMark";
import { useEditor } from "./screen";
import { statusOf } from "./status";
import { levelOf } from "./zoom";

export type CardNode = Node<{ card: Card }, "card">;

export const glyphOf = (name: string | undefined): GlyphName => (name && isGlyph(name) ? name : "component");

const useLevel = () => useStore((flow) => levelOf(flow.transform[2]));

export const NodeCard = memo(function NodeCard({ id, data, selected }: NodeProps<CardNode>) {
  const node = useEditor((editor) => editor.graph.nodes.get(id));
  const entry = useEditor((editor) => (node ? editor.catalogue.get(node.component) : undefined));
  const run = useEditor((editor) => editor.run?.nodes.get(id));
  const problems = useProblems(id);
  const name = useName(id);
  const level = useLevel();
  const troubleOf = useTrouble();
  const marks = useMarks();
  const conflicts = useConflictCount(id);
  const { card } = data;
  const status = statusOf(node, run);
  const inputs = card.pins.inputs;
  const bad = useMemo(() => {
    const ports = problems.flatMap((found) => (isGap(found) ? [] : [found.field]));
    if (run?.error) ports.push(inputs.find((pin) => run.error?.where.endsWith(pin.name))?.name ?? null);
    return new Set(ports.filter((port) => port !== null));
  }, [problems, run?.error, inputs]);
  if (!node) return null;
  const limit = run?.stepsLimit ?? limitOf(node, "steps", entry?.budget.steps ?? 0);
  const done = limit > 0 ? Math.min((run?.steps ?? 0) / limit, 1) : 0;
  const mistakes = problems.filter((found) => !isGap(found));
  const gaps = problems.filter(isGap).flatMap((found) => found.field ?? []);
  const trouble = troubleOf({ run, status, problems: mistakes, entry, pins: inputs });
  const rested = status === "idle" || status === "done";
  const mark = marks?.nodes.get(id);
  const marked = marks ? ` d-${mark?.kind ?? "same"}` : "";
  const conflicted = !marks && conflicts > 0;
  const tag = mark ? <MarkTag mark={mark} /> : conflicted && <ConflictTag id={id} count={conflicts} />;
  const classes = `node${marked} is-${status} l-${level}${selected ? " is-selected" : ""}${mistakes.length > 0 && rested ? " is-bad" : ""}${conflicted ? " has-conflict" : ""}`;
  const style = { "--v": done } as CSSProperties;
  const rows = Math.max(inputs.length, card.pins.outputs.length, 1);
  if (level === "box") {
    return (
      <article className={classes} style={style} data-testid={`node-${id}`} data-status={status} title={name}>
        <span className="rail" />
        {tag}
      </article>
    );
  }
  const pins = (
    <div className="pins">
      {Array.from({ length: rows }, (_, row) => {
        const [input, output] = [inputs[row], card.pins.outputs[row]];
        return <PinRow key={`${input?.name}\n${output?.name}`} node={id} input={input} output={output} bad={bad} />;
      })}
    </div>
  );
  if (level === "compact") {
    return (
      <article className={classes} style={style} data-testid={`node-${id}`} data-status={status}>
        <span className="rail" />
        {tag}
        {pins}
        <CompactCard id={id} node={node} entry={entry} run={run} status={status} card={card} name={name} />
      </article>
    );
  }
  return (
    <article className={classes} style={style} data-testid={`node-${id}`} data-status={status}>
      <span className="rail" />
      {tag}
      <header className="head">
        <Glyph name={glyphOf(entry?.glyph)} />
        <h3 title={name}>{name}</h3>
        <StateMark
          status={status}
          rate={run?.rate ?? 0}
          place={run?.place ?? null}
          problems={mistakes.length}
          gaps={gaps.length}
        />
      </header>
      {pins}
      <PortRefusalNote node={id} inputs={inputs} outputs={card.pins.outputs} />
      <CardBody id={id} node={node} entry={entry} run={run} status={status} card={card} trouble={trouble} />
      <CardFoot node={node} entry={entry} run={run} status={status} gaps={gaps} pins={inputs} trouble={trouble} />
    </article>
  );
});
