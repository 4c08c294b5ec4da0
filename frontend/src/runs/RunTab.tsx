// The drawer's Run tab: earlier runs beside the timeline of the one that is shown, and why that one failed.
import { useEffect, useState } from "react";
import { useFlowGraph } from "../canvas/flowGraph";
import { useNaming } from "../canvas/names";
import { useEditor, useScreen } from "../canvas/screen";
import { sentence } from "../canvas/sentence";
import { isOver } from "../canvas/status";
import { secondsText } from "../canvas/values";
import { useWords } from "../i18n/language";
import { Glyph } from "../look/Glyph";
import { isGoing } from "../panels/elapsed";
import { useRest } from "../panels/rest";
import { Timeline } from "../panels/Timeline";
import { RestError, type RunInfo } from "../state/rest";
import { timeOf } from "./words";

export function RunTab() {
  const { t } = useWords();
  const runs = useRuns();
  const shown = useEditor((editor) => editor.run?.id ?? null);
  const reason = useEditor((editor) => editor.run?.reason ?? null);
  if (!shown && runs.length === 0) return <p className="panel-empty">{t("drawer.noRun")}</p>;
  return (
    <div className="run-tab">
      <RunList runs={runs} shown={shown} />
      <div className="run-told">
        {reason && <Reason told={reason} />}
        <Timeline />
      </div>
    </div>
  );
}

/** Why the shown run failed: its first failed node by name, in the words of its card; else as the engine told it. */
function Reason({ told }: { told: string }) {
  const { t } = useWords();
  const { order } = useFlowGraph();
  const naming = useNaming();
  const runs = useEditor((editor) => editor.run?.nodes);
  const failed = order.find((id) => runs?.get(id)?.phase === "failed");
  const run = failed === undefined ? undefined : runs?.get(failed);
  const status = run?.error && isOver(run.error.code) ? "over" : "failed";
  const words = sentence(t, status, run, { of: naming, waitsFor: null });
  return (
    <p className={`run-reason ${status === "over" ? "is-warning" : "is-error"}`} data-testid="run-reason">
      <Glyph name={status} size={12} />
      {t("runs.reason", { reason: failed === undefined ? told : `${naming(failed)} · ${words}` })}
    </p>
  );
}

function RunList({ runs, shown }: { runs: readonly RunInfo[]; shown: string | null }) {
  const { t } = useWords();
  return (
    <ol className="run-list" aria-label={t("runs.title")} data-testid="runs">
      {runs.map((run, place) => (
        <li key={run.id}>
          <Row run={run} newest={place === 0} on={run.id === shown} />
        </li>
      ))}
    </ol>
  );
}

function Row({ run, newest, on }: { run: RunInfo; newest: boolean; on: boolean }) {
  const { t, language } = useWords();
  const { editor } = useScreen();
  const going = useEditor((editor) => isGoing(editor.run));
  const open = useEditor((editor) => editor.link === "open");
  const why = going ? "runs.going" : open ? (run.replays || newest ? "" : "runs.gone") : "run.waitsLink";
  const choose = () => {
    const { recall, live } = editor.getState();
    if (newest) live();
    else recall({ id: run.id, started: run.started });
  };
  return (
    <button
      type="button"
      className={`run-row${on ? " is-on" : ""}`}
      aria-current={on || undefined}
      disabled={why !== "" && !on}
      title={why && !on ? t(why) : (run.reason ?? t("runs.show"))}
      onClick={choose}
      data-testid={`run-${run.id}`}
    >
      <Glyph name={run.status} size={12} label={t(`state.${run.status}`)} className={`c-${run.status}`} />
      <span className="num">{timeOf(run.started, language)}</span>
      <span className="quiet">{run.version === null ? "" : `v${run.version}`}</span>
      <span className="num quiet">{run.seconds === null ? "" : `${secondsText(run.seconds)} s`}</span>
    </button>
  );
}

/** The Space's runs, newest first; asked for again whenever one begins or ends. Without an answer what was there stays. */
function useRuns(): readonly RunInfo[] {
  const rest = useRest();
  const space = useEditor((editor) => editor.spaceId);
  const link = useEditor((editor) => editor.link);
  const newest = useEditor((editor) => (editor.past ? "" : `${editor.run?.id} ${editor.run?.status}`));
  const [runs, setRuns] = useState<readonly RunInfo[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a run that begins or ends, or a new link, is why the list is read again
  useEffect(() => {
    let over = false;
    const read = async () => {
      try {
        const found = await rest.runs(space);
        if (!over) setRuns(found);
      } catch (error) {
        if (!(error instanceof RestError)) throw error;
      }
    };
    const timer = setTimeout(read, LATER_MS);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [rest, space, link, newest]);
  return runs;
}

const LATER_MS = 100; // a run's row is written as it ends
