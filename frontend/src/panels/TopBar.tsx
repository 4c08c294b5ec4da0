// The bar: where you are, which version, undo and redo, and Run.
import { useState } from "react";
import { useEditor, useScreen, useView } from "../canvas/screen";
import { ConflictsTab } from "../conflicts/ConflictsTab";
import { RenameField } from "../forms/RenameField";
import { useWords } from "../i18n/language";
import { Glyph, Mark } from "../look/Glyph";
import { COMMAND, RunButton } from "./RunButton";
import { useRest } from "./rest";

export function TopBar({ onPalette, goHome }: { onPalette(): void; goHome(): void }) {
  const { t } = useWords();
  return (
    <header className="bar">
      <a
        className="home-link"
        href="/?list"
        aria-label={t("app.home")}
        title={t("app.home")}
        onClick={(event) => {
          event.preventDefault();
          goHome();
        }}
      >
        <Mark />
      </a>
      <button type="button" className="icon-button palette-toggle" aria-label={t("palette.unfold")} onClick={onPalette}>
        <Glyph name="plus" />
      </button>
      <SpaceName />
      <VersionChip />
      <RoomTabs />
      <div className="bar-right">
        <History />
        <RunButton />
      </div>
    </header>
  );
}

function SpaceName() {
  const { t } = useWords();
  const name = useEditor((editor) => editor.name);
  const space = useEditor((editor) => editor.spaceId);
  const rest = useRest();
  const [renaming, setRenaming] = useState(false);
  const [said, setSaid] = useState<{ from: string; to: string } | null>(null);
  // The new name shows at once; the server's word replaces it when it comes.
  const shown = said && said.from === name ? said.to : name;
  const keep = (next: string) => {
    setRenaming(false);
    if (!next || next === shown) return;
    setSaid({ from: name, to: next });
    rest.renameSpace(space, next).catch(() => setSaid(null));
  };
  if (!renaming) {
    return (
      <h1 className="space-name">
        <button type="button" title={t("bar.rename")} onClick={() => setRenaming(true)} data-testid="space-name">
          {shown || "\u00a0"}
        </button>
      </h1>
    );
  }
  return (
    <RenameField
      name={shown}
      label={t("bar.rename")}
      most={200}
      className="space-name-field"
      testid="space-name-field"
      keep={keep}
      drop={() => setRenaming(false)}
    />
  );
}

function VersionChip() {
  const { t } = useWords();
  const number = useEditor((editor) => editor.version?.number ?? null);
  const dirty = useEditor((editor) => editor.dirty);
  const { editor } = useScreen();
  const next = (number ?? 0) + 1;
  const unsaved = dirty || number === null;
  return (
    <>
      <span className="version">
        {number !== null && <b>v{number}</b>}
        <span className="version-state" data-testid="version-state">
          {number === null ? t("bar.noVersion") : t(unsaved ? "bar.unsaved" : "bar.saved")}
        </span>
      </span>
      <button
        type="button"
        className="btn sm save"
        disabled={!unsaved}
        title={`${t("bar.saveHint")} (${COMMAND} S)`}
        onClick={() => editor.getState().save("")}
        data-testid="save"
      >
        {t("bar.save", { number: next })}
      </button>
    </>
  );
}

/** The graph as it stands, its versions, or the conflicts that are open in it. */
function RoomTabs() {
  const { t } = useWords();
  const { view } = useScreen();
  const room = useView((view) => view.room);
  return (
    <nav className="room-tabs" aria-label={t("bar.rooms")}>
      {(["graph", "versions"] as const).map((name) => (
        <button
          key={name}
          type="button"
          aria-current={room === name ? "page" : undefined}
          onClick={() => view.getState().set({ room: name, compared: null })}
          data-testid={`room-${name}`}
        >
          {t(`bar.${name}`)}
        </button>
      ))}
      <ConflictsTab />
    </nav>
  );
}

function History() {
  const { t } = useWords();
  const { editor } = useScreen();
  const undo = useEditor((editor) => editor.undoLabel);
  const redo = useEditor((editor) => editor.redoLabel);
  const undoTitle = undo === null ? t("bar.noUndo") : t("bar.undo", { label: undo });
  const redoTitle = redo === null ? t("bar.noRedo") : t("bar.redo", { label: redo });
  return (
    <div className="icon-set">
      <button
        type="button"
        className="icon-button"
        aria-disabled={undo === null}
        aria-label={undoTitle}
        title={`${undoTitle} (${COMMAND} Z)`}
        onClick={() => editor.getState().undo()}
        data-testid="undo"
      >
        <Glyph name="undo" />
      </button>
      <button
        type="button"
        className="icon-button"
        aria-disabled={redo === null}
        aria-label={redoTitle}
        title={`${redoTitle} (${COMMAND} ⇧ Z)`}
        onClick={() => editor.getState().redo()}
        data-testid="redo"
      >
        <Glyph name="redo" />
      </button>
    </div>
  );
}
