import fc from "fast-check";
import { expect, test } from "vitest";
import { diff } from "../../src/igb/diff";
import { write } from "../../src/igb/igb";
import { checkNormal } from "../../src/igb/ops";
import { applyOps } from "../../src/igb/patch";
import { graph, graphOps } from "./worlds";

const dice = fc.infiniteStream(fc.nat(1 << 30));

test("the diff of two graphs leads from one to the other, in normal form", () => {
  fc.assert(
    fc.property(graph(), graph(), dice, (a, other, dice) => {
      const near = applyOps(a, graphOps(a, dice));
      for (const b of [other, near]) {
        const ops = diff(a, b);
        checkNormal(ops);
        expect(write(applyOps(a, ops))).toEqual(write(b));
        expect(write(applyOps(b, diff(b, a)))).toEqual(write(a));
      }
    }),
  );
});

test("a graph and itself differ in nothing", () => {
  fc.assert(
    fc.property(graph(), (a) => {
      const copy = { ...a, nodes: new Map([...a.nodes].map(([id, node]) => [id, { ...node }])) };
      expect(diff(a, copy)).toEqual([]);
    }),
  );
});
