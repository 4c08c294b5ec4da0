// The overview, drawn on one canvas element: boxes, rails in state colours, wires, and the frame of what is in sight.
import { useReactFlow, useStore } from "@xyflow/react";
import { type PointerEvent, useEffect, useRef, useState } from "react";
import { useShallow } from "zustand/react/shallow";
import { useWords } from "../i18n/language";
import type { Graph, Id } from "../igb/graph";
import { type Box, boundsOf, type Card, rowY } from "./cards";
import { useFlowGraph } from "./flowGraph";
import { corners } from "./route";
import { useEditor, useView } from "./screen";
import { type Status, statusOf } from "./status";

const WIDTH = 168;
const HEIGHT = 104;
const MARGIN = 10;

const RAIL: Record<Status, string> = {
  idle: "--line-3",
  waiting: "--waiting",
  queued: "--text-3",
  running: "--running",
  done: "--ok",
  skipped: "--skipped",
  failed: "--error",
  over: "--warning",
  cancelled: "--text-3",
  disabled: "--line-2",
};

export interface Frame {
  scale: number;
  x: number;
  y: number;
}

/** Scale and offset that put a box in the middle of a small pane. */
export function frameOf(box: Box, width: number, height: number, margin = MARGIN): Frame {
  const scale = Math.min(
    (width - 2 * margin) / Math.max(box.width, 1),
    (height - 2 * margin) / Math.max(box.height, 1),
    0.2,
  );
  return {
    scale,
    x: width / 2 - (box.x + box.width / 2) * scale,
    y: height / 2 - (box.y + box.height / 2) * scale,
  };
}

interface Drawing {
  graph: Graph;
  cards: ReadonlyMap<Id, Card>;
  states: ReadonlyMap<Id, Status>;
  selected: ReadonlySet<Id>;
  frame: Frame;
}

export function drawGraph(pen: CanvasRenderingContext2D, style: CSSStyleDeclaration, drawing: Drawing): void {
  const { graph, cards, states, selected, frame } = drawing;
  const ink = (name: string) => style.getPropertyValue(name);
  const place = (id: Id) => graph.positions.get(id) ?? ([0, 0] as const);
  pen.lineWidth = 1;
  pen.globalAlpha = 0.6;
  pen.strokeStyle = ink("--port-any");
  for (const edge of graph.edges) {
    const source = cards.get(edge.source);
    const target = cards.get(edge.target);
    if (!source || !target) continue;
    const row = Math.max(
      target.pins.inputs.findIndex((pin) => pin.name === edge.input),
      0,
    );
    const lane = Math.max(
      source.pins.outputs.findIndex((pin) => pin.name === edge.output),
      0,
    );
    const [sx, sy] = place(edge.source);
    const [tx, ty] = place(edge.target);
    const points = corners({ from: [sx + source.width, sy + rowY(lane)], to: [tx, ty + rowY(row)], lane });
    pen.beginPath();
    for (const [x, y] of points) pen.lineTo(x * frame.scale + frame.x, y * frame.scale + frame.y);
    pen.stroke();
  }
  pen.globalAlpha = 1;
  for (const [id, card] of cards) {
    const [x, y] = place(id);
    const box = [
      x * frame.scale + frame.x,
      y * frame.scale + frame.y,
      card.width * frame.scale,
      card.height * frame.scale,
    ] as const;
    pen.fillStyle = ink("--surface-3");
    pen.fillRect(...box);
    pen.strokeStyle = ink(selected.has(id) ? "--accent" : "--line-2");
    pen.strokeRect(box[0] + 0.5, box[1] + 0.5, Math.max(box[2] - 1, 1), Math.max(box[3] - 1, 1));
    pen.fillStyle = ink(RAIL[states.get(id) ?? "idle"]);
    pen.fillRect(box[0], box[1], box[2], 2);
  }
}

/** Phases of all nodes as one list that changes only when a phase does. */
export function useStates(): ReadonlyMap<Id, Status> {
  const graph = useEditor((editor) => editor.graph);
  const list = useEditor(
    useShallow((editor) => [...graph.nodes].map(([id, node]) => statusOf(node, editor.run?.nodes.get(id)))),
  );
  return new Map([...graph.nodes.keys()].map((id, index) => [id, list[index] ?? "idle"]));
}

/** Counts up when the theme changes, since a drawn canvas does not follow CSS. */
export function useThemeChanges(): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const watch = new MutationObserver(() => setCount((old) => old + 1));
    watch.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => watch.disconnect();
  }, []);
  return count;
}

export function sharpen(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const ratio = devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d");
  pen?.setTransform(ratio, 0, 0, ratio, 0, 0);
  return pen;
}

export function Minimap() {
  const { t } = useWords();
  const canvas = useRef<HTMLCanvasElement>(null);
  const graph = useEditor((editor) => editor.graph);
  const selected = useView((view) => view.selected);
  const { cards } = useFlowGraph();
  const states = useStates();
  const theme = useThemeChanges();
  const [x, y, zoom] = useStore((flow) => flow.transform);
  const width = useStore((flow) => flow.width);
  const height = useStore((flow) => flow.height);
  const { setCenter } = useReactFlow();
  const box = boundsOf(graph, cards);
  const frame = box ? frameOf(box, WIDTH, HEIGHT) : null;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme's colours are read while drawing
  useEffect(() => {
    const pen = canvas.current && sharpen(canvas.current, WIDTH, HEIGHT);
    if (!pen || !frame) return;
    const style = getComputedStyle(document.documentElement);
    drawGraph(pen, style, { graph, cards, states, selected, frame });
    pen.strokeStyle = style.getPropertyValue("--text-1");
    const left = Math.max((-x / zoom) * frame.scale + frame.x, 3);
    const top = Math.max((-y / zoom) * frame.scale + frame.y, 3);
    const right = Math.min(((width - x) / zoom) * frame.scale + frame.x, WIDTH - 3);
    const bottom = Math.min(((height - y) / zoom) * frame.scale + frame.y, HEIGHT - 3);
    corner(pen, left, top, right, bottom);
  }, [graph, cards, states, selected, frame, theme, x, y, zoom, width, height]);

  if (!frame) return null;
  const go = (event: PointerEvent<HTMLCanvasElement>) => {
    if (event.buttons !== 1) return;
    const at = event.currentTarget.getBoundingClientRect();
    const to = [
      (event.clientX - at.left - frame.x) / frame.scale,
      (event.clientY - at.top - frame.y) / frame.scale,
    ] as const;
    void setCenter(to[0], to[1], { zoom });
  };
  return (
    <div className="minimap">
      <canvas
        ref={canvas}
        role="img"
        aria-label={t("canvas.minimap")}
        onPointerDown={go}
        onPointerMove={go}
        style={{ width: WIDTH, height: HEIGHT }}
      />
    </div>
  );
}

/** Registration corners of the frame in sight. */
function corner(pen: CanvasRenderingContext2D, left: number, top: number, right: number, bottom: number): void {
  const arm = Math.min(8, (right - left) / 3, (bottom - top) / 3);
  pen.beginPath();
  for (const [x, y, dx, dy] of [
    [left, top, arm, arm],
    [right, top, -arm, arm],
    [left, bottom, arm, -arm],
    [right, bottom, -arm, -arm],
  ] as const) {
    pen.moveTo(x + dx, y);
    pen.lineTo(x, y);
    pen.lineTo(x, y + dy);
  }
  pen.stroke();
}
