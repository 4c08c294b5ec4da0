import { describe, expect, test } from "vitest";
import type { Edge, Graph, Id } from "../../src/igb/graph";
import { EMPTY, write } from "../../src/igb/igb";
import { checkNormal, invertOps, readOp } from "../../src/igb/ops";
import { applyOps } from "../../src/igb/patch";
import type { CatalogueEntry, PortSpec } from "../../src/state/catalogue";
import { canConnect } from "../../src/state/connect";
import * as edits from "../../src/state/edits";
import { inputsOf } from "../../src/state/ports";
import { id } from "../igb/worlds";
import { catalogue } from "./catalogue";

const [INPUT, TEMPLATE, LLM, COUNT, OUT, SHOW] = [1, 2, 3, 4, 5, 6].map(id) as [Id, Id, Id, Id, Id, Id];

function edge(source: Id, output: string, target: Id, input: string): Edge {
  return { source, output, target, input, slot: 0 };
}

const kinds: [Id, string][] = [
  [INPUT, "text.input"],
  [TEMPLATE, "text.template"],
  [LLM, "llm.generate"],
  [COUNT, "math.count"],
  [OUT, "flow.output"],
  [SHOW, "data.show"],
];
const world: Graph = applyOps(EMPTY, [
  ...kinds.map(([node, component]) => ["node+", [node], [component, 1, new Map(), new Map()]] as const),
  ["set", [TEMPLATE, "template"], [], ["{a} and {b}"]],
  ["edge+", [INPUT, "text", TEMPLATE, "a", 0]],
  ["edge+", [TEMPLATE, "text", LLM, "prompt", 0]],
  ["move", [INPUT], [], [[0, 0]]],
  ["move", [TEMPLATE], [], [[100, 0]]],
  ["label", [TEMPLATE], [], ["Both"]],
  ["group", [id(50)], [], [["Group", [INPUT, TEMPLATE]]]],
]);

describe("ports", () => {
  const template = catalogue.get("text.template") as CatalogueEntry;

  test("a template has an input for each placeholder, of any type", () => {
    const node = world.nodes.get(TEMPLATE);
    expect(node && inputsOf(template, node).map((port) => [port.name, port.type])).toEqual([
      ["a", "any"],
      ["b", "any"],
    ]);
  });

  test("a template nobody wrote has the placeholders of the default", () => {
    const fresh = { id: id(9), component: "text.template", version: 1, params: new Map(), flags: new Map() };
    expect(inputsOf(template, fresh).map((port) => port.name)).toEqual(["text"]);
    const own = { ...template, inputs: [{ ...(inputsOf(template, fresh)[0] as PortSpec), hidden: true }] };
    expect(inputsOf(own, fresh)).toEqual(own.inputs); // a placeholder does not stand in for the component's own port
  });
});

describe("canConnect", () => {
  test.each<[string, Edge, { code: string; expected: string; got: string } | null]>([
    ["text into any", edge(LLM, "text", OUT, "value"), null],
    ["number into any", edge(COUNT, "count", OUT, "value"), null],
    ["number into json", edge(COUNT, "count", SHOW, "value"), null],
    ["json into any slot", edge(LLM, "usage", OUT, "value"), null],
    ["any into text", edge(SHOW, "shown", COUNT, "text"), null],
    [
      "number into text",
      edge(COUNT, "count", LLM, "prompt"),
      { code: "connect.type", expected: "text", got: "number" },
    ],
    ["json into text", edge(LLM, "usage", COUNT, "text"), { code: "connect.type", expected: "text", got: "json" }],
    ["itself", edge(LLM, "text", LLM, "prompt"), { code: "connect.self", expected: "two nodes", got: "one" }],
    ["a loop", edge(LLM, "text", TEMPLATE, "b"), { code: "connect.cycle", expected: "no way back", got: "a loop" }],
    [
      "a hidden input",
      edge(LLM, "text", INPUT, "given"),
      { code: "connect.hidden", expected: "a port that edges may use", got: "given" },
    ],
    [
      "a hidden output",
      edge(OUT, "value", COUNT, "text"),
      { code: "connect.hidden", expected: "a port that edges may use", got: "value" },
    ],
    [
      "no such input",
      edge(INPUT, "text", TEMPLATE, "c"),
      { code: "connect.unknown_port", expected: "a port of text.template", got: "c" },
    ],
    [
      "no such output",
      edge(INPUT, "x", TEMPLATE, "b"),
      { code: "connect.unknown_port", expected: "a port of text.input", got: "x" },
    ],
    [
      "no such node",
      edge(id(99), "x", TEMPLATE, "b"),
      { code: "connect.unknown_node", expected: "a node of this graph", got: id(99) },
    ],
    ["a taken input, whose edge gives way", edge(INPUT, "text", LLM, "prompt"), null],
  ])("%s", (_, wanted, verdict) => {
    expect(canConnect(world, catalogue, wanted)).toEqual(verdict);
  });

  test("a component that this server does not know", () => {
    const strange = applyOps(world, [["node+", [id(8)], ["no.such", 1, new Map(), new Map()]]]);
    expect(canConnect(strange, catalogue, edge(INPUT, "text", id(8), "x"))?.code).toBe("connect.unknown_component");
  });
});

describe("gestures", () => {
  function gesture(ops: readonly Parameters<typeof applyOps>[1][number][]): Graph {
    for (const [i, op] of ops.entries()) expect(readOp(op as never, `ops[${i}]`)).toEqual(op);
    checkNormal(ops);
    const after = applyOps(world, ops);
    expect(write(applyOps(after, invertOps(ops)))).toEqual(write(world));
    return after;
  }

  test("add puts a node on whole pixels, inside the field", () => {
    const { ids, ops } = edits.addNode(catalogue.get("llm.generate") as CatalogueEntry, [10.4, -2e9]);
    const after = gesture(ops);
    const [made] = ids as [Id];
    expect(after.nodes.get(made)?.component).toBe("llm.generate");
    expect(after.positions.get(made)).toEqual([10, -1_000_000]);
  });

  test("remove takes edges, position, label and group members along", () => {
    const after = gesture(edits.removeNodes(world, [TEMPLATE]));
    expect(after.edges).toEqual([]);
    expect([...after.positions.keys()]).toEqual([INPUT]);
    expect(after.labels.size).toBe(0);
    expect(after.groups.get(id(50))).toEqual(["Group", [INPUT]]);
    expect(gesture(edits.removeNodes(world, [INPUT, TEMPLATE])).groups.size).toBe(0);
  });

  test("connect replaces the edge on a taken input", () => {
    const after = gesture(edits.connect(world, edge(INPUT, "text", LLM, "prompt")));
    expect(after.edges).toContainEqual(edge(INPUT, "text", LLM, "prompt"));
    expect(after.edges).not.toContainEqual(edge(TEMPLATE, "text", LLM, "prompt"));
    expect(edits.connect(world, edge(TEMPLATE, "text", LLM, "prompt"))).toEqual([]);
  });

  test("disconnect takes the edges that are there", () => {
    const after = gesture(edits.disconnect(world, [edge(INPUT, "text", TEMPLATE, "a"), edge(INPUT, "text", LLM, "x")]));
    expect(after.edges).toEqual([edge(TEMPLATE, "text", LLM, "prompt")]);
  });

  test("a template that loses a slot loses the edge into it", () => {
    const after = gesture(edits.setParam(world, catalogue, TEMPLATE, "template", "{b} only"));
    expect(after.edges).toEqual([edge(TEMPLATE, "text", LLM, "prompt")]);
    const kept = gesture(edits.setParam(world, catalogue, TEMPLATE, "template", "{b} then {a}"));
    expect(kept.edges).toEqual(world.edges);
    const reset = gesture(edits.setParam(world, catalogue, TEMPLATE, "template", undefined));
    expect(reset.edges).toEqual([edge(TEMPLATE, "text", LLM, "prompt")]);
  });

  test("a param equal to its default is kept as authored", () => {
    const after = gesture(edits.setParam(world, catalogue, INPUT, "text", ""));
    expect(after.nodes.get(INPUT)?.params.get("text")).toBe("");
    expect(edits.setParam(after, catalogue, INPUT, "text", "")).toEqual([]);
  });

  test("half a character becomes the replacement character", () => {
    const after = gesture(edits.setParam(world, catalogue, INPUT, "text", "a\ud800b"));
    expect(after.nodes.get(INPUT)?.params.get("text")).toBe("a\ufffdb");
  });

  test("flags, moves and names that change nothing give no ops", () => {
    expect(
      gesture(edits.setFlag(world, LLM, "steps", 16))
        .nodes.get(LLM)
        ?.flags.get("steps"),
    ).toBe(16);
    expect(edits.setFlag(world, LLM, "steps", undefined)).toEqual([]);
    expect(
      gesture(
        edits.moveNodes(
          world,
          new Map([
            [INPUT, [8, 8]],
            [LLM, [9, 9]],
          ]),
        ),
      ).positions.get(LLM),
    ).toEqual([9, 9]);
    expect(edits.moveNodes(world, new Map([[INPUT, [0.2, -0.3]]]))).toEqual([]);
    expect(gesture(edits.rename(world, TEMPLATE, "  ")).labels.has(TEMPLATE)).toBe(false);
    expect(edits.rename(world, TEMPLATE, "Both ")).toEqual([]);
  });

  test("a long name is cut between characters, at 200 bytes", () => {
    expect(gesture(edits.rename(world, LLM, "名".repeat(90))).labels.get(LLM)).toBe("名".repeat(66));
  });

  test("paste makes fresh ids and keeps what was between the nodes", () => {
    const { ids, ops } = edits.duplicate(world, [INPUT, TEMPLATE], [24, 24]);
    const after = gesture(ops);
    const [input, template] = ids as [Id, Id];
    expect(after.edges).toContainEqual(edge(input, "text", template, "a"));
    expect(after.edges).toHaveLength(3);
    expect(after.positions.get(template)).toEqual([124, 24]);
    expect(after.labels.get(template)).toBe("Both");
    expect(new Set([...ids, ...world.nodes.keys()]).size).toBe(8);
  });
});
