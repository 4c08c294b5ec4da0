// The store of one open Space. It composes the replica, the history, the run that is shown, the saved version and the
// connection, and is the only thing that holds them; everything that decides stands next door. Nothing here draws.
import { createStore, type StoreApi } from "zustand/vanilla";
import { encode, Malformed } from "../igb/cbor";
import type { Graph, Id, Op } from "../igb/graph";
import { isId, mint } from "../igb/id";
import { Invalid, read } from "../igb/igb";
import type { PatchedFrame, RefusalFrame, WelcomeFrame } from "../wire/frames";
import type { Catalogue } from "./catalogue";
import { Connection, type SocketFactory, type Told } from "./connection";
import type { Editor, Refusal } from "./editor";
import { beforeNextPicture, Follower } from "./follower";
import * as history from "./history";
import type { Keep } from "./keep";
import { INLINE, launch, sizeOf } from "./launch";
import * as refusals from "./refusals";
import * as replica from "./replica";
import { Saved, type SavedOptions } from "./saved";

export interface EditorOptions {
  base: string; // of the site, such as `http://127.0.0.1:8000`
  space: Id;
  catalogue: Catalogue;
  socket: SocketFactory; // in a browser `(url) => new WebSocket(url)`
  status?: () => Promise<number>; // the HTTP status of the Space, 0 without an answer
  frame?: (callback: () => void) => void; // calls back before the next picture is drawn
  random?: () => number;
  newest?: () => Promise<Id | null>; // the newest run of the Space, if it has ended and its events stay
  keep?: Keep; // of this client; without it edits live as long as the page
}

export const PUSH_MS = 40; // edits of so long travel together
export const LINGER_MS = 3_000; // a closed store waits so long for the answer to its last edits; after that they stay kept

export function createEditor(options: EditorOptions): StoreApi<Editor> {
  const { keep } = options;
  const client = keep?.client ?? mint();
  let state = keep?.found ?? replica.UNKNOWN;
  let kept = state.sent; // the push that stands in the record: one may travel only then
  let past = history.NOTHING;
  let diagnosed = -1; // the seq of the graph that the diagnostics are of
  const names = new Map<string, string>(); // of members, by client
  let pushTimer: ReturnType<typeof setTimeout> | undefined;
  let leaving: ReturnType<typeof setTimeout> | undefined;

  const store = createStore<Editor>()(() => ({
    link: "connecting",
    closedFor: null,
    spaceId: options.space,
    name: "",
    catalogue: options.catalogue,
    graph: state.graph,
    version: null,
    dirty: false,
    pending: replica.numPending(state),
    keeps: keep?.works ?? false,
    diagnostics: [],
    checked: false,
    run: null,
    past: null,
    pool: null,
    refusal: null,
    stale: null,
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
      if (follower.running !== null) connection.send({ type: "cancel", run: follower.running });
    },
    recall: (run) => follower.recall(run),
    live: () => follower.live(),
    dismissRefusal: () => store.setState({ refusal: null }),
    dismissStale: () => store.setState({ stale: null }),
    close,
  }));

  const saved = new Saved({
    show: (shown) => store.setState(shown),
    send: (frame) => connection.send(frame, true),
    ticket,
  });
  const follower = new Follower({
    frame: options.frame ?? beforeNextPicture,
    resume: (run, after) => connection.send({ type: "resume", run, after_seq: after }, true),
    show: (shown) => store.setState(shown),
    newest: options.newest ?? (async () => null),
  });
  const connection = new Connection({
    url: `${options.base.replace(/^http/, "ws")}/ws/spaces/${options.space}`,
    socket: options.socket,
    hello: () => ({ type: "hello", protocol: 1, client, resume: follower.resumable() }),
    probe: () => ({ type: "resume", run: client, after_seq: 0 }), // no run has this id: the answer is a refusal
    status: options.status ?? (async () => 0),
    onLink: (link, closedFor) => store.setState({ link, closedFor }),
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
      refuse(refusals.tooLarge(large[1].join("."), replica.MAX_PUSH, "more"));
      return;
    }
    const edited = replica.edit(state, ops);
    if (edited.ops.length > 0) past = history.record(past, label, gesture, edited.ops);
    saved.wrote(edited.ops);
    show(edited);
  }

  function step(direction: "undo" | "redo"): void {
    const entry = past[direction].at(-1);
    if (!entry) return;
    const edited = replica.edit(state, entry.ops);
    past = direction === "undo" ? history.undone(past, edited.ops) : history.redone(past, edited.ops);
    saved.wrote(edited.ops);
    if (entry.lost.length > 0) refuse(refusals.partlyLost(entry));
    show(edited);
  }

  function isChecked(): boolean {
    return diagnosed >= state.seq && replica.numPending(state) === 0;
  }

  /** Take a replica over; ops that were dropped on the way, or wrote over what `other` wrote, are told. */
  function show(moved: replica.Moved, other = ""): void {
    const changed = moved.replica.graph !== state.graph;
    state = moved.replica;
    store.setState({
      graph: state.graph,
      pending: replica.numPending(state),
      checked: isChecked(),
      keeps: keep?.works ?? false,
      undoLabel: past.undo.at(-1)?.label ?? null,
      redoLabel: past.redo.at(-1)?.label ?? null,
    });
    const [lost] = moved.dropped;
    const [over] = moved.overtaken;
    if (lost) refuse(refusals.dropped(lost));
    else if (over) refuse(refusals.wroteOver([over[0], ...over[1]], other));
    if (changed && leaving === undefined) saved.compare(state.graph);
    keep?.note(state);
    if (state.queued.length > 0) pushTimer ??= setTimeout(push, PUSH_MS);
    saved.settle();
    if (leaving !== undefined && replica.numPending(state) === 0) end();
  }

  function push(): void {
    clearTimeout(pushTimer);
    pushTimer = undefined;
    if (store.getState().link !== "open" || state.sent) return;
    state = replica.send(state);
    const { sent } = state;
    if (!keep || !sent) {
      sendPush();
      return;
    }
    void keep.write(state).then(() => {
      kept = sent;
      if (state.sent === sent) sendPush();
    });
  }

  function sendPush(): void {
    if (!state.sent || (keep && state.sent !== kept)) return;
    const { counter, ops } = state.sent;
    connection.send({ type: "push", id: [client, counter], base_seq: state.seq, ops }, true);
  }

  // Saving and running

  function save(message: string, base?: number | null): void {
    saved.ask(message, base);
    push();
    saved.settle();
  }

  function ticket(): ReturnType<SavedOptions["ticket"]> {
    if (replica.numPending(state) > 0 || store.getState().link !== "open") return null;
    state = { ...state, counter: state.counter + 1 };
    return { id: [client, state.counter], seq: state.seq };
  }

  function start(inputs: Parameters<Editor["start"]>[0], targets: Parameters<Editor["start"]>[1]): void {
    const { link } = store.getState();
    const size = sizeOf(inputs);
    if (link !== "open") refuse(refusals.offline(link));
    else if (size > INLINE) refuse(refusals.tooLarge("run.inputs", INLINE, String(size)));
    else {
      push();
      const frames = launch(follower.begin(), state.graph, inputs, targets);
      for (const frame of frames) connection.send(frame, frame.type === "run");
    }
  }

  // Frames

  function onWelcome(frame: WelcomeFrame, igb: Uint8Array): void {
    const graph = readOrNull(igb);
    if (!graph) {
      connection.drop();
      return;
    }
    for (const { client: other, name } of frame.members) names.set(other, name);
    store.setState({ name: frame.space.name });
    saved.set(frame.version);
    saved.resend(); // the same seq and base as before: if it stands and is the newest, equal bytes are answered with it
    past = history.overtaken(past, replica.missed(state, graph), "");
    show(replica.welcomed(state, frame.seq, graph));
    saved.compare(state.graph);
    sendPush(); // the same id as before: if the server has it, it answers and does not apply it again
    push();
    follower.welcome(frame.runs);
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
        diagnosed = frame.seq;
        store.setState({ diagnostics: frame.diagnostics, checked: isChecked() });
        return;
      case "saved":
        saved.take(frame);
        return;
      case "event":
        follower.take(frame);
        return;
      case "presence":
        names.set(frame.client, frame.name);
        return;
    }
  }

  function onPatched({ seq, ops, author, overtaken }: PatchedFrame): void {
    const own = author === client;
    if (!own && seq > state.seq) past = history.overtaken(past, ops, nameOf(author));
    const [first] = own ? overtaken : [];
    if (first) refuse(refusals.wroteOver(first[0], nameOf(first[1])));
    take(replica.patched(state, seq, ops, own), nameOf(author));
  }

  function onRefused({ id, code, where, expected, got }: RefusalFrame): void {
    if (id === client) return; // the answer to a probe
    const refusal = { code, where, expected, got };
    if (saved.refused(id, refusal)) return;
    refuse(refusal);
    if (typeof id === "string") follower.refused(id, code);
    // The disk took nothing of it: it waits here and goes again under its id, later each time, as after a lost link.
    else if (code === "storage") connection.drop();
    // A push of which something stands is settled by `patched`; for one of which nothing stands this is the answer.
    else if (id !== null && id[0] === client) take(replica.refused(state, id[1]));
  }

  /** Null: what the server says does not fit on what is known here, so a fresh welcome is needed. */
  function take(moved: replica.Moved | null, other = ""): void {
    if (!moved) {
      connection.drop();
      return;
    }
    const due = pushTimer === undefined; // what came while the last push was on its way has waited long enough
    show(moved, other);
    if (due) push();
  }

  /** Empty for a client that nothing is known of. An author that is no client bears a name already. */
  function nameOf(author: string): string {
    return names.get(author) ?? (isId(author) ? "" : author);
  }

  function refuse(refusal: Refusal): void {
    store.setState({ refusal });
  }

  function close(): void {
    saved.close();
    follower.close();
    if (keep && leaving === undefined && store.getState().link === "open" && replica.numPending(state) > 0) {
      leaving = setTimeout(end, LINGER_MS);
      push();
    } else end();
  }

  function end(): void {
    globalThis.removeEventListener?.("online", online);
    clearTimeout(leaving);
    clearTimeout(pushTimer);
    connection.close();
    void keep?.close();
  }
}

function readOrNull(igb: Uint8Array): Graph | null {
  try {
    return read(igb);
  } catch (error) {
    if (!(error instanceof Invalid || error instanceof Malformed)) throw error;
    console.error("the graph of a welcome was refused", error);
    return null;
  }
}
