// The two stores of an open Space, handed down by context: what is edited, and what is seen.
import { createContext, useContext } from "react";
import { useStore } from "zustand";
import type { StoreApi } from "zustand/vanilla";
import type { Id } from "../igb/graph";
import type { Editor } from "../state/editor";
import type { View } from "./view";

export interface Screen {
  editor: StoreApi<Editor>;
  view: StoreApi<View>;
}

export const ScreenContext = createContext<Screen | null>(null);

export function useScreen(): Screen {
  const screen = useContext(ScreenContext);
  if (!screen) throw new Error("expected a ScreenContext above, got none");
  return screen;
}

export function useEditor<T>(select: (editor: Editor) => T): T {
  return useStore(useScreen().editor, select);
}

export function useView<T>(select: (view: View) => T): T {
  return useStore(useScreen().view, select);
}

/** From a card or a list to a node and one of its fields. */
export function useVisit(): (node: Id, field: string | null) => void {
  const { view } = useScreen();
  return (node, field) => view.getState().visit(node, field);
}
