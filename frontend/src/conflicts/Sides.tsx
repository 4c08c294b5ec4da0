// The sides of a conflict one under the other, each with the button that chooses it; long texts word by word against the base.
import type { ReactNode } from "react";
import { useWords } from "../i18n/language";
import { wordDiff, wordsOf } from "../versions/words";
import { shortened } from "./clipped";
import type { Told } from "./telling";

const SHORT = 4; // words; up to so many a text is shown whole
const LONGEST = 40_000; // UTF-16 units; beyond it only the beginning is shown, without a comparison

interface SideProps {
  side: "base" | "now" | "ours" | "theirs";
  told: Told;
  base: Told | null; // what it is compared with
  children?: ReactNode;
}

export function Side({ side, told, base, children }: SideProps) {
  const { t } = useWords();
  const compares = base?.as === "prose" && told.as === "prose" && isLong(base.text, told.text);
  return (
    <div className={`side is-${side}`} data-testid={`side-${side}`}>
      <div className="side-head">
        <h4>{t(`conflicts.side.${side}`)}</h4>
        {children}
      </div>
      <p className={told.as === "nothing" ? "quiet" : ""}>
        {compares ? <Words old={base.text} next={told.text} /> : shortened(told.text, LONGEST)}
      </p>
    </div>
  );
}

function isLong(a: string, b: string): boolean {
  if (a.length > LONGEST || b.length > LONGEST) return false;
  return Math.max(wordsOf(a).length, wordsOf(b).length) > SHORT;
}

function Words({ old, next }: { old: string; next: string }) {
  let at = 0;
  return wordDiff(old, next).map(({ kind, text }) => {
    at += text.length;
    const key = `${kind} ${at}`;
    if (kind === "gone") return <del key={key}>{text}</del>;
    return kind === "new" ? <ins key={key}>{text}</ins> : <span key={key}>{text}</span>;
  });
}
