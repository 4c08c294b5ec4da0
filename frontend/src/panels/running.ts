// Run and Stop, and why a run has to wait. One place for the button, the keys and the phone's dock.
import { useEffect, useRef } from "react";
import { standing } from "../canvas/problems";
import { useEditor, useScreen, useView } from "../canvas/screen";
import { opened } from "../conflicts/acts";
import { numConflicts } from "../conflicts/section";
import { useWords } from "../i18n/language";
import type { Id } from "../igb/graph";
import type { Diagnostic, Editor } from "../state/editor";
import { isGoing } from "./elapsed";
import { type EngineView, useEngine } from "./engine";

type Wait = { key: string; count?: number } | null;

/** What stands against a run; a node that is off stands against nothing. */
function blockers(editor: Editor): readonly Diagnostic[] {
  const isOff = (id: Id | null) => id !== null && editor.graph.nodes.get(id)?.flags.get("disabled") === true;
  return standing(editor).filter((found) => !isOff(found.node));
}

/** null: a run may start. */
export function waitReason(editor: Editor, engine: EngineView): Wait {
  if (editor.link !== "open") return { key: "run.waitsLink" };
  if (editor.graph.nodes.size === 0) return { key: "run.waitsEmpty" };
  const conflicts = numConflicts(editor.graph);
  if (conflicts > 0) return { key: "run.waitsConflicts", count: conflicts };
  const blocking = blockers(editor);
  if (blocking.length > 0 && !editor.checked) return { key: "run.waitsCheck" }; // they may be of the graph as it was
  if (blocking.length > 0) return { key: "run.waitsProblems", count: blocking.length };
  if (engine.state !== "ready" && engine.state !== "unknown") return { key: "run.waitsEngine" };
  return null;
}

/** Whether a run may be left armed for it: it goes by without anyone's doing. */
function passes(reason: { key: string }, editor: Editor): boolean {
  return reason.key === "run.waitsEngine" || reason.key === "run.waitsCheck" || editor.link === "connecting";
}

export interface Running {
  toggle(): void;
}

export function useRunning(): Running {
  const { editor, view } = useScreen();
  const engine = useEngine();
  const { t } = useWords();

  function start(): void {
    view.getState().set({ notice: null, armed: false });
    view.getState().say(t("run.started"));
    editor.getState().settle();
    editor.getState().start();
  }

  /** Say why the run waits; for what passes by itself the run stays armed, and a second press lets it go. */
  function wait(reason: { key: string; count?: number }): void {
    const { armed, set, say, visit } = view.getState();
    const stays = passes(reason, editor.getState());
    if (stays && armed) {
      set({ armed: false, notice: null });
      return;
    }
    const words = t(reason.key, { count: reason.count });
    set({ notice: words, armed: stays });
    say(words);
    if (reason.key === "run.waitsConflicts") set(opened(editor.getState(), view.getState()));
    const first = blockers(editor.getState())[0];
    if (reason.key !== "run.waitsProblems" || !first) return;
    set({ drawer: "problems" });
    if (first.node) visit(first.node, first.field);
  }

  return {
    toggle() {
      const now = editor.getState();
      if (isGoing(now.run)) return now.cancel();
      const reason = waitReason(now, engine);
      return reason ? wait(reason) : start();
    },
  };
}

/** Starts the armed run as soon as nothing stands against it, or says what does. */
export function useArmed(): void {
  const { view } = useScreen();
  const engine = useEngine();
  const armed = useView((view) => view.armed);
  const { toggle } = useRunning();
  const start = useRef(toggle);
  start.current = toggle;
  const waits = useEditor((editor) => {
    const reason = waitReason(editor, engine);
    return reason !== null && passes(reason, editor);
  });
  useEffect(() => {
    if (!armed || waits) return;
    view.getState().set({ armed: false });
    start.current();
  }, [armed, waits, view]);
}
