// Inputs and outputs of a flow go by a name that must be theirs alone: the second `text` is `text2`.
import type { Graph, Op, Value } from "../igb/graph";
import { byteLength } from "../igb/shapes";
import type { Catalogue, CatalogueEntry } from "../state/catalogue";

const LONGEST = 64; // bytes

/** What a component's nodes are called until someone names them; null where a name is not the flow's. */
function ownName(entry: CatalogueEntry | undefined): string | null {
  const name = entry?.group === "io" ? entry.schema.properties?.name?.default : null;
  return typeof name === "string" ? name : null;
}

function taken(graph: Graph, entry: CatalogueEntry, first: string): Set<string> {
  const names = new Set<string>();
  for (const node of graph.nodes.values()) {
    const own = node.component === entry.name ? (node.params.get("name") ?? first) : null;
    if (typeof own === "string") names.add(own);
  }
  return names;
}

/** The name, else the same with the next free number in place of its own. */
function free(name: string, names: ReadonlySet<string>): string {
  if (!names.has(name)) return name;
  const stem = name.replace(/\d+$/, "");
  let number = 2;
  while (names.has(`${stem}${number}`) && byteLength(`${stem}${number}`) < LONGEST) number += 1;
  return `${stem}${number}`;
}

/** Params of a new node: its name where the component's own is taken. */
export function named(graph: Graph, entry: CatalogueEntry): ReadonlyMap<string, Value> {
  const first = ownName(entry);
  if (first === null) return new Map();
  const name = free(first, taken(graph, entry, first));
  return name === first ? new Map() : new Map([["name", name]]);
}

/** Ops that add copies, each copy with a name of its own. */
export function renamed(graph: Graph, catalogue: Catalogue, ops: readonly Op[]): Op[] {
  const seen = new Map<string, Set<string>>();
  return ops.map((op) => {
    if (op[0] !== "node+") return op;
    const [component, version, params, flags] = op[2];
    const entry = catalogue.get(component);
    const first = ownName(entry);
    const old = params.get("name") ?? first;
    if (!entry || first === null || typeof old !== "string") return op;
    const names = seen.get(component) ?? taken(graph, entry, first);
    seen.set(component, names);
    const name = free(old, names);
    names.add(name);
    return name === old ? op : [op[0], op[1], [component, version, new Map(params).set("name", name), flags]];
  });
}
