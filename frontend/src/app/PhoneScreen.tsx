// A Space on a phone: read and run. Live nodes come first, then failed and waiting ones, then the rest in run order.
import { useState } from "react";
import { givenText, Scales, useWaitsFor } from "../canvas/CardBody";
import { useCost } from "../canvas/CardFoot";
import { useFlowGraph } from "../canvas/flowGraph";
import { LiveText } from "../canvas/LiveText";
import { useStates } from "../canvas/Minimap";
import { glyphOf } from "../canvas/NodeCard";
import { useName, useNaming } from "../canvas/names";
import { useEditor } from "../canvas/screen";
import { sentence } from "../canvas/sentence";
import { type Status, statusOf } from "../canvas/status";
import { PhoneConflicts } from "../conflicts/PhoneConflicts";
import { useWords } from "../i18n/language";
import type { Id } from "../igb/graph";
import { Glyph, Mark } from "../look/Glyph";
import { RunButton } from "../panels/RunButton";
import { Switches } from "../panels/StatusBar";
import { PhoneOverview } from "./PhoneOverview";

const FIRST: readonly Status[] = ["running", "failed", "over", "queued", "waiting"];
const rank = (status: Status): number => (FIRST.includes(status) ? FIRST.indexOf(status) : FIRST.length);

export function PhoneScreen({ goHome }: { goHome(): void }) {
  const { t } = useWords();
  const { order } = useFlowGraph();
  const states = useStates();
  const name = useEditor((editor) => editor.name);
  const number = useEditor((editor) => editor.version?.number ?? null);
  const link = useEditor((editor) => editor.link);
  const [chosen, choose] = useState<Id | null>(null);
  const sorted = order
    .map((id, index) => ({ id, index, rank: rank(states.get(id) ?? "idle") }))
    .sort((a, b) => a.rank - b.rank || a.index - b.index);
  return (
    <div className="phone" data-testid="phone">
      <header className="bar">
        <button type="button" className="home-link" aria-label={t("app.home")} onClick={goHome}>
          <Mark />
        </button>
        <h1 className="space-name">{name}</h1>
        {number !== null && <span className="version-mini num">v{number}</span>}
        <span className="bar-right">
          <Switches />
        </span>
      </header>
      {link === "lost" && <p className="notice is-warning">{t("status.lost")}</p>}
      <PhoneConflicts />
      <PhoneOverview />
      <ol className="phone-nodes" aria-label={t("phone.nodes")}>
        {sorted.map(({ id }) => (
          <PhoneNode key={id} id={id} open={chosen === id} toggle={() => choose(chosen === id ? null : id)} />
        ))}
        <li className="wider">
          <Wider />
        </li>
      </ol>
      <div className="dock">
        <RunButton />
      </div>
    </div>
  );
}

function PhoneNode({ id, open, toggle }: { id: Id; open: boolean; toggle(): void }) {
  const { t } = useWords();
  const name = useName(id);
  const naming = useNaming();
  const node = useEditor((editor) => editor.graph.nodes.get(id));
  const entry = useEditor((editor) => (node ? editor.catalogue.get(node.component) : undefined));
  const run = useEditor((editor) => editor.run?.nodes.get(id));
  const status = statusOf(node, run);
  const waitsFor = useWaitsFor(id, status);
  const cost = useCost()(run);
  if (!node) return null;
  const why = sentence(t, status, run, { of: naming, waitsFor });
  const text = givenText(run);
  const tells = why && !(status === "running" && text);
  const live = status === "running" && run?.stepsLimit !== null;
  const shows = open || live || status === "failed" || status === "over";
  const steps = run && run.stepsLimit !== null && live ? `${run.steps} / ${run.stepsLimit}` : "";
  return (
    <li className={`is-${status}${shows ? " is-open" : ""}`} data-testid={`phone-node-${id}`} data-status={status}>
      <button type="button" className="phone-line" aria-expanded={shows} onClick={toggle}>
        <Glyph name={glyphOf(entry?.glyph)} />
        <b>{name}</b>
        <span className="st">
          {steps || cost || t(`state.${status}`)}
          <Glyph name={status} size={14} label={t(`state.${status}`)} />
        </span>
      </button>
      {shows && (
        <div className="phone-more">
          {tells && (
            <p className={status === "over" ? "is-amber" : status === "failed" ? "is-error" : "quiet"}>{why}</p>
          )}
          {text ? (
            <LiveText text={text} live={status === "running"} />
          ) : (
            !why && <p className="quiet">{t("phone.nothing")}</p>
          )}
          {entry && entry.budget.steps > 0 && (
            <div className="phone-meters">
              <Scales node={node} entry={entry} run={run} status={status} />
            </div>
          )}
        </div>
      )}
    </li>
  );
}

function Wider() {
  const { t } = useWords();
  const [copied, setCopied] = useState(false);
  const copy = () => void navigator.clipboard?.writeText(location.href).then(() => setCopied(true));
  return (
    <>
      <span>{t("app.wider")}</span>
      <button type="button" className="btn" onClick={copy}>
        <Glyph name={copied ? "done" : "link"} />
        {t(copied ? "app.copied" : "app.copyLink")}
      </button>
    </>
  );
}
