// The patch between two versions as text, in the order in which it applies.
import { useState } from "react";
import { SIGN } from "../canvas/marks";
import { nameOf } from "../canvas/names";
import { useEditor } from "../canvas/screen";
import { useWords } from "../i18n/language";
import { Glyph } from "../look/Glyph";
import type { Comparison } from "./comparison";
import { patchLines } from "./patchText";

const MOST = 1000; // lines drawn; copying takes all

export function PatchDrawer({ comparison }: { comparison: Comparison }) {
  const { t, language } = useWords();
  const catalogue = useEditor((editor) => editor.catalogue);
  const [open, setOpen] = useState(true);
  const [copied, setCopied] = useState<Comparison | null>(null);
  const lines = patchLines(comparison.ops, (id) => nameOf(comparison.drawn, catalogue, id, language));
  const copy = () => {
    const text = lines.map((line) => `${line.text}\n`).join("");
    void navigator.clipboard.writeText(text).then(() => setCopied(comparison));
  };
  return (
    <section
      className={`drawer patch-drawer${open ? "" : " is-folded"}`}
      aria-label={t("versions.patch")}
      data-testid="patch"
    >
      <div className="drawer-tabs">
        <button type="button" className="patch-toggle" aria-expanded={open} onClick={() => setOpen((old) => !old)}>
          <Glyph name={open ? "down" : "right"} size={12} />
          {t("versions.patch")}
          <em>{lines.length}</em>
        </button>
        <span className="drawer-right">
          <button
            type="button"
            className="btn sm"
            disabled={lines.length === 0}
            onClick={copy}
            data-testid="copy-patch"
          >
            <Glyph name="copy" size={12} />
            {t(copied === comparison ? "app.copied" : "inspector.copy")}
          </button>
        </span>
      </div>
      {open && (
        <ol className="patch-lines">
          {lines.slice(0, MOST).map(({ kind, text, about }) => (
            <li key={text} className={`d-${kind}`}>
              <b>{SIGN[kind]}</b>
              <code>{text}</code>
              <span>{about}</span>
            </li>
          ))}
          {lines.length > MOST && <li className="quiet">{t("versions.moreLines", { count: lines.length - MOST })}</li>}
          {lines.length === 0 && <li className="quiet">{t("versions.equal")}</li>}
        </ol>
      )}
    </section>
  );
}
