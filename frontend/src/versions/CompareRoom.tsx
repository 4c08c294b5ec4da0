// Two sides compared: a canvas of the newer one that is only read, what changed beside it, the patch below. The editor's store is
// not touched; the canvas draws from one of its own that takes no edit.
import { ReactFlowProvider } from "@xyflow/react";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { createStore, type StoreApi } from "zustand/vanilla";
import { Canvas } from "../canvas/Canvas";
import { FlowGraphContext, useBuiltFlow } from "../canvas/flowGraph";
import { MarksContext } from "../canvas/marks";
import { type Screen, ScreenContext, useEditor, useScreen } from "../canvas/screen";
import { createView, type VersionSide } from "../canvas/view";
import { useWords } from "../i18n/language";
import type { Graph } from "../igb/graph";
import { Glyph } from "../look/Glyph";
import type { Editor, Version } from "../state/editor";
import { CompareInspector } from "./CompareInspector";
import { CountMarks } from "./CountMarks";
import { type Comparison, compare } from "./comparison";
import { useSide } from "./library";
import { PatchDrawer } from "./PatchDrawer";

interface Props {
  old: VersionSide;
  next: VersionSide;
  versions: readonly Version[];
  sheet: boolean;
}

export function CompareRoom({ old, next, versions, sheet }: Props) {
  const { t } = useWords();
  const { view } = useScreen();
  const catalogue = useEditor((editor) => editor.catalogue);
  const [before, after] = [useSide(old, versions), useSide(next, versions)];
  const lost = before === "unreadable" || after === "unreadable";
  const comparison = useMemo(() => {
    if (before === "unreadable" || after === "unreadable") return null;
    return before && after && compare(before, after, catalogue);
  }, [before, after, catalogue]);
  const name = (side: VersionSide) =>
    side === "draft" ? t("versions.draft") : side === 0 ? t("versions.nothing") : `v${side}`;
  const title = `${name(old)} → ${name(next)}`;
  if (!comparison) {
    return (
      <main className="canvas-room">
        <div className="canvas" aria-busy={!lost}>
          <p className="empty-canvas is-late">{t(lost ? "versions.unreadable" : "app.loading")}</p>
        </div>
      </main>
    );
  }
  return (
    <Compared
      comparison={comparison}
      title={title}
      sheet={sheet}
      close={() => view.getState().set({ compared: null })}
    />
  );
}

function Compared({
  comparison,
  title,
  sheet,
  close,
}: {
  comparison: Comparison;
  title: string;
  sheet: boolean;
  close(): void;
}) {
  const { t } = useWords();
  const screen = useReading(comparison.drawn);
  return (
    <ScreenContext value={screen}>
      <ReactFlowProvider>
        <Marked comparison={comparison}>
          <main className="canvas-room compare" data-testid="compare">
            <Canvas />
            <p className="compare-bar">
              <span className="num">{title}</span>
              <CountMarks counts={comparison.counts} />
              <button
                type="button"
                className="icon-button"
                aria-label={t("versions.close")}
                title={t("versions.close")}
                onClick={close}
                data-testid="close-compare"
              >
                <Glyph name="x" />
              </button>
            </p>
          </main>
          <CompareInspector comparison={comparison} title={title} sheet={sheet} />
          <PatchDrawer comparison={comparison} />
        </Marked>
      </ReactFlowProvider>
    </ScreenContext>
  );
}

function Marked({ comparison, children }: { comparison: Comparison; children: ReactNode }) {
  const flow = useBuiltFlow();
  return (
    <MarksContext value={comparison.marks}>
      <FlowGraphContext value={flow}>{children}</FlowGraphContext>
    </MarksContext>
  );
}

/** Stores for a canvas that is only read. */
function useReading(graph: Graph): Screen {
  const { editor } = useScreen();
  const [screen] = useState(() => ({ editor: reading(editor, graph), view: createView() }));
  useEffect(() => screen.editor.setState({ graph }), [screen, graph]);
  return screen;
}

function reading(editor: StoreApi<Editor>, graph: Graph): StoreApi<Editor> {
  const nothing = (): void => {};
  return createStore<Editor>()(() => ({
    ...editor.getState(),
    ...{ graph, run: null, diagnostics: [], link: "open", pending: 0, dirty: false, refusal: null, stale: null },
    ...{ undoLabel: null, redoLabel: null },
    ...{ edit: nothing, settle: nothing, undo: nothing, redo: nothing, save: nothing, start: nothing, cancel: nothing },
    ...{ dismissRefusal: nothing, dismissStale: nothing, close: nothing },
  }));
}
