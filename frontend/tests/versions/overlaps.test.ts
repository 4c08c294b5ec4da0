import { expect, test } from "vitest";
import type { NodeValue, Op, Value } from "../../src/igb/graph";
import { place } from "../../src/igb/ops";
import { overlaps } from "../../src/versions/overlaps";
import { id } from "../igb/worlds";

const [A, B] = [id(1), id(2)];
const plain: NodeValue = ["text.input", 1, new Map<string, Value>(), new Map<string, Value>()];
const text = (old: string, next: string, node = A): Op => ["set", [node, "text"], [old], [next]];
const written = (...ops: Op[]) => new Map(ops.map((op) => [place(op), op]));

test("fields that do not overlap are named nowhere", () => {
  const mine: Op = ["set", [A, "name"], [], ["Mine"]];
  expect(overlaps([text("one", "two")], [mine, text("one", "two", B)], written(mine))).toEqual([]);
});

test("a field that both saves change is named with the draft's side, and whether this person wrote it", () => {
  const mine = text("two", "three");
  expect(overlaps([text("one", "two")], [mine], written(mine))).toEqual([{ op: mine, last: "mine" }]);
  expect(overlaps([text("one", "two")], [mine], written())).toEqual([{ op: mine, last: "draft" }]);
  expect(overlaps([text("one", "two")], [mine], written(text("one", "other")))).toEqual([{ op: mine, last: "draft" }]);
});

test("an edit of one's own that the version wrote over is named, one that it holds is not", () => {
  expect(overlaps([text("one", "two")], [], written(text("one", "mine")))).toEqual([
    { op: text("one", "two"), last: "version" },
  ]);
  expect(overlaps([text("one", "mine")], [], written(text("one", "mine")))).toEqual([]);
});

test("a node that one side removes and the other changes is named once", () => {
  const gone: Op = ["node-", [A], plain];
  const moved: Op = ["move", [A], [[0, 0]], [[5, 5]]];
  expect(overlaps([text("one", "two"), ["flag", [A, "steps"], [], [9]]], [gone], written(gone))).toEqual([
    { op: gone, last: "mine" },
  ]);
  expect(overlaps([gone], [], written(text("one", "two")))).toEqual([{ op: gone, last: "version" }]);
  expect(overlaps([gone], [], written(moved))).toEqual([]);
  expect(overlaps([moved], [gone], written(gone))).toEqual([]);
});

test("a wire that the version took away and the draft has again is named", () => {
  const edge = [A, "text", B, "value", 0] as const;
  const again: Op = ["edge+", edge];
  expect(overlaps([["edge-", edge]], [again], written(again))).toEqual([{ op: again, last: "mine" }]);
});
