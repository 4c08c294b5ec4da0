import { expect, test } from "vitest";
import { problemOf } from "../../src/forms/Form";
import { choicesOf, type Field, fieldsOf, isShown, rangeOf, titleOf } from "../../src/forms/fields";
import { check, parseNumber } from "../../src/forms/verdict";
import type { JsonSchema } from "../../src/state/catalogue";

const SCHEMA: JsonSchema = {
  properties: {
    mode: {
      enum: ["chat", "raw"],
      default: "chat",
      title: "Mode",
      zh: "模式",
      options: { chat: ["Chat", "对话"], raw: ["Raw", "原文"] },
    },
    system: { type: "string", default: "", maxLength: 4, widget: "multiline", when: { mode: "chat" } },
    temperature: { type: "number", default: 0, minimum: 0, maximum: 2, widget: "slider", step: 0.05 },
    top_p: { type: "number", default: 1, exclusiveMinimum: 0, maximum: 1, widget: "slider", step: 0.01 },
    seed: { type: "integer", default: 0, minimum: 0, maximum: 9007199254740991 },
    stop: { type: "array", items: { type: "string" }, default: [], maxItems: 2, escapes: true },
    html: { type: "boolean", default: true },
    model: { type: "string", default: "small", widget: "model" },
    template: { type: "string", default: "{x}", widget: "template" },
  },
};
const fields = fieldsOf(SCHEMA);
const field = (name: string) => fields.find((one) => one.name === name) as Field;

test("every kind of param has its field", () => {
  expect(fields.map((one) => [one.name, one.kind, one.slider])).toEqual([
    ["mode", "choice", false],
    ["system", "multiline", false],
    ["temperature", "number", true],
    ["top_p", "number", true],
    ["seed", "integer", false],
    ["stop", "list", false],
    ["html", "boolean", false],
    ["model", "model", false],
    ["template", "template", false],
  ]);
});

test("titles and choices are in the language shown", () => {
  expect(titleOf(field("mode"), "zh")).toBe("模式");
  expect(titleOf(field("mode"), "en")).toBe("Mode");
  expect(titleOf(field("seed"), "zh")).toBe("seed");
  expect(choicesOf(field("mode"), "zh").map((one) => one.label)).toEqual(["对话", "原文"]);
});

test("a field with a condition stands while it holds, defaults counted", () => {
  expect(isShown(field("system"), fields, new Map())).toBe(true);
  expect(isShown(field("system"), fields, new Map([["mode", "raw"]]))).toBe(false);
});

test("a scale with an open end begins one step above it", () => {
  expect(rangeOf(field("top_p"))).toEqual({ least: 0.01, most: 1, step: 0.01 });
});

test.each([
  ["temperature", "0.7", null],
  ["temperature", "2.1", "most"],
  ["temperature", "-1", "least"],
  ["temperature", "warm", "notNumber"],
  ["temperature", "", "notNumber"],
  ["temperature", "0,7", "notNumber"],
  ["temperature", "1e999", "notNumber"],
  ["top_p", "0", "above"],
  ["seed", "7", null],
  ["seed", "7.5", "notInteger"],
  ["seed", "9007199254740993", "notInteger"],
] as const)("%s takes %j with the verdict %s", (name, text, code) => {
  expect(parseNumber(text, field(name)).problem?.code ?? null).toBe(code);
});

test("texts, lists and choices are held to their bounds, counted as people count", () => {
  expect(check("𝒜𝒜𝒜𝒜", field("system"))).toBeNull();
  expect(check("abcde", field("system"))).toEqual({ code: "long", expected: "4", got: "5" });
  expect(check(["a", "b", "c"], field("stop"))?.code).toBe("many");
  expect(check("loud", field("mode"))).toEqual({ code: "choice", expected: "chat, raw", got: "loud" });
});

test("a half-typed escape is told, and the draft decides while there is one", () => {
  expect(problemOf(field("stop"), [], JSON.stringify(["\\q"]))).toEqual({ code: "escape", expected: "", got: "q" });
  expect(problemOf(field("stop"), [], JSON.stringify(["\\n"]))).toBeNull();
  expect(problemOf(field("seed"), 7, "x")?.code).toBe("notInteger");
});
