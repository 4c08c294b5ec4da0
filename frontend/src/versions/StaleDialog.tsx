// A save that came after another: what was saved meanwhile, what this save adds, and whether to save on top of it. The draft holds
// both already, in the server's order, so there is nothing to merge and nothing to lose: the person looks, then saves or does not.
import { AlertDialog } from "radix-ui";
import { useId, useMemo, useState } from "react";
import { useEditor, useScreen, useView } from "../canvas/screen";
import { useWords } from "../i18n/language";
import type { Graph } from "../igb/graph";
import { useRest } from "../panels/rest";
import type { Stale, Version } from "../state/editor";
import { RestError } from "../state/rest";
import type { Written } from "../state/saving";
import { ChangeRows } from "./ChangeRows";
import { CountMarks } from "./CountMarks";
import { type Comparison, compare } from "./comparison";
import { createLibrary, LibraryContext, useSide, useVersions } from "./library";
import { OverlapRows } from "./OverlapRows";
import { overlaps } from "./overlaps";
import { when } from "./when";

const MOST = 4; // versions named
const NOT_MARKED: Written = new Map();

export function StaleDialog() {
  const rest = useRest();
  const { editor } = useScreen();
  const stale = useEditor((editor) => editor.stale);
  const [library] = useState(() => createLibrary(rest));
  const close = () => editor.getState().dismissStale();
  return (
    <AlertDialog.Root open={stale !== null} onOpenChange={(open) => !open && close()}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="scrim" />
        <AlertDialog.Content className="dialog stale" data-testid="stale">
          <LibraryContext value={library}>{stale && <Meanwhile stale={stale} />}</LibraryContext>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

/** What stands meanwhile is asked for here and again whenever the server tells of a newer version. */
function Meanwhile({ stale }: { stale: Stale }) {
  const { t } = useWords();
  const { versions, failed, reload } = useVersions();
  const since = versions.filter(({ number }) => number > (stale.base ?? 0));
  const newest = since[0]?.number ?? 0;
  const base = useSide(stale.base ?? 0, versions);
  const theirs = useSide(newest, versions);
  const draft = useSide("draft", versions);
  const lost = failed !== null || base === "unreadable" || theirs === "unreadable";
  const sides = isGraph(base) && isGraph(theirs) && isGraph(draft) && newest > 0 ? { base, theirs, draft } : null;
  return (
    <>
      <AlertDialog.Title>{newest > 0 ? t("stale.title", { number: newest }) : t("stale.untold")}</AlertDialog.Title>
      {lost && (
        <p className="versions-wrong" role="alert">
          {failed instanceof RestError && failed.status === 0 ? t("home.lost") : t("versions.unreadable")}{" "}
          <button type="button" className="btn sm" onClick={reload}>
            {t("stale.again")}
          </button>
        </p>
      )}
      <Since versions={since} />
      {sides ? (
        <Sides {...sides} stale={stale} number={newest} />
      ) : (
        !lost && (
          <p className="is-late" aria-busy>
            {t("stale.asking")}
          </p>
        )
      )}
      <Answer number={newest || (stale.base ?? 0) + 1} known={newest > 0} />
    </>
  );
}

const isGraph = (side: Graph | "unreadable" | null): side is Graph => side !== null && side !== "unreadable";

/** Who saved what meanwhile, newest first. */
function Since({ versions }: { versions: readonly Version[] }) {
  const { t, language } = useWords();
  return (
    <ul className="stale-since">
      {versions.slice(0, MOST).map(({ number, author, created, message }) => (
        <li key={number} data-testid={`since-${number}`}>
          <b className="num">v{number}</b>
          <span className="stale-author">{author}</span>
          <time dateTime={created}>{when(created, language)}</time>
          <span className={message ? "stale-words" : "stale-words quiet"}>{message || t("versions.noMessage")}</span>
        </li>
      ))}
      {versions.length > MOST && (
        <li className="quiet">{t("stale.moreVersions", { count: versions.length - MOST })}</li>
      )}
    </ul>
  );
}

interface Compared {
  base: Graph;
  theirs: Graph;
  draft: Graph;
  stale: Stale;
  number: number;
}

function Sides({ base, theirs, draft, stale, number }: Compared) {
  const { t } = useWords();
  const catalogue = useEditor((editor) => editor.catalogue);
  const came = useMemo(() => compare(base, theirs, catalogue), [base, theirs, catalogue]);
  const adds = useMemo(() => compare(theirs, draft, catalogue), [theirs, draft, catalogue]);
  const both = useMemo(() => overlaps(came.ops, adds.ops, stale.mine), [came, adds, stale]);
  const from = stale.base === null ? t("versions.nothing") : `v${stale.base}`;
  const theirSide = { comparison: came, way: `${from} → v${number}` };
  const ourSide = { comparison: adds, way: `v${number} → ${t("versions.draft")}` };
  return (
    <>
      {both.length > 0 && <OverlapRows overlaps={both} theirs={theirSide} ours={ourSide} number={number} />}
      <div className="stale-sides">
        <Side name={t("stale.came")} {...theirSide} mine={stale.mine} testid="stale-came" />
        <Side name={t("stale.adds")} {...ourSide} mine={NOT_MARKED} testid="stale-adds" />
      </div>
    </>
  );
}

function Side(side: { name: string; way: string; comparison: Comparison; mine: Written; testid: string }) {
  const id = useId();
  return (
    <section className="stale-side" aria-labelledby={id} data-testid={side.testid}>
      <header>
        <h3 id={id}>
          {side.name} <em className="num">{side.way}</em>
        </h3>
        <CountMarks counts={side.comparison.counts} />
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long list must scroll by keyboard too */}
      <div className="stale-list" tabIndex={0}>
        <ChangeRows comparison={side.comparison} mine={side.mine} />
      </div>
    </section>
  );
}

function Answer({ number, known }: { number: number; known: boolean }) {
  const { t } = useWords();
  const { editor, view } = useScreen();
  const message = useView((view) => view.message);
  return (
    <form
      className="stale-answer"
      onSubmit={(event) => {
        event.preventDefault();
        if (known) editor.getState().save(message.trim(), number);
      }}
    >
      <AlertDialog.Description>{t("stale.keeps")}</AlertDialog.Description>
      <input
        className="inp"
        value={message}
        maxLength={2000}
        placeholder={t("versions.message")}
        aria-label={t("versions.message")}
        data-testid="stale-message"
        onChange={(event) => view.getState().set({ message: event.target.value })}
      />
      <p className="dialog-acts">
        <AlertDialog.Cancel className="btn" data-testid="stale-not-now">
          {t("stale.notNow")}
        </AlertDialog.Cancel>
        <button type="submit" className="btn main" disabled={!known} data-testid="stale-on-top">
          {t("stale.onTop", { number })}
        </button>
      </p>
    </form>
  );
}
