// A template cut at its placeholders, for marking them where they stand. The names come from the one reader of templates.
import { slots } from "../igb/template";

export interface Piece {
  at: number;
  text: string; // with its braces when it is a slot
  slot: boolean;
}

export function pieces(template: string): Piece[] {
  const found: Piece[] = [];
  let start = 0;
  let at = 0;
  const flush = (end: number) => {
    if (end > start) found.push({ at: start, text: template.slice(start, end), slot: false });
  };
  while (at < template.length) {
    if (template.startsWith("{{", at) || template.startsWith("}}", at)) {
      at += 2;
      continue;
    }
    const end = template[at] === "{" ? template.indexOf("}", at) : -1;
    const text = end > at ? template.slice(at, end + 1) : "";
    if (text && text.length <= 66 && slots(text)[0] === text.slice(1, -1)) {
      flush(at);
      found.push({ at, text, slot: true });
      at = end + 1;
      start = at;
      continue;
    }
    at += 1;
  }
  flush(template.length);
  return found;
}
