// Saves of this client. One waits until every op is acknowledged; one is on its way, and goes again as it was when the link broke
// before its answer came. The base of a save is the version its person had seen when they asked for it, and nothing but an answer
// to a save of their own moves it on. Pure values and functions; the store keeps the newest one.
import type { Op } from "../igb/graph";
import type { SaveFrame } from "../wire/frames";

/** Ops by `place`, the newest of each. */
export type Written = ReadonlyMap<string, Op>;

export interface Ask {
  readonly message: string;
  readonly base: number | null;
  readonly mine: Written; // what this client wrote since the base
}

export interface Sent extends Ask {
  readonly frame: SaveFrame;
}

export interface Saving {
  readonly waiting: Ask | null;
  readonly sent: Sent | null;
}

export const NO_SAVE: Saving = { waiting: null, sent: null };

/** Of two that wait one is made: the later one, with whatever words there are. */
export function asked({ waiting, sent }: Saving, ask: Ask): Saving {
  return { waiting: { ...ask, message: ask.message || (waiting?.message ?? "") }, sent };
}

/** Put the save that waits on its way, unless one is on its way already. */
export function send(saving: Saving, id: SaveFrame["id"], seq: number): Saving {
  const { waiting, sent } = saving;
  if (!waiting || sent) return saving;
  const { message, base } = waiting;
  return { waiting: null, sent: { ...waiting, frame: { type: "save", id, seq, base_version: base, message } } };
}

/** Whether an answer is for the save on its way. */
export function isSent({ sent }: Saving, id: unknown): boolean {
  return sent !== null && Array.isArray(id) && id[0] === sent.frame.id[0] && id[1] === sent.frame.id[1];
}

/** The save on its way stands as this version. One that was asked for meanwhile stands on it. */
export function saved({ waiting, sent }: Saving, number: number): Saving {
  const follows = waiting && sent && waiting.base === sent.base;
  return { waiting: follows ? { ...waiting, base: number } : waiting, sent: null };
}

/** The save on its way was refused; one that waits goes on. */
export function refused({ waiting }: Saving): Saving {
  return { waiting, sent: null };
}

/** The save on its way was stale. One that waits would be as well, so the answer is for both. */
export function stale(saving: Saving): Ask | null {
  const { waiting, sent } = saving;
  if (!sent) return null;
  const { message, base, mine } = sent;
  return { message: waiting?.message || message, base, mine: new Map([...mine, ...(waiting?.mine ?? [])]) };
}
