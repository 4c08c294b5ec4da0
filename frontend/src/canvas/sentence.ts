// The sentence a card says about its state: why it waits, why it was skipped, what it needs, where it stopped.
import type { TFunction } from "i18next";
import type { Id } from "../igb/graph";
import type { Diagnostic, NodeRun } from "../state/editor";
import { typed } from "./refusal";
import { OVER_MEMORY, OVER_STEPS, type Status } from "./status";
import { megabytes } from "./values";

export interface Names {
  of(id: Id): string;
  waitsFor: Id | null; // the first source that has not delivered
}

export function sentence(t: TFunction, status: Status, run: NodeRun | undefined, names: Names): string {
  switch (status) {
    case "idle":
      return t("card.noRun");
    case "disabled":
      return t("card.off");
    case "waiting":
      return names.waitsFor ? t("card.waitsFor", { name: names.of(names.waitsFor) }) : t("card.waits");
    case "queued":
      return t("card.queued");
    case "running":
      if (!run || run.promptTotal === 0) return "";
      return t("card.reading", { done: run.promptDone, total: run.promptTotal });
    case "skipped":
      return skipped(t, run, names);
    case "over":
      return over(t, run);
    case "failed":
      return run?.error ? t("card.needs", { expected: run.error.expected, got: run.error.got }) : t("state.failed");
    case "cancelled":
      return t(run?.text ? "card.stopped" : "card.stoppedEarly");
    case "done":
      return "";
  }
}

function skipped(t: TFunction, run: NodeRun | undefined, names: Names): string {
  const reason = run?.reason;
  if (!reason) return t("card.skipped");
  if (reason.kind === "disabled") return t("card.skippedDisabled");
  if (reason.kind === "pruned") return t("card.skippedPruned");
  if (reason.kind === "upstream" && reason.source) return t("card.skippedUpstream", { name: names.of(reason.source) });
  if (reason.port) return t("card.skippedInput", { port: reason.port });
  return t("card.skipped");
}

function over(t: TFunction, run: NodeRun | undefined): string {
  const error = run?.error;
  if (!run || !error) return t("state.over");
  const kept = run.steps;
  if (error.code === OVER_STEPS && run.stepsLimit !== null) return t("card.overSteps", { limit: run.stepsLimit, kept });
  if (error.code !== OVER_MEMORY && run.seconds !== null) {
    return t("card.overTime", { limit: run.seconds.toFixed(1), kept });
  }
  if (error.code === OVER_MEMORY && run.kvLimit !== null && kept > 0) {
    return t("card.overKv", { limit: megabytes(run.kvLimit), kept });
  }
  return t("card.overNeeds", { expected: error.expected, got: error.got });
}

/** The budget field that would have let an over-quota node go on. */
export function spentField(run: NodeRun | undefined): "steps" | "kv" | "seconds" {
  const code = run?.error?.code;
  if (code === OVER_STEPS) return "steps";
  return code === OVER_MEMORY ? "kv" : "seconds";
}

/** A diagnostic in words; a code the interface does not know falls back on its facts. */
export function diagnosis(t: TFunction, found: Pick<Diagnostic, "code" | "expected" | "got">): string {
  const values = { expected: typed(t, found.expected), got: typed(t, found.got) };
  if (found.code === "missing_input" && found.expected === "any") return t("diag.missing_any");
  const words = t(`diag.${found.code}`, { ...values, defaultValue: "" });
  if (words) return words;
  if (!found.got) return t("card.needsOnly", { expected: found.expected });
  return t("diag.any", { expected: found.expected, got: found.got });
}
