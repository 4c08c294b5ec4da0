// What both saves change, one row a place: where it is, what it was and is, and who wrote last.
import { SIGN } from "../canvas/marks";
import { nameOf } from "../canvas/names";
import { useEditor } from "../canvas/screen";
import { useWords } from "../i18n/language";
import type { Id, Op } from "../igb/graph";
import { place } from "../igb/ops";
import type { Comparison } from "./comparison";
import { Change, useFieldTitle } from "./FieldChanges";
import type { Overlap } from "./overlaps";
import { patchLines } from "./patchText";

interface Sides {
  comparison: Comparison;
  way: string; // from where to where
}

interface Props {
  overlaps: readonly Overlap[];
  theirs: Sides;
  ours: Sides;
  number: number; // of the version
}

export function OverlapRows({ overlaps, theirs, ours, number }: Props) {
  const { t } = useWords();
  return (
    <section className="stale-both" data-testid="stale-both">
      <h3>
        {t("stale.both")} <em>{overlaps.length}</em>
      </h3>
      <ul className="change-rows">
        {overlaps.map(({ op, last }) => (
          <li key={place(op)} className="d-changed">
            <Subject op={op} {...(last === "version" ? theirs : ours)} />
            <p className="stale-last">{t(`stale.last.${last}`, { number })}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Subject({ op, comparison, way }: Sides & { op: Op }) {
  const { language } = useWords();
  const catalogue = useEditor((editor) => editor.catalogue);
  const title = useFieldTitle(catalogue);
  const name = (id: Id) => nameOf(comparison.drawn, catalogue, id, language);
  const kind = op[0];
  if (kind === "set" || kind === "flag" || kind === "retype" || kind === "label" || kind === "move") {
    const [id, field] = op[1];
    const component = (comparison.next.nodes.get(id) ?? comparison.old.nodes.get(id))?.component;
    return (
      <>
        <b>{SIGN.changed}</b>
        <span className="change-name">
          {name(id)} · {title({ kind, name: field ?? kind }, component)} <em className="num">{way}</em>
        </span>
        <div className="field-changes">
          <Change old={op[2]} next={op[3]} />
        </div>
      </>
    );
  }
  const [line] = patchLines([op], name);
  return (
    <>
      <b>{SIGN[line?.kind ?? "changed"]}</b>
      <span className="change-name">{line?.about || line?.text}</span>
    </>
  );
}
