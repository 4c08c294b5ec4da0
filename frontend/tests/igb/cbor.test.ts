import { cdeEncodeOptions, decode as oracleDecode, encode as oracleEncode } from "cbor2";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareBytes, decode, encode, Malformed, measure, Unencodable } from "../../src/igb/cbor";
import type { Value } from "../../src/igb/graph";
import { compareText, sameValue } from "../../src/igb/shapes";
import { LIMITS, nested, REFUSED, WRITTEN } from "./encodings";
import { value } from "./worlds";

function hex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function shown(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function verdict(bytes: Uint8Array): string {
  try {
    decode(bytes);
    return "accepted";
  } catch (error) {
    if (error instanceof Malformed) return error.code;
    throw error;
  }
}

describe("encode", () => {
  test.each(WRITTEN)("%j has one form", (item, bytes) => {
    expect(shown(encode(item))).toBe(bytes);
    expect(sameValue(decode(hex(bytes)), item)).toBe(true);
  });

  test.each(REFUSED)("refuses value %# and names the place", (item, part) => {
    expect(() => encode(item as Value)).toThrow(Unencodable);
    expect(() => encode(item as Value)).toThrow(part);
  });

  test("allows the nesting that a reader allows", () => {
    expect(verdict(encode(nested(32)))).toBe("accepted");
  });

  test.each(LIMITS)("stays within the budgets of the readers, %#", (fits, exceeds, part) => {
    expect(verdict(encode(fits()))).toBe("accepted");
    expect(() => encode(exceeds())).toThrow(part);
  });

  test("measures what it would write", () => {
    expect(measure(new Map([["a", [1]]]))).toEqual({ size: 5, items: 4 });
  });
});

describe("decode", () => {
  test.each([
    ["", "empty"],
    ["1800", "not_shortest"],
    ["1b0020000000000000", "int_range"],
    ["3b001fffffffffffff", "int_range"],
    ["f7", "simple"],
    ["f820", "simple"],
    ["f93c00", "float_form"],
    ["f98000", "float_form"],
    ["fa3fc00000", "float_form"],
    ["f97e00", "float_not_finite"],
    ["1c", "reserved"],
    ["9fff", "indefinite"],
    ["ff", "indefinite"],
    ["4201", "truncated"],
    ["9b0000000100000000", "truncated"],
    ["61ff", "utf8"],
    ["63eda080", "utf8"],
    ["62c080", "utf8"],
    ["a12001", "key_type"],
    ["a201016161f6", "key_type"],
    ["a2020101f6", "key_order"],
    ["a2010101f6", "key_duplicate"],
    ["c0f6", "tag"],
    ["0000", "trailing"],
    [`${"81".repeat(32)}80`, "depth"],
    [`${"81".repeat(31)}80`, "accepted"],
    [`${"81".repeat(32)}00`, "accepted"],
  ])("%s is %s", (bytes, code) => {
    expect(verdict(hex(bytes))).toBe(code);
  });

  test("counts every item, keys included", () => {
    const zeros = (n: number): Uint8Array => encodeHead(n, new Uint8Array(n));
    expect(verdict(zeros(199_999))).toBe("accepted");
    expect(verdict(zeros(200_000))).toBe("items");
  });

  test("refuses a claim of length before it allocates", () => {
    const before = performance.now();
    expect(verdict(hex("9affffffff"))).toBe("truncated");
    expect(verdict(hex("baffffffff"))).toBe("truncated");
    expect(verdict(hex("5affffffff"))).toBe("truncated");
    expect(performance.now() - before).toBeLessThan(1000);
  });

  test("no bytes crash it, and what it accepts it writes back the same", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        if (verdict(bytes) === "accepted") expect(encode(decode(bytes))).toEqual(bytes);
      }),
      { numRuns: 3000 },
    );
  });

  test("a changed byte of good bytes is another value or no value", () => {
    fc.assert(
      fc.property(value, fc.nat(), fc.nat(255), (item, at, byte) => {
        const bytes = encode(item);
        bytes[at % bytes.length] = byte;
        if (verdict(bytes) === "accepted") expect(encode(decode(bytes))).toEqual(bytes);
      }),
      { numRuns: 1000 },
    );
  });
});

function encodeHead(n: number, rest: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(5 + rest.length);
  bytes[0] = 0x9a;
  new DataView(bytes.buffer).setUint32(1, n);
  bytes.set(rest, 5);
  return bytes;
}

test("a value comes back from its bytes", () => {
  fc.assert(
    fc.property(value, (item) => {
      const back = decode(encode(item));
      expect(sameValue(back, item)).toBe(true);
      expect(encode(back)).toEqual(encode(item));
    }),
  );
});

test("the npm library cbor2 writes and reads the same bytes", () => {
  const options = { ...cdeEncodeOptions, collapseBigInts: true, simplifyNegativeZero: true };
  fc.assert(
    fc.property(value, (item) => {
      const bytes = encode(item);
      expect(shown(oracleEncode(item, options))).toBe(shown(bytes));
      expect(encode(fromOracle(oracleDecode(bytes, { preferMap: true })))).toEqual(bytes);
    }),
  );
});

function fromOracle(item: unknown): Value {
  if (Array.isArray(item)) return item.map(fromOracle);
  if (item instanceof Map) return new Map([...item].map(([key, inner]) => [key, fromOracle(inner)]));
  return item as Value;
}

test("texts compare as their UTF-8 bytes do", () => {
  const encoder = new TextEncoder();
  const text = fc.string({ unit: "grapheme", maxLength: 6 });
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(compareText(a, b))).toBe(Math.sign(compareBytes(encoder.encode(a), encoder.encode(b))));
    }),
  );
  expect(compareText("\u{1f600}", "\uff5e")).toBeGreaterThan(0);
});
