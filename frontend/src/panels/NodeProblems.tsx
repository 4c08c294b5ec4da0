// What is wrong with a node that no single field shows: its run's error, and problems without a field.
import { isGap } from "../canvas/NodeCard";
import { useNaming } from "../canvas/names";
import { useEditor } from "../canvas/screen";
import { diagnosis, sentence } from "../canvas/sentence";
import { statusOf } from "../canvas/status";
import { useWords } from "../i18n/language";
import type { Id } from "../igb/graph";
import { Glyph } from "../look/Glyph";
import type { Diagnostic } from "../state/editor";

export function NodeProblems({ id, problems }: { id: Id; problems: readonly Diagnostic[] }) {
  const { t } = useWords();
  const naming = useNaming();
  const node = useEditor((editor) => editor.graph.nodes.get(id));
  const run = useEditor((editor) => editor.run?.nodes.get(id));
  const status = statusOf(node, run);
  const failed = status === "failed" || status === "over";
  if (problems.length === 0 && !failed) return null;
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
      {problems.map((found) => (
        <p className={`line${isGap(found) ? " is-amber" : ""}`} key={`${found.code}\n${found.where}`}>
          <Glyph name={isGap(found) ? "warn" : "failed"} size={14} />
          <span>
            {found.field && <b>{found.field}: </b>}
            {diagnosis(t, found)}
          </span>
        </p>
      ))}
    </section>
  );
}
