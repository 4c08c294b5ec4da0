// Visible escapes of one-line texts such as stop strings: what cannot be seen is written, and read back the same.
export type Unescaped = { text: string; bad: null } | { text: null; bad: string };

const SHOWN: Record<string, string> = { "\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\" };
const READ: Record<string, string> = { n: "\n", t: "\t", r: "\r", "\\": "\\" };
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

export function showEscapes(text: string): string {
  let shown = "";
  for (const char of text) {
    if (SHOWN[char]) shown += SHOWN[char];
    else if (UNSEEN.test(char)) shown += `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
    else shown += char;
  }
  return shown;
}

export function readEscapes(shown: string): Unescaped {
  let text = "";
  for (let at = 0; at < shown.length; at += 1) {
    const char = shown[at] as string;
    if (char !== "\\") {
      text += char;
      continue;
    }
    const next = shown[at + 1] ?? "";
    const plain = READ[next];
    if (plain !== undefined) {
      text += plain;
      at += 1;
      continue;
    }
    const code = /^u\{([0-9a-f]{1,6})\}/i.exec(shown.slice(at + 1));
    const point = code ? Number.parseInt(code[1] as string, 16) : Number.NaN;
    const isText = point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
    if (!code || !isText) return { text: null, bad: next };
    text += String.fromCodePoint(point);
    at += code[0].length;
  }
  return { text, bad: null };
}
