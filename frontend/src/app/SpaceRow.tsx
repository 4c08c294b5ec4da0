// One Space in the list: its graph as a small drawing, its name, its newest version, when it changed.
import { useEffect, useState } from "react";
import { RenameField } from "../forms/RenameField";
import { useWords } from "../i18n/language";
import type { Graph } from "../igb/graph";
import { Invalid, Malformed, read } from "../igb/igb";
import { Glyph } from "../look/Glyph";
import { useRest } from "../panels/rest";
import { RestError, type SpaceInfo } from "../state/rest";
import { goToSpace } from "./place";
import { Thumbnail } from "./Thumbnail";

interface Props {
  space: SpaceInfo;
  rename(name: string): void;
  remove(): void;
}

interface Seen {
  graph: Graph;
  version: number | null;
}

function useSeen(id: string): Seen | null {
  const rest = useRest();
  const [seen, setSeen] = useState<Seen | null>(null);
  useEffect(() => {
    let over = false;
    const look = async () => {
      try {
        const [bytes, versions] = await Promise.all([rest.graph(id), rest.versions(id)]);
        const numbers = versions.map((version) => version.number);
        if (!over) setSeen({ graph: read(bytes), version: numbers.length > 0 ? Math.max(...numbers) : null });
      } catch (error) {
        // A drawing that cannot be made is left out; the row itself still opens.
        if (!(error instanceof RestError || error instanceof Malformed || error instanceof Invalid)) throw error;
      }
    };
    void look();
    return () => {
      over = true;
    };
  }, [id, rest]);
  return seen;
}

export function SpaceRow({ space, rename, remove }: Props) {
  const { t } = useWords();
  const seen = useSeen(space.id);
  const ago = useAgo(space.changed);
  const [renaming, setRenaming] = useState(false);
  const keep = (name: string) => {
    setRenaming(false);
    if (name && name !== space.name) rename(name);
  };
  const path = `/spaces/${space.id}`;
  const open = (event: React.MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    goToSpace(space.id);
  };
  return (
    <li className="space-row" data-testid={`space-${space.id}`}>
      <Thumbnail graph={seen?.graph ?? null} />
      {!renaming ? (
        <a href={path} onClick={open} className="space-title">
          <b>{space.name}</b>
          {seen && <span className="quiet">{t("home.nodes", { count: seen.graph.nodes.size })}</span>}
        </a>
      ) : (
        <RenameField
          name={space.name}
          label={t("home.rename")}
          most={200}
          keep={keep}
          drop={() => setRenaming(false)}
        />
      )}
      <span className="num">{seen?.version ? `v${seen.version}` : "–"}</span>
      <time dateTime={space.changed} title={new Date(space.changed).toLocaleString()}>
        {ago}
      </time>
      <span className="icon-set">
        <a
          className="icon-button"
          href={`/api/spaces/${space.id}/graph.igb`}
          download
          aria-label={t("bar.download")}
          title={t("bar.download")}
        >
          <Glyph name="download" />
        </a>
        <button
          type="button"
          className="icon-button"
          aria-label={t("home.rename")}
          title={t("home.rename")}
          onClick={() => setRenaming(true)}
        >
          <Glyph name="pencil" />
        </button>
        <button
          type="button"
          className="icon-button"
          aria-label={t("home.delete")}
          title={t("home.delete")}
          onClick={remove}
          data-testid={`delete-${space.id}`}
        >
          <Glyph name="trash" />
        </button>
      </span>
    </li>
  );
}

function useAgo(time: string): string {
  const { t, language } = useWords();
  const minutes = Math.floor((Date.now() - Date.parse(time)) / 60_000);
  if (minutes < 1) return t("home.now");
  if (minutes < 60) return t("home.minutes", { count: minutes });
  if (minutes < 24 * 60) return t("home.hours", { count: Math.floor(minutes / 60) });
  return new Date(time).toLocaleDateString(language === "zh" ? "zh-CN" : "en", {
    day: "numeric",
    month: "short",
    year: "numeric",
  });
}
