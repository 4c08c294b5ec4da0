// The sentence a card says about its state: why it waits, why it was skipped, what it needs, where it stopped.
import type { TFunction } from "i18next";
import { typed } from "../i18n/facts";
import type { Id } from "../igb/graph";
import type { NodeRun } from "../state/editor";
import { INVALID, NOT_FOUND, OVER_MEMORY, OVER_STEPS, OVER_TIME, type Status } from "./status";
import { megabytes } from "./values";

type NodeError = NonNullable<NodeRun["error"]>;

/** Python's names of a value, as the engine tells them, and the port type that each is. */
const TYPE_OF: Readonly<Record<string, string>> = {
  str: "text",
  dict: "json",
  list: "json",
  int: "number",
  float: "number",
  bool: "boolean",
};

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
      return run?.error ? failure(t, run.error) : t("state.failed");
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
  return tooLarge(t, error);
}

/** The budget field that would have let an over-quota node go on. */
export function spentField(run: NodeRun | undefined): "steps" | "kv" | "seconds" {
  const code = run?.error?.code;
  if (code === OVER_STEPS) return "steps";
  return code === OVER_MEMORY ? "kv" : "seconds";
}

/** A prompt and its answer that fit neither the node's limit nor the pool, with both amounts where the engine tells them. */
function tooLarge(t: TFunction, { where, expected, got }: NodeError): string {
  const kib = (text: string) => /(\d+) KiB/.exec(text)?.[1];
  const [limit, need] = [kib(expected), kib(got)];
  if ((where === "kv limit" || where === "kv pool") && limit && need) {
    const values = { limit: megabytes(Number(limit) * 1024), need: megabytes(Number(need) * 1024) };
    return t(where === "kv limit" ? "card.overLimit" : "card.overPool", values);
  }
  const rows = (text: string) => /(\d+) (?:rows|tokens)/.exec(text)?.[1];
  const most = rows(expected);
  if (where === "context" && most) return t("card.overContext", { limit: most, need: rows(got) ?? got });
  if (where === "prompt" && most) return t("card.overPrompt", { limit: most });
  return t("card.overNeeds", { expected, got });
}

/** Why a run's node failed. The engine names the place and two facts; the sentence around them is ours. */
export function failure(t: TFunction, error: NodeError): string {
  const { code, where, expected, got } = error;
  if (code === NOT_FOUND && where === "model") return t("fail.model", { expected, got });
  if (code === INVALID && where === "prompt") return t("fail.prompt");
  if (code === INVALID && where.startsWith("model ") && expected === "raw text") return t("fail.raw");
  const port = /^input (.+)$/.exec(where)?.[1];
  if (code === INVALID && port) {
    return t("fail.input", { port, expected: typed(t, expected), got: typed(t, TYPE_OF[got] ?? got) });
  }
  if (code === INVALID && where === "grammar") return t("fail.grammar", { expected, got });
  if (code === OVER_TIME) return t("fail.time", { expected });
  if (code === OVER_MEMORY) return tooLarge(t, error);
  return t("card.needs", { expected, got });
}
