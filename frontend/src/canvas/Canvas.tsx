// The canvas: React Flow between the graph and the hand. It draws from the store and turns gestures into edits.
import {
  type Connection,
  type EdgeChange,
  type EdgeTypes,
  type FinalConnectionState,
  type NodeChange,
  type NodeTypes,
  ReactFlow,
  SelectionMode,
  useStore as useFlow,
  useReactFlow,
  useStoreApi,
} from "@xyflow/react";
import { type MouseEvent, type TouchEvent, useCallback, useEffect, useRef, useState } from "react";
import { useWords } from "../i18n/language";
import type { Id } from "../igb/graph";
import { boundsOf, GRID } from "./cards";
import { DragWire } from "./DragWire";
import { EmptyCanvas } from "./EmptyCanvas";
import { useFlowGraph } from "./flowGraph";
import { useGestures } from "./gestures";
import { useCanvasKeys } from "./keyboard";
import { Minimap } from "./Minimap";
import { type CardNode, NodeCard } from "./NodeCard";
import { QuickAddMenu } from "./QuickAddMenu";
import { useEditor, useScreen, useView } from "./screen";
import { Tools } from "./Tools";
import type { PortRef } from "./view";
import { Wire, type WireEdge } from "./Wire";
import { LEAST, levelOf, MOST, viewportOf } from "./zoom";

const NODE_TYPES: NodeTypes = { card: NodeCard };
const EDGE_TYPES: EdgeTypes = { wire: Wire };
const SETTLE = 180;
/** Above this many nodes only those in sight are mounted. */
const MANY = 120;

const snap = (value: number): number => Math.round(value / GRID) * GRID;

function ends(connection: {
  source: string | null;
  sourceHandle: string | null;
  target: string | null;
  targetHandle: string | null;
}): [PortRef, PortRef] | null {
  const { source, sourceHandle, target, targetHandle } = connection;
  if (!source || !sourceHandle || !target || !targetHandle) return null;
  return [
    { node: source, port: sourceHandle, side: "out" },
    { node: target, port: targetHandle, side: "in" },
  ];
}

/** The zoom as a CSS variable, so that compact cards keep their type size without rendering again. */
function useZoomVariable(pane: React.RefObject<HTMLDivElement | null>): void {
  const api = useStoreApi();
  useEffect(() => {
    const show = (zoom: number) => pane.current?.style.setProperty("--zoom", zoom.toFixed(4));
    show(api.getState().transform[2]);
    return api.subscribe((flow) => show(flow.transform[2]));
  }, [api, pane]);
}

/** Fit once, when the graph first has cards; after that the view is the person's. */
function useFirstFit(): void {
  const { setViewport } = useReactFlow();
  const width = useFlow((flow) => flow.width);
  const height = useFlow((flow) => flow.height);
  const { editor } = useScreen();
  const filled = useEditor((editor) => editor.graph.nodes.size > 0 && editor.catalogue.size > 0);
  const { cards } = useFlowGraph();
  const fitted = useRef(false);
  useEffect(() => {
    if (fitted.current || !filled || width === 0) return;
    const box = boundsOf(editor.getState().graph, cards);
    if (!box) return;
    fitted.current = true;
    void setViewport(viewportOf(box, { width, height }));
  }, [filled, width, height, cards, editor, setViewport]);
}

export function Canvas() {
  const { t } = useWords();
  const { view } = useScreen();
  const gestures = useGestures();
  const { nodes, edges, hold, release } = useFlowGraph();
  const tool = useView((view) => view.tool);
  const level = useFlow((flow) => levelOf(flow.transform[2]));
  const pane = useRef<HTMLDivElement>(null);
  const [settling, setSettling] = useState(false);
  const { screenToFlowPosition } = useReactFlow();
  useZoomVariable(pane);
  useFirstFit();
  useCanvasKeys(pane);

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
      const places = new Map<Id, readonly [number, number]>();
      for (const node of moved) places.set(node.id, [snap(node.position.x), snap(node.position.y)]);
      setSettling(true);
      setTimeout(() => setSettling(false), SETTLE);
      gestures.move(places);
      release();
    },
    [gestures, release],
  );
  const onConnect = useCallback(
    (connection: Connection) => {
      const pair = ends(connection);
      if (pair) gestures.connect(...pair);
    },
    [gestures],
  );
  const onConnectEnd = useCallback(
    (event: globalThis.MouseEvent | globalThis.TouchEvent, drag: FinalConnectionState) => {
      const { fromNode, fromHandle, toNode, toHandle } = drag;
      if (!fromNode || !fromHandle?.id) return;
      const from: PortRef = {
        node: fromNode.id,
        port: fromHandle.id,
        side: fromHandle.type === "source" ? "out" : "in",
      };
      if (toNode && toHandle?.id) {
        if (drag.isValid === false) {
          gestures.refuse(from, {
            node: toNode.id,
            port: toHandle.id,
            side: toHandle.type === "source" ? "out" : "in",
          });
        }
        return;
      }
      const target = event.target instanceof Element ? event.target : null;
      const point = "changedTouches" in event ? event.changedTouches[0] : event;
      if (!point || !target?.closest(".react-flow__pane")) return;
      view.getState().set({ quickAdd: { x: point.clientX, y: point.clientY, from } });
    },
    [gestures, view],
  );
  const isValid = useCallback(
    (connection: Connection | WireEdge) => {
      const pair = ends({
        source: connection.source,
        sourceHandle: connection.sourceHandle ?? null,
        target: connection.target,
        targetHandle: connection.targetHandle ?? null,
      });
      return pair !== null && gestures.verdict(...pair) === null;
    },
    [gestures],
  );
  const onReconnect = useCallback(
    (old: WireEdge, connection: Connection) => {
      const pair = ends(connection);
      if (pair && old.data) gestures.reconnect(old.data.edge, ...pair);
    },
    [gestures],
  );
  const onReconnectEnd = useCallback(
    (
      _: MouseEvent | TouchEvent | globalThis.MouseEvent | globalThis.TouchEvent,
      old: WireEdge,
      __: unknown,
      drag: FinalConnectionState,
    ) => {
      if (old.data && !drag.toHandle) gestures.disconnect(old.data.edge);
    },
    [gestures],
  );
  const clear = useCallback(() => view.getState().set({ refusal: null, quickAdd: null }), [view]);
  const onDoubleClick = (event: MouseEvent) => {
    const target = event.target as Element;
    if (!target.closest(".react-flow__pane")) return;
    view.getState().set({ quickAdd: { x: event.clientX, y: event.clientY, from: null } });
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a double click is the mouse's way to what / does for the keyboard
    <div
      ref={pane}
      className={`canvas l-${level}-view${settling ? " is-settling" : ""} tool-${tool}`}
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
        onNodeDragStart={clear}
        onNodeDragStop={drop}
        onSelectionDragStop={(event, moved) => drop(event, null, moved)}
        onConnectStart={clear}
        onConnect={onConnect}
        onConnectEnd={onConnectEnd}
        onReconnect={onReconnect}
        onReconnectEnd={onReconnectEnd}
        isValidConnection={isValid}
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
      />
      <EmptyCanvas />
      <Tools />
      <Minimap />
      <QuickAddMenu toFlow={(x, y) => screenToFlowPosition({ x, y })} />
    </div>
  );
}
