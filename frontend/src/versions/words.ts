// Two texts word by word. The longest common run of words is kept; long texts that have little in common are shown whole.
export interface Piece {
  readonly kind: "same" | "gone" | "new";
  readonly text: string;
}

/** Pairs of words that are compared at most; beyond it the middle that differs is one piece on each side. */
const MOST_PAIRS = 1_000_000;

/** Words, runs of white space, single marks; a Chinese, Japanese or Korean character stands alone. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}\p{M}_]+?(?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[^\p{L}\p{N}\p{M}_]|$)|\s+|[^\p{L}\p{N}\p{M}_\s]/gu;

export function wordsOf(text: string): string[] {
  return text.match(WORD) ?? [];
}

/** What leads from `old` to `next`: `same` and `gone` in a row are `old`, `same` and `new` are `next`. */
export function wordDiff(old: string, next: string): Piece[] {
  const [a, b] = [wordsOf(old), wordsOf(next)];
  const least = Math.min(a.length, b.length);
  let head = 0;
  while (head < least && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < least - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const [left, right] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
  const middle: Piece[] =
    left.length * right.length > MOST_PAIRS
      ? [
          { kind: "gone", text: left.join("") },
          { kind: "new", text: right.join("") },
        ]
      : common(left, right);
  return joined([
    { kind: "same", text: a.slice(0, head).join("") },
    ...middle,
    { kind: "same", text: tail === 0 ? "" : a.slice(-tail).join("") },
  ]);
}

/** By the table of the longest common subsequence, walked from its beginning; what goes stands before what comes. */
function common(a: readonly string[], b: readonly string[]): Piece[] {
  const wide = b.length + 1;
  const table = new Uint32Array((a.length + 1) * wide);
  const at = (i: number, j: number): number => table[i * wide + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      table[i * wide + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const pieces: Piece[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [old, next] = [a[i], b[j]];
    if (old !== undefined && old === next) {
      pieces.push({ kind: "same", text: old });
      i += 1;
      j += 1;
    } else if (old !== undefined && (next === undefined || at(i + 1, j) >= at(i, j + 1))) {
      pieces.push({ kind: "gone", text: old });
      i += 1;
    } else {
      pieces.push({ kind: "new", text: next as string });
      j += 1;
    }
  }
  return pieces;
}

/** Pieces of one kind that follow each other as one; a lone space between two changes belongs to both sides. */
function joined(pieces: readonly Piece[]): Piece[] {
  const done: Piece[] = [];
  let [same, gone, fresh] = ["", "", ""];
  const settle = (): void => {
    if (gone) done.push({ kind: "gone", text: gone });
    if (fresh) done.push({ kind: "new", text: fresh });
    [gone, fresh] = ["", ""];
  };
  for (const { kind, text } of pieces) {
    if (text === "") continue;
    if (kind === "same") {
      same += text;
      continue;
    }
    if (same !== "" && (gone || fresh) && /^[ \t]$/.test(same)) {
      gone += same;
      fresh += same;
    } else if (same !== "") {
      settle();
      done.push({ kind: "same", text: same });
    }
    same = "";
    if (kind === "gone") gone += text;
    else fresh += text;
  }
  settle();
  if (same !== "") done.push({ kind: "same", text: same });
  return done;
}
