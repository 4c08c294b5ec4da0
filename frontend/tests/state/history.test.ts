import { describe, expect, test } from "vitest";
import type { Graph, Op } from "../../src/igb/graph";
import { EMPTY } from "../../src/igb/igb";
import { applyOps } from "../../src/igb/patch";
import { type History, NOTHING, overtaken, record, redone, settle, undone } from "../../src/state/history";
import { id } from "../igb/worlds";

const [A, B] = [id(1), id(2)];
const plain = ["a.b", 1, new Map(), new Map()] as const;
const world: Graph = applyOps(EMPTY, [
  ["node+", [A], plain],
  ["move", [A], [], [[0, 0]]],
]);

function move(from: number, to: number): Op {
  return ["move", [A], [[from, 0]], [[to, 0]]];
}

function labels({ undo, redo }: History): [string[], string[]] {
  return [undo.map(({ label }) => label), redo.map(({ label }) => label)];
}

describe("history", () => {
  test("edits of one gesture are one entry that leads back to where it began", () => {
    let past = record(NOTHING, "Move", "drag", [move(0, 1)]);
    past = record(past, "Move", "drag", [move(1, 2)]);
    expect(past.undo).toEqual([{ label: "Move", ops: [move(2, 0)], lost: [] }]);
  });

  test("a settled gesture, another gesture and no gesture begin a new entry", () => {
    let past = record(NOTHING, "One", "drag", [move(0, 1)]);
    past = record(settle(past), "Two", "drag", [move(1, 2)]);
    past = record(past, "Three", "other", [move(2, 3)]);
    past = record(past, "Four", null, [move(3, 4)]);
    past = record(past, "Five", null, [move(4, 5)]);
    expect(labels(past)).toEqual([["One", "Two", "Three", "Four", "Five"], []]);
  });

  test("a gesture that comes back to where it began leaves nothing to undo", () => {
    let past = record(NOTHING, "Before", null, [move(9, 0)]);
    past = record(past, "Move", "drag", [move(0, 1)]);
    past = record(past, "Move", "drag", [move(1, 0)]);
    expect(labels(past)).toEqual([["Before"], []]);
    past = record(past, "Move", "drag", [move(0, 3)]);
    expect(labels(past)).toEqual([["Before", "Move"], []]);
  });

  test("a new edit forgets what could be redone", () => {
    const past = undone(record(NOTHING, "One", null, [move(0, 1)]), [move(1, 0)]);
    expect(labels(past)).toEqual([[], ["One"]]);
    expect(redone(past, [move(0, 1)]).undo).toEqual([{ label: "One", ops: [move(1, 0)], lost: [] }]);
    expect(labels(record(past, "Two", null, [move(0, 7)]))).toEqual([["Two"], []]);
  });

  test("a key that someone else wrote drops out of every entry, and the rest stays", () => {
    const label: Op = ["label", [A], [], ["Mine"]];
    const past = overtaken(
      record(NOTHING, "Both", null, [move(0, 1), label]),
      [["label", [A], ["Mine"], ["Theirs"]]],
      "Someone",
    );
    expect(past.undo).toEqual([{ label: "Both", ops: [move(1, 0)], lost: ["Someone"] }]);
  });

  test("undo does not delete a node that someone else works with", () => {
    const added: Op[] = [
      ["node+", [B], plain],
      ["move", [B], [], [[5, 5]]],
      ["edge+", [A, "x", B, "y", 0]],
      ["label", [A], [], ["Mine"]],
    ];
    const past = record(NOTHING, "Add", null, added);
    const moved = overtaken(past, [["move", [B], [[5, 5]], [[6, 6]]]], "Someone");
    expect(moved.undo[0]?.ops.map(([kind]) => kind)).toEqual(["edge-", "node-", "label"]);
    const edited = overtaken(past, [["set", [B, "p"], [], [1]]], "Someone");
    expect(edited.undo[0]?.ops.map(([kind]) => kind)).toEqual(["label"]);
    const wired = overtaken(past, [["edge+", [B, "x", id(7), "y", 0]]], "Someone");
    expect(wired.undo[0]?.ops.map(([kind]) => kind)).toEqual(["label"]);
    expect(world.nodes.size).toBe(1);
  });

  test("a deleted node comes back with what others did to it meanwhile", () => {
    const gone: Op[] = [
      ["node-", [A], plain],
      ["move", [A], [[0, 0]], []],
    ];
    const theirs: Op[] = [
      ["set", [A, "p"], [], ["theirs"]],
      ["move", [A], [[0, 0]], [[7, 7]]],
      ["edge+", [B, "x", A, "y", 0]],
    ];
    const past = overtaken(record(NOTHING, "Delete", null, gone), theirs, "Someone");
    expect(past.undo[0]).toEqual({
      label: "Delete",
      ops: [
        ["node+", [A], ["a.b", 1, new Map([["p", "theirs"]]), new Map()]],
        ["edge+", [B, "x", A, "y", 0]],
        ["move", [A], [], [[7, 7]]],
      ],
      lost: ["Someone"],
    });
  });

  test("a node that someone else deleted too stays deleted, and one that they brought back stays theirs", () => {
    const past = record(NOTHING, "Delete", null, [["node-", [A], plain]]);
    expect(overtaken(past, [["node-", [A], plain]], "Someone").undo[0]).toEqual({
      label: "Delete",
      ops: [],
      lost: ["Someone"],
    });
    expect(overtaken(past, [["node+", [A], plain]], "Someone").undo[0]).toEqual({
      label: "Delete",
      ops: [],
      lost: ["Someone"],
    });
  });

  test("a node that comes back with another value than mine has a value of theirs", () => {
    const before = record(NOTHING, "First", null, [["set", [A, "p"], [], [1]]]);
    const past = record(before, "Second", null, [["set", [A, "p"], [1], [2]]]);
    const back = (p: number): Op => ["node+", [A], ["a.b", 1, new Map([["p", p]]), new Map()]];
    expect(overtaken(past, [back(2)], "Someone")).toEqual(past);
    expect(overtaken(past, [back(3)], "Someone").undo.map(({ ops, lost }) => [ops, lost])).toEqual([
      [[], ["Someone"]],
      [[], ["Someone"]],
    ]);
  });

  test("a settled conflict comes back without those that others settled, unless it was theirs as well", () => {
    const choice: Op[] = [
      ["set", [A, "p"], [1], [2]],
      ["extra", [68], [["one", "two"]], [["two"]]],
    ];
    const past = record(NOTHING, "Take theirs", null, choice);
    const other = overtaken(past, [["extra", [68], [["two"]], []]], "Someone");
    expect(other.undo).toEqual([
      {
        label: "Take theirs",
        ops: [
          ["set", [A, "p"], [2], [1]],
          ["extra", [68], [], [["one"]]],
        ],
        lost: [],
      },
    ]);
    const same = overtaken(past, [["extra", [68], [["one", "two"]], [["two"]]]], "Someone");
    expect(same.undo).toEqual([{ label: "Take theirs", ops: [["set", [A, "p"], [2], [1]]], lost: ["Someone"] }]);
  });
});
