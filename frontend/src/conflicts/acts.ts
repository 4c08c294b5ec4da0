// What a person does with conflicts: open their list, go to the next one, choose. Every choice is one edit with a name for undo.
import { useScreen } from "../canvas/screen";
import type { View } from "../canvas/view";
import { useWords } from "../i18n/language";
import type { Editor } from "../state/editor";
import { type Choice, type Plan, placeToEdit, settle } from "./choice";
import { type Entry, entriesOf } from "./section";
import { useTelling } from "./telling";

/** Where the list stands when it opens: at the entry that was looked at, else at the first. */
export function opened(editor: Pick<Editor, "graph">, view: Pick<View, "conflict">): Partial<View> {
  const entries = entriesOf(editor.graph);
  const found = entries.find(({ name }) => name === view.conflict) ?? entries[0];
  return { room: "conflicts", compared: null, conflict: found?.name ?? null };
}

/** The name of the entry so many places further, round at the ends. */
export function further(entries: readonly Entry[], from: string | null, by: number): string | null {
  const at = entries.findIndex(({ name }) => name === from);
  const next = at < 0 ? (by > 0 ? 0 : -1) : at + by;
  return entries.at(((next % entries.length) + entries.length) % entries.length)?.name ?? null;
}

const LABELS: Readonly<Record<Choice, string>> = {
  now: "edit.settle",
  ours: "edit.keepOurs",
  theirs: "edit.takeTheirs",
};

export function useConflictActs() {
  const { editor, view } = useScreen();
  const { t } = useWords();
  const telling = useTelling();

  /** Null when it is settled; else why it cannot be. `as`: the name of the choice for undo. */
  function choose(entry: Entry, choice: Choice, as: Choice = choice): Plan | null {
    editor.getState().settle();
    const { graph, catalogue, edit } = editor.getState();
    const found = settle(graph, catalogue, entry, choice);
    if (found.ops === null) return found;
    const after = next(entry);
    const what = entry.conflict ? telling.named(entry.conflict.key) : t("conflicts.unknown");
    edit(t(entry.conflict ? LABELS[as] : "edit.removeConflict", { what }), found.ops);
    const left = entriesOf(editor.getState().graph).length;
    view.getState().set({ conflict: after });
    view.getState().say(left > 0 ? t("conflicts.left", { count: left }) : t("conflicts.done"));
    return null;
  }

  /** The entry after this one, else the one before it; by its name once this one has gone. */
  function next(entry: Entry): string | null {
    const entries = entriesOf(editor.getState().graph);
    const at = entries.findIndex(({ name }) => name === entry.name);
    return (entries[at + 1] ?? entries[at - 1])?.name ?? null;
  }

  /** To the field of the inspector where the value is edited. */
  function mend(entry: Entry): void {
    const place = entry.conflict && placeToEdit(editor.getState().graph, entry.conflict.key);
    if (place) view.getState().visit(place.node, place.field);
  }

  return { choose, mend };
}
