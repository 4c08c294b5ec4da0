// What changed in one node, field by field: old → new; texts word by word.
import { fieldName } from "../canvas/names";
import { useWords } from "../i18n/language";
import type { Id, Maybe, Value } from "../igb/graph";
import { place } from "../igb/ops";
import type { Catalogue } from "../state/catalogue";
import type { Written } from "../state/saving";
import type { Comparison, FieldChange } from "./comparison";
import { sameEffect } from "./overlaps";
import { notation } from "./patchText";
import { isCompared, WordDiff } from "./WordDiff";

const NONE: Written = new Map();

export function FieldChanges({
  id,
  comparison,
  catalogue,
  mine = NONE,
}: {
  id: Id;
  comparison: Comparison;
  catalogue: Catalogue;
  mine?: Written; // changes among these are marked as this person's own
}) {
  const { t } = useWords();
  const title = useFieldTitle(catalogue);
  const changes = comparison.fields.get(id) ?? [];
  const component = (comparison.next.nodes.get(id) ?? comparison.old.nodes.get(id))?.component;
  return (
    <dl className="field-changes">
      {changes.map((change) => (
        <div key={`${change.kind}\n${change.name}`} data-testid={`change-${change.name}`}>
          <dt>
            {title(change, component)}
            {sameEffect(mine.get(place(change.op)), change.op) && <em> · {t("versions.yours")}</em>}
          </dt>
          <dd>
            <Change old={change.old} next={change.next} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** What people call a field of a component. */
export function useFieldTitle(catalogue: Catalogue) {
  const { t, say } = useWords();
  return ({ kind, name }: Pick<FieldChange, "kind" | "name">, component: string | undefined): string => {
    const entry = component === undefined ? undefined : catalogue.get(component);
    if (kind === "set") return fieldName(name, entry, [], say);
    if (kind === "flag") return t(`versions.flag.${name}`);
    return t(`versions.field.${kind}`);
  };
}

export function Change({ old, next }: { old: Maybe; next: Maybe }) {
  const { t } = useWords();
  const [a, b] = [old[0], next[0]];
  if (isText(a) && isText(b) && isCompared(a, b)) {
    return (
      <p className="word-diff">
        <WordDiff old={a} next={b} />
      </p>
    );
  }
  return (
    <span className="old-new">
      {a !== undefined ? <del>{plain(a)}</del> : <span className="quiet">{t("versions.asDefault")}</span>}
      <span aria-hidden> → </span>
      {b !== undefined ? <ins>{plain(b)}</ins> : <span className="quiet">{t("versions.asDefault")}</span>}
    </span>
  );
}

const isText = (value: Value | undefined): value is string => typeof value === "string";

const plain = (value: Value): string => (typeof value === "string" && value !== "" ? value : notation(value));
