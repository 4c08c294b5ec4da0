// What the engine says of itself, asked often while it starts and seldom once it is ready.
import { createContext, useContext, useEffect, useState } from "react";
import { type EngineStatus, RestError } from "../state/rest";
import { useRest } from "./rest";

export interface EngineView {
  state: "unknown" | "starting" | "ready" | "failed" | "closed";
  reason: string;
  progress: number | null; // 0 to 1, while the model loads
  device: string;
  executor: string;
  model: string;
}

const SOON = 1_000;
const LATER = 10_000;
const STATES = ["starting", "ready", "failed", "closed"] as const;

export const UNKNOWN: EngineView = {
  state: "unknown",
  reason: "",
  progress: null,
  device: "",
  executor: "",
  model: "",
};
export const EngineContext = createContext<EngineView>(UNKNOWN);
export const useEngine = (): EngineView => useContext(EngineContext);

function readEngine(status: EngineStatus): EngineView {
  const text = (name: string): string => (typeof status[name] === "string" ? status[name] : "");
  return {
    state: status.state === "loading" ? "starting" : (STATES.find((state) => state === status.state) ?? "unknown"),
    reason: text("reason"),
    progress: typeof status.progress === "number" ? status.progress : null,
    device: text("device"),
    executor: text("executor"),
    model: text("model"),
  };
}

export function useEnginePolling(): EngineView {
  const rest = useRest();
  const [view, setView] = useState(UNKNOWN);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let over = false;
    const ask = async () => {
      let next = UNKNOWN;
      try {
        next = readEngine(await rest.engine());
      } catch (error) {
        if (!(error instanceof RestError)) throw error; // no answer is told by the link's own state
      }
      if (over) return;
      setView((old) => (JSON.stringify(old) === JSON.stringify(next) ? old : next));
      timer = setTimeout(ask, next.state === "ready" ? LATER : SOON);
    };
    void ask();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [rest]);
  return view;
}
