// @vitest-environment happy-dom

import i18next from "i18next";
import { beforeAll, describe, expect, test } from "vitest";
import { failure, sentence } from "../../src/canvas/sentence";
import { diagnosis } from "../../src/i18n/facts";
import { beginLanguage, joined } from "../../src/i18n/language";
import { IDLE } from "../../src/state/runs";

beforeAll(() => beginLanguage("zh"));

const t = i18next.t;
const error = (code: number, where: string, expected: string, got: string) => ({
  code,
  name: "",
  where,
  expected,
  got,
});

describe("in Chinese, what the server says in English", () => {
  test.each([
    [error(500, "model", "smollm2", "big"), "本机没有模型 big，现有 smollm2。"],
    [error(1, "prompt", "at least one token", "none"), "提示词为空。"],
    [error(1, "input Prompt", "text", "dict"), "Prompt 需要文本，收到 JSON。"],
    [
      error(2, "kv limit", "at most 1024 KiB", "2048 KiB for 9 rows (1 prompt tokens, 8 steps)"),
      "放不下：需要 2.0 MB，上限 1.0 MB。",
    ],
    [
      error(2, "context", "at most 2048 rows", "4000 rows (1 prompt tokens, 8 steps)"),
      "太长：连同回答共 4000 tok，模型最多 2048。",
    ],
    [error(800, "queue", "a", "b"), "需要 a，收到 b。"],
    [error(1, "grammar", "a schema", "a circle"), "无法遵循此 JSON Schema：需要 a schema，收到 a circle。"],
  ])("%o", (failed, words) => expect(failure(t, failed)).toBe(words));

  test.each([
    ["bad_param", "less than or equal to 2", "9", "需要不大于 2，收到 9。"],
    ["bad_param", "a valid integer", "x", "需要整数，收到 x。"],
    ["bad_param", "'chat' or 'raw'", "x", "需要 'chat', 'raw' 之一，收到 x。"],
    [
      "bad_param",
      "a JSON Schema: Expecting value (line 1)",
      "{",
      "需要 JSON Schema（Expecting value (line 1)），收到 {。",
    ],
    ["bad_param", "a JSON Schema, which is an object", "[]", "需要 JSON Schema，须为对象，收到 []。"],
    ["type_mismatch", "text", "json", "需要文本，收到 JSON。"],
    ["duplicate_name", "a name that no other input of the run has", "text", "“text”已被占用，名称须各不相同。"],
    ["unheard_of", "one thing", "another", "需要 one thing，收到 another。"],
  ])("%s %s", (code, expected, got, words) => expect(diagnosis(t, { code, expected, got })).toBe(words));

  test("a prompt that does not fit says both amounts", () => {
    const run = { ...IDLE, phase: "failed" as const, error: error(2, "kv pool", "at most 512 KiB", "1024 KiB for x") };
    expect(sentence(t, "over", run, { of: String, waitsFor: null })).toBe("放不下：需要 1.0 MB，KV 池共 0.5 MB。");
  });
});

test("a space beside a filled-in value goes where both neighbours are Chinese, and only there", () => {
  const said = (name: string) => t("inspector.connect", { port: name });
  expect(said("文本")).toBe("文本的来源");
  expect(said("text")).toBe("text 的来源");
  expect(said("我 的")).toBe("我 的的来源");
  expect(joined("plain 文 本")).toBe("plain 文 本");
});

test("what a person writes cannot pass for the mark around a value", () => {
  expect(t("card.waitsFor", { name: "a\u2060 b" })).toBe("等待“a b”。");
});
