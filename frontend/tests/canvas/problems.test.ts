import { expect, test } from "vitest";
import { standing } from "../../src/canvas/problems";
import { edge, graph, node } from "./world";

const found = (id: string, field: string, code = "missing_input") => ({
  code,
  where: `nodes.${id}.${field}`,
  node: id,
  field,
  expected: "text",
  got: "no edge",
  hint: "",
});

test("a wire drawn since the server looked ends the problem at its input, and no other", () => {
  const diagnostics = [
    found("b", "prompt"),
    found("c", "value"),
    found("b", "prompt", "type_mismatch"),
    found("gone", "x"),
  ];
  const flow = graph(
    [node("a", "text.clean"), node("b", "llm.generate"), node("c", "flow.output")],
    [edge("a.text", "b.prompt")],
  );
  expect(standing({ diagnostics, graph: flow })).toEqual([diagnostics[1], diagnostics[2]]);
});

test("open conflicts are a problem until the last one is settled here, whatever the server last said", () => {
  const conflicts = { ...found("a", "", "open_conflicts"), node: null, field: null };
  const flow = graph([node("a", "text.clean")]);
  expect(standing({ diagnostics: [conflicts], graph: flow })).toEqual([]);
  const open = { ...flow, extra: new Map([[68, ["one"]]]) };
  expect(standing({ diagnostics: [conflicts], graph: open })).toEqual([conflicts]);
});
