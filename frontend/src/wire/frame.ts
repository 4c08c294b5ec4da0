// Frames of the open Space (docs/wire.md) as bytes: our own are written, the server's are checked field by field before anything uses them.
import { decode, encode } from "../igb/cbor";
import type { Op, Value } from "../igb/graph";
import { checkSecretsOf, readOp } from "../igb/ops";
import { isArray, isMap } from "../igb/shapes";
import type * as frames from "./frames";
import type { ServerFrame } from "./frames";

export type { ServerFrame } from "./frames";

/** A frame of the server that is not what docs/wire.md says. */
export class Unexpected extends Error {
  override readonly name = "Unexpected";
  constructor(where: string, expected: string, got: Value | undefined) {
    super(`${where}: expected ${expected}, got ${got === undefined ? "nothing" : typeof got}`);
  }
}

export function writeFrame(frame: frames.ClientFrame): Uint8Array {
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
      return { type, id: pushId(map.get("id")), seq: int(map, "seq") };
    case "patched":
      return {
        type,
        seq: int(map, "seq"),
        ops: list(map, "ops").map((op, i) => trusted(op, `ops[${i}]`)),
        author: text(map, "author"),
        overtaken: list(map, "overtaken").map(overtaken),
      };
    case "refused":
      return {
        type,
        id: refusedId(map.get("id")),
        code: text(map, "code"),
        where: text(map, "where"),
        expected: text(map, "expected"),
        got: text(map, "got"),
      };
    case "diagnosed":
      return { type, seq: int(map, "seq"), diagnostics: list(map, "diagnostics").map(diagnostic) };
    case "saved":
      return { type, id: pushId(map.get("id")), version: version(map.get("version")) };
    case "event":
      return {
        type,
        run: text(map, "run"),
        seq: int(map, "seq"),
        first: int(map, "first"),
        node: optional(map, "node", text),
        kind: text(map, "kind"),
        data: fields(map.get("data"), "data"),
        time: number(map, "time"),
      };
    case "presence":
      return { type, client: text(map, "client"), name: text(map, "name"), data: fields(map.get("data"), "data") };
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

function welcome(map: Fields): frames.WelcomeFrame {
  const space = fields(map.get("space"), "space");
  return {
    type: "welcome",
    space: { id: text(space, "id"), name: text(space, "name") },
    seq: int(map, "seq"),
    igb: optional(map, "igb", blob),
    transfer: optional(map, "transfer", text),
    version: map.get("version") == null ? null : version(map.get("version")),
    members: list(map, "members").map((member) => {
      const named = fields(member, "members");
      return { client: text(named, "client"), name: text(named, "name") };
    }),
    runs: list(map, "runs").map((run) => {
      if (typeof run !== "string") throw new Unexpected("runs", "ids", run);
      return run;
    }),
  };
}

function version(value: Value | undefined): frames.Version {
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

function diagnostic(value: Value): frames.Diagnostic {
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

type PushId = frames.AckFrame["id"];

function pushId(value: Value | undefined): PushId {
  const [client, counter] = isArray(value) ? value : [];
  if (typeof client !== "string" || typeof counter !== "number") throw new Unexpected("id", "[client, counter]", value);
  return [client, counter];
}

function refusedId(value: Value | undefined): frames.RefusalFrame["id"] {
  return value == null ? null : typeof value === "string" ? value : pushId(value);
}

function overtaken(value: Value): frames.PatchedFrame["overtaken"][number] {
  const [key, author] = isArray(value) ? value : [];
  if (!isArray(key) || typeof author !== "string") throw new Unexpected("overtaken", "[key, author]", value);
  return [key, author];
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
