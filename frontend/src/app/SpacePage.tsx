// An open Space: opens its store with the catalogue and closes it when the page goes on. The frame stands from the start.
import { useEffect, useState } from "react";
import type { StoreApi } from "zustand/vanilla";
import { createView } from "../canvas/view";
import { useWords } from "../i18n/language";
import type { Id } from "../igb/graph";
import { useRest } from "../panels/rest";
import type { Catalogue } from "../state/catalogue";
import type { Socket } from "../state/connection";
import { deliver } from "../state/deliver";
import type { Editor } from "../state/editor";
import { type Kept, openKept } from "../state/keep";
import { type Rest, RestError } from "../state/rest";
import { Database, PageLocks } from "../state/shelf";
import { createEditor, type EditorOptions } from "../state/store";
import { EditorScreen } from "./EditorScreen";
import { goHome } from "./place";

const RETRY = 2_000;

type Opened = { editor: StoreApi<Editor>; view: ReturnType<typeof createView>; close: () => void };

function open(space: Id, catalogue: Catalogue, rest: Rest, kept: Kept | null): Opened {
  const options: EditorOptions = {
    base: location.origin,
    space,
    catalogue,
    socket: (url) => new WebSocket(url) as Socket,
    status: () => rest.status(space),
    newest: () => newestRun(rest, space),
  };
  const editor = createEditor(kept ? { ...options, keep: kept.own } : options);
  const stop = deliver(options, kept?.left ?? [], editor);
  const close = (): void => {
    stop();
    editor.getState().close();
  };
  return { editor, view: createView(), close };
}

/** What the page shows before anything runs; without an answer it shows nothing. */
async function newestRun(rest: Rest, space: Id): Promise<Id | null> {
  try {
    const [newest] = await rest.runs(space);
    return newest && newest.status !== "running" ? newest.id : null;
  } catch (error) {
    if (error instanceof RestError) return null;
    throw error;
  }
}

export function SpacePage({ id }: { id: Id }) {
  const { t } = useWords();
  const rest = useRest();
  const [opened, setOpened] = useState<Opened | null>(null);
  const [gone, setGone] = useState(false);
  useEffect(() => {
    let made: Opened | null = null;
    let over = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const begin = async () => {
      try {
        const [catalogue] = await Promise.all([rest.catalogue(), rest.space(id)]);
        if (over) return;
        const kept = await openKept(new Database(), new PageLocks(), id);
        if (over) for (const keep of kept ? [kept.own, ...kept.left] : []) void keep.close();
        if (over) return;
        made = open(id, catalogue, rest, kept);
        setOpened(made);
      } catch (error) {
        if (!(error instanceof RestError)) throw error;
        if (over) return;
        if (error.status === 404) setGone(true);
        else timer = setTimeout(begin, RETRY);
      }
    };
    void begin();
    return () => {
      over = true;
      clearTimeout(timer);
      made?.close();
    };
  }, [id, rest]);
  if (gone) {
    return (
      <main className="lost">
        <p>{t("home.gone")}</p>
        <button type="button" className="btn" onClick={goHome}>
          {t("app.home")}
        </button>
      </main>
    );
  }
  if (!opened) return <Frame />;
  return <EditorScreen screen={opened} />;
}

/** The shell before there is anything to put in it. */
function Frame() {
  const { t } = useWords();
  return (
    <div className="app is-empty" aria-busy>
      <header className="bar" />
      <aside className="palette" />
      <main className="canvas">
        <p className="empty-canvas is-late">{t("app.loading")}</p>
      </main>
      <aside className="inspector" />
      <footer className="status" />
    </div>
  );
}
