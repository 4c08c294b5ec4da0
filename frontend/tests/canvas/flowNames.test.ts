import { expect, test } from "vitest";
import { renamed } from "../../src/canvas/flowNames";
import type { Op } from "../../src/igb/graph";
import type { CatalogueEntry } from "../../src/state/catalogue";
import * as edits from "../../src/state/edits";
import { catalogue, graph, node } from "./world";

const io = (name: string): CatalogueEntry => ({
  ...(catalogue.get("flow.output") as CatalogueEntry),
  name,
  group: "io",
  schema: { properties: { name: { type: "string", default: "result" } } },
});
const world = new Map([...catalogue, ["flow.output", io("flow.output")]]);
const names = (ops: readonly Op[]) => ops.flatMap((op) => (op[0] === "node+" ? [op[2][2].get("name")] : []));

test("copies of outputs get names of their own, counted on from what is taken", () => {
  const flow = graph(
    [
      node("a", "flow.output"),
      node("b", "flow.output", { name: "result2" }),
      node("c", "flow.output", { name: "mine" }),
    ],
    [],
  );
  const { ops } = edits.duplicate(flow, ["a", "b", "c"], [24, 24]);
  expect(names(renamed(flow, world, ops)).sort()).toEqual(["mine2", "result3", "result4"]);
});

test("other nodes, and names that are free, are copied as they are", () => {
  const flow = graph([node("a", "text.clean"), node("b", "flow.output", { name: "only" })], []);
  const { ops } = edits.duplicate(flow, ["a", "b"], [24, 24]);
  const without = graph([node("a", "text.clean")], []);
  expect(renamed(without, world, ops)).toEqual(ops);
});
