import { expect, test } from "vitest";
import { edgeId } from "../../src/canvas/connecting";
import { runOrder } from "../../src/canvas/order";
import { diff } from "../../src/igb/diff";
import type { Op } from "../../src/igb/graph";
import { applyOps } from "../../src/igb/patch";
import { compare, countsOf } from "../../src/versions/comparison";
import { patchLines } from "../../src/versions/patchText";
import { when } from "../../src/versions/when";
import { catalogue, edge, graph, node } from "../canvas/world";

const before = graph(
  [node("a", "text.clean"), node("b", "llm.generate", { prompt: "Say it" }), node("c", "flow.output")],
  [edge("a.text", "b.prompt"), edge("b.text", "c.value")],
  { a: [0, 0], b: [200, 0], c: [400, 0] },
);
const after = graph(
  [node("b", "llm.generate", { prompt: "Say it well" }), node("c", "flow.output"), node("d", "text.clean")],
  [edge("b.text", "c.value"), edge("d.text", "b.prompt")],
  { b: [200, 80], c: [400, 96], d: [0, 0] },
);

test("each node is marked once, by what matters most, and keeps where it stood", () => {
  const { marks, counts, drawn, fields } = compare(before, after, catalogue);
  expect(Object.fromEntries(marks.nodes)).toEqual({
    a: { kind: "removed", fields: 0, moved: false },
    b: { kind: "changed", fields: 1, moved: true },
    c: { kind: "moved", fields: 0, moved: true },
    d: { kind: "added", fields: 0, moved: false },
  });
  expect(marks.ghosts.map(({ id, from, to }) => [id, from.y, to.y])).toEqual([
    ["b", 0, 80],
    ["c", 0, 96],
  ]);
  expect(counts).toEqual({ added: 1, removed: 1, changed: 1, moved: 2, wires: 2, other: 0 });
  expect(fields.get("b")?.map(({ op, ...change }) => [change, op[0]])).toEqual([
    [{ kind: "set", name: "prompt", old: ["Say it"], next: ["Say it well"] }, "set"],
    [{ kind: "move", name: "move", old: [[200, 0]], next: [[200, 80]] }, "move"],
  ]);
  expect([...drawn.nodes.keys()].sort()).toEqual(["a", "b", "c", "d"]);
  expect(drawn.positions.get("a")).toEqual([0, 0]);
  expect(marks.wires.get(edgeId(edge("a.text", "b.prompt")))).toBe("removed");
  expect(marks.wires.get(edgeId(edge("d.text", "b.prompt")))).toBe("added");
});

test("a loop that only two versions have together leaves no node undrawn", () => {
  const turned = graph([node("a", "text.clean"), node("b", "text.clean")], [edge("a.text", "b.text")]);
  const back = graph([node("a", "text.clean"), node("b", "text.clean")], [edge("b.text", "a.text")]);
  const { drawn } = compare(turned, back, catalogue);
  expect(drawn.edges.length).toBe(2);
  expect(runOrder(drawn).sort()).toEqual(["a", "b"]);
});

test("the same graph has no marks and counts nothing", () => {
  const { marks, counts, ops } = compare(before, before, catalogue);
  expect([marks.nodes.size, marks.wires.size, ops.length]).toEqual([0, 0, 0]);
  expect(Object.values(counts)).toEqual([0, 0, 0, 0, 0, 0]);
});

test("what a graph has beside its nodes counts as other", () => {
  const more = applyOps(before, [["graph", ["seed"], [], [7]]]);
  expect(countsOf(diff(before, more)).other).toBe(1);
});

test("the patch as text has a line an op, and shows marks that could not be seen as escapes", () => {
  const ops: Op[] = [
    ...diff(before, after),
    ["set", ["b", "na\u202eme"], [], ["a\u202eb\n"]],
    [
      "set",
      ["b", "raw"],
      [],
      [
        new Map<string, Uint8Array | boolean>([
          ["k", Uint8Array.of(0, 255)],
          ["on", true],
        ]),
      ],
    ],
  ];
  expect(
    patchLines(ops, (id) => id.toUpperCase()).map(({ kind, text, about }) => `${kind} | ${text} | ${about}`),
  ).toEqual([
    "removed | edge- a.text -> b.prompt | A → B",
    "removed | node- a text.clean@1 | A",
    "added | node+ d text.clean@1 | D",
    'changed | set b.prompt: "Say it" -> "Say it well" | B',
    "added | edge+ d.text -> b.prompt | D → B",
    "moved | move a: [0, 0] -> nothing | A",
    "moved | move b: [200, 0] -> [200, 80] | B",
    "moved | move c: [400, 0] -> [400, 96] | C",
    "moved | move d: nothing -> [0, 0] | D",
    'changed | set b."na\\u202eme": nothing -> "a\\u202eb\\n" | B',
    'changed | set b.raw: nothing -> {"k": h\'00ff\', "on": true} | B',
  ]);
});

test("a version of today shows its time, an older one its day, one of another year that too", () => {
  const now = new Date(2026, 2, 10, 18);
  expect(when(new Date(2026, 2, 10, 9, 5).toISOString(), "en", now)).toBe("09:05");
  expect(when(new Date(2026, 2, 9, 9, 5).toISOString(), "en", now)).toBe("9 Mar");
  expect(when(new Date(2025, 2, 9, 9, 5).toISOString(), "zh", now)).toBe("2025年3月9日");
});
