// The list of open conflicts, in place of the palette: the canvas and the inspector stay beside it, and take edits.
import { type KeyboardEvent, useEffect } from "react";
import { useShowNode } from "../canvas/keyboard";
import { useEditor, useScreen, useView } from "../canvas/screen";
import { useWords } from "../i18n/language";
import { Glyph } from "../look/Glyph";
import { further } from "./acts";
import { ConflictRow, headId } from "./ConflictRow";
import { nodesOf } from "./conflict";
import { entriesOf } from "./section";

const MOST = 200; // rows; settling one brings the next

export function ConflictsPanel() {
  const { t } = useWords();
  const { view } = useScreen();
  const entries = useEditor((editor) => entriesOf(editor.graph));
  useFollow();
  if (entries.length === 0) {
    return (
      <aside className="conflicts" aria-label={t("conflicts.title")} data-testid="conflicts">
        <h2>
          <Glyph name="done" className="c-done" />
          {t("conflicts.done")}
        </h2>
        <p className="conflicts-lead">{t("conflicts.doneHint")}</p>
        <p className="acts conflicts-lead">
          <button
            type="button"
            className="btn sm"
            id={headId("")}
            onClick={() => view.getState().set({ room: "graph" })}
            data-testid="leave-conflicts"
          >
            {t("conflicts.back")}
          </button>
        </p>
      </aside>
    );
  }
  return (
    <aside className="conflicts" aria-label={t("conflicts.title")} data-testid="conflicts">
      <h2>
        {t("conflicts.title")} <em>{entries.length}</em>
      </h2>
      <p className="conflicts-lead">{t("conflicts.lead")}</p>
      <ConflictList reads={false} />
      {entries.length > MOST && <p className="panel-empty">{t("conflicts.more", { count: entries.length - MOST })}</p>}
    </aside>
  );
}

/** Rows, one of them open. Up and down, Home and End go from one to another. */
export function ConflictList({ reads }: { reads: boolean }) {
  const { view } = useScreen();
  const entries = useEditor((editor) => entriesOf(editor.graph));
  const open = useView((view) => view.conflict);
  const onKeyDown = (event: KeyboardEvent) => {
    const { target, key } = event;
    if (!(target instanceof HTMLElement) || !target.classList.contains("conflict-head")) return;
    const from = entries.find(({ name }) => headId(name) === target.id)?.name ?? null;
    const shown = entries.slice(0, MOST);
    const steps = { ArrowDown: 1, ArrowUp: -1 }[key];
    const ends = { Home: shown[0], End: shown.at(-1) }[key];
    const next = steps ? further(shown, from, steps) : ends?.name;
    if (!next) return;
    event.preventDefault();
    view.getState().set({ conflict: next });
  };
  return (
    <ol className="conflict-list" onKeyDown={onKeyDown}>
      {entries.slice(0, MOST).map((entry) => (
        <ConflictRow
          key={entry.name}
          entry={entry}
          open={entry.name === open}
          reads={reads}
          toggle={() => view.getState().set({ conflict: entry.name === open ? null : entry.name })}
        />
      ))}
    </ol>
  );
}

/** Whether the row of this line is more than its list shows at once. */
function isTall(head: HTMLElement): boolean {
  const [row, list] = [head.closest("li"), head.closest(".conflicts")];
  return row !== null && list !== null && row.clientHeight > list.clientHeight;
}

/** The focus goes to the entry that opens, and the canvas to its node; after the last one the focus stays in the list. */
function useFollow(): void {
  const { editor, view } = useScreen();
  const open = useView((view) => view.conflict);
  const none = useEditor((editor) => entriesOf(editor.graph).length === 0);
  const show = useShowNode();
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the entry that is open, not the graph
  useEffect(() => {
    const { graph } = editor.getState();
    const head = document.getElementById(headId(none ? "" : (open ?? "")));
    head?.focus({ preventScroll: true });
    head?.closest("li")?.scrollIntoView({ block: isTall(head) ? "start" : "nearest" });
    const conflict = entriesOf(graph).find(({ name }) => name === open)?.conflict;
    const node = conflict && [...nodesOf(conflict)].find((id) => graph.nodes.has(id));
    if (!node) return;
    const { sheet, select, set } = view.getState();
    select([node]);
    set({ sheet }); // on a narrow screen the inspector opens when it is asked for
    show(node);
  }, [open, none]);
}
