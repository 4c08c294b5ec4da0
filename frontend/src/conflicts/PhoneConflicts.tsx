// Conflicts on a phone: how many, and each to read. Choosing is an edit, and edits need a wider screen.
import { useEditor, useScreen, useView } from "../canvas/screen";
import { useWords } from "../i18n/language";
import { Glyph } from "../look/Glyph";
import { opened } from "./acts";
import { ConflictList } from "./ConflictsPanel";
import { numConflicts } from "./section";

export function PhoneConflicts() {
  const { t } = useWords();
  const { editor, view } = useScreen();
  const count = useEditor((editor) => numConflicts(editor.graph));
  const open = useView((view) => view.room === "conflicts");
  if (count === 0) return null;
  const toggle = () => view.getState().set(open ? { room: "graph" } : opened(editor.getState(), view.getState()));
  return (
    <section
      className={`phone-conflicts${open ? " is-open" : ""}`}
      aria-label={t("conflicts.title")}
      data-testid="conflicts"
    >
      <button type="button" className="phone-line" aria-expanded={open} onClick={toggle} data-testid="room-conflicts">
        <Glyph name="warn" className="is-warning" />
        <b>{t("conflicts.count", { count })}</b>
        <Glyph name={open ? "up" : "down"} />
      </button>
      {open && (
        <>
          <p className="conflicts-lead">{t("conflicts.wider")}</p>
          <ConflictList reads={true} />
        </>
      )}
    </section>
  );
}
