// The `.igb` file (docs/formats.md §2): a graph as bytes, one byte string per graph. Reads, writes and hashes; never repairs.
import { decode, encode, sameBytes } from "./cbor";
import type { Edge, Graph, GraphNode, Group, Id, Note, Value } from "./graph";
import {
  asArray,
  asComponent,
  ascending,
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
  cycleEdge,
  Invalid,
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

/** The graph in `bytes`. Throws Malformed or Invalid. */
export function read(bytes: Uint8Array): Graph {
  const sections = body(bytes, MAGIC);
  checkFormat(sections, KNOWN, [0, 3, 4, 5]);
  if (sections.has(1)) checkFeatures(sections.get(1));
  const table = readTable(sections.get(3));
  const used = new Map<number, number>();
  const nodes = readNodes(sections.get(4), table, used);
  const ids = [...nodes.keys()];
  const edges = readEdges(sections.get(5), table, used, ids);
  if (used.size < table.length) throw new Invalid("string_table", "strings");
  const settings = sections.has(6) ? filled(asTextMap(sections.get(6), "settings"), "settings") : EMPTY.settings;
  const graph: Graph = {
    nodes,
    edges,
    settings,
    positions: readById(sections, 64, "positions", asPosition),
    labels: readById(sections, 65, "labels", asLabel),
    notes: readById(sections, 66, "notes", asNote),
    groups: readById(sections, 67, "groups", asGroup),
    extra: readExtra(sections),
  };
  checkLinks(graph);
  return graph;
}

/** What needs the whole graph: ids that exist, no cycle, no raw secret. */
export function checkLinks(graph: Graph): void {
  for (const [i, edge] of graph.edges.entries()) {
    if (!graph.nodes.has(edge.source) || !graph.nodes.has(edge.target)) throw new Invalid("dangling", `edges[${i}]`);
  }
  for (const id of graph.positions.keys()) if (!graph.nodes.has(id)) throw new Invalid("dangling", `positions.${id}`);
  for (const id of graph.labels.keys()) if (!graph.nodes.has(id)) throw new Invalid("dangling", `labels.${id}`);
  for (const [group, [, members]] of graph.groups) {
    const at = members.findIndex((id) => !graph.nodes.has(id));
    if (at >= 0) throw new Invalid("dangling", `groups.${group}[1][${at}]`);
  }
  const closing = cycleEdge(graph.nodes, graph.edges);
  if (closing) throw new Invalid("cycle", `edges[${graph.edges.indexOf(closing)}]`);
  let i = 0;
  for (const node of graph.nodes.values()) {
    for (const [param, value] of node.params) checkSecrets(value, `nodes[${i}].params.${param}`);
    i += 1;
  }
  checkSecrets(graph.settings, "settings");
}

/** The bytes of a valid graph. Throws Unencodable when a value in it has no form. */
export function write(graph: Graph): Uint8Array {
  const sections = semantic(graph);
  ancillary(graph, sections);
  return withMagic(MAGIC, encode(sections));
}

/** SHA-256 of all bytes, and of the semantic sections alone: moving a node changes `file` only. */
export async function hashes(graph: Graph): Promise<{ file: Uint8Array; sem: Uint8Array }> {
  const [file, sem] = await Promise.all([sha256(write(graph)), sha256(encode(semantic(graph)))]);
  return { file, sem };
}

export async function sha256(bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>));
}

export function withMagic(magic: Uint8Array, rest: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(magic.length + rest.length);
  bytes.set(magic);
  bytes.set(rest, magic.length);
  return bytes;
}

/** The map after the magic, its keys unsigned ints. */
export function body(bytes: Uint8Array, magic: Uint8Array): Sections {
  if (!sameBytes(bytes.subarray(0, magic.length), magic)) throw new Invalid("magic", "");
  const map = decode(bytes.subarray(magic.length));
  if (!isMap(map)) throw new Invalid("section", "");
  for (const key of map.keys()) if (typeof key !== "number") throw new Invalid("section", "");
  return map as Sections;
}

/** Format version first, then unknown semantic keys, then missing ones. */
export function checkFormat(sections: Sections, known: ReadonlySet<number>, needed: readonly number[]): void {
  if (sections.has(0)) {
    const format = asArray(sections.get(0), "format", 2);
    const major = asInt(format[0], 0, Number.MAX_SAFE_INTEGER, "format[0]");
    asInt(format[1], 0, Number.MAX_SAFE_INTEGER, "format[1]");
    if (major !== FORMAT[0]) throw new Invalid("version", "format[0]");
  }
  for (const key of sections.keys()) if (key < ANCILLARY && !known.has(key)) throw new Invalid("key", `[${key}]`);
  for (const key of needed) if (!sections.has(key)) throw new Invalid("key", `[${key}]`);
}

function checkFeatures(value: Value | undefined): void {
  const features = asArray(value, "features").map((feature, i) => asText(feature, `features[${i}]`));
  if (features.length === 0) throw new Invalid("section", "features");
  throw new Invalid("feature", "features[0]"); // none is known yet
}

function readTable(value: Value | undefined): string[] {
  const table = asArray(value, "strings").map((text, i) => asText(text, `strings[${i}]`));
  const seen = new Set<string>();
  for (const [i, text] of table.entries()) {
    if (seen.has(text)) throw new Invalid("string_table", `strings[${i}]`);
    seen.add(text);
  }
  return table;
}

/** The string at an index; `used` learns the order of first uses, which must be the table's own. */
function lookUp(index: Value | undefined, table: readonly string[], path: string): string {
  return table[asInt(index, 0, table.length - 1, path)] as string;
}

function use(index: number, used: Map<number, number>, path: string): void {
  if (used.has(index)) return;
  if (index !== used.size) throw new Invalid("string_table", path);
  used.set(index, index);
}

function readNodes(value: Value | undefined, table: readonly string[], used: Map<number, number>): Map<Id, GraphNode> {
  const rows = asArray(value, "nodes");
  if (rows.length > MAX_NODES) throw new Invalid("section", "nodes");
  const nodes = rows.map((row, i) => readNode(row, table, used, `nodes[${i}]`));
  ascending(
    nodes.map((node) => node.id),
    "nodes",
  );
  return new Map(nodes.map((node) => [node.id, node]));
}

function readNode(row: Value, table: readonly string[], used: Map<number, number>, path: string): GraphNode {
  const [id, component, version, params, flags] = asArray(row, path, 5);
  const node = {
    id: asId(id, `${path}.id`),
    component: asComponent(lookUp(component, table, `${path}.component`), `${path}.component`),
    version: asVersion(version, `${path}.version`),
    params: new Map<string, Value>(),
    flags: asFlags(flags, `${path}.flags`),
  };
  if (!isMap(params)) throw new Invalid("section", `${path}.params`);
  const indexes: [string, number][] = [];
  for (const [index, param] of params) {
    const name = asName(lookUp(index, table, `${path}.params`), `${path}.params`);
    node.params.set(name, param);
    indexes.push([name, index as number]);
  }
  use(component as number, used, `${path}.component`);
  indexes.sort((a, b) => compareText(a[0], b[0]));
  for (const [name, index] of indexes) use(index, used, `${path}.params.${name}`);
  return node;
}

function readEdges(
  value: Value | undefined,
  table: readonly string[],
  used: Map<number, number>,
  ids: readonly Id[],
): Edge[] {
  const rows = asArray(value, "edges");
  if (rows.length > MAX_EDGES) throw new Invalid("section", "edges");
  const edges = rows.map((row, i): Edge => {
    const path = `edges[${i}]`;
    const [source, output, target, input, slot] = asArray(row, path, 5);
    const edge = {
      source: nodeAt(source, ids, `${path}.source`),
      output: asName(lookUp(output, table, `${path}.output`), `${path}.output`),
      target: nodeAt(target, ids, `${path}.target`),
      input: asName(lookUp(input, table, `${path}.input`), `${path}.input`),
      slot: asSlot(slot, `${path}.slot`),
    };
    use(output as number, used, `${path}.output`);
    use(input as number, used, `${path}.input`);
    return edge;
  });
  checkEdgeOrder(edges);
  return edges;
}

/** An index past the nodes stays as a name that no id has, so that `dangling` is found in its turn. */
function nodeAt(index: Value | undefined, ids: readonly Id[], path: string): Id {
  const at = asInt(index, 0, Number.MAX_SAFE_INTEGER, path);
  return ids[at] ?? `~${String(at).padStart(16, "0")}`;
}

function checkEdgeOrder(edges: readonly Edge[]): void {
  for (let i = 1; i < edges.length; i++) {
    if (compareEdges(edges[i - 1] as Edge, edges[i] as Edge) > 0) throw new Invalid("order", `edges[${i}]`);
  }
  const taken = new Set<string>();
  for (const [i, { target, input, slot }] of edges.entries()) {
    const place = `${target}\0${input}\0${slot}`; // no name holds a control character
    if (taken.has(place)) throw new Invalid("duplicate", `edges[${i}]`);
    taken.add(place);
  }
}

function filled<M extends ReadonlyMap<unknown, unknown>>(map: M, path: string): M {
  if (map.size === 0) throw new Invalid("section", path);
  return map;
}

function readById<T>(
  sections: Sections,
  key: number,
  path: string,
  read: (value: Value, path: string) => T,
): Map<Id, T> {
  const result = new Map<Id, T>();
  if (!sections.has(key)) return result;
  for (const [id, value] of filled(asTextMap(sections.get(key), path), path)) {
    result.set(asId(id, `${path}.${id}`), read(value, `${path}.${id}`));
  }
  return result;
}

function readExtra(sections: Sections): Map<number, Value> {
  const extra = new Map<number, Value>();
  for (const [key, value] of sections) {
    if (key >= 68) extra.set(key, asExtra(key, value, key === 68 ? "conflicts" : `[${key}]`));
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

function ancillary(graph: Graph, sections: Map<number, Value>): void {
  if (graph.positions.size > 0) sections.set(64, graph.positions);
  if (graph.labels.size > 0) sections.set(65, graph.labels);
  if (graph.notes.size > 0) sections.set(66, graph.notes as ReadonlyMap<string, Note>);
  if (graph.groups.size > 0) sections.set(67, graph.groups as ReadonlyMap<string, Group>);
  for (const [key, value] of graph.extra) sections.set(key, value);
}
