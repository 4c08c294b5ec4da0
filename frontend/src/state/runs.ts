// Folds a run's events into what the interface shows: exactly once, in the order of `seq`. An event stands for the numbers
// `first` to `seq`, so that a missing one is seen. Pure. Objects of nodes that an event does not touch keep their identity, so that a view watching one node is not woken by another.
import type { Id, Value } from "../igb/graph";
import { isArray, isMap } from "../igb/shapes";
import type { EventFrame } from "../wire/frames";
import type { NodePhase, NodeRun, Pool, RunView } from "./editor";

export interface RunLog {
  readonly view: RunView;
  readonly pool: Pool | null;
  readonly last: number; // seq of the newest event in the view
  readonly ahead: readonly EventFrame[]; // came, but one before them is missing
}

const MAX_AHEAD = 4096;
const ENDED: ReadonlySet<NodePhase> = new Set(["done", "skipped", "failed", "cancelled"]);

export const IDLE: NodeRun = {
  phase: "idle",
  text: "",
  steps: 0,
  stepsLimit: null,
  kvUsed: 0,
  kvCommitted: 0,
  kvLimit: null,
  promptDone: 0,
  promptTotal: 0,
  rate: 0,
  seconds: null,
  began: null,
  ended: null,
  finish: null,
  outputs: new Map(),
  reason: null,
  place: null,
  error: null,
};

export function begun(run: Id, startedAt: number, recalled = false): RunLog {
  const view: RunView = {
    id: run,
    recalled,
    status: "starting",
    reason: null,
    startedAt,
    seconds: null,
    device: "",
    executor: "",
    model: "",
    nodes: new Map(),
    outputs: new Map(),
  };
  return { view, pool: null, last: 0, ahead: [] };
}

export function hasEnded({ view }: RunLog): boolean {
  return view.status === "done" || view.status === "failed" || view.status === "cancelled";
}

/** An event is missing: everything after `last` must be asked for again. */
export function hasGap(log: RunLog): boolean {
  return log.ahead.length > 0;
}

/**
 * The log with these events of its run in it; the same log when they bring nothing new. `now` dates the start of a run that
 * began before this client looked: an event of second `time` cannot have come before it happened.
 */
export function fold(log: RunLog, events: readonly EventFrame[], now?: number): RunLog {
  const fresh = events.filter((event) => event.seq > log.last);
  if (fresh.length === 0) return log;
  const waiting = [...log.ahead, ...fresh].sort((a, b) => a.first - b.first || a.seq - b.seq);
  const draft = new Folding(log);
  if (now !== undefined) draft.date(Math.min(...fresh.map(({ time }) => now - time * 1000)));
  let last = log.last;
  const ahead: EventFrame[] = [];
  for (const event of waiting) {
    if (event.seq <= last) continue; // had it
    if (event.first > last + 1) ahead.push(event);
    else {
      draft.take(event);
      last = event.seq;
    }
  }
  // Too many held back: they come again with the resume.
  return { view: draft.view(), pool: draft.pool, last, ahead: ahead.length > MAX_AHEAD ? [] : ahead };
}

/** The run will not go on, for a reason that no event tells. */
export function failed(log: RunLog, reason: string): RunLog {
  if (hasEnded(log)) return log;
  const draft = new Folding(log);
  draft.end("failed", reason);
  return { ...log, view: draft.view(), ahead: [] };
}

class Folding {
  pool: Pool | null;
  private run: RunView;
  private nodes: Map<Id, NodeRun> | null = null;

  constructor(log: RunLog) {
    this.run = log.view;
    this.pool = log.pool;
  }

  view(): RunView {
    return this.nodes ? { ...this.run, nodes: this.nodes } : this.run;
  }

  date(startedAt: number): void {
    if (startedAt < this.run.startedAt) this.run = { ...this.run, startedAt };
  }

  take({ node, kind, data, time }: EventFrame): void {
    if (node !== null) this.takeNode(node, kind, data, time);
    else if (kind === "started") this.start(data);
    else if (kind === "pool") this.pool = poolOf(data);
    else if (kind === "ended") this.ended(data);
  }

  end(status: "done" | "failed" | "cancelled", reason: string | null): void {
    this.run = { ...this.run, status, reason };
    // What was not told of before the run ended did not come to its own end.
    for (const [id, node] of this.map()) {
      if (!ENDED.has(node.phase)) this.put(id, { phase: "cancelled", place: null, ended: this.run.seconds });
    }
  }

  private start(data: Data): void {
    this.run = {
      ...this.run,
      status: "running",
      device: text(data, "device"),
      executor: text(data, "executor"),
      model: text(data, "model"),
    };
    const nodes = data.get("nodes");
    if (isArray(nodes)) for (const id of nodes) if (typeof id === "string") this.put(id, { phase: "waiting" });
  }

  private ended(data: Data): void {
    const status = data.get("status");
    this.run = { ...this.run, seconds: numberOr(data, "seconds", null), outputs: named(data, "outputs") };
    this.end(status === "done" || status === "cancelled" ? status : "failed", textOr(data, "reason", null));
  }

  private takeNode(id: Id, kind: string, data: Data, time: number): void {
    const before = this.map().get(id) ?? IDLE;
    if (ENDED.has(before.phase)) return;
    const change = changeOf(kind, data, before);
    if (!change) return;
    const { phase } = change;
    const began = phase === "running" ? { began: time } : {};
    const ended = phase && ENDED.has(phase) ? { ended: time } : {};
    this.put(id, { ...change, ...began, ...ended });
  }

  private map(): ReadonlyMap<Id, NodeRun> {
    return this.nodes ?? this.run.nodes;
  }

  private put(id: Id, change: Partial<NodeRun>): void {
    this.nodes ??= new Map(this.run.nodes);
    this.nodes.set(id, { ...(this.nodes.get(id) ?? IDLE), ...change });
  }
}

type Data = EventFrame["data"];

/** What an event changes about its node, or null for a kind that changes nothing shown. */
function changeOf(kind: string, data: Data, before: NodeRun): Partial<NodeRun> | null {
  switch (kind) {
    case "queued":
      return { phase: "queued", place: numberOr(data, "place", null), reason: reasonOf(data) };
    case "running":
      return {
        phase: "running",
        place: null,
        reason: null,
        stepsLimit: numberOr(data, "steps_limit", null),
        kvLimit: numberOr(data, "kv_limit", null),
      };
    case "prefill":
      return { promptDone: number(data, "done"), promptTotal: number(data, "total") };
    case "tokens":
      return {
        text: joined(before.text, text(data, "text"), numberOr(data, "at", null)),
        steps: number(data, "steps"),
        kvUsed: number(data, "kv_used"),
        kvCommitted: number(data, "kv_committed"),
        rate: number(data, "rate"),
      };
    case "done":
      return {
        phase: "done",
        outputs: named(data, "outputs"),
        seconds: numberOr(data, "seconds", null),
        steps: numberOr(data, "steps", before.steps),
        promptTotal: numberOr(data, "prompt_tokens", before.promptTotal),
        kvCommitted: numberOr(data, "kv_committed", before.kvCommitted),
        finish: finishOf(data.get("finish")),
      };
    case "skipped":
      return { phase: "skipped", place: null, reason: reasonOf(data) };
    case "failed":
      return {
        phase: "failed",
        place: null,
        text: text(data, "text") || before.text,
        steps: numberOr(data, "steps", before.steps),
        error: {
          code: number(data, "code"),
          name: text(data, "name"),
          where: text(data, "where"),
          expected: text(data, "expected"),
          got: text(data, "got"),
        },
      };
    case "cancelled":
      return {
        phase: "cancelled",
        place: null,
        text: text(data, "text") || before.text,
        steps: numberOr(data, "steps", before.steps),
      };
    default:
      return null;
  }
}

/** Streamed text with a piece that begins at `at`: a backlog that comes again brings text that is there already. */
function joined(before: string, piece: string, at: number | null): string {
  if (at === null || at >= before.length) return before + piece;
  return at + piece.length <= before.length ? before : before.slice(0, at) + piece;
}

function reasonOf(data: Data): NodeRun["reason"] {
  const kind = data.get("reason");
  if (typeof kind !== "string") return null;
  const port = data.get("port");
  const source = data.get("source");
  return {
    kind,
    ...(typeof port === "string" ? { port } : {}),
    ...(typeof source === "string" ? { source } : {}),
  };
}

function poolOf(data: Data): Pool {
  return {
    kvUsed: number(data, "kv_used"),
    kvCommitted: number(data, "kv_committed"),
    kvReserved: number(data, "kv_reserved"),
    kvTotal: number(data, "kv_total"),
    stepsReserved: number(data, "steps_reserved"),
    dots: number(data, "dots"),
  };
}

function finishOf(value: Value | undefined): NodeRun["finish"] {
  return value === "end" || value === "stop" || value === "cut" ? value : null;
}

function named(data: Data, field: string): Map<string, Value> {
  const value = data.get(field);
  const outputs = new Map<string, Value>();
  if (isMap(value)) for (const [name, output] of value) outputs.set(String(name), output);
  return outputs;
}

function text(data: Data, field: string): string {
  return textOr(data, field, "");
}

function textOr<T>(data: Data, field: string, otherwise: T): string | T {
  const value = data.get(field);
  return typeof value === "string" ? value : otherwise;
}

function number(data: Data, field: string): number {
  return numberOr(data, field, 0);
}

function numberOr<T>(data: Data, field: string, otherwise: T): number | T {
  const value = data.get(field);
  return typeof value === "number" ? value : otherwise;
}
