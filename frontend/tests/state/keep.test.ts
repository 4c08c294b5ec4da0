import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { StoreApi } from "zustand/vanilla";
import type { Op, Value } from "../../src/igb/graph";
import { EMPTY, write } from "../../src/igb/igb";
import { applyOps } from "../../src/igb/patch";
import { deliver } from "../../src/state/deliver";
import type { Editor } from "../../src/state/editor";
import { KEEP_MS, type Kept, openKept } from "../../src/state/keep";
import { createEditor, type EditorOptions, LINGER_MS } from "../../src/state/store";
import { id } from "../igb/worlds";
import { catalogue } from "./catalogue";
import { FakeServer } from "./server";
import { Locks, MemoryShelf } from "./shelf";

const SPACE = "00000space";
const [A, B, C] = [id(1), id(2), id(3)];
const plain = ["text.input", 1, new Map<string, Value>(), new Map<string, Value>()] as const;
const base = applyOps(EMPTY, [
  ["node+", [A], plain],
  ["move", [A], [], [[0, 0]]],
]);

function add(node: string): Op[] {
  return [
    ["node+", [node], plain],
    ["move", [node], [], [[5, 5]]],
  ];
}

interface Page {
  store: StoreApi<Editor>;
  kept: Kept;
  /** The page ends as a browser ends it: nothing of it runs any more. */
  kill(): void;
}

let server: FakeServer;
let shelf: MemoryShelf;
let locks: Locks;
let pages: Page[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  server = new FakeServer();
  server.graph = base;
  shelf = new MemoryShelf();
  locks = new Locks();
  pages = [];
});

afterEach(() => {
  for (const { store } of pages) store.getState().close();
  vi.useRealTimers();
});

async function page(accept = true): Promise<Page> {
  const claims = locks.page();
  const kept = await openKept(shelf, claims, SPACE);
  if (!kept) throw new Error("expected a page that keeps edits");
  const options: EditorOptions = { base: "http://127.0.0.1", space: SPACE, catalogue, socket: server.factory };
  const store = createEditor({ ...options, keep: kept.own });
  if (accept) server.accept();
  const made = {
    store,
    kept,
    kill: () => {
      pages.splice(pages.indexOf(made), 1);
      vi.clearAllTimers();
      for (const socket of server.sockets) socket.closed = true;
      claims.leave();
    },
  };
  pages.push(made);
  return made;
}

async function pass(ms = 2 * KEEP_MS): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
}

function same(store: StoreApi<Editor>): void {
  expect(Buffer.compare(write(store.getState().graph), write(server.graph))).toBe(0);
}

describe("edits made without a link", () => {
  test("are shown and pushed by the page that comes after", async () => {
    const first = await page();
    server.hangUp();
    first.store.getState().edit("Add", add(B));
    await pass(KEEP_MS);
    first.kill();

    const second = await page(false);
    expect(second.kept.own.client).toBe(first.kept.own.client);
    expect(second.store.getState()).toMatchObject({ link: "connecting", pending: 2 });
    expect([...second.store.getState().graph.nodes.keys()]).toEqual([A, B]);
    server.accept();
    await pass();
    expect(second.store.getState()).toMatchObject({ pending: 0, refusal: null });
    expect(server.graph.nodes.has(B)).toBe(true);
    expect(shelf.records.size + shelf.bases.size).toBe(0);
    same(second.store);
  });

  test("stand on what others wrote meanwhile", async () => {
    const first = await page();
    server.hangUp();
    first.store.getState().edit("Add", add(B));
    await pass(KEEP_MS);
    first.kill();
    server.patch(add(C));
    const second = await page();
    await pass();
    expect([...server.graph.nodes.keys()].sort()).toEqual([A, B, C].sort());
    same(second.store);
  });

  test("stay when the Space wants no more of this client", async () => {
    const first = await page();
    server.hangUp(4403);
    first.store.getState().edit("Add", add(B));
    await pass(10 * KEEP_MS);
    expect(first.store.getState()).toMatchObject({ closedFor: "forbidden", pending: 2 });
    expect(shelf.records.size).toBe(1);
    first.kill();
    const second = await page(false);
    server.hangUp(4403);
    await pass();
    expect(second.store.getState()).toMatchObject({ closedFor: "forbidden", pending: 2 });
    expect(shelf.records.size).toBe(1);
  });
});

describe("edits of the last moment", () => {
  test("reach the server although their page is left at once", async () => {
    const { store } = await page();
    store.getState().edit("Add", add(B));
    store.getState().close();
    await pass();
    expect(server.graph.nodes.has(B)).toBe(true);
    expect(server.socket.closed).toBe(true);
    expect(shelf.records.size).toBe(0);
  });

  test("stay kept when no answer comes, and whoever comes next has them", async () => {
    const { store } = await page();
    server.silent = true;
    store.getState().edit("Add", add(B));
    store.getState().close();
    await pass(LINGER_MS);
    expect(server.socket.closed).toBe(true);
    expect(shelf.records.size).toBe(1);
    server.silent = false;
    const second = await page();
    await pass();
    expect(server.graph.nodes.has(B)).toBe(true);
    same(second.store);
  });
});

describe("a push", () => {
  test("that came through unheard is answered, not applied twice", async () => {
    const first = await page();
    server.mute = true;
    first.store.getState().edit("Add", add(B));
    await pass(60);
    expect(server.graph.nodes.has(B)).toBe(true);
    first.kill();
    server.mute = false;
    server.patch([["move", [B], [[5, 5]], [[9, 9]]]]);
    const second = await page();
    await pass();
    const pushes = server.ofType("push").map((frame) => frame.get("id"));
    expect(pushes).toEqual([pushes[0], pushes[0]]);
    expect(server.graph.positions.get(B)).toEqual([9, 9]); // not written over by the repeat
    expect(second.store.getState()).toMatchObject({ pending: 0, refusal: null });
    expect(shelf.records.size).toBe(0);
    same(second.store);
  });

  test("travels only when it stands in the record", async () => {
    const { store } = await page();
    let go = (): void => {};
    shelf.stuck = new Promise((resolve) => {
      go = resolve;
    });
    store.getState().edit("Add", add(B));
    await pass();
    expect(server.ofType("push")).toHaveLength(0);
    go();
    await pass();
    expect(server.ofType("push")).toHaveLength(1);
    expect(store.getState().pending).toBe(0);
  });

  test("goes out all the same when the browser has no room", async () => {
    const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
    const { store } = await page();
    shelf.broken = true;
    store.getState().edit("Add", add(B));
    await pass();
    expect(store.getState().pending).toBe(0);
    expect(warned).toHaveBeenCalledTimes(1);
    same(store);
  });

  test("of a new counter follows edits of the page before, and none is swallowed as a repeat", async () => {
    const first = await page();
    server.mute = true;
    first.store.getState().edit("Add", add(B));
    await pass(60);
    first.store.getState().edit("Add", add(C));
    await pass(KEEP_MS);
    first.kill();
    server.mute = false;
    const second = await page(false);
    second.store.getState().edit("Move", [["move", [A], [[0, 0]], [[7, 7]]]]);
    server.accept();
    await pass();
    expect([...server.graph.nodes.keys()].sort()).toEqual([A, B, C].sort());
    expect(server.graph.positions.get(A)).toEqual([7, 7]);
    same(second.store);
  });
});

describe("two tabs", () => {
  test("have records of their own, and the one that lives is left alone", async () => {
    const first = await page();
    server.hangUp();
    first.store.getState().edit("Add", add(B));
    await pass(KEEP_MS);
    const second = await page(false);
    expect(second.kept.own.client).not.toBe(first.kept.own.client);
    expect(second.kept.left).toEqual([]);
    expect(second.store.getState().pending).toBe(0);
  });

  test("that are both gone leave nothing behind: one is taken over, the other delivered", async () => {
    const first = await page();
    const second = await page();
    server.silent = true;
    first.store.getState().edit("Add", add(B));
    second.store.getState().edit("Add", add(C));
    await pass();
    expect(shelf.records.size).toBe(2);
    first.kill();
    second.kill();
    server.silent = false;
    const third = await page();
    await pass();
    expect(third.kept.left).toHaveLength(1);
    const options: EditorOptions = { base: "http://127.0.0.1", space: SPACE, catalogue, socket: server.factory };
    const stop = deliver(options, third.kept.left, third.store);
    server.accept();
    await pass();
    stop();
    expect([...server.graph.nodes.keys()].sort()).toEqual([A, B, C].sort());
    expect(shelf.records.size).toBe(0);
  });
});

describe("a record", () => {
  test("goes when everything is acknowledged, and nothing is written for a page that only looks", async () => {
    const { store } = await page();
    await pass(10 * KEEP_MS);
    expect(shelf.puts).toBe(0);
    store.getState().edit("Add", add(B));
    await pass();
    expect(shelf.puts).toBe(1);
    expect(shelf.records.size).toBe(0);
  });

  test("that is none is not taken, and stays", async () => {
    const said = vi.spyOn(console, "error").mockImplementation(() => {});
    const row = { seq: 1, counter: 1, sent: null, queued: [Uint8Array.of(0xff, 0x00)], written: 1 };
    shelf.records.set(`${SPACE}/${id(9)}`, row);
    const { kept } = await page();
    expect(kept.own.found).toBe(null);
    expect(shelf.records.size).toBe(1);
    expect(said).toHaveBeenCalledTimes(1);
  });
});

/** What happens to pages and to the link, in any order; of several pages only the newest hears answers. Every edit is given time to be kept, not to be answered. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("edit" as const), page: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("kill" as const), page: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("open" as const), page: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("mute", "silent", "well", "other"), page: fc.nat(2) }) },
);

test("whenever pages die and answers fail, every edit reaches the server once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      server = new FakeServer();
      server.graph = base;
      shelf = new MemoryShelf();
      locks = new Locks();
      const options: EditorOptions = { base: "http://127.0.0.1", space: SPACE, catalogue, socket: server.factory };
      const made = new Set<string>([A]);
      const open: Page[] = [];
      for (const { kind, page: at } of steps) {
        const chosen = open[at % Math.max(open.length, 1)];
        const node = id(100 + made.size);
        if (kind === "open" && open.length < 3) open.push(await page(true));
        else if (kind === "kill") for (const one of open.splice(0)) one.kill();
        else if (kind === "edit" && chosen) {
          chosen.store.getState().edit("Add", add(node));
          made.add(node);
        } else if (kind === "other" && open.length > 0 && !server.silent && !server.mute) {
          server.patch(add(node));
          made.add(node);
        } else if (kind === "mute") server.mute = true;
        else if (kind === "silent") server.silent = true;
        else if (kind === "well") server.mute = server.silent = false;
        await pass(KEEP_MS + 10);
      }
      for (const one of [...open]) one.kill();
      server.mute = server.silent = false;
      const last = await page(true);
      await pass();
      for (const keep of last.kept.left) {
        deliver(options, [keep], last.store);
        server.accept();
        await pass();
      }
      expect([...server.graph.nodes.keys()].sort()).toEqual([...made].sort());
      expect(last.store.getState()).toMatchObject({ pending: 0, refusal: null });
      expect(shelf.records.size + shelf.bases.size).toBe(0);
      last.kill();
    }),
    { numRuns: 60 },
  );
});
