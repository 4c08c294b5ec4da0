// The palette: search, groups, and items that are dragged to the canvas, clicked, or taken with Enter.
import { useReactFlow } from "@xyflow/react";
import { type PointerEvent, useMemo, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { GROUPS, matching } from "../canvas/finder";
import { useGestures } from "../canvas/gestures";
import { glyphOf } from "../canvas/NodeCard";
import { Signature } from "../canvas/Signature";
import { useEditor } from "../canvas/screen";
import { useWords } from "../i18n/language";
import { Glyph } from "../look/Glyph";
import { PortMark } from "../look/PortMark";
import type { CatalogueEntry, PortType } from "../state/catalogue";

const TYPES: readonly PortType[] = ["text", "json", "number", "boolean", "any"];
const START = 4; // pixels before a press becomes a drag

interface Ghost {
  entry: CatalogueEntry;
  x: number;
  y: number;
}

export function Palette({ folded, unfold }: { folded: boolean; unfold(): void }) {
  const { t, say } = useWords();
  const catalogue = useEditor((editor) => editor.catalogue);
  const [query, setQuery] = useState("");
  const found = useMemo(() => matching(catalogue, query), [catalogue, query]);
  const list = useRef<HTMLDivElement>(null);
  const { ghost, press, add } = useAdding();
  const move = (event: React.KeyboardEvent, by: number) => {
    const items = [...(list.current?.querySelectorAll<HTMLElement>(".palette-item") ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const next = items[at + by];
    if (next) next.focus();
    else if (by < 0) document.getElementById("palette-search")?.focus();
    event.preventDefault();
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key === "ArrowDown") move(event, 1);
    else if (event.key === "ArrowUp") move(event, -1);
  };
  const first = found[0];
  return (
    <aside className={`palette${folded ? " is-folded" : ""}`} aria-label={t("palette.title")} onKeyDown={onKeyDown}>
      <div className="search">
        <Glyph name="search" size={14} />
        <input
          id="palette-search"
          value={query}
          placeholder={t("palette.find")}
          aria-label={t("palette.find")}
          data-testid="palette-search"
          onFocus={folded ? unfold : undefined}
          onChange={(event) => setQuery(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && first && !event.nativeEvent.isComposing) add(first);
            if (event.key === "Escape") query ? setQuery("") : event.currentTarget.blur();
          }}
        />
        <kbd>/</kbd>
      </div>
      <div className="palette-list" ref={list}>
        {GROUPS.map((group) => {
          const entries = found.filter((entry) => entry.group === group);
          if (entries.length === 0) return null;
          return (
            <section key={group} aria-label={t(`palette.${group}`)}>
              <h2>{t(`palette.${group}`)}</h2>
              {entries.map((entry) => (
                <button
                  key={entry.name}
                  type="button"
                  className="palette-item"
                  title={say(entry.help)}
                  aria-label={t("palette.add", { name: say(entry.label) })}
                  onPointerDown={(event) => press(event, entry)}
                  onClick={(event) => event.detail === 0 && add(entry)}
                  data-testid={`palette-${entry.name}`}
                >
                  <Glyph name={glyphOf(entry.glyph)} />
                  <span>{say(entry.label)}</span>
                  <Signature entry={entry} />
                </button>
              ))}
            </section>
          );
        })}
        {found.length === 0 && <p className="hint">{t("palette.none", { query })}</p>}
      </div>
      <section className="types" aria-label={t("palette.types")}>
        <h2>{t("palette.types")}</h2>
        <ul>
          {TYPES.map((type) => (
            <li key={type}>
              <PortMark type={type} />
              {t(`type.${type}`)}
            </li>
          ))}
        </ul>
      </section>
      {ghost && createPortal(<GhostCard ghost={ghost} />, document.body)}
    </aside>
  );
}

function GhostCard({ ghost: { entry, x, y } }: { ghost: Ghost }) {
  const { say } = useWords();
  return (
    <div className="drag-ghost" style={{ left: x - 16, top: y - 15 }}>
      <Glyph name={glyphOf(entry.glyph)} />
      {say(entry.label)}
    </div>
  );
}

/** Press and move to drag with mouse, pen or finger; press and release to add in the middle. */
function useAdding() {
  const gestures = useGestures();
  const { screenToFlowPosition } = useReactFlow();
  const [ghost, setGhost] = useState<Ghost | null>(null);

  const add = (entry: CatalogueEntry) => {
    const pane = document.querySelector(".canvas")?.getBoundingClientRect();
    if (!pane) return;
    const middle = { x: pane.left + pane.width / 2, y: pane.top + pane.height / 2 };
    gestures.add(entry, screenToFlowPosition(middle), null, true);
  };

  const press = (down: PointerEvent, entry: CatalogueEntry) => {
    if (down.button !== 0) return;
    const from = { x: down.clientX, y: down.clientY };
    let dragging = false;
    const stop = new AbortController();
    const { signal } = stop;
    const onMove = (event: globalThis.PointerEvent) => {
      dragging ||= Math.hypot(event.clientX - from.x, event.clientY - from.y) > START;
      if (dragging) setGhost({ entry, x: event.clientX, y: event.clientY });
    };
    const onUp = (event: globalThis.PointerEvent) => {
      stop.abort();
      setGhost(null);
      if (!dragging) return add(entry);
      const under = document.elementFromPoint(event.clientX, event.clientY);
      if (!under?.closest(".canvas")) return;
      gestures.add(entry, screenToFlowPosition({ x: event.clientX - 16, y: event.clientY - 15 }));
    };
    const cancel = () => {
      stop.abort();
      setGhost(null);
    };
    document.addEventListener("pointermove", onMove, { signal });
    document.addEventListener("pointerup", onUp, { signal });
    document.addEventListener("pointercancel", cancel, { signal });
    document.addEventListener("keydown", (event) => event.key === "Escape" && cancel(), { signal });
  };
  return { ghost, press, add };
}
