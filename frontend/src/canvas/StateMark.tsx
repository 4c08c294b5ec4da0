// The state at a card's right: a word or the rate, then the glyph. The glyph has the state's name for readers.
import { useWords } from "../i18n/language";
import { Glyph } from "../look/Glyph";
import type { Status } from "./status";
import { rateText } from "./values";

interface StateProps {
  status: Status;
  rate: number;
  place: number | null;
  problems: number;
  gaps: number;
}

export function StateMark({ status, rate, place, problems, gaps }: StateProps) {
  const { t } = useWords();
  if (problems > 0 && (status === "idle" || status === "done")) {
    return (
      <span className="st is-problem">
        {t("card.problems", { count: problems })}
        <Glyph name="failed" size={14} />
      </span>
    );
  }
  if (gaps > 0 && status === "idle") {
    return (
      <span className="st is-gap">
        <Glyph name="warn" size={14} label={t("card.problems", { count: gaps })} />
      </span>
    );
  }
  const word = stateWord(t, status, rate, place);
  return (
    <span className="st">
      {word}
      <Glyph name={status} size={14} label={t(`state.${status}`)} />
    </span>
  );
}

function stateWord(t: ReturnType<typeof useWords>["t"], status: Status, rate: number, place: number | null): string {
  if (status === "running" && rate > 0) return t("card.rate", { rate: rateText(rate) });
  if (status === "queued" && place !== null) return t("card.place", { place });
  if (status === "failed" || status === "over") return t(`state.${status}`);
  return "";
}
