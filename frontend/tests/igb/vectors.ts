// The shared vectors of `tests/spec/`, and what a set of readers says to one. Which readers is for the caller to choose.
import { readFileSync } from "node:fs";
import type * as cbor from "../../src/igb/cbor";
import type { Graph } from "../../src/igb/graph";
import type * as igb from "../../src/igb/igb";
import type * as ops from "../../src/igb/ops";
import type * as patch from "../../src/igb/patch";
import type * as shapes from "../../src/igb/shapes";
import type * as template from "../../src/igb/template";

export interface Readers {
  cbor: typeof cbor;
  igb: typeof igb;
  ops: typeof ops;
  patch: typeof patch;
  shapes: typeof shapes;
  template: typeof template;
}

/** Bytes as hex, or in parts for long data: `[hex, times]`, or `[hex, times, hex]` around an id that counts from 0. */
type Data = string | (readonly [hex: string, times: number, after?: string])[];
const DATA = new Set(["hex", "parts", "graph", "ops", "patch", "result"]);

interface File {
  kind: "codec" | "igb" | "patch";
  name: string;
  hex?: Uint8Array;
  parts?: Uint8Array;
  verdict: "accept" | "malformed" | "invalid";
  code?: string;
  offset?: number;
  path?: string;
}

interface Applied {
  kind: "apply";
  name: string;
  graph: Uint8Array;
  ops?: Uint8Array;
  patch?: Uint8Array;
  result?: Uint8Array;
  code?: string;
}

interface Template {
  kind: "slots";
  name: string;
  template: string;
  slots: string[];
}

export type Vector = File | Applied | Template;
export type Kind = Vector["kind"];
export const KINDS: readonly Kind[] = ["codec", "igb", "patch", "apply", "slots"];

/** What readers say to a vector; `same`: what they wrote is what the vector demands. */
export interface Told {
  verdict: "accept" | "malformed" | "invalid";
  code?: string;
  offset?: number;
  path?: string;
  same?: boolean;
}

export function vectors(kind: Kind): Vector[] {
  const url = new URL(`../../../tests/spec/${kind}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, "utf8"), (field, value) => (DATA.has(field) ? bytesOf(value) : value)).map(
    (vector: object) => ({ kind, ...vector }),
  );
}

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

function bytesOf(data: Data): Uint8Array {
  if (typeof data === "string") return Uint8Array.from(Buffer.from(data, "hex"));
  const pieces = data.flatMap(([hex, times, after]) => {
    const before = Buffer.from(hex, "hex");
    if (after === undefined) return Array<Buffer>(times).fill(before);
    const end = Buffer.from(after, "hex");
    return Array.from({ length: times }, (_, i) => Buffer.concat([before, Buffer.from(counted(i)), end]));
  });
  return Uint8Array.from(Buffer.concat(pieces));
}

function counted(n: number): string {
  let id = "";
  for (let i = 9; i >= 0; i--) id += ALPHABET[Math.floor(n / 32 ** i) % 32];
  return id;
}

export async function told(readers: Readers, vector: Vector): Promise<Told> {
  try {
    return { verdict: "accept", same: await rewritten(readers, vector) };
  } catch (error) {
    if (error instanceof readers.cbor.Malformed)
      return { verdict: "malformed", code: error.code, offset: error.offset };
    if (error instanceof readers.shapes.Invalid) return { verdict: "invalid", code: error.code, path: error.path };
    throw error;
  }
}

/** Read, and write again: whether that gives the demanded bytes, in whatever order the writer meets the parts. */
async function rewritten(readers: Readers, vector: Vector): Promise<boolean> {
  const { cbor, igb, patch, template } = readers;
  if (vector.kind === "slots") return template.slots(vector.template).join("\0") === vector.slots.join("\0");
  if (vector.kind === "apply") {
    const graph = igb.read(vector.graph);
    const result = await applied(readers, vector, graph).catch((error: unknown) => ({ error }));
    if (!equal(igb.write(graph), vector.graph)) throw new TypeError("ops changed the graph that they were applied to");
    if ("error" in result) throw result.error;
    return vector.result !== undefined && equal(igb.write(result), vector.result);
  }
  const bytes = vector.parts ?? vector.hex ?? new Uint8Array();
  switch (vector.kind) {
    case "codec":
      return equal(cbor.encode(cbor.decode(bytes)), bytes);
    case "igb": {
      const graph = igb.read(bytes);
      const nodes = new Map([...graph.nodes].reverse());
      return equal(igb.write({ ...graph, nodes, edges: [...graph.edges].reverse() }), bytes);
    }
    case "patch": {
      const read = patch.readPatch(bytes);
      return equal(patch.writePatch({ ...read, ops: [...read.ops].reverse() }), bytes);
    }
  }
}

async function applied({ cbor, ops, patch, shapes }: Readers, vector: Applied, graph: Graph): Promise<Graph> {
  if (vector.patch) return patch.apply(patch.readPatch(vector.patch), graph);
  const values = cbor.decode(vector.ops ?? new Uint8Array());
  if (!shapes.isArray(values)) throw new TypeError("ops of a vector are an array");
  const given = values.map((value, i) => {
    const op = ops.readOp(value, `ops[${i}]`);
    ops.checkSecretsOf(op, `ops[${i}]`);
    return op;
  });
  return patch.applyOps(graph, given);
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
