// The sides of a conflict one under the other, each with the button that chooses it; long texts word by word against the base.
import type { ReactNode } from "react";
import { useWords } from "../i18n/language";
import { isCompared, LONGEST, WordDiff } from "../versions/WordDiff";
import { shortened } from "./clipped";
import type { Told } from "./telling";

interface SideProps {
  side: "base" | "now" | "ours" | "theirs";
  told: Told;
  base: Told | null; // what it is compared with
  children?: ReactNode;
}

export function Side({ side, told, base, children }: SideProps) {
  const { t } = useWords();
  const compares = base?.as === "prose" && told.as === "prose" && isCompared(base.text, told.text);
  return (
    <div className={`side is-${side}`} data-testid={`side-${side}`}>
      <div className="side-head">
        <h4>{t(`conflicts.side.${side}`)}</h4>
        {children}
      </div>
      <p className={told.as === "nothing" ? "quiet" : ""}>
        {compares ? <WordDiff old={base.text} next={told.text} /> : shortened(told.text, LONGEST)}
      </p>
    </div>
  );
}
