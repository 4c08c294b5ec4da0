// Where edges lead. Walks without recursion.
import type { Edge, Id } from "./graph";

/** Whether edges, one to itself included, lead back to where they began. */
export function hasCycle(edges: Iterable<Edge>): boolean {
  const waiting = new Map<Id, number>();
  const targets = targetsOf(edges);
  for (const list of targets.values()) for (const id of list) waiting.set(id, (waiting.get(id) ?? 0) + 1);
  const ready = [...targets.keys()].filter((id) => !waiting.has(id));
  for (let id = ready.pop(); id !== undefined; id = ready.pop()) {
    for (const target of targets.get(id) ?? []) {
      const left = (waiting.get(target) as number) - 1;
      waiting.set(target, left);
      if (left > 0) continue;
      waiting.delete(target);
      ready.push(target);
    }
  }
  return waiting.size > 0;
}

/** Nodes that can be reached from `from`, itself included. */
export function downstream(edges: Iterable<Edge>, from: Id): ReadonlySet<Id> {
  const targets = targetsOf(edges);
  const seen = new Set([from]);
  for (const id of seen) for (const next of targets.get(id) ?? []) seen.add(next); // a set grows while it is walked
  return seen;
}

function targetsOf(edges: Iterable<Edge>): ReadonlyMap<Id, readonly Id[]> {
  const targets = new Map<Id, Id[]>();
  for (const { source, target } of edges) {
    const list = targets.get(source);
    if (list) list.push(target);
    else targets.set(source, [target]);
  }
  return targets;
}
