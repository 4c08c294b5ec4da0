// The newest saved version, whether the graph differs from it, and what this client wrote since. Until it is known, a graph that
// changed counts as different.
import { sameBytes } from "../igb/cbor";
import type { Graph, Op } from "../igb/graph";
import { hashes } from "../igb/igb";
import { place } from "../igb/ops";
import type { Version as VersionFrame } from "../wire/frames";
import type { Version } from "./editor";
import type { Written } from "./saving";

const COMPARE_MS = 150; // after the last change

export class Saved {
  private version: VersionFrame | null = null;
  private graph: Graph | null = null;
  private written = new Map<string, Op>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly show: (shown: { version?: Version | null; dirty?: boolean }) => void) {}

  get number(): number | null {
    return this.version?.number ?? null;
  }

  get mine(): Written {
    return new Map(this.written);
  }

  wrote(ops: readonly Op[]): void {
    for (const op of ops) this.written.set(place(op), op);
  }

  /** The server's newest version. */
  set(version: VersionFrame | null): void {
    if (version?.number !== this.version?.number) this.written = new Map();
    this.version = version;
    this.show({ version: version && shown(version) });
    if (this.graph) this.compare(this.graph);
  }

  /** The graph as it is now; the answer comes a little later. */
  compare(graph: Graph): void {
    this.graph = graph;
    this.show({ dirty: true });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      hashes(graph).then(
        ({ file }) => {
          if (graph === this.graph && this.version && sameBytes(file, this.version.file)) this.show({ dirty: false });
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
