// The newest saved version, whether the graph differs from it, what this client wrote since, and its saves on their way. Until it
// is known, a graph that changed counts as different. Owned by the store, which says when a save may go.
import { sameBytes } from "../igb/cbor";
import type { Graph, Op } from "../igb/graph";
import { hashes } from "../igb/igb";
import { place } from "../igb/ops";
import type { RefusalFrame, SavedFrame, SaveFrame, Version as VersionFrame } from "../wire/frames";
import type { Editor, Refusal, Version } from "./editor";
import * as saves from "./saving";

const COMPARE_MS = 150; // after the last change

export interface SavedOptions {
  show: (shown: Partial<Pick<Editor, "version" | "dirty" | "stale" | "refusal">>) => void;
  send: (frame: SaveFrame) => void;
  /** What a save goes under; null as long as an op is not acknowledged, or without a link. */
  ticket: () => Pick<SaveFrame, "id" | "seq"> | null;
}

export class Saved {
  private version: VersionFrame | null = null;
  private graph: Graph | null = null;
  private written = new Map<string, Op>();
  private saving = saves.NO_SAVE;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly options: SavedOptions) {}

  wrote(ops: readonly Op[]): void {
    for (const op of ops) this.written.set(place(op), op);
  }

  /** The server's newest version. */
  set(version: VersionFrame | null): void {
    if (version?.number !== this.version?.number) this.written = new Map();
    this.version = version;
    this.options.show({ version: version && shown(version) });
    if (this.graph) this.compare(this.graph);
  }

  ask(message: string, base = this.version?.number ?? null): void {
    this.saving = saves.asked(this.saving, { message, base, mine: new Map(this.written) });
    this.options.show({ stale: null });
  }

  /** Let the save go that waits, if it may. */
  settle(): void {
    const ticket = this.saving.waiting && !this.saving.sent ? this.options.ticket() : null;
    if (!ticket) return;
    this.saving = saves.send(this.saving, ticket.id, ticket.seq);
    this.resend();
  }

  resend(): void {
    if (this.saving.sent) this.options.send(this.saving.sent.frame);
  }

  /** A version was saved, by whomever. */
  take({ id, version }: SavedFrame): void {
    if (saves.isSent(this.saving, id)) this.saving = saves.saved(this.saving, version.number);
    this.set(version);
    this.settle();
  }

  /** Whether the refusal was that of a save. */
  refused(id: RefusalFrame["id"], refusal: Refusal): boolean {
    if (!saves.isSent(this.saving, id)) return false;
    if (refusal.code === "stale") {
      this.options.show({ stale: saves.stale(this.saving) });
      this.saving = saves.NO_SAVE;
    } else {
      this.options.show({ refusal });
      this.saving = saves.refused(this.saving);
      this.settle();
    }
    return true;
  }

  /** The graph as it is now; the answer comes a little later. */
  compare(graph: Graph): void {
    this.graph = graph;
    this.options.show({ dirty: true });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      hashes(graph).then(
        ({ file }) => {
          const same = graph === this.graph && this.version && sameBytes(file, this.version.file);
          if (same) this.options.show({ dirty: false });
        },
        (error) => console.error("a graph could not be compared with its saved version", error),
      );
    }, COMPARE_MS);
  }

  close(): void {
    clearTimeout(this.timer);
    this.graph = null;
  }
}

function shown({ file, sem, patch, dotbin, ...rest }: VersionFrame): Version {
  return { ...rest, file: hex(file), sem: hex(sem), patch: patch && hex(patch), dotbin: dotbin && hex(dotbin) };
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
