// A browser's shelf and claims in memory. What is put is cloned as a browser does; pages end by `leave`.
import type { Base, Claims, Row, Shelf } from "../../src/state/shelf";

export class MemoryShelf implements Shelf {
  readonly records = new Map<string, Row>();
  readonly bases = new Map<string, Base>();
  broken = false;
  stuck: Promise<void> = Promise.resolve(); // what a write waits for
  puts = 0;

  async rows(space: string) {
    const found = [...this.records].filter(([key]) => key.startsWith(`${space}/`));
    return found.map(([key, row]) => [key.slice(space.length + 1), row] as const);
  }

  async get(space: string, client: string) {
    return [this.records.get(`${space}/${client}`), this.bases.get(`${space}/${client}`)] as const;
  }

  async put(space: string, client: string, row: Row, base: Base | null) {
    if (this.broken) throw new Error("no space left");
    const copy = structuredClone(row);
    await this.stuck;
    this.puts += 1;
    this.records.set(`${space}/${client}`, copy);
    if (base) this.bases.set(`${space}/${client}`, structuredClone(base));
  }

  async remove(space: string, client: string) {
    this.records.delete(`${space}/${client}`);
    this.bases.delete(`${space}/${client}`);
  }
}

/** The claims of all pages of a browser. */
export class Locks {
  private readonly held = new Map<string, object>();

  /** A page of its own. */
  page(): Claims & { leave(): void } {
    const page = {};
    const release = (name: string): void => {
      if (this.held.get(name) === page) this.held.delete(name);
    };
    return {
      claim: async (name) => {
        if (this.held.has(name)) return null;
        this.held.set(name, page);
        return () => release(name);
      },
      leave: () => {
        for (const name of [...this.held.keys()]) release(name);
      },
    };
  }
}
