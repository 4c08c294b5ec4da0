// The list of versions, newest first, the draft above them; save with a message, look, compare, rename, restore, download.
import { useEffect, useState } from "react";
import { useEditor, useScreen, useView } from "../canvas/screen";
import type { VersionSide } from "../canvas/view";
import { useWords } from "../i18n/language";
import { useRest } from "../panels/rest";
import type { Version } from "../state/editor";
import { RestError } from "../state/rest";
import { isExpected, type Listed, useLibrary } from "./library";
import { RestoreDialog } from "./RestoreDialog";
import { restore } from "./restoring";
import { VersionRow } from "./VersionRow";

const FIRST = 50; // rows; more on demand

export function VersionsPanel({ versions, failed, reload }: Listed) {
  const { t } = useWords();
  const { view } = useScreen();
  const compared = useView((view) => view.compared);
  const link = useEditor((editor) => editor.link);
  const [shown, setShown] = useState(FIRST);
  const { wrong, ask, asked, cancel, confirm, rename } = useActs(reload);
  const look = (next: VersionSide, old: VersionSide) => view.getState().set({ compared: { old, next } });
  const from = (old: number) => {
    const next = compared?.next ?? "draft";
    if (next !== "draft" && old > next) look(old, next);
    else if (old !== next) look(next, old);
  };
  const sideOf = (side: VersionSide) => (compared?.next === side ? "B" : compared?.old === side ? "A" : null);
  const problem = wrong ?? failed;
  return (
    <aside
      className="versions"
      aria-label={t("versions.title")}
      data-testid="versions"
      onKeyDown={(event) => {
        if (event.key === "Escape" && compared) view.getState().set({ compared: null });
        const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (by && event.target instanceof HTMLButtonElement && walk(event.currentTarget, event.target, by))
          event.preventDefault();
      }}
    >
      <h2>{t("versions.title")}</h2>
      <SaveForm />
      {problem && (
        <p className="versions-wrong" role="alert">
          {problem instanceof RestError && problem.status === 0
            ? t("home.lost")
            : t("home.failedShort", { code: problem instanceof RestError ? problem.refusal.code : problem.code })}
        </p>
      )}
      <ol className="version-list">
        <DraftRow side={sideOf("draft")} pick={() => look("draft", versions[0]?.number ?? 0)} />
        {versions.slice(0, shown).map((version, at) => (
          <VersionRow
            key={version.number}
            version={version}
            side={sideOf(version.number)}
            open={compared?.next === version.number}
            canRestore={link === "open"}
            pick={() => look(version.number, versions[at + 1]?.number ?? 0)}
            from={() => from(version.number)}
            restore={() => ask(version)}
            rename={(message) => void rename(version, message)}
          />
        ))}
      </ol>
      {versions.length === 0 && !failed && <p className="panel-empty">{t("versions.none")}</p>}
      {versions.length > shown && (
        <button type="button" className="btn quiet" onClick={() => setShown((count) => count + FIRST)}>
          {t("versions.more")}
        </button>
      )}
      <RestoreDialog version={asked} close={cancel} confirm={confirm} />
    </aside>
  );
}

/** Up and down between rows. */
function walk(list: HTMLElement, from: HTMLElement, by: number): boolean {
  const rows = [...list.querySelectorAll<HTMLElement>(".version-pick")];
  const next = rows[rows.indexOf(from) + by];
  if (!rows.includes(from) || !next) return false;
  next.focus();
  return true;
}

function useActs(reload: () => void) {
  const { t } = useWords();
  const rest = useRest();
  const library = useLibrary();
  const { editor, view } = useScreen();
  const [asked, setAsked] = useState<Version | null>(null);
  const [wrong, setWrong] = useState<Listed["failed"]>(null);
  const attempt = async (act: () => Promise<unknown>) => {
    setWrong(null);
    try {
      await act();
    } catch (error) {
      if (!isExpected(error)) throw error;
      setWrong(error);
    }
    reload();
  };
  const confirm = (version: Version) => {
    setAsked(null);
    void attempt(async () => {
      const label = t("edit.restore", { number: version.number });
      const graph = await library.graph(version.file);
      await restore({ editor, rest, version, graph, label });
      view.getState().set({ compared: null });
      view.getState().say(t("versions.restored", { number: version.number }));
    });
  };
  const ask = (version: Version) => {
    if (editor.getState().dirty) setAsked(version);
    else confirm(version);
  };
  const rename = (version: Version, message: string) =>
    attempt(() => rest.renameVersion(editor.getState().spaceId, version.number, message));
  return { wrong, ask, asked, cancel: () => setAsked(null), confirm, rename };
}

function SaveForm() {
  const { t } = useWords();
  const { editor, view } = useScreen();
  const number = useEditor((editor) => editor.version?.number ?? 0);
  const unsaved = useEditor((editor) => editor.dirty || editor.version === null);
  const message = useView((view) => view.message);
  const keep = (typed: string) => view.getState().set({ message: typed });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a newer version is the reason to look
  useEffect(() => {
    if (editor.getState().version?.message === view.getState().message.trim()) view.getState().set({ message: "" });
  }, [editor, view, number]);
  return (
    <form
      className="version-save"
      onSubmit={(event) => {
        event.preventDefault();
        if (!unsaved) return;
        editor.getState().settle();
        editor.getState().save(message.trim());
      }}
    >
      <input
        className="inp"
        value={message}
        maxLength={2000}
        placeholder={t("versions.message")}
        aria-label={t("versions.message")}
        data-testid="save-message"
        onChange={(event) => keep(event.target.value)}
      />
      <button type="submit" className="btn sm" disabled={!unsaved} data-testid="save-version">
        {t("bar.save", { number: number + 1 })}
      </button>
    </form>
  );
}

function DraftRow({ side, pick }: { side: "A" | "B" | null; pick(): void }) {
  const { t } = useWords();
  const unsaved = useEditor((editor) => editor.dirty || editor.version === null);
  return (
    <li className={`version-row is-draft${side ? " is-chosen" : ""}`} data-testid="version-draft">
      <b className={`side-mark${side ? " is-on" : ""}`}>{side ?? <i />}</b>
      <button
        type="button"
        className="version-pick"
        aria-pressed={side === "B"}
        onClick={pick}
        data-testid="version-pick-draft"
      >
        <span className="version-top">
          <span className="num">{t("versions.draft")}</span>
          <span>{t("home.now")}</span>
        </span>
        <span className="version-message">{t(unsaved ? "bar.unsaved" : "versions.asSaved")}</span>
      </button>
    </li>
  );
}
