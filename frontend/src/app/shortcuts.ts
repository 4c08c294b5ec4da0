// Keys that hold everywhere in an open Space. Undo and redo leave a field's own typing to the field.
import { useEffect, useRef } from "react";
import { isField } from "../canvas/keyboard";
import { useScreen } from "../canvas/screen";
import { useRunning } from "../panels/running";

export function useShortcuts(showPalette: () => void): void {
  const { editor, view } = useScreen();
  const { toggle } = useRunning();

  function act(event: KeyboardEvent): boolean {
    const command = event.ctrlKey || event.metaKey;
    const key = event.key.toLowerCase();
    if (isAsked(event.target)) return command && key === "s"; // nor does the browser save its page then
    if (command && event.key === "Enter") return event.repeat || done(toggle);
    if (command && key === "s") return done(save);
    if (event.key === "Escape") return leave(event);
    if (isField(event.target)) return false;
    if (command && key === "z") return done(() => step(event.shiftKey ? "redo" : "undo"));
    if (command && key === "y") return done(() => step("redo"));
    if (command || event.altKey) return false;
    if (event.key === "/") return done(find);
    if (event.key === "?") return done(() => view.getState().set({ help: true }));
    return false;
  }

  function save(): void {
    const now = editor.getState();
    now.settle();
    if (now.dirty || now.version === null) now.save("");
  }

  function step(way: "undo" | "redo"): void {
    const now = editor.getState();
    now.settle();
    const label = way === "undo" ? now.undoLabel : now.redoLabel;
    now[way]();
    if (label !== null) view.getState().say(label);
  }

  function find(): void {
    showPalette();
    document.getElementById("palette-search")?.focus();
  }

  function leave(event: KeyboardEvent): boolean {
    const { refusal, quickAdd, notice, selected } = view.getState();
    if (refusal || quickAdd || notice)
      return done(() => view.getState().set({ refusal: null, quickAdd: null, notice: null }));
    if (!isField(event.target) || !(event.target instanceof HTMLElement)) return false;
    // Out of a field of the inspector, back to the node it belongs to.
    const only = selected.size === 1 ? [...selected][0] : undefined;
    event.target.blur();
    if (only) document.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(only)}"]`)?.focus();
    return true;
  }

  const handler = useRef(act);
  handler.current = act;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!event.defaultPrevented && !event.isComposing && handler.current(event)) event.preventDefault();
    };
    document.addEventListener("keydown", onKeyDown, true);
    return () => document.removeEventListener("keydown", onKeyDown, true);
  }, []);
}

/** Whether a question stands open: keys are its own until it is answered. */
function isAsked(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("[role=alertdialog]") !== null;
}

function done(act: () => void): true {
  act();
  return true;
}
