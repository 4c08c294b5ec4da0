// The list of Spaces. The bare address opens the only Space while nobody has touched it: the first start shows something that runs.
import { useCallback, useEffect, useRef, useState } from "react";
import { useWords } from "../i18n/language";
import { Glyph, Mark } from "../look/Glyph";
import { useEngine } from "../panels/engine";
import { useRest } from "../panels/rest";
import { Switches } from "../panels/StatusBar";
import { RestError, type SpaceInfo, type TemplateInfo } from "../state/rest";
import { DeleteDialog } from "./DeleteDialog";
import { goToSpace } from "./place";
import { SpaceRow } from "./SpaceRow";
import { TemplateTile } from "./TemplateTile";

const RETRY = 2_000;

interface Lists {
  spaces: readonly SpaceInfo[];
  templates: readonly TemplateInfo[];
}

export function Home({ list }: { list: boolean }) {
  const { t, say, language } = useWords();
  const rest = useRest();
  const [lists, setLists] = useState<Lists | null>(null);
  const [lost, setLost] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [dying, setDying] = useState<SpaceInfo | null>(null);
  const file = useRef<HTMLInputElement>(null);

  const load = useCallback(async () => {
    const [spaces, templates] = await Promise.all([rest.spaces(), rest.templates()]);
    const only = spaces.length === 1 ? spaces[0] : undefined;
    if (!list && only && only.changed === only.created) return goToSpace(only.id, true);
    setLost(false);
    setLists({ spaces, templates });
  }, [rest, list]);

  useEffect(() => {
    document.title = t("app.name");
    let timer: ReturnType<typeof setTimeout> | undefined;
    let over = false;
    const begin = async () => {
      try {
        await load();
      } catch (error) {
        if (!(error instanceof RestError)) throw error;
        if (over) return;
        setLost(true);
        timer = setTimeout(begin, RETRY);
      }
    };
    void begin();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [load, t]);

  /** Do, and put what the server refused into words. */
  const attempt = async (act: () => Promise<unknown>) => {
    setProblem(null);
    try {
      await act();
    } catch (error) {
      if (!(error instanceof RestError)) throw error;
      const { expected, got, code } = error.refusal;
      if (code === "magic") setProblem(t("home.notIgb"));
      else setProblem(expected ? t("home.failed", { expected, got }) : t("home.failedShort", { code }));
    }
  };
  const make = (template: TemplateInfo) =>
    attempt(async () => goToSpace((await rest.makeSpace(say(template.label), template.name, language)).id));
  const importFile = (picked: File) =>
    attempt(async () => {
      const name = picked.name.replace(/\.igb$/i, "").slice(0, 100) || t("home.untitled");
      goToSpace((await rest.importSpace(name, new Uint8Array(await picked.arrayBuffer()))).id);
    });

  return (
    <div className="home">
      <header className="bar">
        <span className="home-link">
          <Mark />
        </span>
        <h1 className="space-name">{t("app.name")}</h1>
        <div className="bar-right">
          <button type="button" className="btn" onClick={() => file.current?.click()} data-testid="import">
            <Glyph name="upload" />
            {t("home.import")}
          </button>
          <input
            ref={file}
            type="file"
            accept=".igb"
            hidden
            data-testid="import-file"
            onChange={(event) => {
              const picked = event.target.files?.[0];
              event.target.value = "";
              if (picked) void importFile(picked);
            }}
          />
        </div>
      </header>
      <main className="home-main">
        {lost && <p className="notice is-warning">{t("home.lost")}</p>}
        {problem && (
          <p className="notice is-error" role="alert">
            {problem}
          </p>
        )}
        <section aria-labelledby="templates-title">
          <h2 id="templates-title">{t("home.start")}</h2>
          <ul className="tiles">
            {!lists && [0, 1, 2].map((place) => <li key={place} className="tile is-blank" aria-hidden />)}
            {lists?.templates.map((template) => (
              <li key={template.name}>
                <TemplateTile template={template} make={() => void make(template)} />
              </li>
            ))}
          </ul>
        </section>
        <section aria-labelledby="spaces-title">
          <h2 id="spaces-title">{t("home.title")}</h2>
          {lists?.spaces.length === 0 && <p className="hint">{t("home.empty")}</p>}
          {lists && lists.spaces.length > 0 && (
            <ul className="space-list">
              <li className="space-head" aria-hidden>
                <span />
                <span>{t("home.name")}</span>
                <span>{t("home.version")}</span>
                <span>{t("home.changed")}</span>
                <span />
              </li>
              {lists.spaces.map((space) => (
                <SpaceRow
                  key={space.id}
                  space={space}
                  rename={(name) => void attempt(() => rest.renameSpace(space.id, name).then(load))}
                  remove={() => setDying(space)}
                />
              ))}
            </ul>
          )}
        </section>
      </main>
      <HomeStatus />
      <DeleteDialog
        space={dying}
        close={() => setDying(null)}
        confirm={(space) => void attempt(() => rest.deleteSpace(space.id).then(load))}
      />
    </div>
  );
}

function HomeStatus() {
  const { t } = useWords();
  const engine = useEngine();
  const words = engine.state === "ready" ? "engineReady" : engine.state === "failed" ? "engineLost" : "engineLoading";
  const facts = [engine.device, engine.executor].filter(Boolean).join(", ");
  return (
    <footer className="status">
      <span className="cell" role="status">
        {engine.state === "unknown" ? t("status.connecting") : t(`status.${words}`)}
      </span>
      <span className="gap" />
      {facts && <span className="cell">{facts}</span>}
      {engine.model && <span className="cell mono">{engine.model}</span>}
      <Switches />
    </footer>
  );
}
