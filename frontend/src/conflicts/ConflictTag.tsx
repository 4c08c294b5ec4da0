// Above a card: how many open conflicts its node has a part in. A press leads to the first of them.
import { useEditor, useScreen } from "../canvas/screen";
import { useWords } from "../i18n/language";
import type { Id } from "../igb/graph";
import { Glyph } from "../look/Glyph";
import { opened } from "./acts";
import { nodesOf } from "./conflict";
import { countsByNode, entriesOf } from "./section";

export const useConflictCount = (id: Id): number => useEditor((editor) => countsByNode(editor.graph).get(id) ?? 0);

export function ConflictTag({ id, count }: { id: Id; count: number }) {
  const { t } = useWords();
  const { editor, view } = useScreen();
  const words = t("conflicts.count", { count });
  const go = () => {
    const now = editor.getState();
    const first = entriesOf(now.graph).find(({ conflict }) => conflict && nodesOf(conflict).has(id));
    view.getState().set(opened(now, { conflict: first?.name ?? null }));
  };
  return (
    <button
      type="button"
      className="mark-tag conflict-tag nodrag"
      tabIndex={-1}
      onClick={go}
      data-testid="conflict-tag"
    >
      <Glyph name="warn" size={12} /> {words}
    </button>
  );
}
