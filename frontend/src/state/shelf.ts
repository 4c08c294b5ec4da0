// Where a browser keeps what must outlive a page: records in IndexedDB, and claims as Web Locks that end with their page.
// Knows bytes and keys only; `keep.ts` knows what they mean.
import type { Id } from "../igb/graph";

export interface Row {
  readonly seq: number; // of the confirmed graph
  readonly counter: number; // of the last push
  readonly sent: { readonly counter: number; readonly ops: readonly Uint8Array[] } | null;
  readonly queued: readonly Uint8Array[];
  readonly written: number; // ms since 1970
}

export interface Base {
  readonly seq: number;
  readonly igb: Uint8Array;
}

export interface Shelf {
  rows(space: Id): Promise<readonly (readonly [client: Id, row: Row])[]>;
  get(space: Id, client: Id): Promise<readonly [Row | undefined, Base | undefined]>;
  /** Without a base the one that stands there stays. */
  put(space: Id, client: Id, row: Row, base: Base | null): Promise<void>;
  remove(space: Id, client: Id): Promise<void>;
}

export interface Claims {
  /** The right to a name until it is let go or the page ends; null while another page has it. */
  claim(name: string): Promise<(() => void) | null>;
}

const NAME = "spaces";
const ROWS = "edits";
const BASES = "bases";

export class Database implements Shelf {
  private opening: Promise<IDBDatabase> | null = null;

  rows(space: Id): Promise<readonly (readonly [Id, Row])[]> {
    const range = IDBKeyRange.bound([space], [space, []]); // an array sorts after every string
    return this.work("readonly", async (tx) => {
      const rows = tx.objectStore(ROWS);
      const [keys, values] = await Promise.all([answer(rows.getAllKeys(range)), answer(rows.getAll(range))]);
      return keys.map((key, i) => [(key as [Id, Id])[1], values[i] as Row] as const);
    });
  }

  get(space: Id, client: Id): Promise<readonly [Row | undefined, Base | undefined]> {
    const key = [space, client];
    return this.work("readonly", (tx) =>
      Promise.all([
        answer<Row | undefined>(tx.objectStore(ROWS).get(key)),
        answer<Base | undefined>(tx.objectStore(BASES).get(key)),
      ]),
    );
  }

  put(space: Id, client: Id, row: Row, base: Base | null): Promise<void> {
    return this.work("readwrite", async (tx) => {
      tx.objectStore(ROWS).put(row, [space, client]);
      if (base) tx.objectStore(BASES).put(base, [space, client]);
    });
  }

  remove(space: Id, client: Id): Promise<void> {
    return this.work("readwrite", async (tx) => {
      tx.objectStore(ROWS).delete([space, client]);
      tx.objectStore(BASES).delete([space, client]);
    });
  }

  /** One transaction; resolves when it is done for good. */
  private async work<T>(mode: IDBTransactionMode, act: (tx: IDBTransaction) => Promise<T>): Promise<T> {
    this.opening ??= opened();
    const tx = (await this.opening).transaction([ROWS, BASES], mode);
    const done = new Promise<void>((resolve, reject) => {
      tx.oncomplete = () => resolve();
      tx.onabort = () => reject(tx.error);
    });
    const acted = act(tx);
    if (mode === "readwrite") tx.commit(); // all is asked for by now; a page that ends answers no request, which would abort it
    const [result] = await Promise.all([acted, done]);
    return result;
  }
}

function opened(): Promise<IDBDatabase> {
  const request = indexedDB.open(NAME, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(ROWS);
    request.result.createObjectStore(BASES);
  };
  return answer(request);
}

function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

export class PageLocks implements Claims {
  claim(name: string): Promise<(() => void) | null> {
    return new Promise((resolve, reject) => {
      const held = (lock: Lock | null): Promise<void> | undefined => {
        if (!lock) resolve(null);
        else return new Promise<void>((release) => resolve(release));
      };
      navigator.locks.request(name, { ifAvailable: true }, held).catch(reject);
    });
  }
}
