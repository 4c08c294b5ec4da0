// The mark of a port type: one colour and one shape each, wherever a type is named.
import type { PortType } from "../state/catalogue";

const SHAPES: Record<PortType, string> = {
  text: "M10 6a4 4 0 1 1-8 0 4 4 0 0 1 8 0z",
  json: "M2.9 2.3h6.2a.6.6 0 0 1 .6.6v6.2a.6.6 0 0 1-.6.6H2.9a.6.6 0 0 1-.6-.6V2.9a.6.6 0 0 1 .6-.6z",
  number: "M6 1.3 11 10H1z",
  boolean: "M6 1.7a4.3 4.3 0 1 1 0 8.6 4.3 4.3 0 0 1 0-8.6zM6 3a3 3 0 0 1 0 6z",
  any: "M6 1.7a4.3 4.3 0 1 1 0 8.6 4.3 4.3 0 0 1 0-8.6zM6 3a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM6 4.4a1.6 1.6 0 1 1 0 3.2 1.6 1.6 0 0 1 0-3.2z",
};
/** Outlines for empty ports: an empty `any` is a ring in two halves, so that it is not taken for an empty disc. */
const HOLLOW: Partial<Record<PortType, string>> = {
  boolean: "M6 2.2a3.8 3.8 0 1 1 0 7.6 3.8 3.8 0 0 1 0-7.6zM6 2.2v7.6",
  any: "M7.1 2.36a3.8 3.8 0 0 1 0 7.28M4.9 9.64a3.8 3.8 0 0 1 0-7.28",
};

interface Props {
  type: PortType;
  size?: number;
  hollow?: boolean;
  ring?: boolean; // a gap in the canvas colour, where the mark sits on an edge
}

export function PortMark({ type, size = 12, hollow = false, ring = false }: Props) {
  const shape = hollow ? (HOLLOW[type] ?? SHAPES[type]) : SHAPES[type];
  return (
    <svg
      className={`port-mark t-${type}${hollow ? " is-hollow" : ""}`}
      width={size}
      height={size}
      viewBox="0 0 12 12"
      aria-hidden
      focusable="false"
    >
      {ring && <path className="port-gap" d={SHAPES[type]} />}
      <path className="port-ink" fillRule="evenodd" d={shape} />
    </svg>
  );
}
