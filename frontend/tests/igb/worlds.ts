// Arbitrary values, graphs and gestures for property tests.
import fc from "fast-check";
import type { Edge, Graph, GraphNode, Id, Value } from "../../src/igb/graph";
import { ALPHABET } from "../../src/igb/id";
import { compareEdges } from "../../src/igb/shapes";

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
