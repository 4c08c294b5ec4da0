// The `.igb` file (docs/formats.md §2): a graph as bytes, one byte string per graph. Reads, writes and hashes; never repairs.
import { decode, encode, sameBytes } from "./cbor";
import type { Edge, Graph, GraphNode, Group, Id, Note, Value } from "./graph";
import { hasCycle } from "./paths";
import {
  asArray,
  asComponent,
  asExtra,
  asFlags,
  asGroup,
  asId,
  asInt,
  asLabel,
  asName,
  asNote,
  asPosition,
  asSlot,
  asText,
  asTextMap,
  asVersion,
  checkSecrets,
  compareEdges,
  compareText,
  Invalid,
  isArray,
  isMap,
  MAX_EDGES,
  MAX_NODES,
} from "./shapes";

export { Malformed } from "./cbor";
export { Invalid } from "./shapes";

const MAGIC = Uint8Array.of(0x89, 0x49, 0x47, 0x42, 0x0d, 0x0a, 0x1a, 0x0a);
const FORMAT = [1, 0] as const;
const KNOWN = new Set([0, 1, 3, 4, 5, 6]);
const ANCILLARY = 64;

type Sections = ReadonlyMap<number, Value>;

export const EMPTY: Graph = {
  nodes: new Map(),
  edges: [],
  settings: new Map(),
  positions: new Map(),
  labels: new Map(),
  notes: new Map(),
  groups: new Map(),
  extra: new Map(),
};

/** The graph in `bytes`. Throws Malformed or Invalid; each code is a round over the whole file. */
export function read(bytes: Uint8Array): Graph {
  const sections = body(bytes, MAGIC);
  checkFormat(sections);
  checkKeys(sections, KNOWN, [0, 3, 4, 5], ANCILLARY);
  checkFeatures(sections);
  const table = asArray(sections.get(3), "strings").map((text, i) => asText(text, `strings[${i}]`));
  const nodes = rowsOf(sections.get(4), "nodes", MAX_NODES).map((row, i) => readNode(row, table, `nodes[${i}]`));
  const links = rowsOf(sections.get(5), "edges", MAX_EDGES).map((row, i) =>
    readLink(row, table, nodes.length, `edges[${i}]`),
  );
  const ids = nodes.map((node) => node.id);
  const graph: Graph = {
    nodes: new Map(nodes.map(({ strings: _, ...node }) => [node.id, node])),
    edges: links.map(({ from, output, to, input, slot }) => {
      return { source: ids[from] as Id, output, target: ids[to] as Id, input, slot };
    }),
    settings: sections.has(6) ? filled(asTextMap(sections.get(6), "settings"), "settings") : EMPTY.settings,
    positions: readById(sections, 64, "positions", asPosition),
    labels: readById(sections, 65, "labels", asLabel),
    notes: readById(sections, 66, "notes", asNote, asId),
    groups: readById(sections, 67, "groups", asGroup, asId),
    extra: readExtra(sections),
  };
  checkTable(table, nodes, links);
  checkOrder(ids, links);
  checkTwice(ids, links);
  checkAnchors(graph);
  if (hasCycle(graph.edges)) throw new Invalid("cycle", "edges");
  for (const [i, node] of nodes.entries()) {
    for (const name of [...node.params.keys()].sort(compareText)) {
      checkSecrets(node.params.get(name) as Value, `nodes[${i}].params.${name}`);
    }
  }
  for (const [name, value] of graph.settings) checkSecrets(value, `settings.${name}`);
  return graph;
}

/** Positions, labels and members of groups are of nodes that exist. */
export function checkAnchors({ nodes, positions, labels, groups }: Graph): void {
  for (const id of positions.keys()) if (!nodes.has(id)) throw new Invalid("dangling", `positions.${id}`);
  for (const id of labels.keys()) if (!nodes.has(id)) throw new Invalid("dangling", `labels.${id}`);
  for (const [group, [, members]] of groups) {
    if (!members.every((id) => nodes.has(id))) throw new Invalid("dangling", `groups.${group}`);
  }
}

/** The bytes of a valid graph. Throws Unencodable when a value in it has no form. */
export function write(graph: Graph): Uint8Array {
  return withMagic(MAGIC, encode(sectionsOf(graph)));
}

/** SHA-256 of all bytes, and of the semantic sections alone: moving a node changes `file` only. */
export async function hashes(graph: Graph): Promise<{ file: Uint8Array; sem: Uint8Array }> {
  const [file, sem] = await Promise.all([sha256(write(graph)), sha256(encode(semantic(graph)))]);
  return { file, sem };
}

async function sha256(bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>));
}

export function withMagic(magic: Uint8Array, rest: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(magic.length + rest.length);
  bytes.set(magic);
  bytes.set(rest, magic.length);
  return bytes;
}

/** The map after the magic, its keys unsigned ints. Offsets count from the file's first byte. */
export function body(bytes: Uint8Array, magic: Uint8Array): Sections {
  if (!sameBytes(bytes.subarray(0, magic.length), magic)) throw new Invalid("magic", "file");
  const map = decode(bytes.subarray(magic.length), magic.length);
  if (!isMap(map)) throw new Invalid("section", "file");
  for (const key of map.keys()) if (typeof key !== "number") throw new Invalid("section", "file");
  return map as Sections;
}

export function checkFormat(sections: Sections): void {
  const format = sections.get(0);
  if (format === undefined) return; // a missing key is told as such
  const minor = isArray(format) && format.length === 2 && format[0] === FORMAT[0] ? format[1] : null;
  if (typeof minor !== "number" || !Number.isSafeInteger(minor) || minor < 0) throw new Invalid("version", "format");
}

/** Unknown keys below `most` first, then missing ones. */
export function checkKeys(
  sections: Sections,
  known: ReadonlySet<number>,
  needed: readonly number[],
  most: number,
): void {
  for (const key of sections.keys()) if (key < most && !known.has(key)) throw new Invalid("key", String(key));
  for (const key of needed) if (!sections.has(key)) throw new Invalid("key", String(key));
}

function checkFeatures(sections: Sections): void {
  if (!sections.has(1)) return;
  const features = asArray(sections.get(1), "features").map((feature) => asText(feature, "features"));
  const ascending = features.every((feature, i) => i === 0 || compareText(features[i - 1] as string, feature) < 0);
  if (features.length === 0 || !ascending) throw new Invalid("section", "features");
  throw new Invalid("feature", "features[0]"); // none is known yet
}

/** A node or an edge as the file has it, with indexes into the string table and, for an edge, into the nodes. */
interface NodeRow extends GraphNode {
  readonly strings: readonly number[]; // component, then params in the order of their names
}

interface LinkRow extends Omit<Edge, "source" | "target"> {
  readonly from: number;
  readonly to: number;
  readonly strings: readonly number[]; // output, input
}

function rowsOf(value: Value | undefined, path: string, most: number): readonly Value[] {
  const rows = asArray(value, path);
  if (rows.length > most) throw new Invalid("section", path);
  return rows;
}

/** What is no index of the table gives nothing, and nothing is no name. */
function stringAt(index: Value | undefined, table: readonly string[]): string | undefined {
  return typeof index === "number" ? table[index] : undefined;
}

function readNode(row: Value, table: readonly string[], path: string): NodeRow {
  const [id, component, version, params, flags] = asArray(row, path, 5);
  const read = {
    id: asId(id, `${path}.id`),
    component: asComponent(stringAt(component, table), `${path}.component`),
    version: asVersion(version, `${path}.version`),
  };
  if (!isMap(params)) throw new Invalid("section", `${path}.params`);
  const named = new Map<string, Value>();
  const uses: [string, number][] = [];
  for (const [index, value] of params) {
    const name = asName(stringAt(index, table), `${path}.params`);
    named.set(name, value);
    uses.push([name, index as number]);
  }
  uses.sort((a, b) => compareText(a[0], b[0]));
  const strings = [component as number, ...uses.map(([, index]) => index)];
  return { ...read, params: named, flags: asFlags(flags, `${path}.flags`), strings };
}

function readLink(row: Value, table: readonly string[], numNodes: number, path: string): LinkRow {
  const [from, output, to, input, slot] = asArray(row, path, 5);
  return {
    from: asInt(from, 0, numNodes - 1, `${path}.source`),
    output: asName(stringAt(output, table), `${path}.output`),
    to: asInt(to, 0, numNodes - 1, `${path}.target`),
    input: asName(stringAt(input, table), `${path}.input`),
    slot: asSlot(slot, `${path}.slot`),
    strings: [output as number, input as number],
  };
}

/** The table is what the walk over nodes and edges gives: every string once, at its first use. */
function checkTable(table: readonly string[], nodes: readonly NodeRow[], links: readonly LinkRow[]): void {
  const walk = new Set<string>();
  for (const { strings } of [...nodes, ...links]) for (const index of strings) walk.add(table[index] as string);
  const walked = [...walk];
  const wrong = table.findIndex((text, i) => text !== walked[i]);
  if (wrong >= 0) throw new Invalid("string_table", `strings[${wrong}]`);
}

function checkOrder(ids: readonly Id[], links: readonly LinkRow[]): void {
  for (let i = 1; i < ids.length; i++)
    if ((ids[i - 1] as Id) > (ids[i] as Id)) throw new Invalid("order", `nodes[${i}]`);
  for (let i = 1; i < links.length; i++) {
    if (compareLinks(links[i - 1] as LinkRow, links[i] as LinkRow) > 0) throw new Invalid("order", `edges[${i}]`);
  }
}

function checkTwice(ids: readonly Id[], links: readonly LinkRow[]): void {
  for (let i = 1; i < ids.length; i++) if (ids[i - 1] === ids[i]) throw new Invalid("duplicate", `nodes[${i}]`);
  const taken = new Set<string>();
  for (const [i, { to, input, slot }] of links.entries()) {
    const place = `${to}\0${input}\0${slot}`; // no name holds a control character
    if (taken.has(place)) throw new Invalid("duplicate", `edges[${i}]`);
    taken.add(place);
  }
}

function compareLinks(a: LinkRow, b: LinkRow): number {
  return (
    a.from - b.from ||
    compareText(a.output, b.output) ||
    a.to - b.to ||
    compareText(a.input, b.input) ||
    a.slot - b.slot
  );
}

function filled<M extends ReadonlyMap<unknown, unknown>>(map: M, path: string): M {
  if (map.size === 0) throw new Invalid("section", path);
  return map;
}

/** A section whose keys have a form of their own (`asKey`), or name nodes and are looked at as `dangling`. */
function readById<T>(
  sections: Sections,
  key: number,
  path: string,
  read: (value: Value, path: string) => T,
  asKey: (id: string, path: string) => Id = (id) => id,
): Map<Id, T> {
  const result = new Map<Id, T>();
  if (!sections.has(key)) return result;
  for (const [id, value] of filled(asTextMap(sections.get(key), path), path)) {
    result.set(asKey(id, `${path}.${id}`), read(value, `${path}.${id}`));
  }
  return result;
}

function readExtra(sections: Sections): Map<number, Value> {
  const extra = new Map<number, Value>();
  for (const [key, value] of sections) {
    if (key >= 68) extra.set(key, asExtra(key, value, key === 68 ? "conflicts" : String(key)));
  }
  return extra;
}

function semantic(graph: Graph): Map<number, Value> {
  const strings = new Map<string, number>();
  const index = (text: string): number => {
    const known = strings.get(text);
    if (known !== undefined) return known;
    strings.set(text, strings.size);
    return strings.size - 1;
  };
  const ids = [...graph.nodes.keys()].sort(compareText);
  const place = new Map(ids.map((id, i) => [id, i]));
  const nodes = ids.map((id): Value => {
    const node = graph.nodes.get(id) as GraphNode;
    const component = index(node.component);
    const names = [...node.params.keys()].sort(compareText);
    return [
      id,
      component,
      node.version,
      new Map(names.map((name) => [index(name), node.params.get(name) as Value])),
      node.flags,
    ];
  });
  const edges = [...graph.edges].sort(compareEdges).map((edge): Value => {
    const output = index(edge.output);
    const input = index(edge.input);
    return [place.get(edge.source) as number, output, place.get(edge.target) as number, input, edge.slot];
  });
  const sections = new Map<number, Value>([
    [0, FORMAT],
    [3, [...strings.keys()]],
    [4, nodes],
    [5, edges],
  ]);
  if (graph.settings.size > 0) sections.set(6, graph.settings);
  return sections;
}

/** The map of a file. */
export function sectionsOf(graph: Graph): ReadonlyMap<number, Value> {
  const sections = semantic(graph);
  if (graph.positions.size > 0) sections.set(64, graph.positions);
  if (graph.labels.size > 0) sections.set(65, graph.labels);
  if (graph.notes.size > 0) sections.set(66, graph.notes as ReadonlyMap<string, Note>);
  if (graph.groups.size > 0) sections.set(67, graph.groups as ReadonlyMap<string, Group>);
  for (const [key, value] of graph.extra) sections.set(key, value);
  return sections;
}
