// Section 68, the open conflicts (docs/formats.md §6), as a list that several people write at once: what one takes out or puts in
// leaves the other entries alone. Knows no entry's form.
import { encode } from "./cbor";
import type { Maybe, Op, Value } from "./graph";
import { type FieldOp, sameMaybe } from "./ops";
import { isArray } from "./shapes";

export const CONFLICTS = 68;

export const isOfConflicts = (op: Op): op is FieldOp => op[0] === "extra" && op[1][0] === CONFLICTS;

/** What a section comes to under an op that may have been made for another one: the entries it takes out go, those it puts in come. */
export function mergedSection(standing: Maybe, old: Maybe, next: Maybe): Maybe {
  if (sameMaybe(standing, old)) return next;
  const [before, mine, theirs] = [old, standing, next].map(entries) as [Entries, Entries, Entries];
  const kept = [...mine].filter(([key]) => theirs.has(key) || !before.has(key));
  const come = [...theirs].filter(([key]) => !mine.has(key) && !before.has(key));
  const found = [...kept, ...come].map(([, value]) => value);
  return found.length > 0 ? [found] : [];
}

type Entries = ReadonlyMap<string, Value>;

function entries([section]: Maybe): Entries {
  return new Map(isArray(section) ? section.map((entry) => [encode(entry).join(), entry]) : []);
}
