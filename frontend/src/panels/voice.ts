// Says how a run ended, once, to those who listen instead of look.
import { useEffect } from "react";
import { type Screen, useEditor, useScreen } from "../canvas/screen";
import { secondsText } from "../canvas/values";
import { useWords } from "../i18n/language";

export function useRunVoice(): Screen {
  const screen = useScreen();
  const { t } = useWords();
  const status = useEditor((editor) => editor.run?.status ?? null);
  useEffect(() => {
    const { run } = screen.editor.getState();
    if (run?.recalled) return; // it ended long ago
    if (status === "done") screen.view.getState().say(t("run.done", { seconds: secondsText(run?.seconds ?? 0) }));
    if (status === "failed" || status === "cancelled") screen.view.getState().say(t(`run.${status}`));
  }, [status, screen, t]);
  return screen;
}
