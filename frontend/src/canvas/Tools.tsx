// The canvas's own tools, bottom left: select, pan, zoom, fit.
import { useReactFlow, useStore } from "@xyflow/react";
import { useWords } from "../i18n/language";
import { Glyph } from "../look/Glyph";
import type { GlyphName } from "../look/glyphs";
import { boundsOf } from "./cards";
import { useFlowGraph } from "./flowGraph";
import { useScreen, useView } from "./screen";
import { viewportOf } from "./zoom";

export function useFit(): () => void {
  const { setViewport } = useReactFlow();
  const { editor } = useScreen();
  const { cards } = useFlowGraph();
  const width = useStore((flow) => flow.width);
  const height = useStore((flow) => flow.height);
  return () => {
    const box = boundsOf(editor.getState().graph, cards);
    if (box) void setViewport(viewportOf(box, { width, height }), { duration: 180 });
  };
}

export function Tools() {
  const { t } = useWords();
  const { view } = useScreen();
  const tool = useView((view) => view.tool);
  const percent = useStore((flow) => Math.round(flow.transform[2] * 100));
  const { zoomIn, zoomOut, zoomTo } = useReactFlow();
  const fitGraph = useFit();
  const toggle = (name: "select" | "pan", glyph: GlyphName) => (
    <button
      type="button"
      className={tool === name ? "is-on" : ""}
      aria-pressed={tool === name}
      aria-label={t(`canvas.${name}`)}
      title={t(`canvas.${name}`)}
      onClick={() => view.getState().set({ tool: name })}
    >
      <Glyph name={glyph} />
    </button>
  );
  const button = (label: string, glyph: GlyphName, act: () => void, id: string) => (
    <button type="button" aria-label={label} title={label} onClick={act} data-testid={id}>
      <Glyph name={glyph} />
    </button>
  );
  return (
    <div className="tools" role="toolbar" aria-label={t("canvas.label")}>
      {toggle("select", "cursor")}
      {toggle("pan", "hand")}
      <span className="rule" />
      {button(t("canvas.zoomOut"), "minus", () => void zoomOut({ duration: 110 }), "zoom-out")}
      <button type="button" className="num zoom" title={t("canvas.zoomReset")} onClick={() => void zoomTo(1)}>
        {percent}%
      </button>
      {button(t("canvas.zoomIn"), "plus", () => void zoomIn({ duration: 110 }), "zoom-in")}
      {button(t("canvas.fit"), "fit", fitGraph, "fit")}
    </div>
  );
}
