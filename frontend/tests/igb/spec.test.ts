// The shared vectors of `tests/spec/`: every reader gives the verdict that docs/formats.md demands.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { decode, encode, Malformed } from "../../src/igb/cbor";
import { Invalid, read, write } from "../../src/igb/igb";
import { checkSecretsOf, readOp } from "../../src/igb/ops";
import { apply, applyOps, readPatch, writePatch } from "../../src/igb/patch";
import { isArray } from "../../src/igb/shapes";
import { slots } from "../../src/igb/template";

interface Case {
  name: string;
  hex?: string;
  parts?: [hex: string, times: number][];
  verdict: "accept" | "malformed" | "invalid";
  code?: string;
  offset?: number;
  path?: string;
}

interface Applied {
  name: string;
  graph: string;
  ops?: string;
  patch?: string;
  result?: string;
  code?: string;
}

function cases<T>(name: string): T[] {
  return JSON.parse(readFileSync(new URL(`../../../tests/spec/${name}.json`, import.meta.url), "utf8"));
}

function hex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, "hex"));
}

function bytesOf({ hex: whole, parts }: Case): Uint8Array {
  return Uint8Array.from(
    Buffer.concat((parts ?? [[whole ?? "", 1]]).flatMap(([part, times]) => Array(times).fill(hex(part)))),
  );
}

function verdict(reader: (bytes: Uint8Array) => unknown, bytes: Uint8Array): Omit<Case, "name"> {
  try {
    reader(bytes);
    return { verdict: "accept" };
  } catch (error) {
    if (error instanceof Malformed) return { verdict: "malformed", code: error.code, offset: error.offset };
    if (error instanceof Invalid) return { verdict: "invalid", code: error.code, path: error.path };
    throw error;
  }
}

/** Equal, but for a path that may go deeper than the page demands. */
function expected({ verdict: demanded, code, offset, path }: Case): object {
  return {
    verdict: demanded,
    ...(code === undefined ? {} : { code }),
    ...(offset === undefined ? {} : { offset }),
    ...(path === undefined ? {} : { path: expect.stringMatching(new RegExp(`^${path.replace(/[.[\]]/g, "\\$&")}`)) }),
  };
}

describe("codec", () => {
  test.each(cases<Case>("codec"))("$name", (vector) => {
    const bytes = bytesOf(vector);
    expect(verdict(decode, bytes)).toEqual(expected(vector));
    if (vector.verdict === "accept") expect(Buffer.compare(encode(decode(bytes)), bytes)).toBe(0);
  });
});

describe("igb", () => {
  test.each(cases<Case>("igb"))("$name", (vector) => {
    const bytes = bytesOf(vector);
    expect(verdict(read, bytes)).toEqual(expected(vector));
    const same = vector.verdict === "accept" && vector.name !== "a higher minor";
    if (same) expect(Buffer.compare(write(read(bytes)), bytes)).toBe(0);
  });
});

describe("patch", () => {
  test.each(cases<Case>("patch"))("$name", (vector) => {
    const bytes = bytesOf(vector);
    expect(verdict(readPatch, bytes)).toEqual(expected(vector));
    const same = vector.verdict === "accept" && vector.name !== "a higher minor is read";
    if (same) expect(Buffer.compare(writePatch(readPatch(bytes)), bytes)).toBe(0);
  });
});

describe("apply", () => {
  test.each(cases<Applied>("apply"))("$name", async (vector) => {
    const graph = read(hex(vector.graph));
    const result = async (): Promise<string> => Buffer.from(write(await applied(vector))).toString("hex");
    const applied = async ({ patch, ops }: Applied) => {
      if (patch !== undefined) return apply(readPatch(hex(patch)), graph);
      const values = decode(hex(ops ?? ""));
      if (!isArray(values)) throw new TypeError("ops of a vector are an array");
      return applyOps(
        graph,
        values.map((value, i) => {
          const op = readOp(value, `ops[${i}]`);
          checkSecretsOf(op, `ops[${i}]`);
          return op;
        }),
      );
    };
    if (vector.code === undefined) expect(await result()).toBe(vector.result);
    else await expect(result()).rejects.toMatchObject({ name: "Invalid", code: vector.code });
    expect(Buffer.from(write(graph)).toString("hex")).toBe(vector.graph);
  });
});

describe("slots", () => {
  test.each(cases<{ name: string; template: string; slots: string[] }>("slots"))("$name", (vector) => {
    expect(slots(vector.template)).toEqual(vector.slots);
  });
});
