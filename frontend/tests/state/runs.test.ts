import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Id, Value } from "../../src/igb/graph";
import { begun, failed, fold, hasEnded, hasGap, IDLE, type RunLog } from "../../src/state/runs";
import type { EventFrame } from "../../src/wire/frames";

const RUN = "00000000r1";
const [A, B] = ["00000000aa", "00000000bb"];

function event(seq: number, node: Id | null, kind: string, data: Record<string, Value> = {}, first = seq): EventFrame {
  return { type: "event", run: RUN, seq, first, node, kind, data: new Map(Object.entries(data)), time: seq };
}

function tokens(seq: number, node: Id, text: string, steps: number, at?: number, first = seq): EventFrame {
  const place = at === undefined ? {} : { at };
  return event(seq, node, "tokens", { text, steps, kv_used: 64, kv_committed: 128, rate: 20, ...place }, first);
}

const whole: EventFrame[] = [
  event(1, null, "started", { device: "cpu", executor: "numba", model: "tiny", digest: "00", nodes: [A, B] }),
  event(2, A, "queued", { place: 1, reason: "kv" }),
  event(3, A, "running", { steps_limit: 16, kv_limit: 4096, seconds_limit: 60 }),
  event(4, A, "prefill", { done: 5, total: 9 }),
  tokens(5, A, "Hel", 1, 0),
  event(6, null, "pool", { kv_used: 1, kv_committed: 2, kv_reserved: 3, kv_total: 4, steps_reserved: 16, dots: 1 }),
  tokens(7, A, "lo", 2, 3),
  event(8, A, "done", {
    outputs: new Map([["text", "Hello"]]),
    seconds: 0.5,
    steps: 3,
    prompt_tokens: 9,
    finish: "end",
    kv_committed: 256,
  }),
  event(9, B, "skipped", { reason: "input", port: "value", source: A }),
  event(10, null, "ended", { status: "done", outputs: new Map([["result", "Hello"]]), reason: null, seconds: 0.7 }),
];

const start = begun(RUN, 100);
const end = fold(start, whole);

describe("a run", () => {
  test("that began before this client looked is dated by its events, and only backwards", () => {
    const late = (seq: number, time: number) => ({ ...(whole[seq - 1] as EventFrame), time });
    const joined = fold(begun(RUN, 90_000), [late(1, 0), late(2, 42)], 100_000);
    expect(joined.view.startedAt).toBe(58_000);
    expect(fold(joined, [late(3, 42.5)], 101_000).view.startedAt).toBe(58_000);
    expect(fold(begun(RUN, 90_000), [late(1, 0)], 90_100).view.startedAt).toBe(90_000);
  });

  test("is what its events tell", () => {
    expect(end.view).toEqual({
      id: RUN,
      recalled: false,
      status: "done",
      reason: null,
      startedAt: 100,
      seconds: 0.7,
      device: "cpu",
      executor: "numba",
      model: "tiny",
      nodes: new Map([
        [
          A,
          {
            ...IDLE,
            phase: "done",
            text: "Hello",
            steps: 3,
            stepsLimit: 16,
            kvUsed: 64,
            kvCommitted: 256,
            kvLimit: 4096,
            promptDone: 5,
            promptTotal: 9,
            rate: 20,
            seconds: 0.5,
            began: 3,
            ended: 8,
            finish: "end",
            outputs: new Map([["text", "Hello"]]),
          },
        ],
        [B, { ...IDLE, phase: "skipped", ended: 9, reason: { kind: "input", port: "value", source: A } }],
      ]),
      outputs: new Map([["result", "Hello"]]),
    });
    expect(end.pool).toEqual({ kvUsed: 1, kvCommitted: 2, kvReserved: 3, kvTotal: 4, stepsReserved: 16, dots: 1 });
    expect(hasEnded(end)).toBe(true);
  });

  test("in any order, in any pieces, with any repeats, is the same run", () => {
    const order = fc.array(fc.nat(whole.length - 1), { maxLength: 30 });
    fc.assert(
      fc.property(
        order,
        fc.shuffledSubarray(whole, { minLength: whole.length }),
        fc.integer({ min: 1, max: 5 }),
        (again, shuffled, size) => {
          const told = [...again.map((i) => whole[i] as EventFrame), ...shuffled];
          let log: RunLog = start;
          for (let i = 0; i < told.length; i += size) log = fold(log, told.slice(i, i + size));
          expect(log).toEqual(end);
        },
      ),
    );
  });

  test("stops at a missing event until it comes", () => {
    const before = fold(start, [...whole.slice(0, 4), ...whole.slice(5)]);
    expect(hasGap(before)).toBe(true);
    expect(before.last).toBe(4);
    expect(before.view.nodes.get(A)?.text).toBe("");
    expect(fold(before, whole.slice(4, 5))).toEqual(end);
  });

  test("takes a folded backlog for what it stands for", () => {
    const folded = [
      ...whole.slice(0, 4),
      tokens(5, A, "Hello", 2, 0),
      event(
        7,
        null,
        "pool",
        { kv_used: 1, kv_committed: 2, kv_reserved: 3, kv_total: 4, steps_reserved: 16, dots: 1 },
        6,
      ),
      ...whole.slice(7),
    ];
    expect(fold(start, folded)).toEqual(end);
  });

  test("cut off in a folded backlog, gets no text twice", () => {
    const cut = fold(start, [...whole.slice(0, 4), tokens(5, A, "Hello", 2, 0)]);
    const rest = [whole[5] as EventFrame, tokens(7, A, "lo", 2, 3), ...whole.slice(7)];
    expect(fold(cut, rest)).toEqual(end);
  });

  test("that brings nothing new is the same log, and an untouched node the same object", () => {
    const middle = fold(start, whole.slice(0, 5));
    expect(fold(middle, whole.slice(0, 5))).toBe(middle);
    const next = fold(middle, [whole[5] as EventFrame, tokens(7, B, "x", 1)]);
    expect(next.view.nodes.get(A)).toBe(middle.view.nodes.get(A));
    expect(fold(middle, [whole[5] as EventFrame]).view).toBe(middle.view);
  });

  test("a node that ended does not go back", () => {
    const after = fold(fold(start, whole.slice(0, 8)), [event(9, A, "running", {}), tokens(10, A, "!", 9)]);
    expect(after.view.nodes.get(A)?.phase).toBe("done");
    expect(after.view.nodes.get(A)?.text).toBe("Hello");
  });

  test("a failed node keeps its text and says what broke", () => {
    const facts = { code: 701, name: "LAUNCH_OUT_OF_RESOURCES", where: "steps", expected: "16", got: "17" };
    const log = fold(start, [...whole.slice(0, 7), event(8, A, "failed", { ...facts, text: "", steps: 16 })]);
    expect(log.view.nodes.get(A)).toMatchObject({ phase: "failed", text: "Hello", steps: 16, error: facts });
  });

  test("an end stops what was not told to its end", () => {
    const log = fold(start, [...whole.slice(0, 7), event(8, null, "ended", { status: "failed", reason: "host lost" })]);
    expect(log.view.status).toBe("failed");
    expect(log.view.reason).toBe("host lost");
    expect([...log.view.nodes.values()].map((node) => node.phase)).toEqual(["cancelled", "cancelled"]);
  });

  test("that cannot go on has failed, and an ended one stays as it ended", () => {
    expect(failed(start, "not_found").view).toMatchObject({ status: "failed", reason: "not_found" });
    expect(failed(end, "not_found")).toBe(end);
  });

  test("survives events of the wrong shape", () => {
    const bad: Value = [null, new Map([["x", 1]])];
    const kinds = [
      "started",
      "pool",
      "queued",
      "running",
      "prefill",
      "tokens",
      "log",
      "done",
      "skipped",
      "failed",
      "cancelled",
      "ended",
      "?",
    ];
    const fields = ["nodes", "text", "steps", "outputs", "reason", "status", "finish", "at", "code"];
    const data = Object.fromEntries(fields.map((field) => [field, bad]));
    const log = fold(
      start,
      kinds.flatMap((kind, i) => [event(2 * i + 1, A, kind, data), event(2 * i + 2, null, kind, data)]),
    );
    expect(log.view.status).toBe("failed");
    expect(log.view.nodes.get(A)?.text).toBe("");
  });
});
