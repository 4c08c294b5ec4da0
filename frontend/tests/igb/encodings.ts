// What the encoder writes and what it refuses, by hand: run by the codec's own test and by the mutants of the encoder.
import type { Value } from "../../src/igb/graph";

/** Values and their one form, in hex. */
export const WRITTEN: [Value, string][] = [
  [0, "00"],
  [-0, "00"],
  [23, "17"],
  [24, "1818"],
  [255, "18ff"],
  [256, "190100"],
  [65_536, "1a00010000"],
  [4_294_967_296, "1b0000000100000000"],
  [Number.MAX_SAFE_INTEGER, "1b001fffffffffffff"],
  [-1, "20"],
  [Number.MIN_SAFE_INTEGER, "3b001ffffffffffffe"],
  [2 ** 53, "fa5a000000"],
  [1.5, "f93e00"],
  [65_504.5, "fa477fe080"],
  [2 ** -24, "f90001"],
  [-(2 ** -14), "f98400"],
  [2 ** -25, "fa33000000"],
  [0.1, "fb3fb999999999999a"],
  [5e-324, "fb0000000000000001"],
  ["\u{feff}a", "64efbbbf61"],
  ["\u{1f600}", "64f09f9880"],
  [Uint8Array.of(1, 2), "420102"],
  [
    new Map<string, Value>([
      ["b", 1],
      ["aa", 2],
      ["__proto__", 3],
    ]),
    "a361620162616102695f5f70726f746f5f5f03",
  ],
];

/** What is no value of the codec, and a part of what the error says. */
export const REFUSED: [unknown, string][] = [
  [Number.NaN, "finite"],
  [Number.NEGATIVE_INFINITY, "finite"],
  ["\ud800", "surrogates"],
  [["a", ["\udc00b"]], "[1][0]"],
  [undefined, "undefined"],
  [Symbol("x"), "symbol"],
  [{ a: 1 }, "object"],
  [
    new Map<unknown, unknown>([
      ["a", 1],
      [1, 2],
    ]),
    "one kind",
  ],
  [new Map<unknown, unknown>([[-1, 2]]), "unsigned"],
  [new Map<unknown, unknown>([[1.5, 2]]), "unsigned"],
  [new Map<unknown, unknown>([["deep", new Map<unknown, unknown>([["er", undefined]])]]), "deep.er"],
  [nested(33), "nesting"],
];

/** Arrays, one inside the other. */
export function nested(depth: number): Value {
  return depth === 1 ? [] : [nested(depth - 1)];
}

/** The longest that the budgets allow, and one more. */
export const LIMITS: [fits: () => Value, exceeds: () => Value, part: string][] = [
  [() => zeros(199_999), () => zeros(200_000), "items"],
  [() => keyed(99_999), () => keyed(100_000), "items"],
  [() => "x".repeat(16 * 1024 * 1024 - 5), () => "x".repeat(16 * 1024 * 1024 - 4), "bytes"],
  [() => new Uint8Array(16 * 1024 * 1024 - 5), () => new Uint8Array(20 * 1024 * 1024), "bytes"],
];

function zeros(n: number): Value {
  return Array<Value>(n).fill(0);
}

function keyed(n: number): Value {
  return new Map(Array.from({ length: n }, (_, i) => [i, 0]));
}
