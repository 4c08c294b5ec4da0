// How many conflicts are open, in the bar beside the rooms; it opens their list. F8 goes to the next one from anywhere.
import { useEffect } from "react";
import { useEditor, useScreen, useView } from "../canvas/screen";
import { useWords } from "../i18n/language";
import { Glyph } from "../look/Glyph";
import { further, opened } from "./acts";
import { entriesOf, numConflicts } from "./section";

export function ConflictsTab() {
  const { t } = useWords();
  const { editor, view } = useScreen();
  const count = useEditor((editor) => numConflicts(editor.graph));
  const room = useView((view) => view.room);
  useWalk(count > 0);
  if (count === 0) return null;
  const words = t("conflicts.count", { count });
  return (
    <button
      type="button"
      className="conflicts-tab"
      aria-current={room === "conflicts" ? "page" : undefined}
      title={`${t("conflicts.lead")} (F8)`}
      onClick={() => view.getState().set(opened(editor.getState(), view.getState()))}
      data-testid="room-conflicts"
    >
      <Glyph name="warn" size={14} />
      {words}
    </button>
  );
}

function useWalk(any: boolean): void {
  const { editor, view } = useScreen();
  useEffect(() => {
    if (!any) return;
    const walk = (event: KeyboardEvent) => {
      if (event.key !== "F8" || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.target instanceof Element && event.target.closest("[role=dialog], [role=alertdialog]")) return;
      event.preventDefault();
      const { room, conflict, set } = view.getState();
      const next = further(entriesOf(editor.getState().graph), conflict, event.shiftKey ? -1 : 1);
      set(room === "conflicts" ? { conflict: next } : opened(editor.getState(), { conflict }));
    };
    document.addEventListener("keydown", walk);
    return () => document.removeEventListener("keydown", walk);
  }, [any, editor, view]);
}
