// From the canvas library's drags to wires: a new one from port to port, the end of an old one carried elsewhere.
import type { Connection, FinalConnectionState } from "@xyflow/react";
import { type MouseEvent as PaneEvent, useCallback, useRef } from "react";
import { edgeId } from "./connecting";
import type { Gestures } from "./gestures";
import { useScreen } from "./screen";
import type { PortRef } from "./view";
import type { WireEdge } from "./Wire";

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

/** Where the end of a wire can be taken hold of; the library draws it under the cards, so a press on the port is handed on. */
function endOf(id: string): Element | null {
  const wires = document.querySelectorAll<SVGGElement>(".react-flow__edge");
  const wire = [...wires].find((wire) => wire.dataset.id === id);
  return wire?.querySelector(".react-flow__edgeupdater-target") ?? null;
}

export function useWiring(gestures: Gestures) {
  const { editor, view } = useScreen();
  const carried = useRef(false); // the drag moves the end of a wire that is there
  const onConnect = useCallback(
    (connection: Connection) => {
      const pair = ends(connection);
      if (pair) gestures.connect(...pair);
    },
    [gestures],
  );
  const onConnectEnd = useCallback(
    (event: MouseEvent | TouchEvent, drag: FinalConnectionState) => {
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
      if (!point || carried.current || !target?.closest(".react-flow__pane")) return;
      view.getState().set({ quickAdd: { x: point.clientX, y: point.clientY, from } });
    },
    [gestures, view],
  );
  const isValidConnection = useCallback(
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
  const onReconnectStart = useCallback(() => {
    carried.current = true;
  }, []);
  const onReconnectEnd = useCallback(
    (_: unknown, old: WireEdge, __: unknown, drag: FinalConnectionState) => {
      if (!carried.current) return;
      carried.current = false;
      if (old.data && !drag.toHandle) gestures.disconnect(old.data.edge);
    },
    [gestures],
  );

  /** A press on an input that has a wire takes hold of that wire's end. */
  const pickUp = useCallback(
    (press: PaneEvent) => {
      const port = press.target instanceof Element ? press.target.closest<HTMLElement>(".pin-handle.at-in") : null;
      if (!port || press.button !== 0) return;
      const { nodeid, handleid } = port.dataset;
      const wire = editor.getState().graph.edges.find((edge) => edge.target === nodeid && edge.input === handleid);
      const end = wire && endOf(edgeId(wire));
      if (!end) return;
      press.stopPropagation();
      const { clientX, clientY } = press;
      end.dispatchEvent(new MouseEvent("mousedown", { bubbles: true, cancelable: true, button: 0, clientX, clientY }));
    },
    [editor],
  );
  return { onConnect, onConnectEnd, isValidConnection, onReconnect, onReconnectStart, onReconnectEnd, pickUp };
}
