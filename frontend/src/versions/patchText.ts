// A patch as text, one op a line, as `igc patch` prints it, with a sign and the name people know the node by.
import type { MarkKind } from "../canvas/marks";
import type { Id, Maybe, Op, Value } from "../igb/graph";
import { isEdgeOp, isNodeOp } from "../igb/ops";

export interface Line {
  readonly kind: MarkKind;
  readonly text: string;
  readonly about: string; // names of the nodes in it
}

export function patchLines(ops: readonly Op[], name: (id: Id) => string): Line[] {
  return ops.map((op): Line => {
    if (isEdgeOp(op)) {
      const [source, output, target, input, slot] = op[1];
      const text = `${op[0]} ${source}.${word(output)} -> ${target}.${word(input)}${slot === 0 ? "" : ` at ${slot}`}`;
      return { kind: op[0] === "edge+" ? "added" : "removed", text, about: `${name(source)} → ${name(target)}` };
    }
    if (isNodeOp(op)) {
      const [component, version] = op[2];
      const kind = op[0] === "node+" ? "added" : "removed";
      return { kind, text: `${op[0]} ${op[1][0]} ${component}@${version}`, about: name(op[1][0]) };
    }
    const [kind, key, old, next] = op;
    const text = `${kind} ${key.map((part) => word(String(part))).join(".")}: ${side(old)} -> ${side(next)}`;
    const ofNode = kind === "set" || kind === "flag" || kind === "retype" || kind === "label" || kind === "move";
    return { kind: kind === "move" ? "moved" : "changed", text, about: ofNode ? name(key[0]) : "" };
  });
}

/** A name as it is, in quotes when some of it could not be seen. */
function word(name: string): string {
  const shown = quoted(name);
  return shown === `"${name}"` ? name : shown;
}

function side(maybe: Maybe): string {
  return maybe.length === 0 ? "nothing" : notation(maybe[0]);
}

/** A value in one line, in the notation of docs/formats.md. No control or bidirectional character comes out as it is. */
export function notation(value: Value): string {
  if (typeof value === "string") return quoted(value);
  if (value instanceof Uint8Array)
    return `h'${Array.from(value, (byte) => byte.toString(16).padStart(2, "0")).join("")}'`;
  if (value instanceof Map) {
    const entries = [...value].map(
      ([key, item]) => `${typeof key === "string" ? quoted(key) : key}: ${notation(item)}`,
    );
    return `{${entries.join(", ")}}`;
  }
  if (Array.isArray(value)) return `[${value.map(notation).join(", ")}]`;
  return String(value);
}

const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

function quoted(text: string): string {
  return JSON.stringify(text).replace(HIDDEN, (mark) =>
    [...mark].map((one) => `\\u${(one.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`).join(""),
  );
}
