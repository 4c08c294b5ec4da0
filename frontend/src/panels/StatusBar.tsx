// The status bar: the link in words, what runs it, the pool, and the two switches of the interface.
import type { CSSProperties } from "react";
import { useEditor, useScreen, useView } from "../canvas/screen";
import { capacity, megabytes, rateText, secondsText } from "../canvas/values";
import { toggleLanguage, useWords } from "../i18n/language";
import { Glyph } from "../look/Glyph";
import { toggleTheme } from "../look/theme";
import { useProblemCount } from "./Drawer";
import { isGoing, useElapsed } from "./elapsed";
import { useEngine } from "./engine";

export function StatusBar() {
  const { t } = useWords();
  const { view } = useScreen();
  const { count: problems, glyph, ink } = useProblemCount();
  return (
    <footer className="status">
      <LinkState />
      <EngineState />
      <PoolGauge />
      <Rate />
      <button
        type="button"
        className={`cell${problems > 0 ? ` ${ink}` : ""}`}
        onClick={() => view.getState().set({ drawer: "problems" })}
        data-testid="problems"
      >
        {problems > 0 && <Glyph name={glyph} size={12} />}
        {problems > 0 ? t("status.problems", { count: problems }) : t("status.noProblems")}
      </button>
      <DrawerSwitch />
      <span className="gap" />
      <Machine />
      <button
        type="button"
        className="cell"
        title={t("status.shortcuts")}
        onClick={() => view.getState().set({ help: true })}
      >
        {t("status.shortcuts")} <kbd>?</kbd>
      </button>
      <Switches />
    </footer>
  );
}

export function Switches() {
  const { t } = useWords();
  return (
    <>
      <button
        type="button"
        className="cell"
        aria-label={t("status.theme")}
        title={t("status.theme")}
        onClick={toggleTheme}
        data-testid="theme"
      >
        <Glyph name="theme" size={14} />
      </button>
      <button
        type="button"
        className="cell"
        title={t("status.languageHint")}
        onClick={toggleLanguage}
        data-testid="language"
      >
        {t("status.language")}
      </button>
    </>
  );
}

function LinkState() {
  const { t } = useWords();
  const link = useEditor((editor) => editor.link);
  const pending = useEditor((editor) => editor.pending);
  const closedFor = useEditor((editor) => editor.closedFor);
  const keeps = useEditor((editor) => editor.keeps);
  if (closedFor) {
    return (
      <span
        className="cell is-error"
        title={t(keeps ? "status.closedKept" : "status.closedHint", { count: pending })}
        role="alert"
        data-testid="link"
      >
        <Glyph name="warn" size={12} />
        {t(`status.closed.${closedFor}`)}
      </span>
    );
  }
  if (link === "lost") {
    return (
      <span
        className="cell is-warning"
        title={t("status.lostHint", { count: pending })}
        role="status"
        data-testid="link"
      >
        <Glyph name="warn" size={12} />
        {t("status.lost")}
      </span>
    );
  }
  return (
    <span className="cell" role="status" data-testid="link" data-pending={pending}>
      <Glyph name={link === "open" ? "done" : "queued"} size={12} />
      {t(`status.${link}`)}
    </span>
  );
}

function EngineState() {
  const { t } = useWords();
  const engine = useEngine();
  const going = useEditor((editor) => isGoing(editor.run));
  if (going) return <RunningFor />;
  if (engine.state === "ready" || engine.state === "unknown") return null;
  const lost = engine.state === "failed" || engine.state === "closed";
  return (
    <span
      className={`cell${lost ? " is-error" : " is-live"}`}
      role="status"
      title={engine.reason || undefined}
      data-testid="engine"
    >
      <Glyph name={lost ? "failed" : "running"} size={12} />
      {lost
        ? t("status.engineLost")
        : engine.progress
          ? t("status.engineLoadingDone", { percent: Math.round(engine.progress * 100) })
          : t("status.engineLoading")}
    </span>
  );
}

function RunningFor() {
  const { t } = useWords();
  const elapsed = useElapsed();
  return (
    <span className="cell is-live">
      <Glyph name="running" size={12} />
      <span className="num">{t("status.running", { seconds: secondsText(elapsed) })}</span>
    </span>
  );
}

function PoolGauge() {
  const { t } = useWords();
  const pool = useEditor((editor) => editor.pool);
  if (!pool || pool.kvTotal === 0) return null;
  const style = { "--v": pool.kvUsed / pool.kvTotal, "--c": pool.kvCommitted / pool.kvTotal } as CSSProperties;
  const hint = t("status.poolHint", {
    used: megabytes(pool.kvUsed),
    committed: megabytes(pool.kvCommitted),
    reserved: megabytes(pool.kvReserved),
    total: megabytes(pool.kvTotal),
  });
  return (
    <span className="cell pool" title={hint}>
      {t("status.pool")}
      <i className="gauge" style={style} aria-hidden />
      <span className="num">
        {capacity(pool.kvCommitted)} / {capacity(pool.kvTotal)}
      </span>
    </span>
  );
}

/** All running nodes together. */
function Rate() {
  const { t } = useWords();
  const rate = useEditor((editor) => {
    if (!editor.run || !isGoing(editor.run)) return 0;
    let sum = 0;
    for (const node of editor.run.nodes.values()) if (node.phase === "running") sum += node.rate;
    return Math.round(sum * 10) / 10;
  });
  if (rate === 0) return null;
  return <span className="cell num">{t("status.rate", { rate: rateText(rate) })}</span>;
}

function DrawerSwitch() {
  const { t } = useWords();
  const { view } = useScreen();
  const open = useView((view) => view.drawer !== null);
  const label = t(open ? "drawer.close" : "drawer.open");
  return (
    <button
      type="button"
      className="cell"
      aria-expanded={open}
      title={label}
      aria-label={label}
      onClick={() => view.getState().set({ drawer: open ? null : "run" })}
      data-testid="drawer-toggle"
    >
      <Glyph name="panel" size={14} />
    </button>
  );
}

function Machine() {
  const engine = useEngine();
  const device = useEditor((editor) => editor.run?.device ?? "");
  const executor = useEditor((editor) => editor.run?.executor ?? "");
  const model = useEditor((editor) => editor.run?.model ?? "");
  const parts = [engine.device || device, engine.executor || executor].filter(Boolean);
  const name = engine.model || model;
  return (
    <>
      {parts.length > 0 && <span className="cell">{parts.join(", ")}</span>}
      {name && <span className="cell mono">{name}</span>}
    </>
  );
}
