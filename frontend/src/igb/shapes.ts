// The forms of a graph's parts (docs/formats.md §2), said once for the `.igb` reader, the `.patch` reader and ops from the wire.
// Each check takes an untrusted value and its path, and gives it back typed or throws Invalid.
import type { Edge, Group, Id, Note, Value } from "./graph";
import { isId } from "./id";
import { isPortName } from "./template";

export const MAX_NODES = 20_000;
export const MAX_EDGES = 60_000;
export const MAX_POSITION = 1_000_000;
export const MAX_LABEL = 200; // bytes
export const MAX_FLAG: ReadonlyMap<string, number> = new Map([
  ["steps", 1_000_000],
  ["kv", 16_777_216],
  ["seconds", 86_400],
]);
const COMPONENT = /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/;
const SECRET = /^[A-Z][A-Z0-9_]{0,63}$/;

export type InvalidCode =
  | "magic"
  | "version"
  | "key"
  | "feature"
  | "section"
  | "string_table"
  | "order"
  | "duplicate"
  | "dangling"
  | "cycle"
  | "secret"
  | "stale"
  | "base"
  | "target";

/** The bytes are fine, the structure is not; `path` names the place, such as `nodes[3].params.prompt`. */
export class Invalid extends Error {
  override readonly name = "Invalid";
  constructor(
    readonly code: InvalidCode,
    readonly path: string,
  ) {
    super(`${code} at ${path}`);
  }
}

const ENCODER = new TextEncoder();

export function byteLength(text: string): number {
  return ENCODER.encode(text).length;
}

/** The order of two texts by their UTF-8 bytes, which is not the order of their UTF-16 units. */
export function compareText(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = rank(a.charCodeAt(i)) - rank(b.charCodeAt(i));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above all that one unit can hold. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

export function compareEdges(a: Edge, b: Edge): number {
  return (
    compareText(a.source, b.source) ||
    compareText(a.output, b.output) ||
    compareText(a.target, b.target) ||
    compareText(a.input, b.input) ||
    a.slot - b.slot
  );
}

export function isArray(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

export function isMap(value: Value | undefined): value is ReadonlyMap<string | number, Value> {
  return value instanceof Map;
}

/** Whether two values are one in bytes. */
export function sameValue(a: Value, b: Value): boolean {
  if (a === b) return true; // 0 and -0 are one, as in bytes
  if (isArray(a)) return isArray(b) && a.length === b.length && a.every((item, i) => sameValue(item, b[i] as Value));
  if (a instanceof Uint8Array) {
    return b instanceof Uint8Array && a.length === b.length && a.every((byte, i) => byte === b[i]);
  }
  if (!isMap(a) || !isMap(b) || a.size !== b.size) return false;
  for (const [key, value] of a) {
    const other = b.get(key);
    if (other === undefined || !sameValue(value, other)) return false;
  }
  return true;
}

export function asArray(value: Value | undefined, path: string, length?: number): readonly Value[] {
  if (!isArray(value) || (length !== undefined && value.length !== length)) throw new Invalid("section", path);
  return value;
}

export function asInt(value: Value | undefined, least: number, most: number, path: string): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < least || value > most)
    throw new Invalid("section", path);
  return value;
}

export function asText(value: Value | undefined, path: string): string {
  if (typeof value !== "string") throw new Invalid("section", path);
  return value;
}

/** A map whose keys are all text. */
export function asTextMap(value: Value | undefined, path: string): ReadonlyMap<string, Value> {
  if (!isMap(value)) throw new Invalid("section", path);
  for (const key of value.keys()) if (typeof key !== "string") throw new Invalid("section", path);
  return value as ReadonlyMap<string, Value>;
}

export function asId(value: Value | undefined, path: string): Id {
  if (!isId(value)) throw new Invalid("section", path);
  return value;
}

export function asComponent(value: Value | undefined, path: string): string {
  if (typeof value !== "string" || value.length > 64 || !COMPONENT.test(value)) throw new Invalid("section", path);
  return value;
}

export function asVersion(value: Value | undefined, path: string): number {
  return asInt(value, 1, 65_535, path);
}

export function asName(value: Value | undefined, path: string): string {
  if (!isPortName(value)) throw new Invalid("section", path);
  return value;
}

export function asSlot(value: Value | undefined, path: string): number {
  return asInt(value, 0, 255, path);
}

export function asFlag(flag: string, value: Value, path: string): Value {
  if (flag === "disabled") {
    if (value !== true) throw new Invalid("section", path);
    return value;
  }
  const most = MAX_FLAG.get(flag);
  if (most === undefined) throw new Invalid("section", path);
  return asInt(value, 1, most, path);
}

export function asFlags(value: Value | undefined, path: string): ReadonlyMap<string, Value> {
  const flags = asTextMap(value, path);
  for (const [flag, setting] of flags) asFlag(flag, setting, `${path}.${flag}`);
  return flags;
}

export function asPosition(value: Value | undefined, path: string): readonly [number, number] {
  const [x, y] = asArray(value, path, 2);
  return [asInt(x, -MAX_POSITION, MAX_POSITION, path), asInt(y, -MAX_POSITION, MAX_POSITION, path)];
}

export function asLabel(value: Value | undefined, path: string): string {
  const label = asText(value, path);
  const length = byteLength(label);
  if (length < 1 || length > MAX_LABEL) throw new Invalid("section", path);
  return label;
}

export function asNote(value: Value | undefined, path: string): Note {
  const [x, y, width, height, text] = asArray(value, path, 5);
  const note: Note = [
    asInt(x, -MAX_POSITION, MAX_POSITION, path),
    asInt(y, -MAX_POSITION, MAX_POSITION, path),
    asInt(width, 1, MAX_POSITION, path),
    asInt(height, 1, MAX_POSITION, path),
    asText(text, path),
  ];
  if (byteLength(note[4]) > 20_000) throw new Invalid("section", path);
  return note;
}

export function asGroup(value: Value | undefined, path: string): Group {
  const [label, members] = asArray(value, path, 2);
  const name = asText(label, path);
  if (byteLength(name) > MAX_LABEL) throw new Invalid("section", path);
  const ids = asArray(members, path).map((id) => asText(id, path));
  if (ids.length === 0) throw new Invalid("section", path);
  for (let i = 1; i < ids.length; i++)
    if (compareText(ids[i - 1] as Id, ids[i] as Id) >= 0) throw new Invalid("section", path);
  return [name, ids];
}

export function asExtra(section: number, value: Value, path: string): Value {
  if (section === 68 && asArray(value, path).length === 0) throw new Invalid("section", path);
  return value;
}

/** A map that has the key `secret` is exactly `{"secret": NAME}`, at any depth; `path` names the param or setting that holds the value. */
export function checkSecrets(value: Value, path: string): void {
  if (isArray(value)) {
    for (const item of value) checkSecrets(item, path);
    return;
  }
  if (!isMap(value)) return;
  if (value.has("secret")) {
    const name = value.get("secret");
    if (value.size !== 1 || typeof name !== "string" || !SECRET.test(name)) throw new Invalid("secret", path);
    return;
  }
  for (const inner of value.values()) checkSecrets(inner, path);
}
