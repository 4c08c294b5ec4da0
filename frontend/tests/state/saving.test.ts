import { expect, test } from "vitest";
import type { Op } from "../../src/igb/graph";
import { place } from "../../src/igb/ops";
import * as saves from "../../src/state/saving";
import { id } from "../igb/worlds";

const ME = "000000me00";
const move: Op = ["move", [id(1)], [], [[5, 0]]];
const label: Op = ["label", [id(1)], [], ["Name"]];

const written = (...ops: Op[]): saves.Written => new Map(ops.map((op) => [place(op), op]));
const ask = (message: string, base: number | null, ...ops: Op[]): saves.Ask => ({
  message,
  base,
  mine: written(...ops),
});

function onItsWay(message: string, base: number | null, ...ops: Op[]): saves.Saving {
  return saves.send(saves.asked(saves.NO_SAVE, ask(message, base, ...ops)), [ME, 7], 3);
}

test("a save goes with the base of the moment it was asked for, and only its own answer settles it", () => {
  const saving = onItsWay("First", 4);
  expect(saving).toEqual({
    waiting: null,
    sent: { ...ask("First", 4), frame: { type: "save", id: [ME, 7], seq: 3, base_version: 4, message: "First" } },
  });
  expect([[ME, 7], [ME, 8], ["other", 7], ME, null].map((name) => saves.isSent(saving, name))).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
  expect(saves.isSent(saves.NO_SAVE, [ME, 7])).toBe(false);
});

test("one save is on its way at a time", () => {
  const two = saves.asked(onItsWay("One", 4), ask("Two", 4));
  expect(saves.send(two, [ME, 8], 4)).toBe(two);
  expect(saves.saved(two, 5)).toEqual({ waiting: ask("Two", 5), sent: null });
  expect(saves.refused(two)).toEqual({ waiting: ask("Two", 4), sent: null });
});

test("a version of someone else, seen before the second save was asked for, is not taken for the first one", () => {
  const two = saves.asked(onItsWay("One", 4), ask("Two", 6));
  expect(saves.saved(two, 7).waiting).toEqual(ask("Two", 6));
});

test("of two saves that wait one is made, with the words there are", () => {
  const worded = saves.asked(saves.NO_SAVE, ask("Words", 1));
  expect(saves.asked(worded, ask("", 2)).waiting).toEqual(ask("Words", 2));
  expect(saves.asked(worded, ask("Others", 2)).waiting).toEqual(ask("Others", 2));
});

test("a stale answer is for the save that waits as well", () => {
  expect(saves.stale(onItsWay("One", 4, move))).toEqual(ask("One", 4, move));
  const two = saves.asked(onItsWay("One", 4, move), ask("Two", 4, move, label));
  expect(saves.stale(two)).toEqual(ask("Two", 4, move, label));
  expect(saves.stale(saves.NO_SAVE)).toBeNull();
});
