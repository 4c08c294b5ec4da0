// The whole graph in a strip: boxes and rails in state colours, drawn once a change.
import { useEffect, useRef, useState } from "react";
import { boundsOf } from "../canvas/cards";
import { useFlowGraph } from "../canvas/flowGraph";
import { drawGraph, frameOf, sharpen, useStates, useThemeChanges } from "../canvas/Minimap";
import { useEditor } from "../canvas/screen";
import { useWords } from "../i18n/language";

const HEIGHT = 136;
const NONE: ReadonlySet<string> = new Set();

export function PhoneOverview() {
  const { t } = useWords();
  const canvas = useRef<HTMLCanvasElement>(null);
  const graph = useEditor((editor) => editor.graph);
  const { cards } = useFlowGraph();
  const states = useStates();
  const theme = useThemeChanges();
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const watch = new ResizeObserver(() => setWidth(element.clientWidth));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme's colours are read while drawing
  useEffect(() => {
    const box = boundsOf(graph, cards);
    const pen = canvas.current && width > 0 ? sharpen(canvas.current, width, HEIGHT) : null;
    if (!box || !pen) return;
    const frame = frameOf(box, width, HEIGHT, 14);
    drawGraph(pen, getComputedStyle(document.documentElement), { graph, cards, states, selected: NONE, frame });
  }, [graph, cards, states, width, theme]);
  return <canvas ref={canvas} className="phone-overview" role="img" aria-label={t("phone.overview")} />;
}
