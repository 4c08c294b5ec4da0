// The editor of one Space: bar, palette, canvas, inspector, drawer, status; or, on a phone, the reading view.
import { ReactFlowProvider } from "@xyflow/react";
import { useEffect, useState } from "react";
import { flushSync } from "react-dom";
import { Canvas } from "../canvas/Canvas";
import { FlowGraphContext, useBuiltFlow } from "../canvas/flowGraph";
import { type Screen, ScreenContext, useEditor, useScreen, useView } from "../canvas/screen";
import { ConflictsPanel } from "../conflicts/ConflictsPanel";
import { Drawer } from "../panels/Drawer";
import { Inspector } from "../panels/Inspector";
import { Palette } from "../panels/Palette";
import { RefusalNote } from "../panels/RefusalNote";
import { Shortcuts } from "../panels/Shortcuts";
import { StatusBar } from "../panels/StatusBar";
import { TopBar } from "../panels/TopBar";
import { createTimes } from "../panels/times";
import { useRunVoice } from "../panels/voice";
import { PastRunMark } from "../runs/PastRunMark";
import { StaleDialog } from "../versions/StaleDialog";
import { VersionsRoom } from "../versions/VersionsRoom";
import { PhoneScreen } from "./PhoneScreen";
import { goHome } from "./place";
import { useShortcuts } from "./shortcuts";
import { useWidth } from "./width";

export function EditorScreen({ screen }: { screen: Screen }) {
  return (
    <ScreenContext value={screen}>
      <ReactFlowProvider>
        <Rooms />
      </ReactFlowProvider>
    </ScreenContext>
  );
}

function Rooms() {
  const flow = useBuiltFlow();
  const width = useWidth();
  return (
    <FlowGraphContext value={flow}>
      <Title />
      {width === "phone" ? <PhoneScreen goHome={goHome} /> : <Desk width={width} />}
      <StaleDialog />
      <Voice />
    </FlowGraphContext>
  );
}

function Desk({ width }: { width: "full" | "folded" | "sheet" }) {
  const drawer = useView((view) => view.drawer);
  const room = useView((view) => view.room);
  const { view } = useScreen();
  const [unfolded, setUnfolded] = useState(false);
  const folds = width !== "full";
  const findPalette = () => {
    flushSync(() => view.getState().set({ room: "graph", compared: null }));
    setUnfolded(true);
  };
  useShortcuts(findPalette);
  const draft = (
    <>
      <main className="canvas-room">
        <Canvas />
        <PastRunMark />
        <RefusalNote />
      </main>
      <Inspector sheet={width === "sheet"} />
      <Drawer />
    </>
  );
  return (
    <div className={`app w-${width} in-${room}${drawer ? " has-drawer" : ""}`}>
      <TopBar goHome={goHome} onPalette={() => setUnfolded((old) => !old)} />
      {room === "versions" ? (
        <VersionsRoom sheet={width === "sheet"}>{draft}</VersionsRoom>
      ) : (
        <>
          {room === "conflicts" ? (
            <ConflictsPanel />
          ) : (
            <Palette folded={folds && !unfolded} unfold={() => setUnfolded(true)} />
          )}
          {draft}
        </>
      )}
      <StatusBar />
      <Shortcuts />
    </div>
  );
}

function Title() {
  const name = useEditor((editor) => editor.name);
  useEffect(() => {
    document.title = name ? `${name} · Spaces` : "Spaces";
  }, [name]);
  return null;
}

/** Words for those who listen; and notes of the run's times, whether or not its drawer is open. */
function Voice() {
  const said = useView((view) => view.said);
  const { editor } = useRunVoice();
  useEffect(() => createTimes(editor).follow(), [editor]);
  return (
    <p className="hidden-words" aria-live="polite" data-testid="live">
      {said}
    </p>
  );
}
