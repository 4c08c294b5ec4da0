// A conflict of a merge (docs/formats.md §6), as an entry of section 68 holds it. It comes from files and sockets: a value of any
// other form is none. Nothing here looks at a graph or decides a conflict.
import { CONFLICTS } from "../igb/conflicts";
import type { Id, Maybe, Value } from "../igb/graph";
import { checkForm, readNodeValue, sameMaybe } from "../igb/ops";
import {
  asArray,
  asId,
  asInt,
  asName,
  asSlot,
  asText,
  asTextMap,
  byteLength,
  Invalid,
  MAX_FLAG,
  MAX_LABEL,
} from "../igb/shapes";

const FIELDS: ReadonlySet<string> = new Set(["code", "key", "base", "ours", "theirs", "against"]);
const CODE = /^[a-z][a-z_]{0,63}$/;
const MOST_AGAINST = 16;

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
      if (flag !== "disabled" && !MAX_FLAG.has(flag)) throw new Invalid("section", "key");
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
  if (side.length > 0) checkSide(key, side[0] as Value, path);
  return side as Maybe;
}

/** What a side of this key may hold: the value of an op, an end of a wire, the name of a group. */
function checkSide([kind, ...place]: Key, value: Value, path: string): void {
  if (kind === "node") readNodeValue(value, path);
  else if (kind === "edge") {
    const [source, output] = asArray(value, path, 2);
    asId(source, path);
    asName(output, path);
  } else if (kind !== "group" || typeof value !== "string") checkForm(kind, place, value, path);
  else if (byteLength(value) > MAX_LABEL) throw new Invalid("section", path);
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
