import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decode, encode, Malformed } from "../../src/igb/cbor";
import type { Value } from "../../src/igb/graph";
import { Invalid } from "../../src/igb/igb";
import { readFrame, type ServerFrame, Unexpected, writeFrame } from "../../src/wire/frame";
import { PART_SIZE, TRANSFER_LIMIT } from "../../src/wire/frames";
import { Parts, split } from "../../src/wire/parts";
import { id, value } from "../igb/worlds";

const version = {
  number: 1,
  message: "m",
  author: "a",
  created: "t",
  file: new Uint8Array(32),
  sem: new Uint8Array(32),
  patch: null,
  dotbin: null,
};
const diagnostic = { code: "c", where: "w", node: null, field: "f", expected: "e", got: "g", hint: "" };
const samples: ServerFrame[] = [
  {
    type: "welcome",
    space: { id: id(1), name: "S" },
    seq: 3,
    igb: null,
    transfer: id(2),
    version,
    members: [{ client: id(3), name: "n" }],
    runs: [id(4)],
  },
  { type: "ack", id: [id(1), 7], seq: 8 },
  {
    type: "patched",
    seq: 9,
    ops: [["move", [id(1)], [], [[1, 2]]]],
    author: id(2),
    overtaken: [[["move", id(1)], "x"]],
  },
  { type: "refused", id: null, code: "c", where: "w", expected: "e", got: "g" },
  { type: "refused", id: [id(1), 2], code: "c", where: "w", expected: "e", got: "g" },
  { type: "diagnosed", seq: 1, diagnostics: [diagnostic] },
  { type: "saved", id: [id(1), 2], version },
  { type: "event", run: id(1), seq: 2, first: 1, node: null, kind: "pool", data: new Map([["dots", 1]]), time: 0.25 },
  { type: "presence", client: id(1), name: "x", data: new Map() },
  { type: "part", transfer: id(1), offset: 0, total: 3, bytes: Uint8Array.of(1, 2, 3) },
];

function plain(item: unknown): Value {
  if (Array.isArray(item)) return item.map(plain);
  if (item instanceof Map || item instanceof Uint8Array || item === null || typeof item !== "object")
    return item as Value;
  return new Map(Object.entries(item).map(([key, inner]) => [key, plain(inner)]));
}

function refused(bytes: Uint8Array): boolean {
  try {
    readFrame(bytes);
    return false;
  } catch (error) {
    if (error instanceof Malformed || error instanceof Invalid || error instanceof Unexpected) return true;
    throw error;
  }
}

describe("frames", () => {
  test.each(samples.map((frame) => [frame.type, frame] as const))("%s comes back as it was sent", (_, frame) => {
    expect(readFrame(encode(plain(frame)))).toEqual(frame);
  });

  test("a field that is missing or of another kind is refused", () => {
    for (const frame of samples) {
      for (const field of Object.keys(frame)) {
        const map = plain(frame) as ReadonlyMap<string, Value>;
        const without = new Map(map);
        without.set(field, [[[1.5]]]);
        expect(refused(encode(without)), `${frame.type}.${field}`).toBe(true);
      }
    }
  });

  test("an op of a bad shape and a raw secret are refused", () => {
    const patched = (op: Value): Uint8Array =>
      encode(plain({ type: "patched", seq: 1, ops: [op], author: id(1), overtaken: [] }));
    expect(refused(patched(["set", [id(1), "p"], [], [1]]))).toBe(false);
    expect(refused(patched(["set", [id(1), "p q"], [], [1]]))).toBe(true);
    expect(refused(patched(["set", [id(1), "p"], [], [new Map([["secret", "sk-live"]])]]))).toBe(true);
  });

  test("a type that is not known is passed over", () => {
    expect(readFrame(encode(new Map([["type", "later"]])))).toBeNull();
  });

  test("whatever comes is read or refused", () => {
    fc.assert(
      fc.property(fc.constantFrom(...samples), fc.nat(20), value, (frame, at, item) => {
        const map = new Map(plain(frame) as ReadonlyMap<string, Value>);
        const field = [...map.keys()][at % map.size] as string;
        map.set(field, item);
        refused(encode(map));
      }),
      { numRuns: 500 },
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => void refused(bytes)));
  });

  test("our own are maps with text keys", () => {
    const bytes = writeFrame({ type: "hello", protocol: 1, client: id(1), resume: new Map([[id(2), 5]]) });
    expect(decode(bytes)).toEqual(
      new Map<string, Value>([
        ["type", "hello"],
        ["client", id(1)],
        ["resume", new Map([[id(2), 5]])],
        ["protocol", 1],
      ]),
    );
  });
});

describe("parts", () => {
  const long = Uint8Array.from({ length: 2 * PART_SIZE + 5 }, (_, i) => i % 251);

  test("make one value again, handed out once", () => {
    const parts = new Parts();
    const pieces = split(id(1), long);
    expect(pieces.map(({ bytes }) => bytes.length)).toEqual([PART_SIZE, PART_SIZE, 5]);
    expect(pieces.every((part) => parts.add(part))).toBe(true);
    expect(Buffer.compare(parts.take(id(1)) as Uint8Array, long)).toBe(0);
    expect(parts.take(id(1))).toBeNull();
  });

  test("that are missing, out of order, too many or of too long a value make none", () => {
    const [first, second, third] = split(id(1), long) as [never, never, never];
    const parts = new Parts();
    parts.add(first);
    expect(parts.take(id(1))).toBeNull();
    parts.add(first);
    expect(parts.add(third)).toBe(false);
    expect(parts.add(second)).toBe(false);
    expect(
      parts.add({ type: "part", transfer: id(2), offset: 0, total: TRANSFER_LIMIT + 1, bytes: long.slice(0, 1) }),
    ).toBe(false);
    for (let n = 0; n < 4; n++) parts.add({ ...(first as object), transfer: id(10 + n) } as never);
    expect(parts.add({ ...(first as object), transfer: id(20) } as never)).toBe(false);
  });
});
