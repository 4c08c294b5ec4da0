// What two saves both change: the version that came first and the one that is about to be made on top of it. Pure.
import type { Op } from "../igb/graph";
import { isEdgeOp, isFieldOp, isNodeOp, nodesOf, place, sameMaybe } from "../igb/ops";
import type { Written } from "../state/saving";

export interface Overlap {
  readonly op: Op; // that stands: of the draft, or of the version
  readonly last: "mine" | "draft" | "version"; // who wrote it: this person, another who edits the draft, or who made the version
}

/**
 * `theirs` leads from the base to the version, `ours` from the version to the draft. In the draft the last writer of each place
 * won, so a place that both change is `ours`, and one that `mine` wrote and the draft has no more was written over by `theirs`.
 */
export function overlaps(theirs: readonly Op[], ours: readonly Op[], mine: Written): Overlap[] {
  const after = new Map(ours.map((op) => [place(op), op]));
  const found = new Map<string, Overlap>();
  for (const op of theirs) {
    const key = place(op);
    const over = after.get(key) ?? removal(op, after);
    const own = mine.get(key);
    if (over) found.set(place(over), { op: over, last: sameEffect(mine.get(place(over)), over) ? "mine" : "draft" });
    else if (own && !sameEffect(own, op)) found.set(key, { op, last: "version" });
    else if (op[0] === "node-" && changesOf(op[1][0], mine)) found.set(key, { op, last: "version" });
  }
  return [...found.values()];
}

/** The op that takes away the node of which this one changes what it does. */
function removal(op: Op, ops: ReadonlyMap<string, Op>): Op | undefined {
  const meant = op[0] === "set" || op[0] === "flag" || op[0] === "retype";
  const found = meant ? ops.get(`node\0${op[1][0]}`) : undefined;
  return found?.[0] === "node-" ? found : undefined;
}

function changesOf(id: string, mine: Written): boolean {
  return [...mine.values()].some(
    (op) => !isEdgeOp(op) && !isNodeOp(op) && op[0] !== "move" && nodesOf(op).includes(id),
  );
}

/** Whether two ops leave the same there. */
export function sameEffect(a: Op | undefined, b: Op): boolean {
  if (a?.[0] !== b[0]) return false;
  return !isFieldOp(a) || !isFieldOp(b) || sameMaybe(a[3], b[3]);
}
