// What the editor refuses by itself, or tells of its own edits, in the form of the server's refusals. Pure values.
import type { Dropped } from "../igb/patch";
import type { Refusal } from "./editor";
import type { Entry } from "./history";

export function offline(link: string): Refusal {
  return { code: "offline", where: "run", expected: "a link to the server", got: link };
}

export function tooLarge(where: string, most: number, got: string): Refusal {
  return { code: "size", where, expected: `at most ${most} bytes`, got };
}

export function dropped({ op, code }: Dropped): Refusal {
  return { code, where: `${op[0]} ${op[1].join(".")}`, expected: "an op that fits the graph as it is now", got: op[0] };
}

/** An op of ours, by kind and key, that wrote over what `author` wrote meanwhile; empty: nobody knows who. */
export function wroteOver([kind, ...key]: readonly unknown[], author: string): Refusal {
  return { code: "overtaken", where: `${kind} ${key.join(".")}`, expected: "what you had seen", got: author };
}

/** An entry of the history of which others' writes left only a part. */
export function partlyLost({ label, lost }: Entry): Refusal {
  const who = lost.filter((name) => name !== "").join(", ");
  return { code: "overtaken", where: label, expected: "your own edits", got: who };
}
