// Section 68 from a hostile file: what has another form than docs/formats.md §6 is never read as a conflict, and never in the way.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { settle } from "../../src/conflicts/choice";
import { clipped, shortened } from "../../src/conflicts/clipped";
import { conflictOf } from "../../src/conflicts/conflict";
import { countsByNode, entriesOf } from "../../src/conflicts/section";
import { decode, encode } from "../../src/igb/cbor";
import { CONFLICTS } from "../../src/igb/conflicts";
import type { Graph, Value } from "../../src/igb/graph";
import { EMPTY, read, write } from "../../src/igb/igb";
import { applyOps } from "../../src/igb/patch";

const A = "000000000a";
const B = "000000000b";
const GOOD: Record<string, Value> = {
  code: "modify",
  key: ["set", A, "p"],
  base: [],
  ours: [1],
  theirs: [2],
  against: [["node", B]],
};
const made = (part: Record<string, Value>): Value => new Map(Object.entries({ ...GOOD, ...part }));
const holding = (...section: Value[]): Graph => read(write({ ...EMPTY, extra: new Map([[CONFLICTS, section]]) }));

test("a conflict is read whole", () => {
  expect(conflictOf(made({}))).toEqual(GOOD);
});

test.each<[string, Value]>([
  ["null", null],
  ["a text", "conflict"],
  ["a map with numbers", new Map([[1, 2]])],
  ["nothing in it", new Map()],
  ["a field too many", made({ author: "x" })],
  ["a field too few", new Map(Object.entries(GOOD).filter(([field]) => field !== "against"))],
  ["a code with other letters", made({ code: "<b>" })],
  ["a code that is no text", made({ code: 1 })],
  ["no key", made({ key: [] })],
  ["a key of an unknown kind", made({ key: ["move", A] })],
  ["a key that is too long", made({ key: ["set", A, "p", 0] })],
  ["a key with no id", made({ key: ["set", "../etc", "p"] })],
  ["a name with a control character", made({ key: ["set", A, "p\n"] })],
  ["the section itself", made({ key: ["extra", CONFLICTS] })],
  ["a slot out of range", made({ key: ["edge", A, "i", 256] })],
  ["a side that is no array", made({ ours: 1 })],
  ["a side of two", made({ ours: [1, 2] })],
  ["a node without a component", made({ key: ["node", A], ours: [["", 1, new Map(), new Map()]], theirs: [] })],
  ["a flag that is no flag", made({ key: ["flag", A, "speed"] })],
  ["words for programs in place of a flag", made({ key: ["flag", A, "$t(refuse.title)"], ours: [], theirs: [] })],
  ["a wire from nowhere", made({ key: ["edge", A, "i", 0], ours: [[A]], theirs: [] })],
  ["a name that is too long", made({ key: ["label", A], ours: ["x".repeat(201)], theirs: [] })],
  ["a note without a place", made({ key: ["note", A], ours: ["text"], theirs: [] })],
  ["values for a merge that is too large", made({ key: ["graph"] })],
  ["more against it than a merge names", made({ against: Array<Value>(17).fill(["node", A]) })],
])("%s opens, is no conflict, and can be taken out", (_, value) => {
  const graph = holding("before", value, "after");
  const [, entry] = entriesOf(graph);
  expect([entry?.conflict, entry && settle(graph, new Map(), entry, "theirs").why]).toEqual([null, "form"]);
  const { ops } = settle(graph, new Map(), entry as NonNullable<typeof entry>, "now");
  expect(applyOps(graph, ops ?? []).extra.get(CONFLICTS)).toEqual(["before", "after"]);
});

test("equal entries have names of their own", () => {
  const names = entriesOf(holding("one", "one", made({}), made({ code: "rest" }))).map(({ name }) => name);
  expect(new Set(names).size).toBe(4);
});

test("any value at all is read or not, and the section is counted by node", () => {
  const leaf = fc.oneof(
    fc.constant(A),
    fc.constant("set"),
    fc.integer(),
    fc.string({ unit: "grapheme" }),
    fc.boolean(),
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie("tree"), { maxLength: 4 })),
  }));
  const part = fc.dictionary(fc.constantFrom(...Object.keys(GOOD)), tree as fc.Arbitrary<Value>);
  fc.assert(
    fc.property(part, (fields) => {
      const value = decode(encode(made(fields)));
      const graph = { ...EMPTY, extra: new Map([[CONFLICTS, [value]]]) };
      for (const id of countsByNode(graph).keys()) expect(id).toMatch(/^[0-9a-z]{10}$/);
      expect(entriesOf(graph).length).toBe(1);
    }),
  );
});

test("a node counts the conflicts of its own and those it stands in the way of", () => {
  const graph = holding(made({}), made({ key: ["label", A], ours: ["x"], theirs: ["y"] }));
  expect([...countsByNode(graph)]).toEqual([
    [A, 2],
    [B, 2],
  ]);
});

test("what is shown of a value has bounds, whatever the value", () => {
  const wide = Array<Value>(100_000).fill(["x".repeat(100_000), new Uint8Array(1_000_000)]);
  const shown = encode(clipped(wide)).length;
  expect(shown).toBeLessThan(500_000);
  expect(clipped(new Map(wide.map((one, at) => [`${at}`, one])))).toBeInstanceOf(Map);
  expect(shortened("ab😀", 3)).toBe("ab…");
  expect(clipped([1, "two", new Uint8Array([3])])).toEqual([1, "two", new Uint8Array([3])]);
});
