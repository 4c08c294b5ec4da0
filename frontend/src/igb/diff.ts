// The diff of two graphs (docs/formats.md §3): the ops in normal form that lead from one to the other. Pure.
import { nodeValue } from "./draft";
import type { Graph, Op } from "./graph";
import { changes, differences, keyOf, sortOps } from "./ops";
import { compareEdges } from "./shapes";

/** `applyOps(a, diff(a, b))` is `b`. */
export function diff(a: Graph, b: Graph): Op[] {
  return sortOps([...edgeOps(a, b), ...nodeOps(a, b), ...fieldOps(a, b)]);
}

function* edgeOps(a: Graph, b: Graph): Generator<Op> {
  // Both sides are sorted: one walk along them.
  let [i, j] = [0, 0];
  while (i < a.edges.length || j < b.edges.length) {
    const [old, next] = [a.edges[i], b.edges[j]];
    const order = !old ? 1 : !next ? -1 : compareEdges(old, next);
    if (old && order < 0) yield ["edge-", keyOf(old)];
    if (next && order > 0) yield ["edge+", keyOf(next)];
    if (order <= 0) i += 1;
    if (order >= 0) j += 1;
  }
}

function* nodeOps(a: Graph, b: Graph): Generator<Op> {
  for (const [id, old] of a.nodes) {
    const next = b.nodes.get(id);
    if (!next) yield ["node-", [id], nodeValue(old)];
    else if (old !== next) yield* differences(id, nodeValue(old), nodeValue(next));
  }
  for (const [id, next] of b.nodes) if (!a.nodes.has(id)) yield ["node+", [id], nodeValue(next)];
}

function* fieldOps(a: Graph, b: Graph): Generator<Op> {
  for (const [key, old, next] of changes(a.settings, b.settings)) yield ["graph", [key], old, next];
  for (const [key, old, next] of changes(a.positions, b.positions)) yield ["move", [key], old, next];
  for (const [key, old, next] of changes(a.labels, b.labels)) yield ["label", [key], old, next];
  for (const [key, old, next] of changes(a.notes, b.notes)) yield ["note", [key], old, next];
  for (const [key, old, next] of changes(a.groups, b.groups)) yield ["group", [key], old, next];
  for (const [key, old, next] of changes(a.extra, b.extra)) yield ["extra", [key], old, next];
}
