// What a node's last run comes to, in one word; the same word chooses rail, glyph, colour and sentence.
import type { GraphNode } from "../igb/graph";
import type { NodeRun } from "../state/editor";

export type Status =
  | "idle"
  | "waiting"
  | "queued"
  | "running"
  | "done"
  | "skipped"
  | "failed"
  | "over"
  | "cancelled"
  | "disabled";

export const INVALID = 1;
export const NOT_FOUND = 500;
export const OVER_STEPS = 701;
export const OVER_TIME = 702;
export const OVER_MEMORY = 2;

/** A spent budget is not an error: the text is kept and the limit can be raised. */
export const isOver = (code: number): boolean => code === OVER_STEPS || code === OVER_TIME || code === OVER_MEMORY;

export function statusOf(node: GraphNode | undefined, run: NodeRun | undefined): Status {
  if (!run || run.phase === "idle") return node?.flags.get("disabled") === true ? "disabled" : "idle";
  if (run.phase === "failed") return run.error && isOver(run.error.code) ? "over" : "failed";
  return run.phase;
}

export type WireState = "idle" | "live" | "done" | "wait" | "skip" | "blocked" | "error";

/** What a wire carries: the source's phase decides, a reported mismatch overrules. */
export function wireState(source: NodeRun | undefined, port: string, mismatch: boolean): WireState {
  if (mismatch) return "error";
  switch (source?.phase) {
    case undefined:
    case "idle":
      return "idle";
    case "running":
      return source.steps > 0 || source.text !== "" ? "live" : "wait";
    case "done":
      return source.outputs.has(port) ? "done" : "skip";
    case "skipped":
    case "failed":
    case "cancelled":
      return "blocked";
    default:
      return "wait";
  }
}
