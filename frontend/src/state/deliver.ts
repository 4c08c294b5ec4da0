// Brings edits that a tab left behind to the server, in that tab's name: a store of its own that nobody looks at, open until
// everything is acknowledged. What the server refuses is shown in the tab that is open.
import type { StoreApi } from "zustand/vanilla";
import type { Editor } from "./editor";
import type { Keep } from "./keep";
import { createEditor, type EditorOptions } from "./store";

/** Gives a function that stops; what was not delivered until then stays kept. */
export function deliver(options: EditorOptions, left: readonly Keep[], seenBy: StoreApi<Editor>): () => void {
  const couriers = left.map((keep) => courier({ ...options, keep }, seenBy));
  return () => {
    for (const stop of couriers) stop();
  };
}

function courier(options: EditorOptions, seenBy: StoreApi<Editor>): () => void {
  const editor = createEditor(options);
  let over = false;
  const stop = (): void => {
    if (over) return;
    over = true;
    unsubscribe();
    editor.getState().close();
  };
  const unsubscribe = editor.subscribe(({ link, pending, refusal }, before) => {
    if (refusal && refusal !== before.refusal) seenBy.setState({ refusal });
    if (link === "open" && pending === 0) queueMicrotask(stop); // the store is in the middle of telling
  });
  return stop;
}
