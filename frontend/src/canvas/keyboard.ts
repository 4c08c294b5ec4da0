// The canvas's keys: delete, duplicate, select all, nudge, walk along wires, fit and zoom; and the clipboard's events.
import { useReactFlow } from "@xyflow/react";
import { type RefObject, useEffect, useRef } from "react";
import { useWords } from "../i18n/language";
import type { Id } from "../igb/graph";
import { useFlowGraph } from "./flowGraph";
import { useGestures } from "./gestures";
import { nameIn } from "./names";
import { type Direction, step } from "./order";
import { useScreen } from "./screen";
import { useFit } from "./Tools";

const ARROWS: Record<string, Direction> = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };
const NUDGE = 8;
const FAR = 40;

export function isField(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  return target.closest("input:not([type=checkbox]):not([type=range]), textarea, select, [contenteditable]") !== null;
}

const focusedNode = (): Id | null =>
  document.activeElement?.classList.contains("react-flow__node")
    ? (document.activeElement.getAttribute("data-id") as Id | null)
    : null;

/** Bring a node into sight, as far as it is not there already. */
export function useShowNode(): (id: Id) => void {
  const { editor } = useScreen();
  const { cards } = useFlowGraph();
  const { setCenter, getViewport, screenToFlowPosition } = useReactFlow();
  return (id) => {
    const card = cards.get(id);
    const [x, y] = editor.getState().graph.positions.get(id) ?? [0, 0];
    const pane = document.querySelector(".canvas")?.getBoundingClientRect();
    if (card && pane) {
      const least = screenToFlowPosition({ x: pane.left, y: pane.top });
      const most = screenToFlowPosition({ x: pane.right, y: pane.bottom });
      const inside = x >= least.x && y >= least.y && x + card.width <= most.x && y + card.height <= most.y;
      if (!inside) void setCenter(x + card.width / 2, y + card.height / 2, { zoom: getViewport().zoom });
    }
  };
}

/** Show a node and put the focus on it; one that is out of sight is mounted by the move. */
export function useFocusNode(): (id: Id) => void {
  const show = useShowNode();
  return (id) => {
    show(id);
    requestAnimationFrame(() => {
      document.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`)?.focus();
    });
  };
}

export function useCanvasKeys(pane: RefObject<HTMLDivElement | null>): void {
  const { editor, view } = useScreen();
  const { t, language } = useWords();
  const gestures = useGestures();
  const fit = useFit();
  const focus = useFocusNode();
  const { zoomIn, zoomOut } = useReactFlow();

  const onKeyDown = (event: KeyboardEvent): void => {
    if (isField(event.target) || event.defaultPrevented) return;
    const inside = pane.current?.contains(document.activeElement) || document.activeElement === document.body;
    if (!inside) return;
    if (act(event)) event.preventDefault();
  };

  function act(event: KeyboardEvent): boolean {
    const command = event.ctrlKey || event.metaKey;
    const direction = ARROWS[event.key];
    if (direction) return arrow(direction, event);
    if (event.key === "Delete" || event.key === "Backspace") return done(() => gestures.remove());
    if (command && event.key.toLowerCase() === "a") return done(gestures.selectAll);
    if (command && event.key.toLowerCase() === "d") return done(gestures.duplicate);
    if (command) return false;
    const node = focusedNode();
    if ((event.key === "Enter" || event.key === " ") && node) {
      return done(() => view.getState().select(event.shiftKey ? [...view.getState().selected, node] : [node]));
    }
    if (event.key === "Escape") return done(() => view.getState().select([]));
    if (event.key === "1" || event.key === "f") return done(fit);
    if (event.key === "+" || event.key === "=") return done(() => void zoomIn());
    if (event.key === "-") return done(() => void zoomOut());
    return false;
  }

  function arrow(direction: Direction, event: KeyboardEvent): boolean {
    const { selected } = view.getState();
    const node = focusedNode();
    const walks = event.altKey || (node !== null && !selected.has(node));
    if (walks) return walk(direction, node ?? [...selected][0] ?? null, event.altKey);
    if (selected.size === 0) return false;
    const by = event.shiftKey ? FAR : NUDGE;
    const [dx, dy] = { left: [-by, 0], right: [by, 0], up: [0, -by], down: [0, by] }[direction] as [number, number];
    return done(() => gestures.nudge(dx, dy));
  }

  function walk(direction: Direction, from: Id | null, select: boolean): boolean {
    if (!from) return false;
    const next = step(editor.getState().graph, from, direction);
    if (!next) return done(() => view.getState().say(t("canvas.nowhere")));
    if (select && view.getState().selected.size > 0) view.getState().select([next]);
    focus(next);
    view.getState().say(nameIn(editor.getState(), next, language));
    return true;
  }

  const onKeyUp = (event: KeyboardEvent): void => {
    if (ARROWS[event.key] && !isField(event.target)) editor.getState().settle();
  };

  const onClip = (event: ClipboardEvent): void => {
    if (isField(event.target) || document.getSelection()?.toString()) return;
    if (event.type === "paste") {
      if (gestures.paste(event.clipboardData?.getData("text/plain") ?? "")) event.preventDefault();
      return;
    }
    const text = gestures.copied();
    if (text === null) return;
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    if (event.type === "cut") gestures.remove("edit.cut");
  };

  const handlers = useRef({ onKeyDown, onKeyUp, onClip });
  handlers.current = { onKeyDown, onKeyUp, onClip };
  useEffect(() => {
    const down = (event: KeyboardEvent) => handlers.current.onKeyDown(event);
    const up = (event: KeyboardEvent) => handlers.current.onKeyUp(event);
    const clip = (event: ClipboardEvent) => handlers.current.onClip(event);
    document.addEventListener("keydown", down);
    document.addEventListener("keyup", up);
    for (const kind of ["copy", "cut", "paste"] as const) document.addEventListener(kind, clip);
    return () => {
      document.removeEventListener("keydown", down);
      document.removeEventListener("keyup", up);
      for (const kind of ["copy", "cut", "paste"] as const) document.removeEventListener(kind, clip);
    };
  }, []);
}

function done(act: () => void): true {
  act();
  return true;
}
