// The store of one open Space. It composes the replica, the history, the newest run and the connection, and is the only
// thing that holds them; everything that decides is a pure function next door. Nothing here draws.
import { createStore, type StoreApi } from "zustand/vanilla";
import { encode, Malformed, sameBytes } from "../igb/cbor";
import type { Graph, Id, Op } from "../igb/graph";
import { mint } from "../igb/id";
import { hashes, Invalid, read, write } from "../igb/igb";
import type { Dropped } from "../igb/patch";
import type { PatchedFrame } from "../wire/frame";
import type { EventFrame, RefusalFrame, Version as SavedVersion, WelcomeFrame } from "../wire/frames";
import { split } from "../wire/parts";
import type { CatalogueEntry } from "./catalogue";
import { Connection, type SocketFactory, type Told } from "./connection";
import type { Editor, Refusal, Version } from "./editor";
import * as history from "./history";
import * as replica from "./replica";
import * as runs from "./runs";

export interface EditorOptions {
  base: string; // of the site, such as `http://127.0.0.1:8000`
  space: Id;
  catalogue: ReadonlyMap<string, CatalogueEntry>;
  socket: SocketFactory; // in a browser `(url) => new WebSocket(url)`
  frame?: (callback: () => void) => void; // calls back before the next picture is drawn
  random?: () => number;
}

const PUSH_MS = 40; // edits of so long travel together
const DIRTY_MS = 150; // after the last edit the graph is compared with the saved version
const INLINE = 900 * 1024; // a longer graph goes ahead in parts

export function createEditor(options: EditorOptions): StoreApi<Editor> {
  const client = mint();
  const url = `${options.base.replace(/^http/, "ws")}/ws/spaces/${options.space}`;
  const nextFrame = options.frame ?? drawn;

  let state = replica.UNKNOWN;
  let past = history.NOTHING;
  let run: runs.RunLog | null = null;
  let saved: SavedVersion | null = null;
  let saving: string | null = null; // a save that waits until every op is acknowledged
  let events: EventFrame[] = [];
  let asked = 0; // the run's seq after which events were asked for last
  const names = new Map<string, string>(); // of members, by client
  const left = new Set<Id>(); // runs that a newer one has taken the place of
  let pushTimer: ReturnType<typeof setTimeout> | undefined;
  let dirtyTimer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;

  const store = createStore<Editor>()(() => ({
    link: "connecting",
    spaceId: options.space,
    name: "",
    catalogue: options.catalogue,
    graph: state.graph,
    version: null,
    dirty: false,
    pending: 0,
    diagnostics: [],
    run: null,
    pool: null,
    refusal: null,
    undoLabel: null,
    redoLabel: null,
    edit,
    settle: () => {
      past = history.settle(past);
    },
    undo: () => step("undo"),
    redo: () => step("redo"),
    save,
    start,
    cancel: () => {
      if (run && !runs.hasEnded(run)) connection.send({ type: "cancel", run: run.view.id });
    },
    dismissRefusal: () => store.setState({ refusal: null }),
    close,
  }));

  const connection = new Connection({
    url,
    socket: options.socket,
    hello: () => ({ type: "hello", protocol: 1, client, resume: resumable() }),
    probe: () => ({ type: "resume", run: client, after_seq: 0 }), // no run has this id: the answer is a refusal
    onLink: (link) => store.setState({ link }),
    onWelcome,
    onFrame,
    random: options.random ?? Math.random,
  });
  const online = (): void => connection.retryNow();
  globalThis.addEventListener?.("online", online);

  return store;

  // Editing

  function edit(label: string, ops: readonly Op[], gesture: string | null = null): void {
    const large = ops.find((op) => encode(op).length > replica.MAX_PUSH);
    if (large) {
      refuse({ code: "size", where: large[1].join("."), expected: `at most ${replica.MAX_PUSH} bytes`, got: "more" });
      return;
    }
    const edited = replica.edit(state, ops);
    if (edited.ops.length > 0) past = history.record(past, label, gesture, edited.ops);
    show(edited);
  }

  function step(direction: "undo" | "redo"): void {
    const entry = past[direction].at(-1);
    if (!entry) return;
    const edited = replica.edit(state, entry.ops);
    past = direction === "undo" ? history.undone(past, edited.ops) : history.redone(past, edited.ops);
    if (entry.lost.length > 0) {
      refuse({ code: "overtaken", where: entry.label, expected: "your own edits", got: entry.lost.join(", ") });
    }
    show(edited);
  }

  /** Take a replica over; ops that were dropped on the way are told. */
  function show(moved: replica.Moved): void {
    const changed = moved.replica.graph !== state.graph;
    state = moved.replica;
    store.setState({
      graph: state.graph,
      pending: replica.numPending(state),
      undoLabel: past.undo.at(-1)?.label ?? null,
      redoLabel: past.redo.at(-1)?.label ?? null,
    });
    const [first] = moved.dropped;
    if (first) refuse(dropped(first));
    if (changed) compare();
    if (state.queued.length > 0) pushTimer ??= setTimeout(push, PUSH_MS);
    settleSave();
  }

  function push(): void {
    clearTimeout(pushTimer);
    pushTimer = undefined;
    if (store.getState().link !== "open" || state.sent) return;
    state = replica.send(state);
    sendPush();
  }

  function sendPush(): void {
    if (!state.sent) return;
    const { counter, ops } = state.sent;
    connection.send({ type: "push", id: [client, counter], base_seq: state.seq, ops }, true);
  }

  /** Whether the graph is the saved version; until that is known it counts as changed. */
  function compare(): void {
    clearTimeout(dirtyTimer);
    if (!store.getState().dirty) store.setState({ dirty: true });
    dirtyTimer = setTimeout(() => {
      const { graph } = state;
      hashes(graph).then(({ file }) => {
        if (graph === state.graph && saved && sameBytes(file, saved.file)) store.setState({ dirty: false });
      }, report);
    }, DIRTY_MS);
  }

  // Saving and running

  function save(message: string): void {
    saving = message;
    push();
    settleSave();
  }

  function settleSave(): void {
    if (saving === null || replica.numPending(state) > 0 || store.getState().link !== "open") return;
    const message = saving;
    saving = null;
    state = { ...state, counter: state.counter + 1 };
    const base_version = saved?.number ?? null;
    connection.send({ type: "save", id: [client, state.counter], seq: state.seq, base_version, message }, true);
  }

  function start(inputs: Parameters<Editor["start"]>[0], targets: Parameters<Editor["start"]>[1]): void {
    if (store.getState().link !== "open") {
      refuse({ code: "offline", where: "run", expected: "a link to the server", got: store.getState().link });
      return;
    }
    push();
    const igb = write(state.graph);
    const id = mint();
    const transfer = igb.length > INLINE ? mint() : null;
    if (transfer !== null) for (const part of split(transfer, igb)) connection.send(part);
    follow(runs.begun(id, performance.now()));
    const short = transfer === null ? igb : null;
    connection.send(
      { type: "run", run: id, igb: short, transfer, version: null, inputs: inputs ?? null, targets: targets ?? null },
      true,
    );
  }

  /** Make this the run that is shown. */
  function follow(log: runs.RunLog): void {
    if (run) left.add(run.view.id);
    events = events.filter((event) => event.run === log.view.id);
    run = log;
    asked = 0;
    store.setState({ run: log.view });
  }

  function resumable(): ReadonlyMap<Id, number> {
    return run && !runs.hasEnded(run) ? new Map([[run.view.id, run.last]]) : new Map();
  }

  // Frames

  function onWelcome(frame: WelcomeFrame, igb: Uint8Array): void {
    let graph: Graph;
    try {
      graph = read(igb);
    } catch (error) {
      if (!(error instanceof Invalid || error instanceof Malformed)) throw error;
      report(error);
      connection.drop();
      return;
    }
    saved = frame.version;
    asked = 0;
    for (const { client: other, name } of frame.members) names.set(other, name);
    store.setState({ name: frame.space.name, version: saved && versionOf(saved) });
    show(replica.welcomed(state, frame.seq, graph));
    compare();
    sendPush(); // the same id as before: if the server has it, it answers and does not apply it again
    push();
    const newest = frame.runs.at(-1);
    if (newest !== undefined && newest !== run?.view.id && (!run || runs.hasEnded(run))) {
      follow(runs.begun(newest, performance.now()));
      connection.send({ type: "resume", run: newest, after_seq: 0 }, true);
    }
  }

  function onFrame(frame: Told): void {
    switch (frame.type) {
      case "ack":
        if (frame.id[0] === client) take(replica.acked(state, frame.id[1], frame.seq));
        return;
      case "patched":
        onPatched(frame);
        return;
      case "refused":
        onRefused(frame);
        return;
      case "diagnosed":
        store.setState({ diagnostics: frame.diagnostics });
        return;
      case "saved":
        saved = frame.version;
        store.setState({ version: versionOf(saved) });
        compare();
        return;
      case "event":
        if (events.push(frame) === 1) nextFrame(foldEvents);
        return;
      case "presence":
        return;
    }
  }

  function onPatched({ seq, ops, author, overtaken }: PatchedFrame): void {
    const own = author === client;
    if (!own && seq > state.seq) past = history.overtaken(past, ops, nameOf(author));
    const [first] = own ? overtaken : [];
    if (first)
      refuse({ code: "overtaken", where: first[0].join("."), expected: "what you had seen", got: nameOf(first[1]) });
    take(replica.patched(state, seq, ops, own));
  }

  /** Null: what the server says does not fit on what is known here, so a fresh welcome is needed. */
  function take(moved: replica.Moved | null): void {
    if (!moved) {
      connection.drop();
      return;
    }
    const due = pushTimer === undefined; // what came while the last push was on its way has waited long enough
    show(moved);
    if (due) push();
  }

  function onRefused({ id, code, where, expected, got }: RefusalFrame): void {
    if (id === client) return; // the answer to a probe
    refuse({ code, where, expected, got });
    if (typeof id === "string") {
      if (run?.view.id !== id) return;
      run = runs.failed(run, code);
      store.setState({ run: run.view });
      return;
    }
    // A push of which something stands is settled by `patched`; for one of which nothing stands this is the answer.
    if (id !== null && id[0] === client) take(replica.refused(state, id[1]));
  }

  /** Fold what came since the last picture; events of a run that is not shown yet make it the one shown. */
  function foldEvents(): void {
    if (closed) return;
    const batch = events;
    events = [];
    for (const event of batch) {
      if (event.run === run?.view.id || left.has(event.run)) continue;
      follow(runs.begun(event.run, performance.now()));
    }
    if (!run) return;
    const id = run.view.id;
    const before = run;
    run = runs.fold(
      run,
      batch.filter((event) => event.run === id),
    );
    if (run.view !== before.view) store.setState({ run: run.view });
    if (run.pool !== before.pool) store.setState({ pool: run.pool });
    if (runs.hasGap(run) && asked !== run.last + 1) {
      asked = run.last + 1;
      connection.send({ type: "resume", run: id, after_seq: run.last }, true);
    }
  }

  function nameOf(author: string): string {
    return names.get(author) ?? author;
  }

  function refuse(refusal: Refusal): void {
    store.setState({ refusal });
  }

  function close(): void {
    closed = true;
    globalThis.removeEventListener?.("online", online);
    clearTimeout(pushTimer);
    clearTimeout(dirtyTimer);
    connection.close();
  }
}

function dropped({ op, code }: Dropped): Refusal {
  return { code, where: `${op[0]} ${op[1].join(".")}`, expected: "an op that fits the graph as it is now", got: op[0] };
}

function versionOf({ file, sem, patch, dotbin, ...rest }: SavedVersion): Version {
  return { ...rest, file: hex(file), sem: hex(sem), patch: patch && hex(patch), dotbin: dotbin && hex(dotbin) };
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Before the next picture, or soon where none is drawn (a tab in the background). */
function drawn(callback: () => void): void {
  let due = true;
  const once = (): void => {
    if (due) callback();
    due = false;
  };
  if (typeof requestAnimationFrame === "function") requestAnimationFrame(once);
  setTimeout(once, typeof requestAnimationFrame === "function" ? 250 : 16);
}

function report(error: unknown): void {
  console.error("spaces:", error);
}
