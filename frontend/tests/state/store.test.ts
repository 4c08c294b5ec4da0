import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { StoreApi } from "zustand/vanilla";
import type { Id, Op, Value } from "../../src/igb/graph";
import { EMPTY, hashes, read, write } from "../../src/igb/igb";
import { applyOps } from "../../src/igb/patch";
import type { CatalogueEntry } from "../../src/state/catalogue";
import { ANSWER_MS, QUIET_MS } from "../../src/state/connection";
import type { Editor } from "../../src/state/editor";
import * as edits from "../../src/state/edits";
import { createEditor, type EditorOptions, PUSH_MS } from "../../src/state/store";
import { graphOps, id, graph as worlds } from "../igb/worlds";
import { catalogue } from "./catalogue";
import { FakeServer } from "./server";

const [A, B] = [id(1), id(2)];
const plain = ["text.input", 1, new Map<string, Value>(), new Map<string, Value>()] as const;
const base = applyOps(EMPTY, [
  ["node+", [A], plain],
  ["move", [A], [], [[0, 0]]],
]);

let server: FakeServer;
let frames: (() => void)[];
let open: StoreApi<Editor>[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  server = new FakeServer();
  server.graph = base;
  frames = [];
  open = [];
});

afterEach(() => {
  for (const store of open) store.getState().close();
  vi.useRealTimers();
});

function edit(accept = true, more: Partial<EditorOptions> = {}): StoreApi<Editor> {
  const store = createEditor({
    base: "http://127.0.0.1:8000",
    space: "00000space",
    catalogue,
    socket: server.factory,
    frame: (callback) => frames.push(callback),
    random: () => 0.5,
    ...more,
  });
  open.push(store);
  if (accept) server.accept();
  return store;
}

/** Let a picture be drawn. */
function draw(): void {
  for (const callback of frames.splice(0)) callback();
}

/** Let everything that waits be pushed and answered. */
function pass(ms = 100): void {
  vi.advanceTimersByTime(ms);
}

function move(x: number, from = 0): Op {
  return ["move", [A], [[from, 0]], [[x, 0]]];
}

function same(store: StoreApi<Editor>): void {
  expect(Buffer.compare(write(store.getState().graph), write(server.graph))).toBe(0);
}

describe("a link", () => {
  test("opens with hello and welcome", () => {
    const store = edit(false);
    expect(store.getState().link).toBe("connecting");
    expect(server.socket.url).toBe("ws://127.0.0.1:8000/ws/spaces/00000space");
    server.accept();
    expect(store.getState()).toMatchObject({ link: "open", name: "Test", pending: 0, version: null });
    expect(server.frames[0]?.get("protocol")).toBe(1);
    expect(store.getState().graph).toEqual(read(write(base)));
  });

  test("takes a long graph in parts", () => {
    const text = "x".repeat(300_000);
    server.graph = applyOps(
      base,
      [1, 2, 3].map((n): Op => ["set", [A, `p${n}`], [], [text]]),
    );
    same(edit());
  });

  test("comes back after it was lost, slower each time, and keeps edits until then", () => {
    const store = edit();
    server.hangUp();
    expect(store.getState().link).toBe("lost");
    store.getState().edit("Move", [move(5)]);
    expect(store.getState()).toMatchObject({ pending: 1, link: "lost" });
    pass(749);
    expect(server.sockets).toHaveLength(1);
    pass(1);
    expect(server.sockets).toHaveLength(2);
    server.hangUp();
    pass(1499);
    expect(server.sockets).toHaveLength(2);
    pass(1);
    server.accept();
    pass();
    expect(store.getState()).toMatchObject({ link: "open", pending: 0 });
    same(store);
  });

  test("that is half open is noticed while it is quiet", () => {
    const store = edit();
    server.socket.deaf = true;
    pass(QUIET_MS + ANSWER_MS - 1);
    expect(store.getState().link).toBe("open");
    pass(1);
    expect(store.getState().link).toBe("lost");
  });

  test("that is quiet but alive stays open, and the probe shows no refusal", () => {
    const store = edit();
    pass(10 * QUIET_MS);
    expect(server.ofType("resume").length).toBeGreaterThan(5);
    expect(store.getState()).toMatchObject({ link: "open", refusal: null });
  });

  test("without a welcome is given up", () => {
    const store = edit(false);
    server.silent = true;
    server.accept();
    pass(ANSWER_MS);
    expect(store.getState().link).toBe("lost");
  });

  test("that brings bytes of no frame is given up", () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    const store = edit();
    server.socket.onmessage?.({ data: Uint8Array.of(0xff).buffer });
    expect(store.getState().link).toBe("lost");
    expect(log).toHaveBeenCalledOnce();
    log.mockRestore();
  });

  test("that dies under an edit is lost in the time of an answer, though the browser never tells of a close", () => {
    const store = edit();
    server.socket.deaf = true;
    store.getState().edit("Move", [move(5)]);
    pass(PUSH_MS + ANSWER_MS - 1);
    expect(store.getState()).toMatchObject({ link: "open", pending: 1 });
    pass(1);
    expect(store.getState()).toMatchObject({ link: "lost", closedFor: null, pending: 1 });
    expect(server.socket).toMatchObject({ closed: true, onclose: null }); // what the browser tells later is of no matter
  });

  test("that dies between the parts of a long graph and the welcome is given up", () => {
    const store = edit(false);
    server.silent = true;
    server.accept();
    pass(ANSWER_MS - 1);
    server.send({ type: "part", transfer: "0000parts0", offset: 0, total: 9, bytes: new Uint8Array(3) });
    pass(ANSWER_MS - 1);
    expect(store.getState().link).toBe("connecting");
    pass(1);
    expect(store.getState().link).toBe("lost");
  });

  test.each([
    [4401, "unauthenticated"],
    [4403, "forbidden"],
    [4404, "not_found"],
    [4409, "conflict"],
  ])("that the server closed with %i is not tried again, and the reason is told", (code, closedFor) => {
    const online: (() => void)[] = [];
    vi.stubGlobal("addEventListener", (_: string, listener: () => void) => online.push(listener));
    const store = edit();
    vi.unstubAllGlobals();
    server.hangUp(code);
    pass(1e6);
    expect(online).toHaveLength(1);
    for (const told of online) told();
    expect(store.getState()).toMatchObject({ link: "lost", closedFor });
    expect(server.sockets).toHaveLength(1);
  });

  test("whose socket does not open asks why, and is not tried again when there is a reason", async () => {
    const told = [0, 401];
    const status = vi.fn(async () => told.shift() ?? 0);
    const store = edit(false, { status });
    server.hangUp();
    await vi.advanceTimersByTimeAsync(1000);
    expect(store.getState()).toMatchObject({ link: "lost", closedFor: null });
    expect(server.sockets).toHaveLength(2);
    server.hangUp();
    await vi.advanceTimersByTimeAsync(1e6);
    expect(store.getState()).toMatchObject({ link: "lost", closedFor: "unauthenticated" });
    expect(server.sockets).toHaveLength(2);
    expect(status).toHaveBeenCalledTimes(2);
  });

  test("that was open does not ask why it was lost", () => {
    const status = vi.fn(async () => 404);
    edit(true, { status });
    server.hangUp();
    expect(status).not.toHaveBeenCalled();
  });

  test("that the server closed for a while is tried again", () => {
    const store = edit();
    server.hangUp(1013);
    expect(store.getState()).toMatchObject({ link: "lost", closedFor: null });
    pass(1000);
    server.accept();
    expect(store.getState().link).toBe("open");
  });

  test("that was closed stays closed", () => {
    const store = edit();
    store.getState().close();
    pass(1e6);
    expect(server.socket.closed).toBe(true);
    expect(server.sockets).toHaveLength(1);
  });
});

describe("edits", () => {
  test("apply at once and travel together", () => {
    const store = edit();
    for (let x = 1; x <= 30; x++) store.getState().edit("Move", [move(x, x - 1)], "drag");
    expect(store.getState().graph.positions.get(A)).toEqual([30, 0]);
    expect(server.ofType("push")).toHaveLength(0);
    pass();
    expect(server.ofType("push").map((frame) => frame.get("ops"))).toEqual([[["move", [A], [[0, 0]], [[30, 0]]]]]);
    expect(store.getState()).toMatchObject({ pending: 0, undoLabel: "Move" });
    same(store);
  });

  test("that are not acknowledged go again with the same id, and stand once", () => {
    const store = edit();
    server.mute = true;
    store.getState().edit("Add", [["node+", [B], plain]]);
    pass();
    const [first] = server.ofType("push");
    server.hangUp();
    server.mute = false;
    pass(1000);
    server.accept();
    pass();
    const again = server.ofType("push");
    expect(again.map((frame) => frame.get("id"))).toEqual(Array(again.length).fill(first?.get("id")));
    expect(again.length).toBeGreaterThan(1);
    expect(store.getState()).toMatchObject({ pending: 0, refusal: null });
    same(store);
  });

  test("a repeat does not write over what someone else wrote in between", () => {
    const store = edit();
    server.mute = true;
    store.getState().edit("Move", [move(5)]);
    pass();
    server.hangUp();
    server.mute = false;
    server.graph = applyOps(server.graph, [move(9, 5)]);
    server.seq += 1;
    pass(1000);
    server.accept();
    expect(store.getState().graph.positions.get(A)).toEqual([9, 0]);
    same(store);
  });

  test("of someone else come in during a drag, which goes on", () => {
    const store = edit();
    store.getState().edit("Move", [move(1)], "drag");
    server.patch([
      ["label", [A], [], ["Theirs"]],
      ["node+", [B], plain],
    ]);
    store.getState().edit("Move", [move(2, 1)], "drag");
    server.patch([["move", [A], [[0, 0]], [[77, 7]]]]);
    expect(store.getState().graph.positions.get(A)).toEqual([2, 0]);
    store.getState().edit("Move", [move(3, 2)], "drag");
    pass();
    expect(store.getState().graph.positions.get(A)).toEqual([3, 0]);
    expect(store.getState().graph.labels.get(A)).toBe("Theirs");
    expect(store.getState().graph.nodes.has(B)).toBe(true);
    same(store);
  });

  test("that write over what someone else wrote name them though they came later, and nobody where no name is known", () => {
    const store = edit();
    store.getState().edit("There", [move(5)]);
    server.send({ type: "presence", client: "000000came", name: "Latecomer", data: new Map() });
    server.patch([["move", [A], [[0, 0]], [[77, 7]]]], "000000came");
    expect(store.getState().refusal).toMatchObject({ code: "overtaken", where: `move ${A}`, got: "Latecomer" });
    server.patch([["move", [A], [[77, 7]], [[78, 7]]]], "000000gane");
    expect(store.getState().refusal).toMatchObject({ code: "overtaken", where: `move ${A}`, got: "" });
  });

  test("that go back to what they began from still write over what someone else wrote", () => {
    const store = edit();
    store.getState().edit("There", [move(5)]);
    server.patch([["move", [A], [[0, 0]], [[77, 7]]]]);
    expect(store.getState().refusal).toMatchObject({ code: "overtaken", where: `move ${A}`, got: "Someone" });
    store.getState().edit("Back", [move(0, 5)]);
    pass();
    expect(store.getState().graph.positions.get(A)).toEqual([0, 0]);
    same(store);
  });

  test("to a node that someone else deletes are dropped and told", () => {
    const store = edit();
    store.getState().edit("Set", [["set", [A, "text"], [], ["mine"]]]);
    server.patch([
      ["node-", [A], plain],
      ["move", [A], [[0, 0]], []],
    ]);
    pass();
    expect(store.getState().graph.nodes.size).toBe(0);
    expect(store.getState()).toMatchObject({ pending: 0, refusal: { code: "dangling", where: `set ${A}.text` } });
    same(store);
  });

  test("that the server refuses go, and the rest stands", () => {
    const store = edit();
    server.refuse = (op) => op[0] === "label";
    store.getState().edit("Two", [move(5), ["label", [A], [], ["No"]]]);
    store.getState().edit("Third", [["node+", [B], plain]]);
    pass(200);
    expect(store.getState().graph.labels.size).toBe(0);
    expect(store.getState()).toMatchObject({ pending: 0, refusal: { code: "no", where: A } });
    same(store);
    store.getState().dismissRefusal();
    expect(store.getState().refusal).toBeNull();
  });

  test("wholly refused leave the graph as it was", () => {
    const store = edit();
    server.refuse = () => true;
    store.getState().edit("Move", [move(5)]);
    pass();
    expect(store.getState()).toMatchObject({ pending: 0, refusal: { code: "no" } });
    same(store);
  });

  test("that the server's full disk did not take wait and go again with the same id", () => {
    const store = edit();
    server.full = true;
    store.getState().edit("Move", [move(5)]);
    pass();
    expect(store.getState()).toMatchObject({ link: "lost", pending: 1, refusal: { code: "storage" } });
    server.full = false;
    pass(1000);
    server.accept();
    pass();
    const pushes = server.ofType("push").map((frame) => frame.get("id"));
    expect(pushes.length).toBeGreaterThan(1);
    expect(new Set(pushes.map(String)).size).toBe(1);
    expect(store.getState()).toMatchObject({ link: "open", pending: 0 });
    same(store);
  });

  test("too long for a frame are refused at once", () => {
    const store = edit();
    store.getState().edit("Set", [["set", [A, "text"], [], ["x".repeat(1_000_000)]]]);
    expect(store.getState()).toMatchObject({ pending: 0, refusal: { code: "size", where: `${A}.text` } });
  });

  test("too many for a frame travel in several", () => {
    const store = edit();
    const text = "x".repeat(300_000);
    store.getState().edit(
      "Paste",
      Array.from(
        { length: 8 },
        (_, i): Op => ["node+", [id(i + 10)], ["a.b", 1, new Map([["text", text]]), new Map()]],
      ),
    );
    pass();
    expect(server.ofType("push").length).toBeGreaterThan(1);
    expect(Math.max(...server.socket.sent.map((bytes) => bytes.length))).toBeLessThan(1024 * 1024);
    same(store);
  });

  test("with a value that has no bytes are our mistake", () => {
    const store = edit();
    expect(() => store.getState().edit("Set", [["set", [A, "text"], [], [Number.NaN]]])).toThrow("finite");
    expect(store.getState().pending).toBe(0);
  });

  test("a server that contradicts itself is asked for its graph again", () => {
    const store = edit();
    server.graph = applyOps(base, [["label", [A], [], ["x"]]]);
    server.seq += 5;
    server.send({
      type: "patched",
      seq: server.seq,
      ops: [["label", [A], ["other"], ["x"]]],
      author: "0000000other",
      overtaken: [],
    });
    expect(store.getState().link).toBe("lost");
    pass(1000);
    server.accept();
    same(store);
  });
});

describe("undo", () => {
  test("all leads to the start and redo all to the end, byte for byte", () => {
    fc.assert(
      fc.property(worlds(), fc.infiniteStream(fc.nat()), (world, dice) => {
        server = new FakeServer();
        server.graph = world;
        const store = edit();
        const roll = (sides: number): number => (dice.next().value as number) % sides;
        for (let n = 1 + roll(6); n > 0; n--) {
          const gesture = ["a", "b", null][roll(3)] as string | null;
          store.getState().edit(`Edit ${n}`, graphOps(store.getState().graph, dice), gesture);
          if (roll(3) === 0) store.getState().settle();
          if (roll(3) === 0) store.getState().undo();
          if (roll(4) === 0) pass(roll(100));
        }
        while (store.getState().redoLabel !== null) store.getState().redo();
        const end = write(store.getState().graph);
        let entries = 0;
        for (; store.getState().undoLabel !== null; entries++) store.getState().undo();
        expect(Buffer.compare(write(store.getState().graph), write(world))).toBe(0);
        for (; entries > 0; entries--) store.getState().redo();
        expect(Buffer.compare(write(store.getState().graph), end)).toBe(0);
        pass(1000);
        expect(store.getState()).toMatchObject({ pending: 0, refusal: null, redoLabel: null });
        same(store);
        store.getState().close();
      }),
    );
  });

  test("of a paste is one step", () => {
    const store = edit();
    const { ids, ops } = edits.duplicate(store.getState().graph, [A], [9, 9]);
    store.getState().edit("Paste", ops);
    expect(store.getState().graph.nodes.has(ids[0] as Id)).toBe(true);
    store.getState().undo();
    expect(store.getState()).toMatchObject({ undoLabel: null, redoLabel: "Paste" });
    expect(write(store.getState().graph)).toEqual(write(base));
  });

  test("leaves alone what someone else wrote since, and says so", () => {
    const store = edit();
    store.getState().edit("Two", [move(5), ["set", [A, "text"], [], ["mine"]]]);
    pass();
    server.patch([["set", [A, "text"], ["mine"], ["theirs"]]]);
    store.getState().undo();
    pass();
    expect(store.getState().graph.nodes.get(A)?.params.get("text")).toBe("theirs");
    expect(store.getState().graph.positions.get(A)).toEqual([0, 0]);
    expect(store.getState().refusal).toEqual({
      code: "overtaken",
      where: "Two",
      expected: "your own edits",
      got: "Someone",
    });
    same(store);
  });

  test("nothing to undo is nothing done", () => {
    const store = edit();
    store.getState().undo();
    store.getState().redo();
    expect(store.getState().pending).toBe(0);
  });
});

describe("save", () => {
  test("waits until every op is acknowledged", () => {
    const store = edit();
    store.getState().edit("Move", [move(5)]);
    store.getState().save("First");
    expect(server.frames.map((frame) => frame.get("type"))).toEqual(["hello", "push", "save"]);
    expect(server.ofType("save")[0]?.get("seq")).toBe(server.seq);
    expect(server.ofType("save")[0]?.get("base_version")).toBeNull();
  });

  test("made clean what was dirty, and an edit and its undo keep that true", async () => {
    const store = edit();
    expect(store.getState().dirty).toBe(true);
    store.getState().save("First");
    await vi.waitFor(() => expect(store.getState().version?.number).toBe(1));
    expect(store.getState().version?.file).toBe(Buffer.from((await hashes(base)).file).toString("hex"));
    pass(1000);
    await vi.waitFor(() => expect(store.getState().dirty).toBe(false));
    store.getState().edit("Move", [move(5)]);
    expect(store.getState().dirty).toBe(true);
    pass(1000);
    store.getState().undo();
    pass(1000);
    await vi.waitFor(() => expect(store.getState().dirty).toBe(false));
  });

  test("on a lost link happens on return", () => {
    const store = edit();
    server.hangUp();
    store.getState().save("Later");
    pass(1000);
    server.accept();
    expect(server.ofType("save").map((frame) => frame.get("message"))).toEqual(["Later"]);
  });

  test("whose answer was lost goes again as it was and makes no second version", async () => {
    const store = edit();
    server.mute = true;
    store.getState().save("First");
    await vi.waitFor(() => expect(server.version?.number).toBe(1));
    server.hangUp();
    server.mute = false;
    store.getState().edit("Move", [move(5)]);
    pass(1000);
    server.graph = base; // the server saves the Room as of the seq of the frame
    server.accept();
    await vi.waitFor(() => expect(store.getState().version?.number).toBe(1));
    const [first, again] = server.ofType("save");
    expect(again).toEqual(first);
    expect(store.getState()).toMatchObject({ stale: null, refusal: null });
  });

  test("soon after another of one's own waits for it and stands on it", async () => {
    const store = edit();
    server.slow = true;
    store.getState().save("One");
    store.getState().edit("Move", [move(5)]);
    store.getState().save("Two");
    server.slow = false;
    server.work();
    expect(server.ofType("save").map((frame) => frame.get("message"))).toEqual(["One"]);
    await vi.waitFor(() => expect(store.getState().version?.number).toBe(2));
    expect(server.ofType("save").map((frame) => frame.get("base_version"))).toEqual([null, 1]);
    expect(store.getState()).toMatchObject({ stale: null, refusal: null, version: { message: "Two" } });
  });
});

describe("a stale save", () => {
  /** Someone else makes a version from the Room that this client has not heard of. */
  async function behind(store: StoreApi<Editor>): Promise<void> {
    store.getState().edit("Name", [["label", [A], [], ["first"]]]); // it is in the base, so it is no longer one's own
    store.getState().save("Begin");
    await vi.waitFor(() => expect(store.getState().version?.number).toBe(1));
    server.patch([["label", [A], ["first"], ["theirs"]]]);
    await server.versionFrom("Someone", false);
    store.getState().edit("Move", [move(5)]);
  }

  async function stale(store: StoreApi<Editor>): Promise<NonNullable<Editor["stale"]>> {
    await vi.waitFor(() => expect(store.getState().stale).not.toBeNull());
    return store.getState().stale as NonNullable<Editor["stale"]>;
  }

  test("asks instead of refusing, and knows its words, its base and what is one's own", async () => {
    const store = edit();
    await behind(store);
    store.getState().save("Mine");
    const asks = await stale(store);
    expect({ ...asks, mine: [...asks.mine.values()] }).toEqual({ message: "Mine", base: 1, mine: [move(5)] });
    expect(store.getState().refusal).toBeNull();
  });

  test("is saved on top of the version that was shown, and has what both wrote", async () => {
    const store = edit();
    await behind(store);
    store.getState().save("Mine");
    await stale(store);
    store.getState().save("Mine", 2);
    expect(store.getState().stale).toBeNull();
    await vi.waitFor(() => expect(store.getState().version?.number).toBe(3));
    expect(server.ofType("save").at(-1)?.get("base_version")).toBe(2);
    expect(store.getState().graph.labels.get(A)).toBe("theirs");
    expect(store.getState().graph.positions.get(A)).toEqual([5, 0]);
    same(store);
  });

  test("that is put off loses nothing and can be asked for again", async () => {
    const store = edit();
    await behind(store);
    store.getState().save("Mine");
    await stale(store);
    store.getState().dismissStale();
    expect(store.getState()).toMatchObject({ stale: null, refusal: null, pending: 0, dirty: true });
    same(store);
    store.getState().save("Mine again");
    expect((await stale(store)).message).toBe("Mine again");
  });

  test("asks again when yet another version came while the question stood", async () => {
    const store = edit();
    await behind(store);
    store.getState().save("Mine");
    await stale(store);
    server.patch([["label", [A], ["theirs"], ["theirs again"]]]);
    await server.versionFrom("Someone", false);
    store.getState().edit("Move", [move(9, 5)]);
    store.getState().save("Mine", 2);
    expect((await stale(store)).base).toBe(2);
  });

  test("is one that was asked for offline, though the welcome tells of the newer version", async () => {
    const store = edit();
    store.getState().save("Begin");
    await vi.waitFor(() => expect(store.getState().version?.number).toBe(1));
    server.hangUp();
    store.getState().edit("Move", [move(5)]);
    store.getState().save("Made offline");
    server.graph = applyOps(server.graph, [["label", [A], [], ["theirs"]]]);
    server.seq += 1;
    await server.versionFrom("Someone", false);
    pass(1000);
    server.accept();
    pass();
    const asks = await stale(store);
    expect(store.getState().version?.number).toBe(2);
    expect([asks.message, asks.base, [...asks.mine.values()]]).toEqual(["Made offline", 1, [move(5)]]);
  });

  test("is not one of a graph that has no version, nor one whose file is the newest already", async () => {
    const store = edit();
    await server.versionFrom("Someone", false);
    store.getState().save("Mine");
    await vi.waitFor(() => expect(store.getState().version?.number).toBe(1));
    expect(store.getState()).toMatchObject({ stale: null, refusal: null, version: { message: "Theirs" } });
  });

  test("of a push stays a refusal", () => {
    const store = edit();
    store.getState().edit("Move", [move(5)]);
    pass();
    server.refusal(server.ofType("push")[0]?.get("id") as [string, number], "stale");
    expect(store.getState()).toMatchObject({ stale: null, refusal: { code: "stale" } });
  });
});

describe("a run", () => {
  function started(): { store: StoreApi<Editor>; run: Id } {
    const store = edit();
    store.getState().start(new Map([["text", "hello"]]), [A]);
    return { store, run: store.getState().run?.id as Id };
  }

  test("sends exactly the bytes of the graph as it stands, pending edits included", () => {
    const store = edit();
    server.silent = true;
    store.getState().edit("Add", [["node+", [B], plain]]);
    server.silent = false;
    store.getState().start();
    const run = store.getState().run?.id as Id;
    expect(Buffer.compare(server.bytes.get(run) as Uint8Array, write(store.getState().graph))).toBe(0);
    expect(store.getState().graph.nodes.has(B)).toBe(true);
    expect(server.ofType("run")[0]?.get("inputs")).toBeNull();
  });

  test("of a long graph goes ahead in parts", () => {
    const text = "x".repeat(400_000);
    server.graph = applyOps(
      base,
      [1, 2, 3].map((n): Op => ["set", [A, `p${n}`], [], [text]]),
    );
    const store = edit();
    store.getState().start();
    const run = store.getState().run?.id as Id;
    expect(Buffer.compare(server.bytes.get(run) as Uint8Array, write(server.graph))).toBe(0);
    expect(server.ofType("run")[0]?.get("igb")).toBeNull();
    expect(Math.max(...server.socket.sent.map((bytes) => bytes.length))).toBeLessThan(1024 * 1024);
  });

  test("with long inputs sends its graph ahead, and with too long ones does not start", () => {
    const store = edit();
    store.getState().start(new Map([["text", "x".repeat(900 * 1024 - 60)]]));
    expect(server.ofType("run")[0]?.get("transfer")).not.toBeNull();
    expect(Math.max(...server.socket.sent.map((bytes) => bytes.length))).toBeLessThan(1024 * 1024);
    store.getState().start(new Map([["text", "x".repeat(900 * 1024)]]));
    expect(store.getState().refusal).toMatchObject({ code: "size", where: "run.inputs" });
    expect(server.ofType("run")).toHaveLength(1);
  });

  test("shows events once a picture, however many come", () => {
    const { store, run } = started();
    expect(store.getState().run?.status).toBe("starting");
    server.tell(run, A, "running", { steps_limit: 600, kv_limit: null, seconds_limit: 60 });
    let updates = 0;
    store.subscribe(() => {
      updates += 1;
    });
    for (let step = 1; step <= 500; step++)
      server.tell(run, A, "tokens", { text: "ab", steps: step, at: 2 * (step - 1) });
    server.tell(run, null, "pool", {
      kv_used: 1,
      kv_committed: 2,
      kv_reserved: 3,
      kv_total: 4,
      steps_reserved: 5,
      dots: 1,
    });
    expect(updates).toBe(0);
    draw();
    expect(updates).toBe(2); // the run and the pool
    expect(store.getState().run?.nodes.get(A)).toMatchObject({ phase: "running", steps: 500, text: "ab".repeat(500) });
    expect(store.getState().pool?.dots).toBe(1);
  });

  test("keeps what it had when the link is lost, and goes on without gap or repeat", () => {
    const { store, run } = started();
    server.tell(run, A, "running", { steps_limit: 8, kv_limit: null, seconds_limit: 60 });
    server.tell(run, A, "tokens", { text: "one ", steps: 1, at: 0 });
    draw();
    server.hangUp();
    expect(store.getState()).toMatchObject({ link: "lost", run: { status: "running" } });
    expect(store.getState().run?.nodes.get(A)?.text).toBe("one ");
    server.tell(run, A, "tokens", { text: "two ", steps: 2, at: 4 }, true);
    server.tell(run, A, "tokens", { text: "three", steps: 3, at: 8 }, true);
    pass(1000);
    server.accept();
    expect(server.ofType("hello")[1]?.get("resume")).toEqual(new Map([[run, 3]]));
    server.tell(run, A, "done", { outputs: new Map([["text", "one two three"]]), steps: 3, finish: "end" });
    server.tell(run, null, "ended", { status: "done", outputs: new Map(), reason: null, seconds: 1 });
    draw();
    expect(store.getState().run?.nodes.get(A)).toMatchObject({ phase: "done", text: "one two three", steps: 3 });
    expect(store.getState().run?.status).toBe("done");
    server.hangUp();
    pass(2000);
    server.accept();
    expect(server.ofType("hello")[2]?.get("resume")).toEqual(new Map());
  });

  test("that had ended before the page opened is shown once it is here whole, and nothing is said to be going on", async () => {
    server.tell(id(7), null, "started", { nodes: [A] }, true);
    server.tell(id(7), A, "done", { outputs: new Map([["text", "then"]]) }, true);
    server.tell(id(7), null, "ended", { status: "failed", reason: "the host was lost", seconds: 2 }, true);
    const store = edit(true, { newest: async () => id(7) });
    const seen = new Set<string>();
    store.subscribe(({ run }) => run && seen.add(run.status));
    await vi.advanceTimersByTimeAsync(0);
    draw();
    expect([...seen]).toEqual(["failed"]);
    expect(store.getState().run).toMatchObject({ recalled: true, reason: "the host was lost", seconds: 2 });
    expect(store.getState().run?.nodes.get(A)?.outputs.get("text")).toBe("then");
  });

  test("of the past is shown in place of the newest until one leaves it or another begins", () => {
    const { store, run } = started();
    server.tell(id(7), null, "started", { nodes: [A] }, true);
    server.tell(id(7), A, "done", { outputs: new Map([["text", "then"]]) }, true);
    server.tell(id(7), null, "ended", { status: "done", reason: null, seconds: 2 }, true);
    const past = { id: id(7), started: "2025-01-01T14:02:00.000Z" };
    store.getState().recall(past); // the newest one still goes on
    draw();
    expect(store.getState()).toMatchObject({ past: null, run: { id: run } });
    server.tell(run, A, "done", { outputs: new Map([["text", "now"]]) });
    server.tell(run, null, "ended", { status: "done", reason: null, seconds: 1 });
    server.runs = [];
    draw();

    const given = () => store.getState().run?.nodes.get(A)?.outputs.get("text");
    store.getState().recall(past);
    expect(given()).toBe("now"); // until the other one is here
    draw();
    expect(store.getState()).toMatchObject({ past, run: { id: id(7), status: "done" } });
    expect(given()).toBe("then");
    store.getState().live();
    expect(store.getState()).toMatchObject({ past: null, run: { id: run } });
    expect(given()).toBe("now");

    store.getState().recall(past);
    draw();
    expect(given()).toBe("then");
    server.tell(id(8), null, "started", { nodes: [A] }); // someone else starts one
    draw();
    expect(store.getState()).toMatchObject({ past: null, run: { id: id(8), status: "running" } });
  });

  test("asks again for an event that is missing, once", () => {
    const { store, run } = started();
    server.tell(run, A, "running", {}, true);
    for (const text of ["a", "b", "c"]) {
      server.tell(run, A, "tokens", { text, steps: 1 });
      server.silent = true; // the answer takes a while
      draw();
    }
    expect(server.ofType("resume").map((frame) => frame.get("after_seq"))).toEqual([1]);
    expect(store.getState().run?.nodes.get(A)?.phase).toBe("waiting");
    server.silent = false;
    server.receive(server.socket, server.socket.sent.at(-1) as Uint8Array);
    draw();
    expect(store.getState().run?.nodes.get(A)).toMatchObject({ phase: "running", text: "abc" });
  });

  test("is cancelled by id", () => {
    const { store, run } = started();
    draw();
    store.getState().cancel();
    expect(server.ofType("cancel").map((frame) => frame.get("run"))).toEqual([run]);
    server.tell(run, A, "cancelled", { text: "par", steps: 1 });
    server.tell(run, null, "ended", { status: "cancelled", outputs: new Map(), reason: "cancelled", seconds: 1 });
    draw();
    expect(store.getState().run).toMatchObject({ status: "cancelled", reason: "cancelled" });
    store.getState().cancel();
    expect(server.ofType("cancel")).toHaveLength(1);
  });

  test("that is refused has failed, with the reason", () => {
    const store = edit();
    server.silent = true;
    store.getState().start();
    server.refusal(store.getState().run?.id as Id, "missing_input", "node:x");
    expect(store.getState()).toMatchObject({
      run: { status: "failed", reason: "missing_input" },
      refusal: { code: "missing_input", where: "node:x" },
    });
  });

  test("that the server has forgotten does not seem to run on", () => {
    const { store, run } = started();
    draw();
    server.hangUp();
    const fresh = new FakeServer();
    fresh.graph = base;
    Object.assign(server, { log: new Map(), runs: [] });
    pass(1000);
    server.accept();
    expect(store.getState().run).toMatchObject({ id: run, status: "failed", reason: "not_found" });
  });

  test("of someone else is followed from its beginning", () => {
    server.runs = ["0000theirs"];
    server.tell("0000theirs", null, "started", { nodes: [A] }, true);
    server.tell("0000theirs", A, "running", {}, true);
    const store = edit();
    draw();
    expect(store.getState().run).toMatchObject({ id: "0000theirs", status: "running" });
    server.tell("00another0", null, "started", { nodes: [A] });
    draw();
    expect(store.getState().run?.id).toBe("00another0");
    server.tell("0000theirs", A, "tokens", { text: "x", steps: 1 });
    draw();
    expect(store.getState().run?.id).toBe("00another0");
  });

  test("cannot start on a lost link", () => {
    const store = edit();
    server.hangUp();
    store.getState().start();
    expect(store.getState()).toMatchObject({ run: null, refusal: { code: "offline" } });
  });
});

test("diagnostics are shown as they come", () => {
  const store = edit();
  const diagnostic = {
    code: "missing_input",
    where: "x",
    node: A,
    field: "prompt",
    expected: "an edge",
    got: "none",
    hint: "",
  };
  server.send({ type: "diagnosed", seq: 1, diagnostics: [diagnostic] });
  expect(store.getState().diagnostics).toEqual([diagnostic]);
});

test("diagnostics of an earlier graph are known to be that", () => {
  const store = edit();
  const seq = server.seq;
  server.send({ type: "diagnosed", seq, diagnostics: [] });
  expect(store.getState().checked).toBe(true);
  store.getState().edit("Move", [move(7)]);
  expect(store.getState().checked).toBe(false);
  pass(1000);
  expect(store.getState()).toMatchObject({ pending: 0, checked: false });
  server.send({ type: "diagnosed", seq, diagnostics: [] });
  expect(store.getState().checked).toBe(false);
  server.send({ type: "diagnosed", seq: server.seq, diagnostics: [] });
  expect(store.getState().checked).toBe(true);
});

test("whatever others do and however the link breaks, an editor ends with the server's bytes", () => {
  fc.assert(
    fc.property(worlds(), fc.infiniteStream(fc.nat()), (world, dice) => {
      const roll = (sides: number): number => (dice.next().value as number) % sides;
      server = new FakeServer();
      server.graph = world;
      const store = edit();
      server.slow = true;
      for (let n = 0; n < 12; n++) {
        const turn = roll(8);
        if (turn < 3)
          store.getState().edit("Mine", graphOps(store.getState().graph, dice), roll(2) === 0 ? "gesture" : null);
        else if (turn === 3) store.getState().undo();
        else if (turn === 4) store.getState().redo();
        else if (turn === 5) server.patch(graphOps(server.graph, dice));
        else if (turn === 6) server.work();
        if (roll(3) === 0) pass(roll(100));
        if (roll(7) === 0) server.hangUp();
        if (store.getState().link === "lost") {
          if (roll(2) === 0) server.work(); // what came before the link broke, its answers lost
          const before = server.sockets.length;
          while (server.sockets.length === before) pass(50);
          server.slow = false;
          server.accept();
          server.slow = true;
        }
      }
      server.slow = false;
      server.work();
      pass(1000);
      expect(store.getState().pending).toBe(0);
      same(store);
      store.getState().close();
    }),
  );
});

test("a template's slots and edges go and come back as one gesture", () => {
  const store = edit();
  const made = edits.addNode(catalogue.get("text.template") as CatalogueEntry, [0, 0]);
  const [template] = made.ids as [Id];
  store.getState().edit("Add", made.ops);
  store
    .getState()
    .edit(
      "Connect",
      edits.connect(store.getState().graph, { source: A, output: "text", target: template, input: "text", slot: 0 }),
    );
  const before = write(store.getState().graph);
  store.getState().edit("Set", edits.setParam(store.getState().graph, catalogue, template, "template", "{other}"));
  expect(store.getState().graph.edges).toEqual([]);
  store.getState().undo();
  expect(write(store.getState().graph)).toEqual(before);
});
