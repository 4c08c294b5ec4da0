// The palette at the pointer: opened by a double click, or by a wire dropped on empty canvas and then filtered to what fits.
import { useEffect, useMemo, useRef, useState } from "react";
import { useWords } from "../i18n/language";
import { mint } from "../igb/id";
import { Glyph } from "../look/Glyph";
import type { CatalogueEntry } from "../state/catalogue";
import { bare, fittingPort, matching } from "./finder";
import { useGestures } from "./gestures";
import { glyphOf } from "./NodeCard";
import { Signature } from "./Signature";
import { useEditor, useScreen, useView } from "./screen";
import type { QuickAdd } from "./view";

const WIDTH = 232;
const HEIGHT = 264;

interface Props {
  toFlow: (x: number, y: number) => { x: number; y: number };
}

export function QuickAddMenu({ toFlow }: Props) {
  const open = useView((view) => view.quickAdd);
  if (!open) return null;
  return <Menu key={`${open.x}\n${open.y}`} open={open} toFlow={toFlow} />;
}

function Menu({ open, toFlow }: Props & { open: QuickAdd }) {
  const { t, say } = useWords();
  const { view, editor } = useScreen();
  const gestures = useGestures();
  const catalogue = useEditor((editor) => editor.catalogue);
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const found = useMemo(() => {
    const { graph } = editor.getState();
    const { from } = open;
    const fits = (entry: CatalogueEntry) => !from || fittingPort(graph, catalogue, from, bare(mint(), entry)) !== null;
    return matching(catalogue, query).filter(fits);
  }, [catalogue, query, open, editor]);
  const close = () => view.getState().set({ quickAdd: null });
  const add = (entry: CatalogueEntry) => {
    const point = toFlow(open.x, open.y);
    gestures.add(entry, point, open.from);
    close();
  };
  useEffect(() => {
    field.current?.focus();
    const away = (event: PointerEvent) => {
      if (!menu.current?.contains(event.target as Node)) view.getState().set({ quickAdd: null });
    };
    document.addEventListener("pointerdown", away, true);
    return () => document.removeEventListener("pointerdown", away, true);
  }, [view]);
  const onKeyDown = (event: React.KeyboardEvent) => {
    event.stopPropagation();
    const entry = found[Math.min(at, found.length - 1)];
    if (event.key === "Escape") close();
    else if (event.key === "ArrowDown") setAt(Math.min(at + 1, found.length - 1));
    else if (event.key === "ArrowUp") setAt(Math.max(at - 1, 0));
    else if (event.key === "Enter" && entry && !event.nativeEvent.isComposing) add(entry);
    else return;
    event.preventDefault();
  };
  const left = Math.max(Math.min(open.x, innerWidth - WIDTH - 8), 8);
  const top = Math.max(Math.min(open.y, innerHeight - HEIGHT - 8), 8);
  return (
    <div className="quick-add" ref={menu} style={{ left, top, width: WIDTH }} data-testid="quick-add">
      <div className="search">
        <Glyph name="search" size={14} />
        <input
          ref={field}
          value={query}
          placeholder={t("palette.find")}
          aria-label={t("palette.find")}
          role="combobox"
          aria-expanded
          aria-controls="quick-add-list"
          aria-activedescendant={found[at] ? `quick-${found[at].name}` : undefined}
          onChange={(event) => {
            setQuery(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      {open.from && <p className="hint">{t("palette.fits", { port: open.from.port })}</p>}
      <div className="quick-list" id="quick-add-list" role="listbox" aria-label={t("palette.title")}>
        {found.map((entry, index) => (
          <button
            key={entry.name}
            id={`quick-${entry.name}`}
            type="button"
            role="option"
            aria-selected={index === at}
            tabIndex={-1}
            className={`palette-item${index === at ? " is-on" : ""}`}
            title={say(entry.help)}
            onPointerEnter={() => setAt(index)}
            onClick={() => add(entry)}
            data-testid={`quick-${entry.name}`}
          >
            <Glyph name={glyphOf(entry.glyph)} />
            <span>{say(entry.label)}</span>
            <Signature entry={entry} />
          </button>
        ))}
        {found.length === 0 && <p className="hint">{query ? t("palette.none", { query }) : t("palette.noneFits")}</p>}
      </div>
    </div>
  );
}
