// What is wrong with a node that no single field shows: its run's error, and problems without a field.

import { fieldName, useNaming } from "../canvas/names";
import { pinsOf } from "../canvas/ports";
import { isGap } from "../canvas/problems";
import { useEditor } from "../canvas/screen";
import { sentence } from "../canvas/sentence";
import { statusOf } from "../canvas/status";
import { diagnosis } from "../i18n/facts";
import { useWords } from "../i18n/language";
import type { Id } from "../igb/graph";
import { Glyph } from "../look/Glyph";
import type { Diagnostic } from "../state/editor";

export function NodeProblems({ id, problems }: { id: Id; problems: readonly Diagnostic[] }) {
  const { t, say } = useWords();
  const naming = useNaming();
  const node = useEditor((editor) => editor.graph.nodes.get(id));
  const run = useEditor((editor) => editor.run?.nodes.get(id));
  const entry = useEditor((editor) => (node ? editor.catalogue.get(node.component) : undefined));
  const status = statusOf(node, run);
  const about = (found: Diagnostic): string => {
    const words = diagnosis(t, found);
    if (!found.field) return words;
    return t("card.about", {
      subject: fieldName(found.field, entry, node ? pinsOf(node, entry, [], []).inputs : [], say),
      words,
    });
  };
  const failed = status === "failed" || status === "over";
  // What is wrong with a setting stands under its field.
  const other = problems.filter((found) => !found.field || !entry?.schema.properties?.[found.field]);
  if (other.length === 0 && !failed) return null;
  return (
    <section className="sec problems-of" aria-label={t("inspector.errors")}>
      {failed && (
        <p className={`line${status === "over" ? " is-amber" : ""}`}>
          <Glyph name={status} size={14} />
          <span>
            {sentence(t, status, run, { of: naming, waitsFor: null })}
            {run?.error && (
              <code>
                {run.error.name} ({run.error.code})
              </code>
            )}
          </span>
        </p>
      )}
      {other.map((found) => (
        <p className={`line${isGap(found) ? " is-amber" : ""}`} key={`${found.code}\n${found.where}`}>
          <Glyph name={isGap(found) ? "warn" : "failed"} size={14} />
          <span>{about(found)}</span>
        </p>
      ))}
    </section>
  );
}
