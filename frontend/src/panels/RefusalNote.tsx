// What the server refused, in one line that stays until it is dismissed.
import { useEditor, useScreen } from "../canvas/screen";
import { useWords } from "../i18n/language";
import { Glyph } from "../look/Glyph";

export function RefusalNote() {
  const { t } = useWords();
  const { editor } = useScreen();
  const refusal = useEditor((editor) => editor.refusal);
  if (!refusal) return null;
  return (
    <div className="refusal-note" role="alert" data-testid="refusal">
      <Glyph name="failed" size={14} />
      <span>{t("refuse.server", { where: refusal.where, expected: refusal.expected, got: refusal.got })}</span>
      <button
        type="button"
        className="icon-button"
        aria-label={t("refuse.dismiss")}
        onClick={() => editor.getState().dismissRefusal()}
      >
        <Glyph name="x" size={14} />
      </button>
    </div>
  );
}
