// What this client knows of the graph: the server's confirmed state, the push on its way, and ops still to be pushed.
// Pure values and functions; the store keeps the newest one. One push is on its way at a time, so an answer has one meaning.
import { encode, sameBytes } from "../igb/cbor";
import { diff } from "../igb/diff";
import type { Graph, Op } from "../igb/graph";
import { EMPTY, Invalid } from "../igb/igb";
import { compose, place } from "../igb/ops";
import { applyOps, type Dropped, rebase } from "../igb/patch";

export interface Push {
  readonly counter: number;
  readonly ops: readonly Op[];
}

export interface Replica {
  readonly seq: number;
  readonly confirmed: Graph;
  readonly sent: Push | null;
  readonly queued: readonly Op[];
  readonly graph: Graph; // confirmed + sent + queued
  readonly counter: number; // of the last push
}

export interface Edited extends Moved {
  readonly ops: readonly Op[]; // what applied
}

export interface Moved {
  readonly replica: Replica;
  readonly dropped: readonly Dropped[];
  readonly overtaken: readonly Op[]; // ops that write over what someone else wrote meanwhile
}

export const MAX_PUSH = 900 * 1024; // bytes of ops in one push; a frame holds 1 MiB
const MAX_OPS = 20_000;

export const UNKNOWN: Replica = { seq: 0, confirmed: EMPTY, sent: null, queued: [], graph: EMPTY, counter: 0 };

/** What was kept of an earlier page. Without a graph to stand on, or when ops do not fit it, they wait as they are for the welcome. */
export function restored(
  seq: number,
  counter: number,
  confirmed: Graph | null,
  sent: Push | null,
  queued: readonly Op[],
): Replica {
  const waiting: Replica = { ...UNKNOWN, counter: Math.max(counter, sent?.counter ?? 0), sent, queued };
  if (!confirmed) return waiting;
  const moved = shown({ ...waiting, seq, confirmed });
  return moved.dropped.length === 0 ? moved.replica : waiting;
}

export function numPending({ sent, queued }: Replica): number {
  return (sent?.ops.length ?? 0) + queued.length;
}

/** Apply ops at once; they wait to be pushed. */
export function edit(replica: Replica, ops: readonly Op[]): Edited {
  const { graph, ops: applied, dropped } = rebase(replica.graph, ops);
  if (applied.length === 0) return { ...still(replica), ops: applied, dropped };
  const edited = { ...replica, graph, queued: compose([...replica.queued, ...applied]) };
  return { ...still(edited), ops: applied, dropped };
}

/** Put queued ops on their way, as many as one frame holds, unless a push is on its way already. */
export function send(replica: Replica): Replica {
  if (replica.sent || replica.queued.length === 0) return replica;
  const counter = replica.counter + 1;
  const fitting = numFitting(replica.queued);
  const sent = { counter, ops: replica.queued.slice(0, fitting) };
  return { ...replica, sent, queued: replica.queued.slice(fitting), counter };
}

function numFitting(ops: readonly Op[]): number {
  let size = 0;
  for (let i = 0; i < ops.length; i++) {
    size += encode(ops[i] as Op).length;
    if (i > 0 && (size > MAX_PUSH || i >= MAX_OPS)) return i;
  }
  return ops.length;
}

/** The push stands in the journal as sent. Null when it cannot stand on what was confirmed: the client must start over. */
export function acked(replica: Replica, counter: number, seq: number): Moved | null {
  if (replica.sent?.counter !== counter) return still(replica);
  if (seq <= replica.seq) return shown({ ...replica, sent: null }); // a repeat: the welcome had it already
  const confirmed = applied(replica.confirmed, replica.sent.ops);
  return confirmed && still({ ...replica, seq, confirmed, sent: null });
}

/** Ops of the server's order. `own`: they are what became of the push on its way. Null: they do not fit, start over. */
export function patched(replica: Replica, seq: number, ops: readonly Op[], own: boolean): Moved | null {
  const sent = own ? null : replica.sent;
  if (seq <= replica.seq) return shown({ ...replica, sent });
  const confirmed = applied(replica.confirmed, ops);
  return confirmed && shown({ ...replica, seq, confirmed, sent });
}

function applied(graph: Graph, ops: readonly Op[]): Graph | null {
  try {
    return applyOps(graph, ops);
  } catch (error) {
    if (error instanceof Invalid) return null;
    throw error;
  }
}

/** The server did not take the push, or not all of it; what it took comes as `patched`. */
export function refused(replica: Replica, counter: number): Moved {
  return replica.sent?.counter === counter ? shown({ ...replica, sent: null }) : still(replica);
}

/** What others wrote while the link was lost, as far as a welcome's graph tells. What the push on its way does is our own. */
export function missed({ confirmed, sent }: Replica, welcome: Graph): Op[] {
  const own = sent ? diff(confirmed, rebase(confirmed, sent.ops).graph) : [];
  const known = new Map(own.map((op) => [place(op), encode(op)]));
  return diff(confirmed, welcome).filter((op) => {
    const mine = known.get(place(op));
    return !mine || !sameBytes(mine, encode(op));
  });
}

/** A new link: the server's graph as it stands now, under the ops that it has not acknowledged. */
export function welcomed(replica: Replica, seq: number, confirmed: Graph): Moved {
  return shown({ ...replica, seq, confirmed });
}

function still(replica: Replica): Moved {
  return { replica, dropped: [], overtaken: [] };
}

/**
 * The graph made anew. Queued ops come to stand on what is there now, so that they compose with edits to come; those that
 * no longer fit are dropped. About the ops on their way the server decides.
 */
function shown(replica: Replica): Moved {
  const { confirmed, sent, queued } = replica;
  const below = sent ? rebase(confirmed, sent.ops).graph : confirmed;
  if (queued.length === 0) return still({ ...replica, graph: below });
  const { graph, ops, dropped, overtaken } = rebase(below, queued);
  return { replica: { ...replica, graph, queued: compose(ops) }, dropped, overtaken };
}
