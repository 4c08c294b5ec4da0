// What the server refused or an edit wrote over, in one line that stays until it is dismissed.
import { useEditor, useScreen } from "../canvas/screen";
import { useTelling } from "../conflicts/telling";
import { useWords } from "../i18n/language";
import { Glyph } from "../look/Glyph";
import type { Refusal } from "../state/editor";
import { refusalWords } from "./refusals";

export function RefusalNote() {
  const { t } = useWords();
  const { editor } = useScreen();
  const refusal = useEditor((editor) => editor.refusal);
  if (!refusal) return null;
  return (
    <div className="refusal-note" role="alert" data-testid="refusal">
      <Glyph name="failed" size={14} />
      <Told refusal={refusal} />
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

function Told({ refusal }: { refusal: Refusal }) {
  const { t } = useWords();
  const telling = useTelling();
  const graph = useEditor((editor) => editor.graph);
  return <span>{refusalWords(t, telling, graph, refusal)}</span>;
}
