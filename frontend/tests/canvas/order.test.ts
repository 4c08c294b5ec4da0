import { expect, test } from "vitest";
import { runOrder, step } from "../../src/canvas/order";
import { edge, graph, node } from "./world";

const diamond = graph(
  ["d", "c", "b", "a"].map((id) => node(id, "text.clean")),
  [edge("a.text", "b.text"), edge("a.text", "c.text"), edge("b.text", "d.text"), edge("c.text", "d.text")],
  { a: [0, 0], b: [200, 0], c: [200, 200], d: [400, 100] },
);

test("nodes come in the order in which they can run, upper ones first", () => {
  expect(runOrder(diamond)).toEqual(["a", "b", "c", "d"]);
});

test("a node fed twice by one source is ready after it", () => {
  const twice = graph(
    [node("a", "text.clean"), node("b", "text.template")],
    [edge("a.text", "b.x"), edge("a.text", "b.y")],
  );
  expect(runOrder(twice)).toEqual(["a", "b"]);
});

test("arrows walk along wires, and up and down between the ends of one node", () => {
  expect(step(diamond, "a", "right")).toBe("b");
  expect(step(diamond, "b", "down")).toBe("c");
  expect(step(diamond, "c", "up")).toBe("b");
  expect(step(diamond, "d", "left")).toBe("b");
  expect(step(diamond, "d", "right")).toBeNull();
  expect(step(diamond, "b", "up")).toBeNull();
});
