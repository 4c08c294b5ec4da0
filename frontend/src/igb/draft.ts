// A working copy of a graph that ops change: made for one batch of ops, finished into a new Graph, then dropped.
// Untouched parts are shared with the graph it began from, so that whoever watches a part sees whether it changed.
import type { Edge, EdgeKey, Graph, GraphNode, Group, Id, Maybe, NodeValue, Op, Value } from "./graph";
import { checkAnchors } from "./igb";
import { type EdgeOp, edgeOf, type FieldOp, isEdgeOp, isNodeOp, keyOf, type NodeOp, sameMaybe, withEntry } from "./ops";
import { downstream, hasCycle } from "./paths";
import { compareEdges, Invalid, MAX_EDGES, MAX_NODES, sameValue } from "./shapes";

export function nodeValue(node: GraphNode): NodeValue {
  return [node.component, node.version, node.params, node.flags];
}

function edgePlace(key: EdgeKey): string {
  return key.join("\0");
}

function inputPlace(key: EdgeKey): string {
  return `${key[2]}\0${key[3]}\0${key[4]}`;
}

type Parts = { -readonly [K in "settings" | "labels" | "notes" | "groups" | "extra"]?: Graph[K] };

export class Draft {
  private nodes: Map<Id, GraphNode> | null = null;
  private edges: Map<string, Edge> | null = null;
  private inputs = new Map<string, readonly Edge[]>(); // beside `edges`; more than one at a place only on the way
  private positions: Map<Id, readonly [number, number]> | null = null;
  private parts: Parts = {};
  private removed = false;
  private linked = false;

  constructor(private readonly base: Graph) {}

  node(id: Id): GraphNode | undefined {
    return (this.nodes ?? this.base.nodes).get(id);
  }

  hasEdge(key: EdgeKey): boolean {
    return this.edgeMap().has(edgePlace(key));
  }

  /** The edge that ends at the same place of the same input. */
  edgeInto(key: EdgeKey): Edge | undefined {
    this.edgeMap();
    return this.inputs.get(inputPlace(key))?.[0];
  }

  edgesAt(id: Id): Edge[] {
    return [...this.edgeMap().values()].filter((edge) => edge.source === id || edge.target === id);
  }

  groupsWith(id: Id): [Id, Group][] {
    return [...(this.parts.groups ?? this.base.groups)].filter(([, [, members]]) => members.includes(id));
  }

  /** Whether `to` can be reached from `from` along edges. */
  reaches(from: Id, to: Id): boolean {
    return downstream(this.edgeMap().values(), from).has(to);
  }

  /** What stands where a field op writes. */
  current(op: FieldOp): Maybe {
    switch (op[0]) {
      case "retype": {
        const node = this.node(op[1][0]);
        return node ? [[node.component, node.version]] : [];
      }
      case "set":
        return entry(this.node(op[1][0])?.params, op[1][1]);
      case "flag":
        return entry(this.node(op[1][0])?.flags, op[1][1]);
      case "graph":
        return entry(this.parts.settings ?? this.base.settings, op[1][0]);
      case "move":
        return entry(this.positions ?? this.base.positions, op[1][0]);
      case "label":
        return entry(this.parts.labels ?? this.base.labels, op[1][0]);
      case "note":
        return entry(this.parts.notes ?? this.base.notes, op[1][0]);
      case "group":
        return entry(this.parts.groups ?? this.base.groups, op[1][0]);
      case "extra":
        return entry(this.parts.extra ?? this.base.extra, op[1][0]);
    }
  }

  /** Apply one op whose `old` must be what is there. Ids that an op names may still come or go until `finish`. */
  apply(op: Op, path: string): void {
    if (isEdgeOp(op)) this.applyEdge(op, path);
    else if (isNodeOp(op)) this.applyNode(op, path);
    else this.applyField(op, path);
  }

  private applyEdge([kind, key]: EdgeOp, path: string): void {
    const edges = this.edgeMap();
    if (kind === "edge-") {
      if (!edges.delete(edgePlace(key))) throw new Invalid("stale", path);
      const place = inputPlace(key);
      const others = this.inputs.get(place)?.filter((edge) => edgePlace(keyOf(edge)) !== edgePlace(key)) ?? [];
      this.inputs.set(place, others);
      return;
    }
    if (edges.has(edgePlace(key))) throw new Invalid("duplicate", path);
    const edge = edgeOf(key);
    edges.set(edgePlace(key), edge);
    this.inputs.set(inputPlace(key), [...(this.inputs.get(inputPlace(key)) ?? []), edge]);
    this.linked = true;
  }

  private applyNode([kind, [id], value]: NodeOp, path: string): void {
    const before = this.node(id);
    this.nodes ??= new Map(this.base.nodes);
    if (kind === "node+") {
      if (before) throw new Invalid("duplicate", path);
      const [component, version, params, flags] = value;
      this.nodes.set(id, { id, component, version, params, flags });
      return;
    }
    if (!before) throw new Invalid("dangling", path);
    if (!sameValue(nodeValue(before), value)) throw new Invalid("stale", path);
    this.nodes.delete(id);
    this.removed = true;
  }

  private applyField(op: FieldOp, path: string): void {
    const [kind, key, old, next] = op;
    if ((kind === "set" || kind === "flag" || kind === "retype") && !this.node(key[0]))
      throw new Invalid("dangling", path);
    if (!sameMaybe(this.current(op), old)) throw new Invalid("stale", path);
    switch (kind) {
      case "retype": {
        const [component, version] = next[0] as readonly [string, number];
        this.putNode(key[0], { component, version });
        return;
      }
      case "set":
        this.putNode(key[0], {
          params: withEntry(this.node(key[0])?.params as ReadonlyMap<string, Value>, key[1], next),
        });
        return;
      case "flag":
        this.putNode(key[0], {
          flags: withEntry(this.node(key[0])?.flags as ReadonlyMap<string, Value>, key[1], next),
        });
        return;
      case "move":
        this.positions ??= new Map(this.base.positions); // copied once: a drag of many nodes is many moves
        if (next.length === 0) this.positions.delete(key[0]);
        else this.positions.set(key[0], next[0] as readonly [number, number]);
        return;
      case "graph":
        this.parts.settings = withEntry(this.parts.settings ?? this.base.settings, key[0], next);
        return;
      case "label":
        this.parts.labels = withEntry(this.parts.labels ?? this.base.labels, key[0], next);
        return;
      case "note":
        this.parts.notes = withEntry(this.parts.notes ?? this.base.notes, key[0], next);
        return;
      case "group":
        this.parts.groups = withEntry(this.parts.groups ?? this.base.groups, key[0], next);
        return;
      case "extra":
        this.parts.extra = withEntry(this.parts.extra ?? this.base.extra, key[0], next);
    }
  }

  private putNode(id: Id, fields: Partial<GraphNode>): void {
    this.nodes ??= new Map(this.base.nodes);
    this.nodes.set(id, { ...(this.nodes.get(id) as GraphNode), ...fields });
  }

  private edgeMap(): Map<string, Edge> {
    if (this.edges) return this.edges;
    this.edges = new Map(this.base.edges.map((edge) => [edgePlace(keyOf(edge)), edge]));
    this.inputs = new Map(this.base.edges.map((edge) => [inputPlace(keyOf(edge)), [edge]]));
    return this.edges;
  }

  /** The graph with all ops in it. Throws Invalid when it is no valid graph. */
  finish(): Graph {
    const graph: Graph = {
      nodes: this.nodes ?? this.base.nodes,
      edges: this.edges && !this.sameEdges() ? [...this.edges.values()].sort(compareEdges) : this.base.edges,
      positions: this.positions ?? this.base.positions,
      settings: this.base.settings,
      labels: this.base.labels,
      notes: this.base.notes,
      groups: this.base.groups,
      extra: this.base.extra,
      ...this.parts,
    };
    if (graph.nodes.size > MAX_NODES) throw new Invalid("section", "nodes");
    if (graph.edges.length > MAX_EDGES) throw new Invalid("section", "edges");
    if (this.removed || this.linked) {
      for (const [i, { source, target }] of graph.edges.entries()) {
        if (!graph.nodes.has(source) || !graph.nodes.has(target)) throw new Invalid("dangling", `edges[${i}]`);
      }
    }
    if (this.removed || this.positions || this.parts.labels || this.parts.groups) checkAnchors(graph);
    if (this.linked) this.checkLinks(graph);
    return graph;
  }

  private sameEdges(): boolean {
    return (
      this.edges?.size === this.base.edges.length &&
      this.base.edges.every((edge) => this.edges?.has(edgePlace(keyOf(edge))))
    );
  }

  private checkLinks({ edges }: Graph): void {
    for (const [i, edge] of edges.entries()) {
      const there = this.inputs.get(inputPlace(keyOf(edge))) ?? [];
      if (there.length > 1) throw new Invalid("duplicate", `edges[${i}]`);
    }
    if (hasCycle(edges)) throw new Invalid("cycle", "edges");
  }
}

function entry<K>(map: ReadonlyMap<K, Value> | undefined, key: K): Maybe {
  const value = map?.get(key);
  return value === undefined ? [] : [value];
}
