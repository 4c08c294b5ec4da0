// Every kind of conflict that a merge makes, from the vectors that both languages share: what a choice comes to.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { isEdited, placeToEdit, settle, standing } from "../../src/conflicts/choice";
import type { Conflict } from "../../src/conflicts/conflict";
import { type Entry, entriesOf } from "../../src/conflicts/section";
import { decode } from "../../src/igb/cbor";
import { CONFLICTS } from "../../src/igb/conflicts";
import type { Graph, Op, Value } from "../../src/igb/graph";
import { read, write } from "../../src/igb/igb";
import { invertOps, sortOps } from "../../src/igb/ops";
import { applyOps, rebase } from "../../src/igb/patch";
import { removeNodes } from "../../src/state/edits";
import { edge, graph, node, TEMPLATE } from "../canvas/world";

interface Case {
  name: string;
  graph: string;
  conflicts: { code: string; key: Value[]; take?: string; why?: string }[];
}

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"));
const cases: Case[] = JSON.parse(readFileSync(new URL("../../../tests/spec/merge.json", import.meta.url), "utf8"));
const catalogue = new Map([[TEMPLATE.name, TEMPLATE]]);

const opsOf = (hex: string): Op[] => decode(bytes(hex)) as unknown as Op[];
const valueOps = (ops: readonly Op[]): Op[] => ops.filter((op) => op[0] !== "extra" || op[1][0] !== CONFLICTS);
const rest = (of: Graph, entry: Entry): Value[] => entriesOf(of).flatMap((one) => (one === entry ? [] : [one.value]));

/** What the section holds after ops, as bytes decide it. */
const left = (of: Graph): Value => of.extra.get(CONFLICTS) ?? [];

describe.each(cases)("$name", ({ graph: hex, conflicts }) => {
  const merged = read(bytes(hex));
  const entries = entriesOf(merged);

  test("is read as what the merge says", () => {
    expect(entries.map(({ conflict }) => ({ code: conflict?.code, key: conflict?.key }))).toEqual(
      conflicts.map(({ code, key }) => ({ code, key })),
    );
    expect(new Set(entries.map(({ name }) => name)).size).toBe(entries.length);
  });

  test("keeping what stands removes the conflict and nothing else, and so does ours as it was merged", () => {
    for (const entry of entries) {
      const { ops } = settle(merged, catalogue, entry, "now");
      const ours = settle(merged, catalogue, entry, "ours");
      expect(ours.why === "empty" || ours.ops).toEqual(ours.why === "empty" || ops);
      expect(ops?.length).toBe(1);
      const settled = applyOps(merged, ops ?? []);
      expect(left(settled)).toEqual(rest(merged, entry));
      expect({ ...settled, extra: null }).toEqual({ ...merged, extra: null });
    }
  });

  test("taking theirs is one edit that undo takes back byte for byte, or it says why", () => {
    for (const [at, { take, why }] of conflicts.entries()) {
      const entry = entries[at] as Entry;
      const found = settle(merged, catalogue, entry, "theirs");
      if (take === undefined || found.ops === null) {
        expect([found.why, found.ops]).toEqual([why, null]);
        continue;
      }
      expect(valueOps(found.ops)).toEqual(opsOf(take));
      expect(found.ops).toEqual(sortOps(found.ops));
      const settled = applyOps(merged, found.ops);
      expect(left(settled)).toEqual(rest(merged, entry));
      expect(rebase(merged, found.ops).ops).toEqual(found.ops);
      expect(write(applyOps(settled, invertOps(found.ops)))).toEqual(write(merged));
    }
  });

  test("what ours wrote is what stands there, and theirs is once it is taken", () => {
    for (const entry of entries) {
      const conflict = entry.conflict as Conflict;
      expect(isEdited(merged, conflict)).toBe(false);
      const { ops } = settle(merged, catalogue, entry, "theirs");
      if (ops) expect(standing(applyOps(merged, ops), conflict)).toEqual(conflict.theirs);
    }
  });
});

test("conflicts that need each other are settled in the order in which they fit, to the last", () => {
  const { graph: hex } = cases.find(({ name }) => name === "two results of one name, with a wire") as Case;
  const merged = read(bytes(hex));
  const [whole, wire] = entriesOf(merged) as [Entry, Entry];
  expect(settle(merged, catalogue, wire, "theirs")).toEqual({ ops: null, why: "gone", node: whole.conflict?.key[1] });
  const first = applyOps(merged, settle(merged, catalogue, whole, "theirs").ops ?? []);
  const both = applyOps(first, settle(first, catalogue, wire, "theirs").ops ?? []);
  expect(both.extra.has(CONFLICTS)).toBe(false);
  expect(both.edges).toContainEqual(edge("0000000tp1.text", "000000000b.value"));
});

function open(flow: Graph, ...section: Value[]): Graph {
  return { ...flow, extra: new Map([[CONFLICTS, section]]) };
}

function conflict(key: Value[], ours: Value[], theirs: Value[], base: Value[] = []): Value {
  const sides = Object.entries({ code: "modify", key, base, ours, theirs, against: [] });
  return new Map<string, Value>(sides);
}

const A = "000000000a";
const B = "000000000b";
const flow = graph([node(A, "text.clean", { mode: "x" }), node(B, "flow.output")], [edge(`${A}.text`, `${B}.value`)]);

test("theirs on a node deleted since says which, and loses nothing", () => {
  const before = open(flow, conflict(["set", A, "mode"], ["x"], ["y"]));
  const gone = applyOps(before, removeNodes(before, [A]));
  const [entry] = entriesOf(gone) as [Entry];
  expect(settle(gone, catalogue, entry, "theirs")).toEqual({ ops: null, why: "gone", node: A });
  expect(isEdited(gone, entry.conflict as Conflict)).toBe(true);
  expect(settle(gone, catalogue, entry, "now").why).toBe(null);
});

test("a wire of theirs that would close a loop by now says so", () => {
  const before = open(flow, conflict(["edge", A, "text", 0], [], [[B, "value"]]));
  const [entry] = entriesOf(before) as [Entry];
  expect(settle(before, catalogue, entry, "theirs")).toEqual({ ops: null, why: "cycle", node: B });
  const itself = open(flow, conflict(["edge", A, "text", 0], [], [[A, "text"]]));
  expect(settle(itself, catalogue, entriesOf(itself)[0] as Entry, "theirs").why).toBe("cycle");
});

test("an edit in between is kept as it is, and either side goes over it with the edit as old", () => {
  const before = open(flow, conflict(["set", A, "mode"], ["x"], ["y"]));
  const now = applyOps(before, [["set", [A, "mode"], ["x"], ["z"]]]);
  const [entry] = entriesOf(now) as [Entry];
  expect(isEdited(now, entry.conflict as Conflict)).toBe(true);
  expect(valueOps(settle(now, catalogue, entry, "now").ops ?? [])).toEqual([]);
  expect(valueOps(settle(now, catalogue, entry, "ours").ops ?? [])).toEqual([["set", [A, "mode"], ["z"], ["x"]]]);
  expect(valueOps(settle(now, catalogue, entry, "theirs").ops ?? [])).toEqual([["set", [A, "mode"], ["z"], ["y"]]]);
});

test("an entry that someone else settled first is not settled twice", () => {
  const before = open(flow, "one", "two", "one");
  const [first, second, third] = entriesOf(before) as [Entry, Entry, Entry];
  const now = applyOps(before, settle(before, catalogue, second, "now").ops ?? []);
  expect(left(now)).toEqual(["one", "one"]);
  expect(settle(now, catalogue, second, "now").why).toBe("settled");
  expect(left(applyOps(now, settle(now, catalogue, third, "now").ops ?? []))).toEqual(["one"]);
  expect(settle(flow, catalogue, first, "now").why).toBe("settled");
});

test("theirs is hostile until looked at: raw secrets, and more than a push holds", () => {
  const raw = conflict(["set", A, "mode"], ["x"], [[new Map([["secret", "hunter2"]])]]);
  const large = conflict(["set", A, "mode"], ["x"], ["y".repeat(1_000_000)]);
  const before = open(flow, raw);
  expect(settle(before, catalogue, entriesOf(before)[0] as Entry, "theirs").why).toBe("secret");
  const long = open(flow, large);
  expect(settle(long, catalogue, entriesOf(long)[0] as Entry, "theirs").why).toBe("size");
});

test("a section that an op cannot hold twice is told, whatever is chosen", () => {
  const many = open(flow, ...Array.from({ length: 60_000 }, (_, at): Value => ["x", at]));
  const [entry] = entriesOf(many) as [Entry];
  expect(settle(many, catalogue, entry, "now")).toEqual({ ops: null, why: "size", node: null });
});

test("a group none of whose members is there cannot come back", () => {
  const members: Value = ["G", ["000000000c"]];
  const before = open(flow, conflict(["group", "000000000g"], [], [members], [members]));
  expect(settle(before, catalogue, entriesOf(before)[0] as Entry, "theirs").why).toBe("gone");
});

test("the inspector edits fields of nodes that are there", () => {
  expect(placeToEdit(flow, ["set", A, "mode"])).toEqual({ node: A, field: "mode" });
  expect(placeToEdit(flow, ["flag", A, "steps"])).toEqual({ node: A, field: "budget.steps" });
  expect(placeToEdit(flow, ["edge", B, "value", 0])).toEqual({ node: B, field: "value" });
  expect(placeToEdit(flow, ["label", A])).toEqual({ node: A, field: null });
  expect(placeToEdit(flow, ["set", "000000000c", "mode"])).toBe(null);
  expect(placeToEdit(flow, ["node", A])).toBe(null);
  expect(placeToEdit(flow, ["graph", "a"])).toBe(null);
});
