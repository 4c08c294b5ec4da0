// What one person sees: selection, tool, panels. It never enters a graph, a file or a frame.
import { createStore, type StoreApi } from "zustand/vanilla";
import type { Id } from "../igb/graph";
import type { ConnectVerdict } from "../state/editor";
import type { Viewport } from "./zoom";

export type Side = "in" | "out";
export interface PortRef {
  node: Id;
  port: string;
  side: Side;
}
export interface QuickAdd {
  x: number; // client pixels
  y: number;
  from: PortRef | null; // the wire that was dropped here
}
export interface PortRefusal {
  at: PortRef;
  verdict: Exclude<ConnectVerdict, null>;
}

/** A saved version by its number, 0 for nothing, or the graph as it stands. */
export type VersionSide = number | "draft";

export interface View {
  room: "graph" | "versions" | "conflicts";
  conflict: string | null; // the open conflict that is looked at, by the name of its entry
  compared: { old: VersionSide; next: VersionSide } | null; // two sides, shown in place of the canvas
  viewport: Viewport | null; // of a canvas that made room for another
  selected: ReadonlySet<Id>;
  wires: ReadonlySet<string>; // ids of selected wires
  tool: "select" | "pan";
  drawer: "run" | "problems" | null;
  palette: boolean; // shown although the screen is narrow
  sheet: boolean; // the inspector as a sheet on a narrow screen
  help: boolean;
  quickAdd: QuickAdd | null;
  refusal: PortRefusal | null;
  goTo: { node: Id; field: string | null; seq: number } | null;
  abandoning: boolean; // a drag is being let go: what ends now is no edit
  said: string; // the live region's words
  armed: boolean; // Run was pressed while the engine starts: it begins by itself
  notice: string | null; // why Run waits, beside the button
  message: string; // typed for the next version; it stays until a version bears it

  select(nodes: Iterable<Id>, wires?: Iterable<string>): void;
  set(part: Partial<Omit<View, "select" | "set" | "visit" | "say">>): void;
  /** Select a node, show it, and put the focus on one of its fields. */
  visit(node: Id, field: string | null): void;
  say(words: string): void;
}

const NONE: ReadonlySet<string> = new Set();

function sameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((item) => b.has(item));
}

export function createView(): StoreApi<View> {
  return createStore<View>()((set, get) => ({
    room: "graph",
    conflict: null,
    compared: null,
    viewport: null,
    selected: NONE,
    wires: NONE,
    tool: "select",
    drawer: null,
    palette: false,
    sheet: false,
    help: false,
    quickAdd: null,
    refusal: null,
    goTo: null,
    abandoning: false,
    said: "",
    armed: false,
    notice: null,
    message: "",
    select(nodes, wires = []) {
      const next = { selected: new Set(nodes), wires: new Set(wires) };
      const { selected, wires: old } = get();
      if (sameSet(selected, next.selected) && sameSet(old, next.wires)) return;
      // One node alone is what the sheet of a narrow screen shows; closing it holds until the next one.
      set(next.selected.size === 1 && !sameSet(selected, next.selected) ? { ...next, sheet: true } : next);
    },
    set: (part) => set(part),
    visit: (node, field) =>
      set((view) => ({
        selected: new Set([node]),
        wires: NONE,
        sheet: true,
        goTo: { node, field, seq: (view.goTo?.seq ?? 0) + 1 },
      })),
    // A repeated sentence must change the text, or a reader stays silent.
    say: (words) => set((view) => ({ said: view.said === words ? `${words}\u00a0` : words })),
  }));
}
