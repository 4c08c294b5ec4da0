// How much changed, in signs and numbers: + added, − removed, ~ changed, ↦ moved, wires, and the rest.
import { SIGN } from "../canvas/marks";
import { useWords } from "../i18n/language";
import type { Counts } from "./comparison";

export function CountMarks({ counts }: { counts: Counts }) {
  const { t } = useWords();
  const kinds = (["added", "removed", "changed", "moved"] as const).filter((kind) => counts[kind] > 0);
  const { wires, other } = counts;
  if (kinds.length + wires + other === 0) return <span className="counts quiet">{t("versions.same")}</span>;
  return (
    <span className="counts">
      {kinds.map((kind) => (
        <span
          key={kind}
          className={`d-${kind}`}
          title={t("versions.count", { count: counts[kind], what: t(`versions.${kind}`) })}
        >
          <b>{SIGN[kind]}</b>
          {counts[kind]}
        </span>
      ))}
      {wires > 0 && <span>{t("versions.wires", { count: wires })}</span>}
      {other > 0 && <span>{t("versions.other", { count: other })}</span>}
    </span>
  );
}
