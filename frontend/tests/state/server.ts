// A small server behind a fake socket: it speaks real encoded frames and keeps a Room, so that a store can be driven through a whole session.
import { decode, encode, sameBytes } from "../../src/igb/cbor";
import type { Graph, Id, Op, Value } from "../../src/igb/graph";
import { EMPTY, hashes, read, write } from "../../src/igb/igb";
import { readOp } from "../../src/igb/ops";
import { applyOps, rebase } from "../../src/igb/patch";
import type { Socket } from "../../src/state/connection";
import type { EventFrame, RefusalFrame, Version } from "../../src/wire/frames";
import { Parts, split } from "../../src/wire/parts";

type Frame = ReadonlyMap<string, Value>;

export class FakeSocket implements Socket {
  binaryType = "";
  onopen: ((event: never) => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  onerror: ((event: never) => void) | null = null;
  readonly sent: Uint8Array[] = [];
  closed = false;
  deaf = false; // half open: what is sent goes nowhere

  constructor(
    readonly url: string,
    private readonly server: FakeServer,
  ) {}

  send(bytes: Uint8Array): void {
    this.sent.push(bytes);
    if (!this.deaf) this.server.receive(this, bytes);
  }

  close(): void {
    this.closed = true;
  }
}

export class FakeServer {
  graph: Graph = EMPTY;
  seq = 0;
  version: Version | null = null;
  runs: Id[] = [];
  readonly sockets: FakeSocket[] = [];
  readonly frames: Frame[] = []; // all that came, parts put together
  readonly bytes = new Map<Id, Uint8Array>(); // of runs
  silent = false; // frames are taken in and nothing is done
  mute = false; // all is done and no answer comes through
  slow = false; // frames wait until `work`
  refuse: ((op: Op) => boolean) | null = null;
  full = false; // the disk takes nothing
  private readonly counters = new Map<string, { counter: number; seq: number }>();
  private readonly log = new Map<Id, EventFrame[]>();
  private readonly parts = new Parts();
  private readonly waiting: [FakeSocket, Uint8Array][] = [];

  readonly factory = (url: string): FakeSocket => {
    const socket = new FakeSocket(url, this);
    this.sockets.push(socket);
    return socket;
  };

  get socket(): FakeSocket {
    return this.sockets.at(-1) as FakeSocket;
  }

  /** Accept the newest socket: the client says hello and is welcomed. */
  accept(): void {
    this.socket.onopen?.(undefined as never);
  }

  hangUp(code = 1006): void {
    this.socket.onclose?.({ code });
    this.socket.closed = true;
  }

  send(frame: object): void {
    const { socket } = this;
    if (socket.closed || this.mute) return;
    const bytes = encode(cborOf(frame));
    socket.onmessage?.({ data: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) });
  }

  /** Ops of someone else. */
  patch(ops: readonly Op[], author = "0000000other"): void {
    this.graph = applyOps(this.graph, ops);
    this.seq += 1;
    this.send({ type: "patched", seq: this.seq, ops, author, overtaken: [] });
  }

  /** Add an event to a run's log and tell it, unless told later. */
  tell(run: Id, node: Id | null, kind: string, data: Record<string, Value> = {}, later = false): EventFrame {
    const log = this.log.get(run) ?? [];
    this.log.set(run, log);
    const seq = log.length + 1;
    const event: EventFrame = {
      type: "event",
      run,
      seq,
      first: seq,
      node,
      kind,
      data: new Map(Object.entries(data)),
      time: seq / 100,
    };
    log.push(event);
    if (!later) this.send(event);
    return event;
  }

  ofType(type: string): Frame[] {
    return this.frames.filter((frame) => frame.get("type") === type);
  }

  /** Do what waits. */
  work(): void {
    const { slow } = this;
    this.slow = false;
    for (const [socket, bytes] of this.waiting.splice(0)) this.receive(socket, bytes);
    this.slow = slow;
  }

  receive(socket: FakeSocket, bytes: Uint8Array): void {
    if (this.slow) {
      this.waiting.push([socket, bytes]);
      return;
    }
    const frame = decode(bytes) as Frame;
    if (frame.get("type") === "part") {
      this.parts.add(Object.fromEntries(frame) as never);
      return;
    }
    this.frames.push(frame);
    if (this.silent) return;
    if (socket.closed && frame.get("type") !== "push") return; // a push that came through is done all the same
    const type = frame.get("type");
    if (type === "hello") this.hello(frame);
    else if (type === "push") this.push(frame);
    else if (type === "save") void this.save(frame);
    else if (type === "run") this.run(frame);
    else if (type === "resume") this.resume(frame.get("run") as Id, frame.get("after_seq") as number);
  }

  private hello(frame: Frame): void {
    const igb = write(this.graph);
    const transfer = igb.length > 700 * 1024 ? "0000parts0" : null;
    if (transfer) for (const part of split(transfer, igb)) this.send(part);
    this.send({
      type: "welcome",
      space: new Map([
        ["id", "00000space"],
        ["name", "Test"],
      ]),
      seq: this.seq,
      igb: transfer ? null : igb,
      transfer,
      version: this.version,
      members: [
        new Map([
          ["client", "0000000other"],
          ["name", "Someone"],
        ]),
      ],
      runs: this.runs,
    });
    for (const [run, after] of (frame.get("resume") as ReadonlyMap<Id, number> | null) ?? []) this.resume(run, after);
  }

  private push(frame: Frame): void {
    const [client, counter] = frame.get("id") as [Id, number];
    const known = this.counters.get(client);
    if (known && counter <= known.counter) {
      this.send({ type: "ack", id: [client, counter], seq: known.seq });
      return;
    }
    if (this.full) {
      this.refusal([client, counter], "storage", "database");
      return;
    }
    const ops = (frame.get("ops") as Value[]).map((op, i) => readOp(op, `ops[${i}]`));
    const wanted = ops.filter((op) => !this.refuse?.(op));
    let asSent = wanted.length === ops.length;
    let applied: readonly Op[] = ops;
    let dropped: readonly { op: Op; code: string }[] = ops
      .filter((op) => !wanted.includes(op))
      .map((op) => ({ op, code: "no" }));
    try {
      if (asSent) this.graph = applyOps(this.graph, ops);
    } catch {
      asSent = false;
    }
    if (!asSent) {
      const rebased = rebase(this.graph, wanted);
      this.graph = rebased.graph;
      applied = rebased.ops;
      dropped = [...dropped, ...rebased.dropped];
    }
    if (applied.length > 0) this.seq += 1;
    this.counters.set(client, { counter, seq: this.seq });
    if (asSent) this.send({ type: "ack", id: [client, counter], seq: this.seq });
    else if (applied.length > 0 || dropped.length === 0) {
      this.send({ type: "patched", seq: this.seq, ops: applied, author: client, overtaken: [] });
    }
    for (const { op, code } of dropped) this.refusal([client, counter], code, op[1].join("."));
  }

  refusal(id: RefusalFrame["id"], code: string, where = "somewhere"): void {
    this.send({ type: "refused", id, code, where, expected: "one thing", got: "another" });
  }

  private async save(frame: Frame): Promise<void> {
    const { file, sem } = await hashes(this.graph);
    const newest = this.version;
    if (newest && sameBytes(file, newest.file)) {
      this.send({ type: "saved", id: frame.get("id") as Value, version: newest });
      return;
    }
    if (newest && newest.number !== frame.get("base_version")) {
      this.refusal(frame.get("id") as RefusalFrame["id"], "stale", "save.base_version");
      return;
    }
    const number = (newest?.number ?? 0) + 1;
    const message = frame.get("message") as string;
    this.version = versionOf(number, message, "me", file, sem);
    this.send({ type: "saved", id: frame.get("id") as Value, version: this.version });
  }

  /** A version that someone else made of the Room; `told`: this client hears of it. */
  async versionFrom(author: string, told: boolean): Promise<void> {
    const { file, sem } = await hashes(this.graph);
    this.version = versionOf((this.version?.number ?? 0) + 1, "Theirs", author, file, sem);
    if (told) this.send({ type: "saved", id: ["0000000other", 1], version: this.version });
  }

  private run(frame: Frame): void {
    const run = frame.get("run") as Id;
    const transfer = frame.get("transfer") as Id | null;
    const igb = transfer ? this.parts.take(transfer) : (frame.get("igb") as Uint8Array);
    if (igb) this.bytes.set(run, igb);
    this.runs.push(run);
    const nodes = [...read(igb as Uint8Array).nodes.keys()];
    this.tell(run, null, "started", { device: "cpu", executor: "numba", model: "tiny", digest: "00", nodes });
  }

  private resume(run: Id, after: number): void {
    const log = this.log.get(run);
    if (!log) this.refusal(run, "not_found", "run");
    else for (const event of log) if (event.seq > after) this.send(event);
  }
}

function versionOf(number: number, message: string, author: string, file: Uint8Array, sem: Uint8Array): Version {
  return { number, message, author, created: "2025-01-01T00:00:00.000Z", file, sem, patch: null, dotbin: null };
}

function cborOf(value: unknown): Value {
  if (Array.isArray(value)) return value.map(cborOf);
  if (value instanceof Map || value instanceof Uint8Array || value === null || typeof value !== "object")
    return value as Value;
  return new Map(Object.entries(value).map(([key, inner]) => [key, cborOf(inner)]));
}
