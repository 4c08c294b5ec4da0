import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decode, encode } from "../../src/igb/cbor";
import type { Graph, Op, Value } from "../../src/igb/graph";
import { EMPTY, hashes, Invalid, read, write } from "../../src/igb/igb";
import { checkNormal, compose, differences, invertOps, keyOf, readOp, sortOps } from "../../src/igb/ops";
import { apply, applyOps, invert, type Patch, readPatch, rebase, writePatch } from "../../src/igb/patch";
import { isArray } from "../../src/igb/shapes";
import { graph, graphOps, id } from "./worlds";

const [A, B, C] = [id(1), id(2), id(3)];

function node(
  component = "text.template",
  params: [string, Value][] = [],
): ["text.template" | string, number, Map<string, Value>, Map<string, Value>] {
  return [component, 1, new Map(params), new Map()];
}

const plain = { component: "a.b", version: 1, params: new Map(), flags: new Map() };

const start = applyOps(EMPTY, [
  ["node+", [A], node("text.input")],
  ["node+", [B], node("text.template", [["template", "{a}"]])],
  ["edge+", [A, "text", B, "a", 0]],
  ["move", [A], [], [[10, 20]]],
  ["label", [A], [], ["First"]],
  ["group", [id(20)], [], [["Both", [A, B]]]],
]);

describe(".igb", () => {
  test("a graph comes back from its bytes, and its bytes from it", () => {
    fc.assert(
      fc.property(graph(), (world) => {
        const bytes = write(world);
        expect(write(read(bytes))).toEqual(bytes);
      }),
    );
  });

  test("moving a node changes the file hash and not the semantic one", async () => {
    const before = await hashes(start);
    const after = await hashes(applyOps(start, [["move", [A], [[10, 20]], [[11, 20]]]]));
    expect(after.sem).toEqual(before.sem);
    expect(after.file).not.toEqual(before.file);
  });

  test("the largest graph is written and read in seconds", () => {
    const nodes = new Map(
      Array.from({ length: 20_000 }, (_, i) => [
        id(i),
        { id: id(i), component: "a.b", version: 1, params: new Map(), flags: new Map() },
      ]),
    );
    const bytes = write({ ...EMPTY, nodes });
    expect(read(bytes).nodes.size).toBe(20_000);
  });
});

describe("ops", () => {
  test("applying and taking back gives the same bytes", () => {
    fc.assert(
      fc.property(graph(), fc.infiniteStream(fc.nat()), (world, dice) => {
        const ops = graphOps(world, dice);
        expect(write(applyOps(applyOps(world, ops), invertOps(ops)))).toEqual(write(world));
      }),
    );
  });

  test("composed ops do what they do one after the other, in normal form", () => {
    fc.assert(
      fc.property(graph(), fc.infiniteStream(fc.nat()), (world, dice) => {
        const ops = graphOps(world, dice);
        const net = compose(ops);
        checkNormal(net);
        expect(write(applyOps(world, net))).toEqual(write(applyOps(world, ops)));
        expect(compose([...ops, ...invertOps(ops)])).toEqual([]);
      }),
    );
  });

  test("on the graph they were made for, rebased ops apply as they are", () => {
    fc.assert(
      fc.property(graph(), fc.infiniteStream(fc.nat()), (world, dice) => {
        const ops = compose(graphOps(world, dice));
        const rebased = rebase(world, ops);
        expect(rebased.dropped).toEqual([]);
        expect(write(rebased.graph)).toEqual(write(applyOps(world, ops)));
      }),
    );
  });

  test("rebased over anything, the graph is valid and the ops that applied lead to it", () => {
    fc.assert(
      fc.property(graph(), fc.infiniteStream(fc.nat()), fc.infiniteStream(fc.nat()), (world, mine, theirs) => {
        const elsewhere = applyOps(world, graphOps(world, theirs));
        const rebased = rebase(elsewhere, compose(graphOps(world, mine)));
        expect(write(read(write(rebased.graph)))).toEqual(write(rebased.graph));
        expect(write(applyOps(elsewhere, rebased.ops))).toEqual(write(rebased.graph));
        expect(write(applyOps(rebased.graph, invertOps(rebased.ops)))).toEqual(write(elsewhere));
      }),
    );
  });

  describe("keep a graph within its limits", () => {
    const full: Graph = {
      ...EMPTY,
      nodes: new Map(Array.from({ length: 20_000 }, (_, i) => [id(i), { ...plain, id: id(i) }])),
    };
    const more: Op = ["node+", [id(30_000)], node()];

    test("of nodes", () => {
      expect(() => applyOps(full, [more])).toThrow("section at nodes");
      expect(rebase(full, [more])).toEqual({
        graph: full,
        ops: [],
        overtaken: [],
        dropped: [{ op: more, code: "section" }],
      });
    });

    test("of bytes, which many edits reach as one does", () => {
      const text = "x".repeat(900_000);
      const set = (n: number): Op => ["set", [A, `p${n}`], [], [text]];
      let grown = start;
      for (let n = 0; n < 18; n++) grown = applyOps(grown, [set(n)]);
      expect(write(grown).length).toBeGreaterThan(16_200_000);
      expect(() => applyOps(grown, [set(18)])).toThrow("section at file");
      expect(write(applyOps(grown, [["set", [A, "p0"], [text], []], set(18)])).length).toBeGreaterThan(16_200_000);
    });

    test("of items", () => {
      const value = Array<Value>(90_000).fill(0);
      const set = (n: number): Op => ["set", [A, `p${n}`], [], [value]];
      const twice = applyOps(applyOps(start, [set(0)]), [set(1)]);
      expect(() => applyOps(twice, [set(2)])).toThrow("section at file");
    });
  });

  test("a refused op changes nothing", () => {
    const before = write(start);
    expect(() =>
      applyOps(start, [
        ["label", [B], [], ["x"]],
        ["node+", [A], node()],
      ]),
    ).toThrow(Invalid);
    expect(write(start)).toEqual(before);
  });

  test("ops come back from the wire as they were sent", () => {
    fc.assert(
      fc.property(graph(), fc.infiniteStream(fc.nat()), (world, dice) => {
        const ops = graphOps(world, dice);
        const values = decode(encode(ops));
        expect(isArray(values) && values.map((value, i) => readOp(value, `ops[${i}]`))).toEqual(ops);
      }),
    );
  });

  test("what an op does not touch keeps its identity", () => {
    const after = applyOps(start, [["move", [A], [[10, 20]], [[0, 0]]]]);
    expect(after.nodes).toBe(start.nodes);
    expect(after.edges).toBe(start.edges);
    expect(applyOps(start, [["set", [A, "text"], [], ["x"]]]).nodes.get(B)).toBe(start.nodes.get(B));
  });

  test.each<[string, Value[], Value[], Value[], Value[]]>([
    ["settles another", ["b", "c"], ["a", "b", "c"], ["a", "c"], ["c"]],
    ["settles the last", ["b"], ["a", "b"], ["a"], []],
    ["settled already", ["b"], ["a", "b"], ["b"], ["b"]],
    ["comes back", [], ["a"], ["a", "b"], ["b"]],
    ["came back already", ["a", "b"], ["a"], ["a", "b"], ["a", "b"]],
    ["all settled", [], ["a", "b"], ["a"], []],
    ["comes back to its place", ["b"], ["b"], ["a", "b"], ["a", "b"]],
  ])("on open conflicts take nothing of each other: %s", (_, standing, old, next, after) => {
    const of = (section: Value[]) => (section.length > 0 ? new Map([[68, section]]) : new Map());
    const op: Op = ["extra", [68], [old], [next]];
    const found = rebase({ ...EMPTY, extra: of(standing) }, [op]);
    const first = standing.length === after.length ? [op] : [];
    expect([found.graph.extra, found.overtaken, found.dropped]).toEqual([of(after), first, []]);
  });

  test("removed and added again leaves what differs", () => {
    const [a, b] = [node("a.b", [["x", 1]]), node("a.c", [["y", null]])] as const;
    expect(
      compose([
        ["node-", [C], a],
        ["node+", [C], b],
      ]),
    ).toEqual(sortOps(differences(C, a, b)));
  });
});

describe("rebase", () => {
  test("a set whose old was overtaken writes last, with the old that it met", () => {
    const theirs = applyOps(start, [["set", [B, "template"], ["{a}"], ["{theirs}"]]]);
    const { ops } = rebase(theirs, [["set", [B, "template"], ["{a}"], ["{mine}"]]]);
    expect(ops).toEqual([["set", [B, "template"], ["{theirs}"], ["{mine}"]]]);
  });

  test("a node that is deleted takes along what came to it since", () => {
    const theirs = applyOps(start, [
      ["node+", [C], node()],
      ["edge+", [B, "text", C, "a", 0]],
      ["label", [B], [], ["Theirs"]],
    ]);
    const { graph: left, ops } = rebase(theirs, [
      ["edge-", [A, "text", B, "a", 0]],
      ["node-", [B], node("text.template", [["template", "{a}"]])],
    ]);
    expect([...left.nodes.keys()]).toEqual([A, C]);
    expect(ops.map(([kind]) => kind)).toEqual(["edge-", "edge-", "node-", "label", "group"]);
    expect(left.groups.get(id(20))).toEqual(["Both", [A]]);
  });

  test.each<[string, Op, string]>([
    ["an edge to a node that is gone", ["edge+", [A, "text", C, "a", 0]], "dangling"],
    ["an edge into a taken input", ["edge+", [A, "other", B, "a", 0]], "duplicate"],
    ["an edge that closes a loop", ["edge+", [B, "text", A, "x", 0]], "cycle"],
    ["an edge that is gone already", ["edge-", [A, "text", B, "b", 0]], "stale"],
    ["a node whose id is taken", ["node+", [A], node()], "duplicate"],
    ["a node that is gone already", ["node-", [C], node()], "dangling"],
    ["a param of a node that is gone", ["set", [C, "x"], [], [1]], "dangling"],
    ["another version of a node that changed", ["retype", [A], [["text.input", 7]], [["text.input", 8]]], "stale"],
    ["a group of nodes that are gone", ["group", [id(21)], [], [["None", [C]]]], "dangling"],
  ])("%s is dropped and told by key", (_, op, code) => {
    const { graph: after, dropped } = rebase(start, [op]);
    expect(after).toEqual(start);
    expect(dropped).toEqual([{ op, code }]);
  });
});

describe(".patch", () => {
  async function patchOf(world: Graph, ops: readonly Op[]): Promise<Patch> {
    return { base: await hashes(world), target: await hashes(applyOps(world, ops)), ops: compose(ops) };
  }

  test("a stored patch comes back, applies, and its inverse leads home", async () => {
    await fc.assert(
      fc.asyncProperty(graph(), fc.infiniteStream(fc.nat()), async (world, dice) => {
        const patch = readPatch(writePatch(await patchOf(world, graphOps(world, dice))));
        const after = await apply(patch, world);
        expect(write(await apply(invert(patch), after))).toEqual(write(world));
        expect(writePatch(invert(invert(patch)))).toEqual(writePatch(patch));
      }),
    );
  });

  test("another base is refused, and so is another target", async () => {
    const patch = await patchOf(start, [["label", [B], [], ["Second"]]]);
    await expect(apply(patch, EMPTY)).rejects.toMatchObject({ code: "base" });
    await expect(apply({ ...patch, ops: [["label", [B], [], ["Third"]]] }, start)).rejects.toMatchObject({
      code: "target",
    });
  });

  test("edges speak in ids and names", () => {
    expect(start.edges.map(keyOf)).toEqual([[A, "text", B, "a", 0]]);
  });
});
