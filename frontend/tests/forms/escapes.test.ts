import fc from "fast-check";
import { expect, test } from "vitest";
import { readEscapes, showEscapes } from "../../src/forms/escapes";
import { pieces } from "../../src/forms/pieces";
import { slots } from "../../src/igb/template";

test("what cannot be seen is written", () => {
  expect(showEscapes("a\n\t\\\u200b\u0007")).toBe("a\\n\\t\\\\\\u{200b}\\u{7}");
});

test("every text comes back as it was", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => readEscapes(showEscapes(text)).text === text));
});

test.each(["\\", "\\q", "\\u{}", "\\u{110000}", "\\u{d800}", "\\x41"])("%j is refused", (shown) => {
  expect(readEscapes(shown).text).toBeNull();
});

test("a template is cut where its ports are, and nothing is lost", () => {
  expect(pieces("Dear {name}, {{x}} {a b} {name}")).toEqual([
    { at: 0, text: "Dear ", slot: false },
    { at: 5, text: "{name}", slot: true },
    { at: 11, text: ", {{x}} {a b} ", slot: false },
    { at: 25, text: "{name}", slot: true },
  ]);
});

test("pieces and ports agree on any text", () => {
  const text = fc.array(fc.constantFrom("{", "}", "{{", "}}", "a", " ", "{b}", "名")).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, (template) => {
      const found = pieces(template);
      expect(found.map((piece) => piece.text).join("")).toBe(template);
      const names = found.filter((piece) => piece.slot).map((piece) => piece.text.slice(1, -1));
      expect([...new Set(names)]).toEqual(slots(template));
    }),
  );
});
