// The shared vectors of `tests/spec/`: every reader gives the verdict that docs/formats.md demands.
import { describe, expect, test } from "vitest";
import * as cbor from "../../src/igb/cbor";
import * as igb from "../../src/igb/igb";
import * as ops from "../../src/igb/ops";
import * as patch from "../../src/igb/patch";
import * as shapes from "../../src/igb/shapes";
import * as template from "../../src/igb/template";
import { KINDS, told, type Vector, vectors } from "./vectors";

const readers = { cbor, igb, ops, patch, shapes, template };

/** A higher minor is read and written back as [1, 0]. */
const HIGHER = new Set(["a higher minor", "a higher minor is read"]);

/** What the page demands of a vector; a path may go deeper than it. */
function demanded(vector: Vector): object {
  if (vector.kind === "slots") return { verdict: "accept", same: true };
  const verdict = vector.kind === "apply" ? (vector.code === undefined ? "accept" : "invalid") : vector.verdict;
  if (verdict === "accept") return { verdict, same: !HIGHER.has(vector.name) };
  if (vector.kind === "apply") return { verdict, code: vector.code };
  const { code, offset, path } = vector;
  if (verdict === "malformed") return { verdict, code, offset };
  return { verdict, code, path: expect.stringMatching(new RegExp(`^${path?.replace(/[.[\]]/g, "\\$&")}`)) };
}

describe.each(KINDS)("%s", (kind) => {
  test.each(vectors(kind))("$name", async (vector) => {
    expect(await told(readers, vector)).toMatchObject(demanded(vector));
  });
});
