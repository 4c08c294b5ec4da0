// The problems that still stand. The server looks at a graph a moment after the last edit; a wire drawn or a conflict settled since then counts at once.
import { useShallow } from "zustand/react/shallow";
import { numConflicts } from "../conflicts/section";
import type { Id } from "../igb/graph";
import type { Diagnostic, Editor } from "../state/editor";
import { useEditor } from "./screen";

type Looked = Pick<Editor, "diagnostics" | "graph">;

/** An input without a wire: not a mistake yet, so it is said quietly until a run asks for it. */
export const isGap = (found: Diagnostic): boolean => found.code === "missing_input";

function stands(found: Diagnostic, { graph }: Looked): boolean {
  if (found.code === "open_conflicts") return numConflicts(graph) > 0;
  if (found.node !== null && !graph.nodes.has(found.node)) return false;
  return !isGap(found) || !graph.edges.some((edge) => edge.target === found.node && edge.input === found.field);
}

export const standing = (editor: Looked): Diagnostic[] => editor.diagnostics.filter((found) => stands(found, editor));

export function useProblems(id: Id): Diagnostic[] {
  return useEditor(
    useShallow((editor) => editor.diagnostics.filter((found) => found.node === id && stands(found, editor))),
  );
}
