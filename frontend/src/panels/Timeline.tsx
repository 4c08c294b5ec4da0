// When each node of the newest run worked, in run order, on one scale of seconds.
import { type CSSProperties, useEffect, useState } from "react";
import { useCost } from "../canvas/CardFoot";
import { useFlowGraph } from "../canvas/flowGraph";
import { glyphOf } from "../canvas/NodeCard";
import { useName } from "../canvas/names";
import { useEditor, useScreen, useView, useVisit } from "../canvas/screen";
import { statusOf } from "../canvas/status";
import { secondsText } from "../canvas/values";
import { useWords } from "../i18n/language";
import type { Id } from "../igb/graph";
import { Glyph } from "../look/Glyph";
import { useElapsed } from "./elapsed";
import { createTimes, scaleOf, type Times } from "./times";

export function Timeline() {
  const { t } = useWords();
  const { order } = useFlowGraph();
  const { editor } = useScreen();
  const run = useEditor((editor) => editor.run?.id ?? null);
  const elapsed = useElapsed();
  const times = useTimes();
  if (!run) return null;
  const known = editor.getState().run?.nodes;
  // What was seen to end after the engine's own clock stopped still has its place.
  const last = Math.max(elapsed, ...[...times.values()].map(({ ended }) => ended ?? 0));
  const { span, ticks } = scaleOf(last);
  const rows = order.filter((id) => known?.has(id));
  return (
    <div className="timeline" data-testid="timeline">
      <div className="time-row time-head" aria-hidden>
        <span />
        <span className="time-track">
          {ticks.map((tick) => (
            <i key={tick} style={{ left: `${(tick / span) * 100}%` }}>
              {tick.toFixed(span < 2 ? 2 : 1)} s
            </i>
          ))}
        </span>
        <span>{t("drawer.time")}</span>
        <span>{t("drawer.output")}</span>
      </div>
      <div className="time-rows">
        <div className="time-row time-grid" aria-hidden>
          <span />
          <span className="time-track">
            {ticks.map((tick) => (
              <i key={tick} style={{ left: `${(tick / span) * 100}%` }} />
            ))}
          </span>
        </div>
        <ol>
          {rows.map((id) => (
            <Row key={id} id={id} span={span} elapsed={elapsed} times={times.get(id)} />
          ))}
        </ol>
      </div>
    </div>
  );
}

interface RowProps {
  id: Id;
  span: number;
  elapsed: number;
  times: Times | undefined;
}

function Row({ id, span, elapsed, times }: RowProps) {
  const { t } = useWords();
  const visit = useVisit();
  const name = useName(id);
  const node = useEditor((editor) => editor.graph.nodes.get(id));
  const entry = useEditor((editor) => (node ? editor.catalogue.get(node.component) : undefined));
  const run = useEditor((editor) => editor.run?.nodes.get(id));
  const selected = useView((view) => view.selected.has(id));
  const cost = useCost()(run);
  const status = statusOf(node, run);
  const end = times?.ended ?? elapsed;
  const start =
    times?.running ?? (run?.seconds !== null && run?.seconds !== undefined ? Math.max(end - run.seconds, 0) : end);
  const style = { "--from": start / span, "--to": Math.max(end / span, start / span) } as CSSProperties;
  const working = status !== "waiting" && status !== "idle" && status !== "skipped" && status !== "queued";
  return (
    <li>
      <button type="button" className={`time-row${selected ? " is-on" : ""}`} onClick={() => visit(id, null)}>
        <span className="time-name">
          <Glyph name={glyphOf(entry?.glyph)} size={12} />
          <span>{name}</span>
          <Glyph name={status} size={12} label={t(`state.${status}`)} className={`c-${status}`} />
        </span>
        <span className="time-track">
          {working && <i className={`time-bar b-${status}`} style={style} />}
          {!working && <i className={`time-line b-${status}`} style={{ "--to": elapsed / span } as CSSProperties} />}
        </span>
        <span className="num">
          {run?.seconds === null || run?.seconds === undefined ? t(`state.${status}`) : `${secondsText(run.seconds)} s`}
        </span>
        <span className="num">{cost}</span>
      </button>
    </li>
  );
}

/** When each node began and ended, noted as its phases change under our eyes. */
function useTimes(): ReadonlyMap<Id, Times> {
  const { editor } = useScreen();
  const [times] = useState(() => createTimes(editor));
  useEffect(() => times.follow(), [times]);
  return times.known();
}
