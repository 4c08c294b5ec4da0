// Arbitrary values, graphs and gestures for property tests.
import fc from "fast-check";
import type { Edge, Graph, GraphNode, Id, Maybe, Op, Value } from "../../src/igb/graph";
import { ALPHABET } from "../../src/igb/id";
import { keyOf } from "../../src/igb/ops";
import { rebase } from "../../src/igb/patch";
import { compareEdges } from "../../src/igb/shapes";

fc.configureGlobal({ seed: 1 }); // the same examples in every run

const text = fc.string({ unit: "grapheme", maxLength: 8 });
const scalar = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.maxSafeInteger(),
  fc.integer({ min: -300, max: 300 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
  fc.float({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
  text,
  fc.uint8Array({ maxLength: 8 }),
);

export const value: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(text, tie("value")), { maxLength: 4 }).map((pairs) => withoutSecret(new Map(pairs))),
    fc.array(fc.tuple(fc.nat(), tie("value")), { maxLength: 4 }).map((pairs) => new Map(pairs)),
  ),
})).value;

function withoutSecret(map: Map<string, Value>): Map<string, Value> {
  map.delete("secret");
  return map;
}

export function id(n: number): Id {
  let rest = n;
  let made = "";
  for (let i = 0; i < 10; i++) {
    made = ALPHABET[rest % 32] + made;
    rest = Math.floor(rest / 32);
  }
  return made;
}

const name = fc.constantFrom("text", "prompt", "template", "名称", "\u{1f600}", "a-b", "\uff5e");
const component = fc.constantFrom("text.input", "text.template", "llm.generate", "a.b.c_1");
const flags = fc
  .record({ disabled: fc.constant(true), steps: fc.integer({ min: 1, max: 1000 }) }, { requiredKeys: [] })
  .map((record) => new Map<string, Value>(Object.entries(record)));
const coordinate = fc.integer({ min: -1_000_000, max: 1_000_000 });

/** A valid graph of up to `most` nodes; an edge always leads from a lower to a higher id. */
export function graph(most = 6): fc.Arbitrary<Graph> {
  const node = fc.record({
    component,
    version: fc.integer({ min: 1, max: 65_535 }),
    params: fc.array(fc.tuple(name, value), { maxLength: 3 }).map((pairs) => new Map(pairs)),
    flags,
    position: fc.option(fc.tuple(coordinate, coordinate), { nil: null }),
    label: fc.option(fc.string({ minLength: 1, maxLength: 20 }), { nil: null }),
  });
  const edge = fc.tuple(fc.nat(most - 1), name, fc.nat(most - 1), name, fc.nat(2));
  return fc
    .record({
      nodes: fc.array(node, { maxLength: most }),
      edges: fc.array(edge, { maxLength: most * 2 }),
      settings: fc.array(fc.tuple(name, value), { maxLength: 2 }),
      grouped: fc.array(fc.nat(most - 1), { maxLength: 3 }),
      note: fc.option(text, { nil: null }),
      extra: fc.array(fc.tuple(fc.integer({ min: 69, max: 500 }), value), { maxLength: 2 }),
    })
    .map(({ nodes, edges, settings, grouped, note, extra }) => {
      const ids = nodes.map((_, i) => id(i * 37 + 5));
      const made = new Map<Id, GraphNode>();
      for (const [i, { component: of, version, params, flags: set }] of nodes.entries()) {
        made.set(ids[i] as Id, { id: ids[i] as Id, component: of, version, params, flags: set });
      }
      const members = [...new Set(grouped.filter((i) => i < ids.length).map((i) => ids[i] as Id))].sort();
      return {
        nodes: made,
        edges: links(edges, ids),
        settings: new Map(settings),
        positions: new Map(nodes.flatMap(({ position }, i) => (position ? [[ids[i] as Id, position] as const] : []))),
        labels: new Map(nodes.flatMap(({ label }, i) => (label ? [[ids[i] as Id, label] as const] : []))),
        notes: note === null ? new Map() : new Map([[id(9), [0, -5, 20, 10, note] as const]]),
        groups: members.length === 0 ? new Map() : new Map([[id(11), ["group", members] as const]]),
        extra: new Map(extra),
      };
    });
}

function links(drawn: readonly (readonly [number, string, number, string, number])[], ids: readonly Id[]): Edge[] {
  const taken = new Map<string, Edge>();
  for (const [from, output, to, input, slot] of drawn) {
    const [source, target] = [ids[Math.min(from, to)], ids[Math.max(from, to)]];
    if (from === to || source === undefined || target === undefined) continue;
    taken.set(`${target} ${input} ${slot}`, { source, output, target, input, slot });
  }
  return [...taken.values()].sort(compareEdges);
}

/** A few ops that fit one after the other, chosen by the dice. */
export function graphOps(world: Graph, dice: Iterator<number>): Op[] {
  const roll = (sides: number): number => (sides === 0 ? 0 : (dice.next().value as number) % sides);
  const done: Op[] = [];
  let now = world;
  for (let left = roll(8); left > 0; left--) {
    const { graph: after, ops } = rebase(now, [drawn(now, roll)]);
    now = after;
    done.push(...ops);
  }
  return done;
}

function drawn(world: Graph, roll: (sides: number) => number): Op {
  const ids = [...world.nodes.keys()];
  const some = ids[roll(ids.length)] ?? id(900 + roll(9));
  const other = ids[roll(ids.length)] ?? some;
  const port = ["text", "prompt", "名称"][roll(3)] as string;
  const value: Value = [null, roll(5), "é", [1, new Map([["k", roll(3)]])]][roll(4)] as Value;
  const maybe: Maybe = roll(4) === 0 ? [] : [value];
  const edge = world.edges[roll(world.edges.length)];
  switch (roll(11)) {
    case 0:
      return ["node+", [id(900 + roll(9))], ["a.b", 1 + roll(9), new Map([[port, value]]), new Map()]];
    case 1:
      return ["node-", [some], ["a.b", 1, new Map(), new Map()]];
    case 2:
      return edge ? ["edge-", keyOf(edge)] : ["set", [some, port], [], maybe];
    case 3:
      return ["edge+", [some, port, other, port, roll(2)]];
    case 4: {
      const node = world.nodes.get(some);
      return ["retype", [some], [[node?.component ?? "a.b", node?.version ?? 1]], [["c.d", 1 + roll(3)]]];
    }
    case 5:
      return ["flag", [some, "steps"], [], roll(3) === 0 ? [] : [1 + roll(9)]];
    case 6:
      return ["graph", [port], [], maybe];
    case 7:
      return ["move", [some], [], roll(4) === 0 ? [] : [[roll(100), 0 - roll(100)]]];
    case 8:
      return ["label", [some], [], roll(4) === 0 ? [] : [`label ${roll(3)}`]];
    case 9:
      return ["group", [id(11)], [], roll(4) === 0 ? [] : [["group", [...new Set([some, other])].sort()]]];
    default:
      return ["set", [some, port], [], maybe];
  }
}
