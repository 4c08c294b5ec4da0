import { expect, test } from "vitest";
import { waitReason } from "../../src/panels/running";
import type { Editor } from "../../src/state/editor";

const problem = { code: "unknown_input", where: "", node: null, field: null, expected: "", got: "", hint: "" };
const engine = { state: "ready" } as Parameters<typeof waitReason>[1];

function editor(checked: boolean, diagnostics: Editor["diagnostics"]): Editor {
  const graph = { nodes: new Map([["n", {}]]), edges: [], extra: new Map() };
  return { link: "open", graph, diagnostics, checked } as unknown as Editor;
}

test("a problem that may be of the graph as it was makes a run wait, not stop", () => {
  expect(waitReason(editor(false, [problem]), engine)).toEqual({ key: "run.waitsCheck" });
  expect(waitReason(editor(true, [problem]), engine)).toEqual({ key: "run.waitsProblems", count: 1 });
  expect(waitReason(editor(false, []), engine)).toBeNull();
});
