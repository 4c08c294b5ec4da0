import { expect, test } from "vitest";
import { fromClipboard, toClipboard } from "../../src/canvas/clipboard";
import { bare, fittingPort, matching } from "../../src/canvas/finder";
import { copy } from "../../src/state/edits";
import { CLEAN, catalogue, edge, GENERATE, graph, node, OUTPUT, TEMPLATE } from "./world";

const names = (query: string) => matching(catalogue, query).map((one) => one.name);

test("a search finds names in both languages and then help, in palette order", () => {
  expect(names("")).toEqual(["flow.output", "text.clean", "text.template", "llm.generate"]);
  expect(names("GEN")).toEqual(["llm.generate"]);
  expect(names("中text")).toEqual(["text.clean", "text.template"]);
  expect(names("nothing")).toEqual([]);
});

test("a dropped wire finds the port that can take it, and none where nothing fits", () => {
  const one = graph([node("a", "llm.generate")]);
  const usage = { node: "a", port: "usage", side: "out" } as const;
  expect(fittingPort(one, catalogue, usage, bare("n", CLEAN))).toBeNull();
  expect(fittingPort(one, catalogue, usage, bare("n", TEMPLATE))?.port).toBe("text");
  expect(fittingPort(one, catalogue, usage, bare("n", OUTPUT))?.port).toBe("value");
  const prompt = { node: "a", port: "prompt", side: "in" } as const;
  expect(fittingPort(one, catalogue, prompt, bare("n", GENERATE))?.port).toBe("text");
});

test("nodes come back from the clipboard as they went, and nothing else comes in", () => {
  const [a, b] = ["aaaaaaaaaa", "bbbbbbbbbb"];
  const two = graph([node(a, "text.clean"), node(b, "text.clean")], [edge(`${a}.text`, `${b}.text`)], { [a]: [8, 16] });
  const clip = copy(two, [a, b]);
  expect(fromClipboard(toClipboard(clip))).toEqual(clip);
  expect(fromClipboard("hello")).toBeNull();
  expect(fromClipboard("spaces-nodes:AAAA")).toBeNull();
  expect(fromClipboard("spaces-nodes:***")).toBeNull();
});
