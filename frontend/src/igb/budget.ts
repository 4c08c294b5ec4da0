// Whether a graph still fits into a file. Writing it to find out would cost every edit the whole graph, so each graph carries an
// upper bound, made of that of the graph it came from and of the ops that led to it; near the budget the graph is written.
import { MAX_ITEMS, MAX_SIZE, measure, Unencodable } from "./cbor";
import type { Graph, Op } from "./graph";
import { sectionsOf } from "./igb";
import { Invalid } from "./shapes";

interface Bound {
  readonly size: number;
  readonly items: number;
}

// The rest is for string indexes, which take another byte each when the table grows past 24, 256 and 65,536 entries.
const SIZE = 0.75 * MAX_SIZE;
const ITEMS = 0.9 * MAX_ITEMS;

const bounds = new WeakMap<Graph, Bound>();

/** Throws Invalid when the graph that `ops` made of `before` has no file. */
export function checkBudget(before: Graph, ops: readonly Op[], after: Graph): void {
  const { size, items } = bounds.get(before) ?? exact(before);
  const added = measured(ops);
  let bound: Bound = { size: size + added.size, items: items + added.items };
  if (bound.size > SIZE || bound.items > ITEMS) bound = exact(after);
  bounds.set(after, bound);
}

function exact(graph: Graph): Bound {
  const bound = measured(graph);
  bounds.set(graph, bound);
  return bound;
}

function measured(what: Graph | readonly Op[]): Bound {
  try {
    return measure("nodes" in what ? sectionsOf(what) : what);
  } catch (error) {
    if (error instanceof Unencodable) throw new Invalid("section", "file");
    throw error;
  }
}
