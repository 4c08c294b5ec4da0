import fc from "fast-check";
import { expect, test } from "vitest";
import { wordDiff, wordsOf } from "../../src/versions/words";

test("words are cut at spaces and marks, Chinese at each character", () => {
  expect(wordsOf("Reply in plain words, 用中文v2回答 {name}.")).toEqual([
    ...["Reply", " ", "in", " ", "plain", " ", "words", ",", " ", "用", "中", "文", "v2", "回", "答", " "],
    ...["{", "name", "}", "."],
  ]);
});

test("both texts can be read off their diff", () => {
  const text = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.array(fc.constantFrom("a", "b", " ", "，", "中", "\n")).map((all) => all.join("")),
  );
  fc.assert(
    fc.property(text, text, (a, b) => {
      const pieces = wordDiff(a, b);
      const side = (without: string) => pieces.filter(({ kind }) => kind !== without).map(({ text }) => text);
      expect(side("new").join("")).toBe(a);
      expect(side("gone").join("")).toBe(b);
    }),
  );
});

test("what stayed is kept, and a changed phrase is one piece", () => {
  expect(
    wordDiff("Answer politely and in full, at most 150 words.", "Answer in plain words, at most 120 words."),
  ).toEqual([
    { kind: "same", text: "Answer " },
    { kind: "gone", text: "politely and " },
    { kind: "same", text: "in " },
    { kind: "gone", text: "full" },
    { kind: "new", text: "plain words" },
    { kind: "same", text: ", at most " },
    { kind: "gone", text: "150" },
    { kind: "new", text: "120" },
    { kind: "same", text: " words." },
  ]);
});

test("two long texts with nothing in common take no time", () => {
  const pieces = wordDiff("a ".repeat(200_000), "b,".repeat(200_000));
  expect(pieces.map(({ kind }) => kind)).toEqual(["gone", "new"]);
});
