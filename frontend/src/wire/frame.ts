// Frames of the open Space (docs/wire.md) as bytes: our own are written, the server's are checked field by field before anything uses them.
import { decode, encode } from "../igb/cbor";
import type { Id, Op, Value } from "../igb/graph";
import { checkSecretsOf, readOp } from "../igb/ops";
import { isArray, isMap } from "../igb/shapes";

export const MAX_FRAME = 1024 * 1024;

export type PushId = readonly [client: Id, counter: number];

export type ClientFrame =
  | { type: "hello"; protocol: 1; client: Id; resume: ReadonlyMap<Id, number> }
  | { type: "push"; id: PushId; base_seq: number; ops: readonly Op[] }
  | { type: "save"; id: PushId; seq: number; base_version: number | null; message: string }
  | {
      type: "run";
      run: Id;
      igb: Uint8Array | null;
      transfer: Id | null;
      inputs: ReadonlyMap<string, Value> | null;
      targets: readonly Id[] | null;
    }
  | { type: "cancel"; run: Id }
  | { type: "resume"; run: Id; after_seq: number }
  | Part;

export interface Part {
  type: "part";
  transfer: Id;
  offset: number;
  total: number;
  bytes: Uint8Array;
}

export interface SavedVersion {
  number: number;
  message: string;
  author: string;
  created: string;
  file: Uint8Array;
  sem: Uint8Array;
  patch: Uint8Array | null;
  dotbin: Uint8Array | null;
}

export interface DiagnosticFrame {
  code: string;
  where: string;
  node: Id | null;
  field: string | null;
  expected: string;
  got: string;
  hint: string;
}

export interface RunEvent {
  type: "event";
  run: Id;
  seq: number;
  node: Id | null;
  kind: string;
  data: ReadonlyMap<string, Value>;
  time: number;
}

export interface Welcome {
  type: "welcome";
  space: { id: Id; name: string };
  seq: number;
  igb: Uint8Array | null; // null: it came ahead in parts, under `transfer`
  transfer: Id | null;
  version: SavedVersion | null;
  runs: readonly Id[];
}

export type ServerFrame =
  | Welcome
  | { type: "ack"; id: PushId; seq: number }
  | { type: "patched"; seq: number; ops: readonly Op[]; author: string; overtaken: readonly Value[] }
  | { type: "refused"; id: Value; code: string; where: string; expected: string; got: string }
  | { type: "diagnosed"; seq: number; diagnostics: readonly DiagnosticFrame[] }
  | { type: "saved"; id: Value; version: SavedVersion }
  | RunEvent
  | { type: "presence"; client: Id; data: Value }
  | Part;

/** A frame of the server that is not what docs/wire.md says. */
export class Unexpected extends Error {
  override readonly name = "Unexpected";
  constructor(where: string, expected: string, got: Value | undefined) {
    super(`${where}: expected ${expected}, got ${got === undefined ? "nothing" : typeof got}`);
  }
}

export function writeFrame(frame: ClientFrame): Uint8Array {
  return encode(new Map(Object.entries(frame)));
}

/** The frame in a message, or null for a type that this client does not know. Throws Malformed, Invalid or Unexpected. */
export function readFrame(bytes: Uint8Array): ServerFrame | null {
  const map = fields(decode(bytes), "frame");
  const type = text(map, "type");
  switch (type) {
    case "welcome":
      return welcome(map);
    case "ack":
      return { type, id: pushId(map), seq: int(map, "seq") };
    case "patched":
      return {
        type,
        seq: int(map, "seq"),
        ops: list(map, "ops").map((op, i) => trusted(op, `ops[${i}]`)),
        author: text(map, "author"),
        overtaken: list(map, "overtaken"),
      };
    case "refused":
      return {
        type,
        id: map.get("id") ?? null,
        code: text(map, "code"),
        where: text(map, "where"),
        expected: text(map, "expected"),
        got: text(map, "got"),
      };
    case "diagnosed":
      return { type, seq: int(map, "seq"), diagnostics: list(map, "diagnostics").map(diagnostic) };
    case "saved":
      return { type, id: map.get("id") ?? null, version: version(map.get("version")) };
    case "event":
      return {
        type,
        run: text(map, "run"),
        seq: int(map, "seq"),
        node: optional(map, "node", text),
        kind: text(map, "kind"),
        data: fields(map.get("data"), "data"),
        time: number(map, "time"),
      };
    case "presence":
      return { type, client: text(map, "client"), data: map.get("data") ?? null };
    case "part":
      return {
        type,
        transfer: text(map, "transfer"),
        offset: int(map, "offset"),
        total: int(map, "total"),
        bytes: blob(map, "bytes"),
      };
    default:
      return null;
  }
}

function trusted(value: Value, path: string): Op {
  const op = readOp(value, path);
  checkSecretsOf(op, path);
  return op;
}

type Fields = ReadonlyMap<string, Value>;

function welcome(map: Fields): Welcome {
  const space = fields(map.get("space"), "space");
  return {
    type: "welcome",
    space: { id: text(space, "id"), name: text(space, "name") },
    seq: int(map, "seq"),
    igb: optional(map, "igb", blob),
    transfer: optional(map, "transfer", text),
    version: map.get("version") == null ? null : version(map.get("version")),
    runs: list(map, "runs").map((run) => {
      if (typeof run !== "string") throw new Unexpected("runs", "ids", run);
      return run;
    }),
  };
}

function version(value: Value | undefined): SavedVersion {
  const map = fields(value, "version");
  return {
    number: int(map, "number"),
    message: text(map, "message"),
    author: text(map, "author"),
    created: text(map, "created"),
    file: blob(map, "file"),
    sem: blob(map, "sem"),
    patch: optional(map, "patch", blob),
    dotbin: optional(map, "dotbin", blob),
  };
}

function diagnostic(value: Value): DiagnosticFrame {
  const map = fields(value, "diagnostics");
  return {
    code: text(map, "code"),
    where: text(map, "where"),
    node: optional(map, "node", text),
    field: optional(map, "field", text),
    expected: text(map, "expected"),
    got: text(map, "got"),
    hint: text(map, "hint"),
  };
}

function pushId(map: Fields): PushId {
  const [client, counter] = list(map, "id");
  if (typeof client !== "string" || typeof counter !== "number")
    throw new Unexpected("id", "[client, counter]", map.get("id"));
  return [client, counter];
}

function fields(value: Value | undefined, where: string): Fields {
  if (!isMap(value)) throw new Unexpected(where, "a map", value);
  for (const key of value.keys()) if (typeof key !== "string") throw new Unexpected(where, "text keys", key);
  return value as Fields;
}

function optional<T>(map: Fields, field: string, read: (map: Fields, field: string) => T): T | null {
  return map.get(field) == null ? null : read(map, field);
}

function text(map: Fields, field: string): string {
  const value = map.get(field);
  if (typeof value !== "string") throw new Unexpected(field, "text", value);
  return value;
}

function number(map: Fields, field: string): number {
  const value = map.get(field);
  if (typeof value !== "number") throw new Unexpected(field, "a number", value);
  return value;
}

function int(map: Fields, field: string): number {
  const value = number(map, field);
  if (!Number.isSafeInteger(value) || value < 0) throw new Unexpected(field, "an unsigned int", value);
  return value;
}

function blob(map: Fields, field: string): Uint8Array {
  const value = map.get(field);
  if (!(value instanceof Uint8Array)) throw new Unexpected(field, "bytes", value);
  return value;
}

function list(map: Fields, field: string): readonly Value[] {
  const value = map.get(field);
  if (!isArray(value)) throw new Unexpected(field, "an array", value);
  return value;
}
