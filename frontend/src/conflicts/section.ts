// Section 68 of a graph: its entries, each as a conflict where it has the form of one. An entry of another form stays what it is,
// without a reading, so that it can be shown as text and taken out.

import { CONFLICTS } from "../igb/conflicts";
import type { Graph, Id, Value } from "../igb/graph";
import { isArray } from "../igb/shapes";
import { notation } from "../versions/patchText";
import { clipped } from "./clipped";
import { type Conflict, conflictOf, nodesOf } from "./conflict";

const LONGEST_NAME = 200;

/** One entry of the section; `conflict` is null where its form is not known. */
export interface Entry {
  readonly name: string; // one of its own in the section, the same for as long as it stands there
  readonly at: number;
  readonly value: Value;
  readonly conflict: Conflict | null;
}

const NONE: readonly Entry[] = [];
const READ = new WeakMap<object, readonly Entry[]>(); // by the section's value, which is never written to

export function entriesOf(graph: Graph): readonly Entry[] {
  const section = graph.extra.get(CONFLICTS);
  if (!isArray(section)) return NONE;
  const known = READ.get(section);
  if (known) return known;
  const entries = named(section);
  READ.set(section, entries);
  return entries;
}

export function numConflicts(graph: Graph): number {
  const section = graph.extra.get(CONFLICTS);
  return isArray(section) ? section.length : 0;
}

function named(section: readonly Value[]): Entry[] {
  const times = new Map<string, number>();
  return section.map((value, at) => {
    const conflict = conflictOf(value);
    const key = notation(clipped(conflict ? conflict.key : value)).slice(0, LONGEST_NAME);
    const count = (times.get(key) ?? 0) + 1;
    times.set(key, count);
    return { name: count > 1 ? `${key} ${count}` : key, at, value, conflict };
  });
}

const COUNTED = new WeakMap<readonly Entry[], ReadonlyMap<Id, number>>();

/** How many open conflicts each node has a part in. */
export function countsByNode(graph: Graph): ReadonlyMap<Id, number> {
  const entries = entriesOf(graph);
  const known = COUNTED.get(entries);
  if (known) return known;
  const counts = new Map<Id, number>();
  for (const { conflict } of entries) {
    for (const id of conflict ? nodesOf(conflict) : []) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  COUNTED.set(entries, counts);
  return counts;
}
