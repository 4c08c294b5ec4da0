// What a comparison of two versions marks on the canvas: nodes and wires by kind, and where moved nodes stood. With marks around
// it a canvas is only read. Signs stand beside the colours (look/LOOK: a sign and a line each).
import { createContext, useContext } from "react";
import type { Id } from "../igb/graph";
import type { Box } from "./cards";

export type MarkKind = "added" | "removed" | "changed" | "moved";

export const SIGN: Readonly<Record<MarkKind, string>> = { added: "+", removed: "−", changed: "~", moved: "↦" };

export interface NodeMark {
  readonly kind: MarkKind;
  readonly fields: number; // that changed: settings, flags, name, component
  readonly moved: boolean;
}

export interface Marks {
  readonly nodes: ReadonlyMap<Id, NodeMark>;
  readonly wires: ReadonlyMap<string, "added" | "removed">; // by `edgeId`
  readonly ghosts: readonly { id: Id; from: Box; to: Box }[]; // of nodes that moved
}

/** Null: the canvas is the draft's own and takes edits. */
export const MarksContext = createContext<Marks | null>(null);

export const useMarks = (): Marks | null => useContext(MarksContext);
