// Section 68 of a graph (docs/formats.md §6): its entries as conflicts. It comes from files and sockets: an entry of another
// form stays what it is, without a reading, so that it can be shown as text and taken out. Nothing here decides a conflict.
import type { Graph, Id, Maybe, Value } from "../igb/graph";
import { sameMaybe } from "../igb/ops";
import {
  asArray,
  asComponent,
  asFlag,
  asFlags,
  asGroup,
  asId,
  asInt,
  asLabel,
  asName,
  asNote,
  asSlot,
  asText,
  asTextMap,
  asVersion,
  Invalid,
  isArray,
  isFlag,
} from "../igb/shapes";
import { notation } from "../versions/patchText";
import { clipped } from "./clipped";

export const CONFLICTS = 68;
const FIELDS: ReadonlySet<string> = new Set(["code", "key", "base", "ours", "theirs", "against"]);
const CODE = /^[a-z][a-z_]{0,63}$/;
const MOST_AGAINST = 16;
const LONGEST_NAME = 200;

export type Key =
  | readonly ["node" | "retype" | "label" | "note" | "group", Id]
  | readonly ["edge", Id, string, number]
  | readonly ["set" | "flag", Id, string]
  | readonly ["graph", string]
  | readonly ["graph"] // more than a file can hold
  | readonly ["extra", number];

export interface Conflict {
  readonly code: string;
  readonly key: Key;
  readonly base: Maybe;
  readonly ours: Maybe;
  readonly theirs: Maybe;
  readonly against: readonly Key[];
}

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

/** A value as a conflict; null when anything of it has another form. */
export function conflictOf(value: Value): Conflict | null {
  try {
    return read(value);
  } catch (error) {
    if (error instanceof Invalid) return null;
    throw error;
  }
}

function read(value: Value): Conflict {
  const fields = asTextMap(value, "");
  const known = [...fields.keys()].every((field) => FIELDS.has(field));
  if (!known || fields.size !== FIELDS.size) throw new Invalid("section", "");
  const code = asText(fields.get("code"), "code");
  const against = asArray(fields.get("against"), "against");
  if (!CODE.test(code) || against.length > MOST_AGAINST) throw new Invalid("section", "");
  const key = readKey(fields.get("key"));
  const [base, ours, theirs] = ["base", "ours", "theirs"].map((side) => readSide(key, fields.get(side), side));
  return { code, key, base: base ?? [], ours: ours ?? [], theirs: theirs ?? [], against: against.map(readKey) };
}

function readKey(value: Value | undefined): Key {
  const [kind, first, second, third] = asArray(value, "key");
  const count = asArray(value, "key").length;
  const wants = (length: number): void => {
    if (count !== length) throw new Invalid("section", "key");
  };
  switch (kind) {
    case "node":
    case "retype":
    case "label":
    case "note":
    case "group":
      wants(2);
      return [kind, asId(first, "key")];
    case "edge":
      wants(4);
      return [kind, asId(first, "key"), asName(second, "key"), asSlot(third, "key")];
    case "set":
      wants(3);
      return [kind, asId(first, "key"), asName(second, "key")];
    case "flag": {
      wants(3);
      const flag = asText(second, "key");
      if (!isFlag(flag)) throw new Invalid("section", "key");
      return [kind, asId(first, "key"), flag];
    }
    case "graph":
      if (count === 1) return [kind];
      wants(2);
      return [kind, asText(first, "key")];
    case "extra":
      wants(2);
      return [kind, asInt(first, CONFLICTS + 1, Number.MAX_SAFE_INTEGER, "key")];
    default:
      throw new Invalid("section", "key");
  }
}

function readSide(key: Key, value: Value | undefined, path: string): Maybe {
  const side = asArray(value, path);
  if (side.length > 1 || (side.length > 0 && key.length === 1)) throw new Invalid("section", path);
  if (side.length > 0) checkForm(key, side[0] as Value, path);
  return side as Maybe;
}

/** What a side of this key may hold: the value of an op, an end of a wire, the name of a group. */
function checkForm(key: Key, value: Value, path: string): void {
  switch (key[0]) {
    case "node": {
      const [component, version, params, flags] = asArray(value, path, 4);
      asComponent(component, path);
      asVersion(version, path);
      for (const param of asTextMap(params, path).keys()) asName(param, path);
      asFlags(flags, path);
      return;
    }
    case "edge": {
      const [source, output] = asArray(value, path, 2);
      asId(source, path);
      asName(output, path);
      return;
    }
    case "retype": {
      const [component, version] = asArray(value, path, 2);
      asComponent(component, path);
      asVersion(version, path);
      return;
    }
    case "flag":
      asFlag(key[2], value, path);
      return;
    case "label":
      asLabel(value, path);
      return;
    case "note":
      asNote(value, path);
      return;
    case "group":
      if (typeof value === "string") asGroup([value, ["0000000000"]], path);
      else asGroup(value, path);
      return;
    case "set":
    case "graph":
    case "extra":
      return;
  }
}

/** Whether the file had no room for the values: both sides of a real conflict are never equal. */
export const isBare = ({ base, ours, theirs }: Conflict): boolean =>
  base.length === 0 && sameMaybe(ours, base) && sameMaybe(theirs, base);

/** The nodes that a conflict is about: those of its key and of what stands in its way. */
export function nodesOf({ key, against }: Conflict): ReadonlySet<Id> {
  return new Set([key, ...against].flatMap((one) => nodeOf(one) ?? []));
}

/** The node at which a key is; null for what belongs to the graph as a whole. */
export function nodeOf(key: Key): Id | null {
  return key[0] === "graph" || key[0] === "extra" || key[0] === "note" || key[0] === "group" ? null : key[1];
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
