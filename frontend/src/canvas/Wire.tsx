// A wire: square routing in the colour of its type; the line says what it carries, the count stands at the arriving end.
import type { EdgeProps, Edge as FlowEdge } from "@xyflow/react";
import { memo } from "react";
import { useWords } from "../i18n/language";
import type { Edge } from "../igb/graph";
import type { PortType } from "../state/catalogue";
import type { Editor } from "../state/editor";
import { SIGN, useMarks } from "./marks";
import { corners, labelAt, middleOf, path } from "./route";
import { useEditor } from "./screen";
import { type WireState, wireState } from "./status";
import { characters, shown } from "./values";

export type WireEdge = FlowEdge<
  { edge: Edge; type: PortType; lane: number; late: boolean; between: number | null; fan: boolean; lost: boolean },
  "wire"
>;

/** State and count of a wire as one string, so that a wire re-renders only when either changes. */
function carried(editor: Editor, edge: Edge, type: PortType, lost: boolean): string {
  const source = editor.run?.nodes.get(edge.source);
  const mismatch = lost || editor.diagnostics.some((found) => isMismatch(found, edge));
  let state = wireState(source, edge.output, mismatch);
  if (state === "live" && type !== "text") state = "wait";
  if (!source || (state !== "live" && state !== "done")) return `${state}\n\n`;
  if (source.steps > 0 && type === "text") return `${state}\ntok\n${source.steps}`;
  const value = source.outputs.get(edge.output);
  return typeof value === "string"
    ? `${state}\nchars\n${characters(value)}`
    : `${state}\nvalue\n${brief(shown(value))}`;
}

const brief = (text: string): string => (text.length > 14 ? `${text.slice(0, 13)}…` : text);

function isMismatch(found: { node: string | null; field: string | null; code: string }, edge: Edge): boolean {
  return found.node === edge.target && found.field === edge.input && /type|port|mismatch/.test(found.code);
}

function useLabel(state: WireState, unit: string, count: string): string {
  const { t } = useWords();
  if (state === "skip") return t("card.notTaken");
  if (state === "blocked") return t("card.noValue");
  if (unit === "tok") return t("card.tok", { count: Number(count) });
  if (unit === "chars") return t("card.chars", { count: Number(count) });
  return count;
}

export const Wire = memo(function Wire(props: EdgeProps<WireEdge>) {
  const { id, sourceX, sourceY, targetX, targetY, selected, data } = props;
  const { edge, type, lane, late, between, fan, lost } = data as NonNullable<WireEdge["data"]>;
  const [state, unit = "", count = ""] = useEditor((editor) => carried(editor, edge, type, lost)).split("\n") as [
    WireState,
    string,
    string,
  ];
  const label = useLabel(state, unit, count);
  const points = corners({ from: [sourceX, sourceY], to: [targetX, targetY], lane, late, between });
  const d = path(points);
  const at = labelAt(points);
  const bend = points[1];
  const marks = useMarks();
  const mark = marks?.wires.get(id);
  const marked = marks ? ` d-${mark ?? "same"}` : "";
  return (
    <g className={`wire-of t-${type} w-${state}${marked}${selected ? " is-selected" : ""}`}>
      <path className="wire" d={d} />
      {state === "live" && <path className="wire wire-pulse" d={d} />}
      <path className="react-flow__edge-interaction wire-hit" d={d} />
      {fan && points.length > 2 && bend && <circle className="junction" cx={bend[0]} cy={sourceY} r={2.6} />}
      {mark && (
        <g className="wire-mark" transform={`translate(${middleOf(points).join(" ")})`}>
          <circle r={7} />
          <text textAnchor="middle" dominantBaseline="central">
            {SIGN[mark]}
          </text>
        </g>
      )}
      {label && (
        <text className="wire-label" x={at.x} y={at.y} textAnchor={at.anchor}>
          {label}
        </text>
      )}
    </g>
  );
});
