import { describe, expect, test } from "vitest";
import type { Op } from "../../src/igb/graph";
import { EMPTY } from "../../src/igb/igb";
import { applyOps } from "../../src/igb/patch";
import { edit, missed, send, UNKNOWN, welcomed } from "../../src/state/replica";
import { id } from "../igb/worlds";

const [A] = [id(1)];
const world = applyOps(EMPTY, [["node+", [A], ["a.b", 1, new Map(), new Map()]]]);
const label: Op = ["label", [A], [], ["Mine"]];
const move: Op = ["move", [A], [], [[7, 7]]];
const here = welcomed(UNKNOWN, 3, world).replica;

describe("what others wrote while the link was lost", () => {
  test("is what a welcome has beside the push that was on its way", () => {
    const away = send(edit(here, [label]).replica);
    expect(missed(away, applyOps(world, [label, move]))).toEqual([move]);
    expect(missed(away, applyOps(world, [label]))).toEqual([]);
    expect(missed(away, world)).toEqual([]);
  });

  test("is theirs where they wrote another value than that push, or the value of an edit that was never sent", () => {
    const theirs: Op = ["label", [A], [], ["Theirs"]];
    expect(missed(send(edit(here, [label]).replica), applyOps(world, [theirs]))).toEqual([theirs]);
    expect(missed(edit(here, [label]).replica, applyOps(world, [label]))).toEqual([label]);
  });
});
