// The codec `igb-cbor/1` (docs/formats.md §1): one deterministic subset of CBOR, read and written here and nowhere else.
// The reader is a validator: for one value it accepts exactly one byte string, and it never repairs.
import type { Value } from "./graph";

export const MAX_SIZE = 16 * 1024 * 1024;
const MAX_DEPTH = 32;
export const MAX_ITEMS = 200_000;

type MalformedCode =
  | "empty"
  | "size"
  | "reserved"
  | "indefinite"
  | "truncated"
  | "not_shortest"
  | "int_range"
  | "simple"
  | "float_form"
  | "float_not_finite"
  | "utf8"
  | "key_type"
  | "key_order"
  | "key_duplicate"
  | "tag"
  | "depth"
  | "items"
  | "trailing";

/** The bytes break the profile; `offset` is where the item that breaks it begins. */
export class Malformed extends Error {
  override readonly name = "Malformed";
  constructor(
    readonly code: MalformedCode,
    readonly offset: number,
  ) {
    super(`${code} at byte ${offset}`);
  }
}

/** A value that has no form in the profile; `path` names the place inside the value. */
export class Unencodable extends Error {
  override readonly name = "Unencodable";
  constructor(
    readonly path: string,
    expected: string,
    got: string,
  ) {
    super(`${path || "value"}: expected ${expected}, got ${got}`);
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const toUtf8 = new TextEncoder();

/** Bytewise order; a prefix comes before what it begins. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return compareBytes(a, b) === 0;
}

/** The one value in `bytes`. Throws Malformed; its offset counts from `before` bytes that stand ahead of them. */
export function decode(bytes: Uint8Array, before = 0): Value {
  if (bytes.length > MAX_SIZE) throw new Malformed("size", before);
  if (bytes.length === 0) throw new Malformed("empty", before);
  const reader = new Reader(bytes, before);
  const value = reader.item(0);
  reader.end();
  return value;
}

class Reader {
  private at = 0;
  private items = 0;
  private readonly view: DataView;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly before: number,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  end(): void {
    if (this.at < this.bytes.length) throw this.malformed("trailing", this.at);
  }

  item(depth: number): Value {
    const start = this.at;
    const major = this.major();
    if (major === 6) throw this.malformed("tag", start);
    if (major === 7) return this.simple(start);
    const argument = this.argument(start);
    if (major >= 4 && depth >= MAX_DEPTH) throw this.malformed("depth", start);
    this.count(start);
    switch (major) {
      case 0:
        return argument;
      case 1:
        return -1 - argument;
      case 2:
        return this.take(argument, start).slice();
      case 3:
        return this.text(argument, start);
      case 4:
        return this.array(argument, depth, start);
      default:
        return this.map(argument, depth, start);
    }
  }

  private major(): number {
    const head = this.bytes[this.at];
    if (head === undefined) throw this.malformed("truncated", this.at);
    const info = head & 31;
    if (info >= 28) throw this.malformed(info === 31 ? "indefinite" : "reserved", this.at);
    return head >> 5;
  }

  /** The head's argument: shortest form first, then the range of an int. A length past every budget is only told from others by its size. */
  private argument(start: number): number {
    const head = this.bytes[start] as number;
    const info = head & 31;
    this.at = start + 1;
    if (info < 24) return info;
    const width = 1 << (info - 24);
    this.need(width, start);
    this.at += width;
    const at = start + 1;
    if (width === 8) {
      const wide = this.view.getBigUint64(at);
      if (wide <= 0xffff_ffffn) throw this.malformed("not_shortest", start);
      const major = head >> 5;
      if (major < 2 && wide + BigInt(major) > BigInt(Number.MAX_SAFE_INTEGER)) throw this.malformed("int_range", start);
      return Number(wide);
    }
    const argument =
      width === 1 ? this.view.getUint8(at) : width === 2 ? this.view.getUint16(at) : this.view.getUint32(at);
    if (argument < (width === 1 ? 24 : width === 2 ? 0x100 : 0x1_0000)) throw this.malformed("not_shortest", start);
    return argument;
  }

  private simple(start: number): Value {
    const info = (this.bytes[start] as number) & 31;
    this.at = start + 1;
    if (info < 20 || (info > 22 && info < 25)) throw this.malformed("simple", start);
    if (info < 25) {
      this.count(start);
      return info === 22 ? null : info === 21;
    }
    const width = 1 << (info - 24);
    this.need(width, start);
    this.at += width;
    const value = this.float(start + 1, width);
    this.count(start);
    if (!Number.isFinite(value)) throw this.malformed("float_not_finite", start);
    if (Number.isSafeInteger(value) || floatWidth(value) !== width) throw this.malformed("float_form", start);
    return value;
  }

  private float(at: number, width: number): number {
    if (width === 2) return fromHalf(this.view.getUint16(at));
    return width === 4 ? this.view.getFloat32(at) : this.view.getFloat64(at);
  }

  private text(length: number, start: number): string {
    const raw = this.take(length, start);
    try {
      return utf8.decode(raw);
    } catch {
      throw this.malformed("utf8", start);
    }
  }

  private array(length: number, depth: number, start: number): Value[] {
    this.need(length, start);
    const items: Value[] = [];
    for (let i = 0; i < length; i++) items.push(this.item(depth + 1));
    return items;
  }

  private map(length: number, depth: number, start: number): Map<string | number, Value> {
    this.need(length * 2, start);
    const map = new Map<string | number, Value>();
    let before: Uint8Array | null = null;
    for (let i = 0; i < length; i++) {
      const at = this.at;
      const head = this.bytes[at];
      if (head === undefined) throw this.malformed("truncated", at);
      const major = head >> 5; // looked at before the key is read
      if ((major !== 0 && major !== 3) || (before !== null && (before[0] as number) >> 5 !== major)) {
        throw this.malformed("key_type", at);
      }
      const key = this.item(depth + 1) as string | number;
      const raw = this.bytes.subarray(at, this.at);
      const order: number = before === null ? 1 : compareBytes(raw, before);
      if (order <= 0) throw this.malformed(order === 0 ? "key_duplicate" : "key_order", at);
      before = raw;
      map.set(key, this.item(depth + 1));
    }
    return map;
  }

  private take(length: number, start: number): Uint8Array {
    this.need(length, start);
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  private need(length: number, start: number): void {
    if (length > this.bytes.length - this.at) throw this.malformed("truncated", start);
  }

  private count(start: number): void {
    this.items += 1;
    if (this.items > MAX_ITEMS) throw this.malformed("items", start);
  }

  private malformed(code: MalformedCode, at: number): Malformed {
    return new Malformed(code, this.before + at);
  }
}

/** The one byte string of `value`. Throws Unencodable. */
export function encode(value: Value): Uint8Array {
  const writer = new Writer();
  writer.item(value, 0, "");
  return writer.bytes();
}

/** What a value takes of the budgets. Throws Unencodable. */
export function measure(value: Value): { size: number; items: number } {
  const writer = new Writer();
  writer.item(value, 0, "");
  return { size: writer.bytes().length, items: writer.items };
}

class Writer {
  private buffer = new Uint8Array(256);
  private view = new DataView(this.buffer.buffer);
  private at = 0;
  items = 0;

  bytes(): Uint8Array {
    if (this.at > MAX_SIZE) throw new Unencodable("", `at most ${MAX_SIZE} bytes`, String(this.at));
    return this.buffer.slice(0, this.at);
  }

  item(value: Value, depth: number, path: string): void {
    this.items += 1;
    if (this.items > MAX_ITEMS) throw new Unencodable(path, `at most ${MAX_ITEMS} items`, "more");
    if (value === null) this.byte(0xf6);
    else if (typeof value === "boolean") this.byte(value ? 0xf5 : 0xf4);
    else if (typeof value === "number") this.number(value, path);
    else if (typeof value === "string") this.text(value, path);
    else if (value instanceof Uint8Array) {
      this.head(2, value.length);
      this.raw(value, path);
    } else if (depth >= MAX_DEPTH) throw new Unencodable(path, `nesting of at most ${MAX_DEPTH}`, "more");
    else if (Array.isArray(value)) {
      this.head(4, value.length);
      for (let i = 0; i < value.length; i++) this.item(value[i] as Value, depth + 1, `${path}[${i}]`);
    } else if (value instanceof Map) this.map(value, depth, path);
    else throw new Unencodable(path, "null, boolean, number, text, bytes, array or Map", typeof value);
  }

  private number(value: number, path: string): void {
    if (Number.isSafeInteger(value)) {
      this.head(value < 0 ? 1 : 0, value < 0 ? -1 - value : value + 0);
      return;
    }
    if (!Number.isFinite(value)) throw new Unencodable(path, "a finite number", String(value));
    this.room(9, path);
    const width = floatWidth(value);
    this.byte(width === 2 ? 0xf9 : width === 4 ? 0xfa : 0xfb);
    if (width === 2) this.view.setUint16(this.at, toHalf(value) as number);
    else if (width === 4) this.view.setFloat32(this.at, value);
    else this.view.setFloat64(this.at, value);
    this.at += width;
  }

  private text(value: string, path: string): void {
    if (hasLoneSurrogate(value)) throw new Unencodable(path, "text without lone surrogates", "one");
    const raw = toUtf8.encode(value);
    this.head(3, raw.length);
    this.raw(raw, path);
  }

  private map(map: ReadonlyMap<string | number, Value>, depth: number, path: string): void {
    const entries: [Uint8Array, string | number, Value][] = [];
    let kind: string | null = null;
    for (const [key, value] of map) {
      if (typeof key !== "string" && !(Number.isSafeInteger(key) && key >= 0)) {
        throw new Unencodable(path, "keys that are text or unsigned ints", String(key));
      }
      if (kind !== null && kind !== typeof key) throw new Unencodable(path, "keys of one kind", "text and ints");
      kind = typeof key;
      const writer = new Writer();
      writer.item(key, 0, path);
      entries.push([writer.bytes(), key, value]);
    }
    entries.sort((a, b) => compareBytes(a[0], b[0]));
    this.head(5, entries.length);
    for (const [raw, key, value] of entries) {
      this.items += 1;
      this.raw(raw, path);
      this.item(value, depth + 1, typeof key === "number" ? `${path}[${key}]` : path ? `${path}.${key}` : key);
    }
  }

  private head(major: number, argument: number): void {
    this.room(9, "");
    const kind = major << 5;
    if (argument < 24) this.byte(kind | argument);
    else if (argument < 0x100) {
      this.byte(kind | 24);
      this.byte(argument);
    } else if (argument < 0x1_0000) {
      this.byte(kind | 25);
      this.view.setUint16(this.at, argument);
      this.at += 2;
    } else if (argument < 0x1_0000_0000) {
      this.byte(kind | 26);
      this.view.setUint32(this.at, argument);
      this.at += 4;
    } else {
      this.byte(kind | 27);
      this.view.setBigUint64(this.at, BigInt(argument));
      this.at += 8;
    }
  }

  private byte(value: number): void {
    this.room(1, "");
    this.buffer[this.at++] = value;
  }

  private raw(bytes: Uint8Array, path: string): void {
    this.room(bytes.length, path);
    this.buffer.set(bytes, this.at);
    this.at += bytes.length;
  }

  private room(length: number, path: string): void {
    const needed = this.at + length;
    if (needed > MAX_SIZE + 16) throw new Unencodable(path, `at most ${MAX_SIZE} bytes`, "more");
    if (needed <= this.buffer.length) return;
    const grown = new Uint8Array(Math.max(needed, this.buffer.length * 2));
    grown.set(this.buffer);
    this.buffer = grown;
    this.view = new DataView(grown.buffer);
  }
}

function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}

/** Bytes of the shortest float that keeps the value. */
function floatWidth(value: number): 2 | 4 | 8 {
  if (toHalf(value) !== null) return 2;
  return Math.fround(value) === value ? 4 : 8;
}

const single = new DataView(new ArrayBuffer(4));

/** The bits of the half float that equals `value`, or null. */
function toHalf(value: number): number | null {
  if (Math.fround(value) !== value) return null;
  single.setFloat32(0, value);
  const bits = single.getUint32(0);
  const sign = (bits >>> 16) & 0x8000;
  const exponent = ((bits >>> 23) & 0xff) - 127;
  const mantissa = bits & 0x7f_ffff;
  if (exponent >= -14 && exponent <= 15) {
    return mantissa & 0x1fff ? null : sign | ((exponent + 15) << 10) | (mantissa >> 13);
  }
  if (exponent < -24 || exponent > 15) return null;
  const shift = -1 - exponent; // subnormal: the implicit one becomes explicit
  const full = mantissa | 0x80_0000;
  return full & ((1 << shift) - 1) ? null : sign | (full >> shift);
}

function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const mantissa = bits & 0x3ff;
  if (exponent === 31) return mantissa ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  if (exponent === 0) return sign * mantissa * 2 ** -24;
  return sign * (1024 + mantissa) * 2 ** (exponent - 25);
}
