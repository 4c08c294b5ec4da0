// The editor's state as the interface sees it. The store in `store.ts` implements `Editor`; nothing else changes a graph.
import type { Edge, Graph, Id, Op, Value } from "../igb/graph";
import type { Diagnostic } from "../wire/frames";
import type { Catalogue } from "./catalogue";
import type { Ask } from "./saving";

export type { Diagnostic } from "../wire/frames";

export type Link = "connecting" | "open" | "lost"; // lost: edits are kept on this machine and pushed on return

/** Why the server wants no more of this client: not signed in, not allowed, no such Space, or another connection took its place. */
export type ClosedFor = "unauthenticated" | "forbidden" | "not_found" | "conflict";

export interface Version {
  number: number;
  message: string;
  author: string;
  created: string; // ISO 8601, UTC
  file: string; // hashes as hex
  sem: string;
  patch: string | null;
  dotbin: string | null;
}

export type NodePhase =
  | "idle" // not part of this run
  | "waiting" // part of the run, an input is not there yet
  | "queued"
  | "running"
  | "done"
  | "skipped"
  | "failed"
  | "cancelled";

export interface NodeRun {
  phase: NodePhase;
  text: string; // streamed so far
  steps: number;
  stepsLimit: number | null; // null: makes no dot
  kvUsed: number; // bytes
  kvCommitted: number;
  kvLimit: number | null;
  promptDone: number;
  promptTotal: number;
  rate: number; // tokens a second
  seconds: number | null;
  began: number | null; // seconds of the run
  ended: number | null;
  finish: "end" | "stop" | "cut" | null;
  outputs: Map<string, Value>;
  reason: { kind: string; port?: string; source?: Id } | null; // why queued or skipped
  place: number | null; // in the queue
  error: { code: number; name: string; where: string; expected: string; got: string } | null;
}

export interface RunView {
  id: Id;
  recalled: boolean; // had ended before this page looked
  status: "starting" | "running" | "done" | "failed" | "cancelled";
  reason: string | null;
  startedAt: number; // performance.now()
  seconds: number | null;
  device: string;
  executor: string;
  model: string;
  nodes: Map<Id, NodeRun>;
  outputs: Map<string, Value>;
}

/** An earlier run, shown in place of the newest. */
export interface PastRun {
  id: Id;
  started: string; // ISO 8601, UTC
}

export interface Pool {
  kvUsed: number;
  kvCommitted: number;
  kvReserved: number;
  kvTotal: number;
  stepsReserved: number;
  dots: number;
}

export interface Refusal {
  code: string;
  where: string;
  expected: string;
  got: string;
}

/** A save that met a version newer than the one it was made on: nothing of it stands, nothing of it is lost. */
export type Stale = Ask;

export interface Editor {
  link: Link;
  closedFor: ClosedFor | null; // the link is lost for good: what was not acknowledged does not reach the server from this page
  spaceId: Id;
  name: string;
  catalogue: Catalogue;
  graph: Graph; // confirmed + pending
  version: Version | null; // newest saved
  dirty: boolean; // the graph differs from that version
  pending: number; // ops not acknowledged
  keeps: boolean; // they outlive this page
  diagnostics: readonly Diagnostic[];
  checked: boolean; // they are of the graph as it is shown
  run: RunView | null; // the newest run of this Space, or the past one that is looked at
  past: PastRun | null; // which one that is
  pool: Pool | null;
  refusal: Refusal | null; // the last thing the server refused
  stale: Stale | null; // the last save, if it waits for a look at what came between
  undoLabel: string | null; // null: nothing to undo
  redoLabel: string | null;

  /** Apply ops as one undo entry. Edits with the same non-null `gesture` that follow each other join one entry. */
  edit(label: string, ops: readonly Op[], gesture?: string | null): void;
  /** End the current gesture, so that the next edit starts a new undo entry. */
  settle(): void;
  undo(): void;
  redo(): void;
  /** Keep the graph as a version on top of `base`: the newest one that was shown, unless it is said. */
  save(message: string, base?: number | null): void;
  start(inputs?: ReadonlyMap<string, Value>, targets?: readonly Id[]): void;
  cancel(): void;
  /** Show an earlier run on the canvas, until `live` or until another run begins. */
  recall(run: PastRun): void;
  live(): void;
  dismissRefusal(): void;
  dismissStale(): void;
  close(): void;
}

/** Why an edge may not be made, or null. `code` is an i18n key; the rest its values. */
export type ConnectVerdict = null | { code: string; expected: string; got: string };
export type CanConnect = (graph: Graph, catalogue: Catalogue, edge: Edge) => ConnectVerdict;
