import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { en } from "../../src/i18n/en";
import { zh } from "../../src/i18n/zh";
import { scaleOf } from "../../src/panels/times";

type Tree = { [key: string]: string | Tree };

function flat(tree: Tree, prefix = ""): Map<string, string> {
  return new Map(
    Object.entries(tree).flatMap(([key, value]) =>
      typeof value === "string" ? [[prefix + key, value] as const] : [...flat(value, `${prefix}${key}.`)],
    ),
  );
}

const english = flat(en as Tree);
const chinese = flat(zh as Tree);
const blanks = (text: string) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map((match) => match[1]).sort();

test("both languages have the same keys", () => {
  expect([...chinese.keys()]).toEqual([...english.keys()]);
});

test("both languages fill the same blanks", () => {
  for (const [key, text] of english) {
    if (key === "card.cut") continue;
    expect([key, new Set(blanks(chinese.get(key) ?? ""))]).toEqual([key, new Set(blanks(text))]);
  }
});

test("Chinese words follow the house: no 请, no exclamation, full-width marks after Chinese", () => {
  for (const [key, text] of chinese) {
    expect([key, text]).not.toEqual([key, expect.stringMatching(/请|[!！]|[\u4e00-\u9fff][,;:?]/)]);
  }
});

test("English words do not shout, beg or apologise", () => {
  for (const [key, text] of english) {
    expect([key, text]).not.toEqual([key, expect.stringMatching(/!|\b(please|sorry|oops)\b/i)]);
  }
});

test("every key that the code names has words", () => {
  const rooms = ["app", "canvas", "conflicts", "panels", "forms", "look", "i18n"];
  const named = rooms.flatMap((room) => {
    const folder = join(import.meta.dirname, "../../src", room);
    const files = readdirSync(folder).filter((file) => /\.tsx?$/.test(file));
    const text = files.map((file) => readFileSync(join(folder, file), "utf8")).join("\n");
    return [...text.matchAll(/\bt\(\s*"([\w.]+)"/g)].map((match) => match[1] as string);
  });
  const has = (key: string) => english.has(key) || english.has(`${key}_one`);
  expect(named.filter((key) => !has(key))).toEqual([]);
  expect(named.length).toBeGreaterThan(100);
});

test("a timeline has a few ticks on round seconds and ends after now", () => {
  for (const elapsed of [0, 0.3, 2.84, 19.4, 250]) {
    const { span, ticks } = scaleOf(elapsed);
    expect(span).toBeGreaterThan(elapsed);
    expect(ticks.length).toBeGreaterThanOrEqual(2);
    expect(ticks.length).toBeLessThanOrEqual(9);
  }
});
