// Placeholders of a template param and the input ports they make (docs/formats.md §4).
const ENCODER = new TextEncoder();
const REFUSED = /[\p{White_Space}\p{Cc}\p{Surrogate}{}]/u;

/** 1 to 64 bytes of UTF-8 without control characters, white space or braces: the form of port and param names. */
export function isPortName(name: unknown): name is string {
  if (typeof name !== "string" || name.length === 0 || REFUSED.test(name)) return false;
  return ENCODER.encode(name).length <= 64;
}

/** Names of the placeholders in order of first appearance. */
export function slots(template: string): string[] {
  const names = new Set<string>();
  let at = 0;
  while (at < template.length) {
    if (template.startsWith("{{", at)) {
      at += 2;
      continue;
    }
    const name = template[at] === "{" ? placeholder(template, at + 1) : null;
    if (name === null) {
      at += 1;
      continue;
    }
    names.add(name);
    at += name.length + 2;
  }
  return [...names];
}

/** The name between a brace and the next closing one; a name has at most 64 units, so the look ahead is bounded. */
function placeholder(template: string, start: number): string | null {
  const end = template.slice(start, start + 65).indexOf("}");
  if (end < 1) return null;
  const name = template.slice(start, start + end);
  return isPortName(name) ? name : null;
}
