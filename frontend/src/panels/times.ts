// Notes of when nodes changed phase, in seconds since the run began. The store keeps phases; this keeps their times.
import type { StoreApi } from "zustand/vanilla";
import type { Id } from "../igb/graph";
import type { Editor, NodePhase } from "../state/editor";

export interface Times {
  phase: NodePhase;
  running: number | null;
  ended: number | null;
}

const ENDED: ReadonlySet<NodePhase> = new Set(["done", "skipped", "failed", "cancelled"]);
const NOTES = new WeakMap<StoreApi<Editor>, ReturnType<typeof notes>>();

/** One set of notes for an editor, kept while drawers open and close. */
export function createTimes(editor: StoreApi<Editor>) {
  const kept = NOTES.get(editor) ?? notes(editor);
  NOTES.set(editor, kept);
  return kept;
}

function notes(editor: StoreApi<Editor>) {
  let run: Id | null = null;
  let times = new Map<Id, Times>();
  let following = 0;
  let stop: (() => void) | null = null;

  function note({ run: view }: Editor): void {
    if (!view) return;
    if (view.id !== run) {
      run = view.id;
      times = new Map();
    }
    const now = (performance.now() - view.startedAt) / 1000;
    for (const [id, { phase, began, ended }] of view.nodes) {
      const old = times.get(id);
      if (old?.phase === phase) continue;
      const running = began ?? old?.running ?? (phase === "running" ? now : null);
      times.set(id, { phase, running, ended: ENDED.has(phase) ? (ended ?? now) : null });
    }
  }

  return {
    known: (): ReadonlyMap<Id, Times> => times,
    follow(): () => void {
      following += 1;
      if (!stop) {
        note(editor.getState());
        stop = editor.subscribe(note);
      }
      return () => {
        following -= 1;
        if (following > 0 || !stop) return;
        stop();
        stop = null;
      };
    },
  };
}

/** A scale with four to eight ticks on round seconds, a little longer than what has passed. */
export function scaleOf(elapsed: number): { span: number; ticks: number[] } {
  const span = Math.max(elapsed * 1.15, 0.5);
  const unit = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600].find((step) => span / step <= 8) ?? 1200;
  const ticks: number[] = [];
  for (let at = 0; at < span * 0.94; at += unit) ticks.push(Number(at.toFixed(2)));
  return { span, ticks };
}
