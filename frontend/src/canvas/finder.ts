// Which components a search or a dropped wire finds, in palette order.
import type { Graph, GraphNode, Id } from "../igb/graph";
import type { Catalogue, CatalogueEntry } from "../state/catalogue";
import { canConnect } from "../state/connect";
import { edgeBetween } from "./connecting";
import { pinsOf } from "./ports";
import type { PortRef, Side } from "./view";

export const GROUPS = ["io", "text", "model", "flow"] as const;

/** By name in either language, by component name, then by help; the best matches first inside each group. */
export function matching(catalogue: Catalogue, query: string): CatalogueEntry[] {
  const wanted = query.trim().toLowerCase();
  const rank = (entry: CatalogueEntry): number => {
    if (wanted === "") return 1;
    const names = [entry.label.en, entry.label.zh, entry.name].map((name) => name.toLowerCase());
    if (names.some((name) => name.startsWith(wanted))) return 3;
    if (names.some((name) => name.includes(wanted))) return 2;
    return [entry.help.en, entry.help.zh].some((help) => help.toLowerCase().includes(wanted)) ? 1 : 0;
  };
  return [...catalogue.values()]
    .map((entry) => ({ entry, rank: rank(entry) }))
    .filter((item) => item.rank > 0)
    .sort((a, b) => group(a.entry) - group(b.entry) || b.rank - a.rank || end(a.entry) - end(b.entry))
    .map((item) => item.entry);
}

const group = (entry: CatalogueEntry): number => GROUPS.indexOf(entry.group);

/** What begins a flow stands before what ends it. */
const end = (entry: CatalogueEntry): number =>
  entry.group === "io" && entry.outputs.every((port) => port.hidden) ? 1 : 0;

/** The port of a new node that a wire from `from` may end at, or null when none fits. */
export function fittingPort(graph: Graph, catalogue: Catalogue, from: PortRef, node: GraphNode): PortRef | null {
  const entry = catalogue.get(node.component);
  const pins = pinsOf(node, entry, [], []);
  const side: Side = from.side === "out" ? "in" : "out";
  const grown: Graph = { ...graph, nodes: new Map(graph.nodes).set(node.id, node) };
  for (const pin of side === "in" ? pins.inputs : pins.outputs) {
    const at: PortRef = { node: node.id, port: pin.name, side };
    if (canConnect(grown, catalogue, edgeBetween(from, at)) === null) return at;
  }
  return null;
}

const NO_PARAMS: GraphNode["params"] = new Map();

/** A node of a component with nothing written in it yet. */
export function bare(id: Id, entry: CatalogueEntry): GraphNode {
  return {
    id,
    component: entry.name,
    version: entry.version,
    params: NO_PARAMS,
    flags: NO_PARAMS as ReadonlyMap<string, never>,
  };
}
