// Every check of `src/igb/` is needed: with one of them gone, some vector of `tests/spec/` has another verdict, or the encoder
// writes or refuses something else.
import { expect, test } from "vitest";
import type { Value } from "../../src/igb/graph";
import { LIMITS, REFUSED, WRITTEN } from "./encodings";
import { type Module, mutants, world } from "./mutants";
import { KINDS, type Kind, type Readers, told, type Vector, vectors } from "./vectors";

/** The kinds of vectors that a module's checks are about. */
const TOLD_BY: Readonly<Record<Module, readonly Kind[]>> = {
  budget: ["apply"],
  cbor: ["codec", "igb", "patch", "apply"],
  draft: ["apply"],
  graph: [],
  id: ["igb", "patch"],
  igb: ["igb", "patch", "apply"],
  ops: ["patch", "apply"],
  patch: ["patch", "apply"],
  paths: ["igb", "apply"],
  shapes: ["igb", "patch", "apply"],
  template: ["slots", "igb", "patch"],
};

/** What edits do, not readers: properties and examples are in `patch.test.ts`. */
const EDITING = new Set(
  [
    "draft Draft.edgesAt",
    "patch rebase isOvertaken fitOp fitNode fitField present",
    "ops isFieldOp nodesOf invertOps invertOp compose cancel composeField composeNode withField differences changes",
  ].flatMap((line) => {
    const [module, ...functions] = line.split(" ");
    return functions.map((where) => `${module} ${where}`);
  }),
);

const TYPES = "for the type checker; another check refuses the same";
const ALIVE: Readonly<Record<string, string>> = {
  "draft Draft.finish: !this.sameEdges() &&": "no check: edges that did not change stay the same array",
  "draft Draft.finish: if (graph.edges.length > MAX_EDGES)":
    "60,001 edges exceed the codec's items, the budget says the same",
  'igb checkFormat: typeof minor !== "number" ||': TYPES,
  "ops readKey: asText(key[1], path)": "a name that is no text is no flag",
  "ops readKey: most of asInt(key[0], 68, Number.MAX_SAFE_INTEGER, path)": "the codec has bounded every int",
  'ops readOp: typeof kind !== "string" ||': TYPES,
  "ops sameMaybe: a.length === 0 ||": TYPES,
  'shapes asInt: typeof value !== "number" ||': TYPES,
  "shapes sameValue: !isMap(a) ||": TYPES,
  "shapes sameValue: other === undefined ||": TYPES,
};

test("each check of a reader dropped is seen by a vector, or listed with its reason", async () => {
  const known = await verdicts();
  const alive: string[] = [];
  let count = 0;
  for (const [module, kinds] of Object.entries(TOLD_BY) as [Module, Kind[]][]) {
    const about = known.filter(([{ kind }]) => kinds.includes(kind));
    for (const mutant of mutants(module)) {
      if (isEncoding(mutant) || EDITING.has(`${module} ${mutant.where}`)) continue;
      count += 1;
      if (!(await differs(world(mutant), about))) alive.push(mutant.name);
    }
  }
  expect(alive.sort()).toEqual(Object.keys(ALIVE).sort());
  expect(count).toBeGreaterThan(300);
}, 120_000);

test("each check of the encoder dropped is seen by what it writes or refuses", () => {
  const values = [...WRITTEN, ...REFUSED].map(([value]) => value);
  const limits = LIMITS.flatMap(([fits, exceeds]) => [fits(), exceeds()]);
  const right = [values, limits].map((some) => [some, written(world(), some)] as const);
  const dropped = [...mutants("cbor")].filter(isEncoding);
  const alive = dropped.filter((mutant) => {
    const made = world(mutant);
    return right.every(([some, text]) => written(made, some) === text);
  });
  expect(alive.map(({ name }) => name)).toEqual([]);
  expect(dropped.length).toBeGreaterThan(10);
}, 60_000);

type Known = readonly [vector: Vector, said: string];

function isEncoding({ module, where }: { module: Module; where: string }): boolean {
  return module === "cbor" && (where.startsWith("Writer") || where.startsWith("Unencodable"));
}

/** What the real readers say to every vector, short ones first. */
async function verdicts(): Promise<Known[]> {
  const readers = world();
  const all = KINDS.flatMap(vectors).map((vector) => ({ vector, size: sizeOf(vector) }));
  const known: Known[] = [];
  for (const { vector } of all.sort((a, b) => a.size - b.size)) known.push([vector, await said(readers, vector)]);
  return known;
}

function sizeOf(vector: Vector): number {
  return Object.values(vector).reduce((size, data) => size + (data instanceof Uint8Array ? data.length : 0), 0);
}

async function differs(readers: Readers, known: readonly Known[]): Promise<boolean> {
  for (const [vector, right] of known) if ((await said(readers, vector)) !== right) return true;
  return false;
}

/** What readers say, in one text; a crash is a verdict too. */
async function said(readers: Readers, vector: Vector): Promise<string> {
  try {
    return JSON.stringify(await told(readers, vector));
  } catch (error) {
    return String(error);
  }
}

/** What the encoder says to values, in one text. */
function written({ cbor }: Readers, values: readonly unknown[]): string {
  const encoded = (value: unknown): string => {
    try {
      const bytes = cbor.encode(value as Value);
      return bytes.length > 1000 ? `${bytes.length} bytes` : Buffer.from(bytes).toString("hex");
    } catch (error) {
      return String(error);
    }
  };
  return values.map(encoded).join("\n");
}
