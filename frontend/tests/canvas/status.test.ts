import { expect, test } from "vitest";
import { statusOf, wireState } from "../../src/canvas/status";
import { lastWords, megabytes, shown } from "../../src/canvas/values";
import type { NodeRun } from "../../src/state/editor";
import { IDLE } from "../../src/state/runs";
import { node } from "./world";

const run = (part: Partial<NodeRun>): NodeRun => ({ ...IDLE, ...part });
const failure = (code: number) => run({ phase: "failed", error: { code, name: "", where: "", expected: "", got: "" } });

test.each([
  [701, "over"],
  [702, "over"],
  [2, "over"],
  [1, "failed"],
] as const)("a node that failed with %d is %s", (code, status) => {
  expect(statusOf(node("a", "llm.generate"), failure(code))).toBe(status);
});

test("a node that is off says so until a run says something else", () => {
  const off = { ...node("a", "text.clean"), flags: new Map([["disabled", true as const]]) };
  expect(statusOf(off, undefined)).toBe("disabled");
  expect(statusOf(off, run({ phase: "skipped" }))).toBe("skipped");
});

test("a wire shows what its source's phase means for it", () => {
  expect(wireState(undefined, "text", false)).toBe("idle");
  expect(wireState(run({ phase: "running", steps: 3 }), "text", false)).toBe("live");
  expect(wireState(run({ phase: "done", outputs: new Map([["text", "x"]]) }), "text", false)).toBe("done");
  expect(wireState(run({ phase: "done" }), "text", false)).toBe("skip");
  expect(wireState(run({ phase: "failed" }), "text", false)).toBe("blocked");
  expect(wireState(run({ phase: "queued" }), "text", false)).toBe("wait");
  expect(wireState(run({ phase: "done" }), "text", true)).toBe("error");
});

test("values and amounts are short and exact", () => {
  expect(shown(new Map<string, number>([["steps", 3]]))).toBe('{"steps":3}');
  expect(shown("as it is")).toBe("as it is");
  expect(megabytes(1.9 * 1024 * 1024)).toBe("1.9");
  expect(megabytes(16 * 1024)).toBe("0.02");
  expect(megabytes(0)).toBe("0.0");
  expect(lastWords("one two three four", 10)).toBe("three four");
  expect(lastWords("短文本", 10)).toBe("短文本");
});
