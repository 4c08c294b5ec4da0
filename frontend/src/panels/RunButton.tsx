// Run or Stop, with the seconds beside it; under it, why a run waits.
import { useEffect } from "react";
import { useEditor, useScreen, useView } from "../canvas/screen";
import { secondsText } from "../canvas/values";
import { useWords } from "../i18n/language";
import { Glyph } from "../look/Glyph";
import { isGoing, useElapsed } from "./elapsed";
import { useEngine } from "./engine";
import { useArmed, useRunning, waitReason } from "./running";

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
export const COMMAND = isMac ? "⌘" : "Ctrl";

export function RunButton() {
  const { t } = useWords();
  const { view } = useScreen();
  const engine = useEngine();
  const going = useEditor((editor) => isGoing(editor.run));
  const key = useEditor((editor) => {
    const wait = waitReason(editor, engine);
    return wait ? `${wait.key}\n${wait.count ?? ""}` : "";
  });
  const { toggle } = useRunning();
  useArmed();
  const notice = useView((view) => view.notice);
  const armed = useView((view) => view.armed);
  const [waits = "", count = ""] = key.split("\n");
  const why = waits ? t(waits, { count: Number(count) }) : "";
  // The notice goes as soon as its reason does.
  useEffect(() => {
    if (!why) view.getState().set({ notice: null });
  }, [why, view]);
  // It answers a press; with the next one it has been read. While the run is armed it stays.
  const answers = notice !== null && !armed;
  useEffect(() => {
    if (!answers) return;
    const over = () => view.getState().set({ notice: null });
    document.addEventListener("pointerdown", over, true);
    return () => document.removeEventListener("pointerdown", over, true);
  }, [answers, view]);
  return (
    <div className="run-spot">
      <button
        type="button"
        className={`run${going ? " is-running" : ""}${why && !going ? " is-waiting" : ""}${armed ? " is-armed" : ""}`}
        onClick={(press) => press.detail < 2 && toggle()} // the second click of a double one does not stop what the first began
        title={why && !going ? why : `${COMMAND} Enter`}
        data-testid={going ? "stop" : "run"}
      >
        <Glyph name={going ? "stop" : "play"} />
        {t(going ? "bar.stop" : "bar.run")}
        {going && <Seconds />}
      </button>
      {notice && why && !going && (
        <p className="run-notice" role="alert" data-testid="run-notice">
          {why}
        </p>
      )}
    </div>
  );
}

function Seconds() {
  return <span className="num">{secondsText(useElapsed())} s</span>;
}
