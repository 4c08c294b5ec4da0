// Seconds since the newest run began, counted at most ten times a second, and whether it still goes.
import { useEffect, useState } from "react";
import { useEditor } from "../canvas/screen";
import type { RunView } from "../state/editor";

export const isGoing = (run: RunView | null): boolean => run?.status === "starting" || run?.status === "running";

export function useElapsed(): number {
  const run = useEditor((editor) => editor.run?.id ?? null);
  const startedAt = useEditor((editor) => editor.run?.startedAt ?? 0);
  const seconds = useEditor((editor) => editor.run?.seconds ?? null);
  const going = useEditor((editor) => isGoing(editor.run));
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    if (!going) return;
    setNow(performance.now());
    const timer = setInterval(() => setNow(performance.now()), 100);
    return () => clearInterval(timer);
  }, [going]);
  if (run === null) return 0;
  return seconds !== null && !going ? seconds : Math.max((now - startedAt) / 1000, 0);
}
