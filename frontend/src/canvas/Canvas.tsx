// The canvas: React Flow between the graph and the hand. It draws from the store and turns gestures into edits.
import {
  type EdgeChange,
  type EdgeTypes,
  type NodeChange,
  type NodeTypes,
  ReactFlow,
  SelectionMode,
  useStore as useFlow,
  useReactFlow,
  useStoreApi,
} from "@xyflow/react";
import { type MouseEvent, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useWords } from "../i18n/language";
import type { Id } from "../igb/graph";
import { useAbandon } from "./abandon";
import { boundsOf, GRID } from "./cards";
import { DragWire } from "./DragWire";
import { EmptyCanvas } from "./EmptyCanvas";
import { useFlowGraph } from "./flowGraph";
import { useGestures } from "./gestures";
import { useCanvasKeys } from "./keyboard";
import { Ghosts } from "./MarkTag";
import { Minimap } from "./Minimap";
import { useMarks } from "./marks";
import { type CardNode, NodeCard } from "./NodeCard";
import { QuickAddMenu } from "./QuickAddMenu";
import { useEditor, useScreen, useView } from "./screen";
import { Tools } from "./Tools";
import { Wire, type WireEdge } from "./Wire";
import { useWiring } from "./wiring";
import { LEAST, levelOf, MOST, viewportOf } from "./zoom";

const NODE_TYPES: NodeTypes = { card: NodeCard };
const EDGE_TYPES: EdgeTypes = { wire: Wire };
const SETTLE = 180;
/** Above this many nodes only those in sight are mounted. */
const MANY = 120;

const snap = (value: number): number => Math.round(value / GRID) * GRID;

/** The zoom as a CSS variable, so that compact cards keep their type size without rendering again. */
function useZoomVariable(pane: React.RefObject<HTMLDivElement | null>): void {
  const api = useStoreApi();
  useEffect(() => {
    const show = (zoom: number) => pane.current?.style.setProperty("--zoom", zoom.toFixed(4));
    show(api.getState().transform[2]);
    return api.subscribe((flow) => show(flow.transform[2]));
  }, [api, pane]);
}

/** Fit once, when the graph is there; after that the view is the person's, and a first card stays where it was dropped. */
function useFirstFit(): void {
  const { setViewport, getViewport } = useReactFlow();
  const width = useFlow((flow) => flow.width);
  const height = useFlow((flow) => flow.height);
  const { editor, view } = useScreen();
  const there = useEditor((editor) => editor.catalogue.size > 0 && editor.link === "open");
  const { cards } = useFlowGraph();
  const fitted = useRef(false);
  useEffect(() => {
    if (fitted.current || !there || width === 0) return;
    fitted.current = true;
    const kept = view.getState().viewport;
    const box = boundsOf(editor.getState().graph, cards);
    if (kept) void setViewport(kept);
    else if (box) void setViewport(viewportOf(box, { width, height }));
  }, [there, width, height, cards, editor, view, setViewport]);
  useLayoutEffect(() => {
    return () => {
      if (fitted.current) view.getState().set({ viewport: getViewport() });
    };
  }, [view, getViewport]);
}

export function Canvas() {
  const { t } = useWords();
  const { view } = useScreen();
  const gestures = useGestures();
  const { nodes, edges, hold, release } = useFlowGraph();
  const tool = useView((view) => view.tool);
  const level = useFlow((flow) => levelOf(flow.transform[2]));
  const pane = useRef<HTMLDivElement>(null);
  const { pickUp, ...wiring } = useWiring(gestures);
  const [settling, setSettling] = useState(false);
  const { screenToFlowPosition } = useReactFlow();
  useZoomVariable(pane);
  useFirstFit();
  useCanvasKeys(pane);
  const still = useMarks() !== null;
  const carrying = useRef(false);
  useAbandon(carrying, release);

  const onNodesChange = useCallback(
    (changes: NodeChange<CardNode>[]) => {
      const picks = changes.filter((change) => change.type === "select");
      if (picks.length > 0) {
        const selected = new Set(view.getState().selected);
        for (const pick of picks) pick.selected ? selected.add(pick.id) : selected.delete(pick.id);
        view.getState().select(selected, view.getState().wires);
      }
      const moves = changes.filter(
        (change) => change.type === "position" && change.dragging === true && change.position,
      );
      if (moves.length > 0) hold(moves);
    },
    [view, hold],
  );
  const onEdgesChange = useCallback(
    (changes: EdgeChange<WireEdge>[]) => {
      const wires = new Set(view.getState().wires);
      for (const change of changes) {
        if (change.type === "select") change.selected ? wires.add(change.id) : wires.delete(change.id);
      }
      view.getState().select(view.getState().selected, wires);
    },
    [view],
  );
  const drop = useCallback(
    (_: unknown, __: unknown, moved: CardNode[]) => {
      carrying.current = false;
      const places = new Map<Id, readonly [number, number]>();
      for (const node of moved) places.set(node.id, [snap(node.position.x), snap(node.position.y)]);
      setSettling(true);
      setTimeout(() => setSettling(false), SETTLE);
      gestures.move(places);
      release();
    },
    [gestures, release],
  );
  const clear = useCallback(() => view.getState().set({ refusal: null, quickAdd: null }), [view]);
  const carry = useCallback(() => {
    carrying.current = true;
    clear();
  }, [clear]);
  const onDoubleClick = (event: MouseEvent) => {
    const target = event.target as Element;
    if (still || !target.closest(".react-flow__pane")) return;
    view.getState().set({ quickAdd: { x: event.clientX, y: event.clientY, from: null } });
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a double click is the mouse's way to what / does for the keyboard
    <div
      ref={pane}
      className={`canvas l-${level}-view${settling ? " is-settling" : ""} tool-${tool}`}
      onMouseDownCapture={pickUp}
      onDoubleClick={onDoubleClick}
      data-testid="canvas"
    >
      <ReactFlow<CardNode, WireEdge>
        aria-label={t("canvas.label")}
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        onNodesChange={onNodesChange}
        onEdgesChange={onEdgesChange}
        onNodeDragStart={carry}
        onSelectionDragStart={carry}
        onNodeDragStop={drop}
        onSelectionDragStop={(event, moved) => drop(event, null, moved)}
        onConnectStart={clear}
        {...wiring}
        onPaneClick={clear}
        connectionLineComponent={DragWire}
        connectionRadius={24}
        minZoom={LEAST}
        maxZoom={MOST}
        selectionMode={SelectionMode.Partial}
        selectionOnDrag={tool === "select"}
        panOnDrag={tool === "pan" ? true : [1, 2]}
        panActivationKeyCode="Space"
        multiSelectionKeyCode={["Shift", "Meta", "Control"]}
        selectionKeyCode={null}
        deleteKeyCode={null}
        panOnScroll
        zoomOnDoubleClick={false}
        nodesFocusable
        edgesFocusable={false}
        disableKeyboardA11y
        elevateNodesOnSelect
        onlyRenderVisibleElements={nodes.length > MANY}
        proOptions={{ hideAttribution: true }}
        nodesDraggable={!still}
        nodesConnectable={!still}
      >
        <Ghosts />
      </ReactFlow>
      {!still && <EmptyCanvas />}
      <Tools />
      {!still && <Minimap />}
      {!still && <QuickAddMenu toFlow={(x, y) => screenToFlowPosition({ x, y })} />}
    </div>
  );
}
