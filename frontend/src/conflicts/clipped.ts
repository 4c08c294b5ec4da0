// A value cut down to what fits on a screen: whatever its size, showing it takes a moment and no memory to speak of.
import type { Value } from "../igb/graph";
import { isArray, isMap } from "../igb/shapes";

const MOST_TEXT = 2_000; // UTF-16 units of one text
const MOST_BYTES = 64;
const MOST_ITEMS = 200; // in all, at any depth

export function clipped(value: Value): Value {
  let left = MOST_ITEMS;
  const cut = (item: Value): Value => {
    left -= 1;
    if (typeof item === "string") return shortened(item);
    if (item instanceof Uint8Array) return item.length > MOST_BYTES ? `${item.length} bytes` : item;
    if (isArray(item)) {
      const kept: Value[] = [];
      for (const inner of item) {
        if (left <= 0) return [...kept, "…"];
        kept.push(cut(inner));
      }
      return kept;
    }
    if (!isMap(item)) return item;
    const kept = new Map<string | number, Value>();
    for (const [key, inner] of item) {
      if (left <= 0) return kept.set("…", "…");
      kept.set(typeof key === "string" ? shortened(key) : key, cut(inner));
    }
    return kept;
  };
  return cut(value);
}

/** The beginning of a text that is too long, whole characters only. */
export function shortened(text: string, most = MOST_TEXT): string {
  return text.length <= most ? text : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}…`;
}
