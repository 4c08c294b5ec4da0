// An empty graph says how to begin.
import { useWords } from "../i18n/language";
import { useEditor } from "./screen";

export function EmptyCanvas() {
  const { t } = useWords();
  const empty = useEditor((editor) => editor.graph.nodes.size === 0 && editor.link !== "connecting");
  if (!empty) return null;
  return (
    <div className="empty-canvas">
      <p>
        {t("canvas.empty")} <kbd>/</kbd>
      </p>
      <p className="quiet">{t("canvas.emptyMore")}</p>
    </div>
  );
}
