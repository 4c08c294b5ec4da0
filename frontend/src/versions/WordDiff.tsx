// Two texts as one, word by word: what is gone, what is new, what stays.
import { wordDiff, wordsOf } from "./words";

const SHORT = 4; // words; up to so many a text is shown whole on both sides
export const LONGEST = 40_000; // UTF-16 units; longer texts are not compared

export function isCompared(old: string, next: string): boolean {
  if (old.length > LONGEST || next.length > LONGEST) return false;
  return Math.max(wordsOf(old).length, wordsOf(next).length) > SHORT;
}

export function WordDiff({ old, next }: { old: string; next: string }) {
  let at = 0;
  return wordDiff(old, next).map(({ kind, text }) => {
    at += text.length;
    const key = `${kind} ${at}`;
    if (kind === "gone") return <del key={key}>{text}</del>;
    return kind === "new" ? <ins key={key}>{text}</ins> : <span key={key}>{text}</span>;
  });
}
