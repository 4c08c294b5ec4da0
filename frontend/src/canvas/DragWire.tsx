// The wire under the hand: the same routing, dashed until it has an end that can take it.
import { type ConnectionLineComponentProps, Position } from "@xyflow/react";
import { corners, path } from "./route";

export function DragWire({ fromX, fromY, toX, toY, fromPosition, connectionStatus }: ConnectionLineComponentProps) {
  const forward = fromPosition === Position.Right;
  const [from, to] = forward
    ? [[fromX, fromY] as const, [toX, toY] as const]
    : [[toX, toY] as const, [fromX, fromY] as const];
  return (
    <g className={`wire-of drag-wire is-${connectionStatus ?? "open"}`}>
      <path className="wire" d={path(corners({ from, to }))} />
      <circle className="drag-end" cx={toX} cy={toY} r={3} />
    </g>
  );
}
