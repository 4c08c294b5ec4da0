// Edits that no server has acknowledged, kept in the browser. One record for each Space and client id: the push on its way, what
// is queued behind it, and the graph they stand on. A push is written here before it travels, so that one whose answer was never
// heard goes out again with its own id and is answered, not applied twice. The id of a client is claimed with a lock that its tab
// holds; a record whose tab is gone belongs to the next tab that opens the Space. What stands here is read as hostile bytes.
import { decode, encode, Malformed } from "../igb/cbor";
import type { Graph, Id, Op } from "../igb/graph";
import { isId, mint } from "../igb/id";
import { Invalid, read, write } from "../igb/igb";
import { checkSecretsOf, readOp } from "../igb/ops";
import * as replica from "./replica";
import type { Claims, Row, Shelf } from "./shelf";

export const KEEP_MS = 150; // after an edit, at the latest

/** What one client of a Space keeps. Owned by one store, which says what there is; closing it lets the claim go. */
export class Keep {
  private latest: replica.Replica | null = null; // to be written
  private timer: ReturnType<typeof setTimeout> | undefined;
  private base: Graph | null = null; // the graph that stands in the record
  private stands = false; // there is a record
  private failed = false;

  constructor(
    private readonly shelf: Shelf,
    private readonly space: Id,
    readonly client: Id,
    /** What was found; null for a new client. */
    readonly found: replica.Replica | null,
    private readonly release: () => void,
  ) {
    this.stands = found !== null;
    globalThis.addEventListener?.("pagehide", this.leaving);
  }

  /** False once this browser has refused to keep edits. */
  get works(): boolean {
    return !this.failed;
  }

  /** The replica as it is now: it is written soon, or its record goes when nothing is pending. */
  note(now: replica.Replica): void {
    if (replica.numPending(now) > 0) {
      this.latest = now;
      this.timer ??= setTimeout(() => void this.flush(), KEEP_MS);
      return;
    }
    this.forgetLatest();
    if (!this.stands) return;
    this.stands = false;
    this.base = null;
    void this.tried(() => this.shelf.remove(this.space, this.client));
  }

  /** Write the replica now. Resolves when it stands, or when this browser keeps nothing: edits go on all the same. */
  async write(now: replica.Replica): Promise<void> {
    this.forgetLatest();
    this.stands = true;
    const { seq, counter, sent, queued, confirmed } = now;
    const known = seq > 0 || confirmed.nodes.size > 0; // before the first welcome nothing is
    const igb = known && confirmed !== this.base ? write(confirmed) : null;
    if (igb) this.base = confirmed;
    const row = {
      seq,
      counter,
      sent: sent && { counter: sent.counter, ops: sent.ops.map(encode) },
      queued: queued.map(encode),
      written: Date.now(),
    };
    await this.tried(() => this.shelf.put(this.space, this.client, row, igb && { seq, igb }));
  }

  async close(): Promise<void> {
    globalThis.removeEventListener?.("pagehide", this.leaving);
    await this.flush();
    this.release();
  }

  private readonly leaving = (): void => void this.flush();

  private async flush(): Promise<void> {
    const { latest } = this;
    if (latest) await this.write(latest);
  }

  private forgetLatest(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.latest = null;
  }

  private async tried(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.base = null;
      if (!this.failed) console.warn("this browser does not keep edits", error);
      this.failed = true;
    }
  }
}

export interface Kept {
  readonly own: Keep;
  readonly left: readonly Keep[]; // of tabs that are gone, beside the one that became this tab's own
}

/**
 * Claim the records that tabs which are gone left behind; the newest becomes this tab's own, or it starts with a new id. Null:
 * this browser cannot keep records (no database, no locks).
 */
export async function openKept(shelf: Shelf, claims: Claims, space: Id): Promise<Kept | null> {
  try {
    const rows = [...(await shelf.rows(space))].sort(([, a], [, b]) => b.written - a.written);
    const found: Keep[] = [];
    for (const [client] of rows) {
      const release = isId(client) ? await claims.claim(nameOf(space, client)) : null;
      if (!release) continue;
      // Read again: the tab that held it may have written until it let go.
      const [row, base] = await shelf.get(space, client);
      const stood = row && readRow(row, base);
      if (stood) found.push(new Keep(shelf, space, client, stood, release));
      else release();
    }
    const [own, ...left] = found;
    if (own) return { own, left };
    const client = mint();
    const release = await claims.claim(nameOf(space, client));
    return release && { own: new Keep(shelf, space, client, null, release), left: [] };
  } catch (error) {
    console.warn("this browser does not keep edits", error);
    return null;
  }
}

function nameOf(space: Id, client: Id): string {
  return `spaces/${space}/${client}`;
}

/** Null for a record that is not one; it stays where it is. */
function readRow(row: Row, base: { seq: number; igb: Uint8Array } | undefined): replica.Replica | null {
  try {
    const sent = row.sent && { counter: count(row.sent.counter), ops: readOps(row.sent.ops) };
    const confirmed = base && base.seq === row.seq ? read(base.igb) : null;
    return replica.restored(count(row.seq), count(row.counter), confirmed, sent, readOps(row.queued));
  } catch (error) {
    if (!(error instanceof Invalid || error instanceof Malformed || error instanceof TypeError)) throw error;
    console.error("kept edits could not be read", error);
    return null;
  }
}

function count(value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new TypeError(`expected an unsigned int, got ${typeof value}`);
}

function readOps(list: readonly Uint8Array[]): Op[] {
  return list.map((bytes, i) => {
    const path = `kept[${i}]`;
    const op = readOp(decode(bytes), path);
    checkSecretsOf(op, path);
    return op;
  });
}
