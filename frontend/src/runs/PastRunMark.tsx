// Says that the canvas shows an earlier run, which is a record, and leads back to the newest one.
import { useEffect } from "react";
import { useEditor, useScreen } from "../canvas/screen";
import { useWords } from "../i18n/language";
import { Glyph } from "../look/Glyph";
import { timeOf } from "./words";

export function PastRunMark() {
  const { t, language } = useWords();
  const { editor, view } = useScreen();
  const past = useEditor((editor) => editor.past);
  const words = past ? t("runs.at", { time: timeOf(past.started, language) }) : "";
  useEffect(() => {
    if (words) view.getState().say(words);
  }, [words, view]);
  useEffect(() => {
    if (!past) return;
    const leave = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      event.preventDefault();
      editor.getState().live();
    };
    document.addEventListener("keydown", leave);
    return () => document.removeEventListener("keydown", leave);
  }, [past, editor]);
  if (!past) return null;
  return (
    <div className="past-run" role="status" title={t("runs.hint")} data-testid="past-run">
      <Glyph name="undo" size={14} />
      <span>{words}</span>
      <button type="button" className="btn sm" onClick={() => editor.getState().live()} data-testid="live-run">
        {t("runs.live")} <kbd>Esc</kbd>
      </button>
    </div>
  );
}
