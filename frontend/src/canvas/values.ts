// Values and numbers as people read them.
import type { Value } from "../igb/graph";

const MB = 1024 * 1024;

/** JSON with bytes as their length; maps keep their order. */
function plain(value: Value): unknown {
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [String(key), plain(item)]));
  if (Array.isArray(value)) return value.map(plain);
  return value;
}

/** A text as it is, anything else as JSON. */
export function shown(value: Value | undefined): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(plain(value));
}

/** Megabytes (1024 × 1024 bytes) with one decimal; two under a tenth. */
export function megabytes(bytes: number): string {
  const mb = bytes / MB;
  return mb > 0 && mb < 0.1 ? mb.toFixed(2) : mb.toFixed(1);
}

/** A large amount with its own unit: MB up to 1024, then GB. */
export function capacity(bytes: number): string {
  return bytes < 1024 * MB ? `${megabytes(bytes)} MB` : `${(bytes / (1024 * MB)).toFixed(1)} GB`;
}

/** Two decimals up to 100; what took less than they can tell is said to have taken less. */
export function secondsText(seconds: number): string {
  if (seconds > 0 && seconds < 0.005) return "<0.01";
  return seconds < 100 ? seconds.toFixed(2) : seconds.toFixed(0);
}

export function rateText(rate: number): string {
  return rate < 10 ? rate.toFixed(1) : rate.toFixed(0);
}

/** Code points, as people count characters. */
export function characters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** The last words of a text, for a card that has room for a few. */
export function lastWords(text: string, most: number): string {
  const flat = text.replace(/\s+/gu, " ").trim();
  if (flat.length <= most) return flat;
  const tail = flat.slice(-most);
  const space = tail.indexOf(" ");
  return space > 0 && space < most / 2 ? tail.slice(space + 1) : tail;
}
