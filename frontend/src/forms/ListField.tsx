// A list of short texts, one a row, with visible escapes where the schema asks for them.
import { useWords } from "../i18n/language";
import { Glyph } from "../look/Glyph";
import { readEscapes, showEscapes } from "./escapes";
import type { Control } from "./Field";
import { titleOf } from "./fields";

interface Props {
  control: Control;
  testId: string;
}

/** Drafts are kept as JSON of the shown rows, so a half-typed escape survives. */
function rowsOf(control: Control, escapes: boolean): string[] {
  if (control.draft !== undefined) return JSON.parse(control.draft) as string[];
  const items = Array.isArray(control.value) ? control.value : [];
  return items.map((item) => (escapes ? showEscapes(String(item)) : String(item)));
}

export function ListField({ control, testId }: Props) {
  const { t, language } = useWords();
  const { field, id, change, keepDraft, settle, describedBy, invalid } = control;
  const escapes = field.schema.escapes === true;
  const rows = rowsOf(control, escapes);
  const most = field.schema.maxItems ?? Number.POSITIVE_INFINITY;
  const write = (next: string[]) => {
    const read = next.map((row) => (escapes ? readEscapes(row) : { text: row, bad: null }));
    keepDraft(JSON.stringify(next));
    const texts = read.flatMap((row) => (row.text === null ? [] : [row.text]));
    if (texts.length === next.length) change(texts);
  };
  const leave = () => {
    if (rows.every((row) => !escapes || readEscapes(row).bad === null)) keepDraft(undefined);
    settle();
  };
  const title = titleOf(field, language);
  return (
    <div className="list-field">
      {rows.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows are texts in order and may repeat
        <div className="list-row" key={index}>
          <input
            id={index === 0 ? id : undefined}
            className="inp mono"
            value={row}
            aria-label={t("field.item", { name: title, index: index + 1 })}
            aria-describedby={describedBy}
            aria-invalid={invalid}
            data-testid={`${testId}-${index}`}
            spellCheck={false}
            onChange={(event) => write(rows.map((old, at) => (at === index ? event.target.value : old)))}
            onBlur={leave}
          />
          <button
            type="button"
            className="icon-button"
            title={t("field.removeItem", { item: row })}
            aria-label={t("field.removeItem", { item: row })}
            onClick={() => {
              write(rows.filter((_, at) => at !== index));
              settle();
            }}
          >
            <Glyph name="x" size={12} />
          </button>
        </div>
      ))}
      {rows.length < most && (
        <button
          type="button"
          id={rows.length === 0 ? id : undefined}
          className="btn sm quiet"
          data-testid={`${testId}-add`}
          onClick={() => write([...rows, ""])}
        >
          <Glyph name="plus" size={12} />
          {t("field.addItem")}
        </button>
      )}
      {escapes && rows.length > 0 && <span className="hint">{t("field.itemHint")}</span>}
    </div>
  );
}
