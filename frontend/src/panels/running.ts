// Run and Stop, and why a run has to wait. One place for the button, the keys and the phone's dock.
import { useScreen } from "../canvas/screen";
import { useWords } from "../i18n/language";
import type { Id } from "../igb/graph";
import type { Diagnostic, Editor } from "../state/editor";
import { isGoing } from "./elapsed";
import { type EngineView, useEngine } from "./engine";

type Wait = { key: string; count?: number } | null;

/** What stands against a run; a node that is off stands against nothing. */
export function blockers(editor: Editor): readonly Diagnostic[] {
  const isOff = (id: Id | null) => id !== null && editor.graph.nodes.get(id)?.flags.get("disabled") === true;
  return editor.diagnostics.filter((found) => !isOff(found.node));
}

/** null: a run may start. */
export function waitReason(editor: Editor, engine: EngineView): Wait {
  if (editor.link !== "open") return { key: "run.waitsLink" };
  if (editor.graph.nodes.size === 0) return { key: "run.waitsEmpty" };
  const blocking = blockers(editor);
  if (blocking.length > 0) return { key: "run.waitsProblems", count: blocking.length };
  if (engine.state !== "ready" && engine.state !== "unknown") return { key: "run.waitsEngine" };
  return null;
}

export interface Running {
  toggle(): void;
}

export function useRunning(): Running {
  const { editor, view } = useScreen();
  const engine = useEngine();
  const { t } = useWords();
  return {
    toggle() {
      const now = editor.getState();
      if (isGoing(now.run)) {
        now.cancel();
        return;
      }
      const wait = waitReason(now, engine);
      if (!wait) {
        view.getState().set({ notice: null });
        view.getState().say(t("run.started"));
        now.settle();
        now.start();
        return;
      }
      const words = t(wait.key, { count: wait.count });
      view.getState().set({ notice: words });
      view.getState().say(words);
      const first = blockers(now)[0];
      if (wait.key !== "run.waitsProblems" || !first) return;
      view.getState().set({ drawer: "problems" });
      if (first.node) view.getState().visit(first.node, first.field);
    },
  };
}
