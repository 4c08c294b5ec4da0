import { expect, test } from "vitest";
import { boundsOf, createCards, rowY } from "../../src/canvas/cards";
import { levelOf, viewportOf } from "../../src/canvas/zoom";
import { catalogue, edge, graph, node } from "./world";

const two = graph(
  [node("a", "text.template", { template: "{x} and {y}" }), node("b", "llm.generate")],
  [edge("a.text", "b.prompt")],
  { a: [0, 0], b: [300, 96] },
);

test("a template has a port for every placeholder", () => {
  const card = createCards()(two, catalogue).get("a");
  expect(card?.pins.inputs.map((pin) => [pin.name, pin.type, pin.connected])).toEqual([
    ["x", "any", false],
    ["y", "any", false],
  ]);
});

test("a port that only a wire still names is shown as missing", () => {
  const broken = graph([node("a", "text.clean"), node("b", "text.clean")], [edge("a.text", "b.gone")]);
  const pins = createCards()(broken, catalogue).get("b")?.pins.inputs;
  expect(pins?.map((pin) => [pin.name, pin.missing])).toEqual([
    ["text", false],
    ["gone", true],
  ]);
});

test("every card has a height on the grid and a row for each port", () => {
  for (const card of createCards()(two, catalogue).values()) {
    expect(card.height % 8).toBe(0);
    expect(card.width % 8).toBe(0);
    expect(card.height).toBeGreaterThan(rowY(card.pins.inputs.length));
  }
});

test("a card is the same object while its node and its wires are the same", () => {
  const cards = createCards();
  const before = cards(two, catalogue);
  const moved = { ...two, positions: new Map(two.positions).set("a", [8, 8] as const) };
  const after = cards(moved, catalogue);
  expect(after.get("a")).toBe(before.get("a"));
  const cut = cards({ ...moved, edges: [] }, catalogue);
  expect(cut.get("b")).not.toBe(before.get("b"));
});

test("the box around the cards comes from the graph alone", () => {
  const cards = createCards()(two, catalogue);
  const box = boundsOf(two, cards);
  const b = cards.get("b");
  expect(box).toEqual({ x: 0, y: 0, width: 300 + (b?.width ?? 0), height: 96 + (b?.height ?? 0) });
  expect(boundsOf(graph([]), new Map())).toBeNull();
});

test("a box is centred, and never shown larger than life", () => {
  expect(viewportOf({ x: 0, y: 0, width: 100, height: 50 }, { width: 1000, height: 500 })).toEqual({
    zoom: 1,
    x: 450,
    y: 225,
  });
  const wide = viewportOf({ x: -100, y: 0, width: 3616, height: 100 }, { width: 1000, height: 500 });
  expect(wide.zoom).toBeCloseTo(0.25);
  expect(wide.x).toBe(73);
});

test.each([
  [2, "card"],
  [0.75, "card"],
  [0.7499, "compact"],
  [0.35, "compact"],
  [0.3499, "box"],
] as const)("at a zoom of %d a node is a %s", (zoom, level) => {
  expect(levelOf(zoom)).toBe(level);
});
