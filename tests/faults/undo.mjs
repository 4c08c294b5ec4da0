// Random gestures, undo and redo of several people in one Space: the editor's own store in each seat, over real sockets to a real
// server. Argument: JSON {base, token, clients, schedules, seed}, or `steps` to play again; stdout: counts as JSON, or the shrunk
// schedule that fails (exit 1).
// What a seat sends and receives waits until the schedule says so; its timers never fire by themselves.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { factsOf, faults, gesture, note, written } from "./undo_law.mjs";

// Time and chance: of the editor's code alone, so the timers reach it as names in its bundle -------------------------------

const timers = new Map();
let owner = null; // the seat whose code runs
globalThis.schedule = {
  setTimeout: (call, ms) => {
    const id = Symbol("timer");
    timers.set(id, { call, ms, seat: owner });
    return id;
  },
  clearTimeout: (id) => timers.delete(id),
};
let draws = 1;
Object.defineProperty(globalThis.crypto, "getRandomValues", {
  value: (bytes) => {
    for (let i = 0; i < bytes.length; i++) {
      draws = (Math.imul(draws, 1_664_525) + 1_013_904_223) >>> 0;
      bytes[i] = draws >>> 24;
    }
    return bytes;
  },
});

// The editor's code ---------------------------------------------------------------------------------------------------

const frontend = fileURLToPath(new URL("../../frontend/", import.meta.url));
const found = createRequire(`${frontend}package.json`);
const { rolldown } = await import(pathToFileURL(found.resolve("rolldown")).href);
const { default: fc } = await import(pathToFileURL(found.resolve("fast-check")).href);
const folder = mkdtempSync(join(tmpdir(), "undo-"));
process.on("exit", () => rmSync(folder, { recursive: true }));
const entry = join(folder, "editor.ts");
const modules = ["igb/cbor", "igb/igb", "igb/patch", "igb/paths", "state/edits", "state/store", "wire/frame"];
const lines = modules.map((name) => `export * as ${name.split("/")[1]} from ${JSON.stringify(`${frontend}src/${name}`)};`);
writeFileSync(entry, lines.join("\n"));
const bundle = await rolldown({ input: entry, cwd: frontend, resolve: { modules: [`${frontend}node_modules`] } });
const banner = "const { setTimeout, clearTimeout } = globalThis.schedule;";
await bundle.write({ file: join(folder, "editor.mjs"), format: "esm", banner });
const { cbor, igb, patch, paths, edits, store, frame } = await import(pathToFileURL(join(folder, "editor.mjs")).href);

const given = JSON.parse(process.argv[2]);
const headers = { authorization: `Bearer ${given.token}` };
const BARRIER = "00000fence";
const WAITS = [10_000, 15_000]; // of a link, for an answer and for anything: no schedule is that slow
const count = { schedules: 0, pushes: 0, gestures: 0, undone: 0, partly: 0, redone: 0, equal: 0, returns: 0 };

// A seat --------------------------------------------------------------------------------------------------------------

/** The browser's end of a socket. What comes waits in the inbox; pushes by others are noted in the journal as they come. */
class Line {
  constructor(seat, url) {
    this.seat = seat;
    this.inbox = [];
    this.real = new WebSocket(url, { headers });
    this.real.binaryType = "arraybuffer";
    this.real.onopen = () => seat.as(() => this.onopen?.());
    this.real.onmessage = ({ data }) => this.received(data);
    this.broken = new Promise((_, reject) => {
      this.real.onclose = ({ code }) => reject(new Error(`the server closed with ${code}`));
    });
    this.broken.catch(() => {}); // whoever waits for an answer is told
    this.welcome = this.orBroken((resolve) => {
      this.welcomed = resolve;
    });
  }

  received(data) {
    const told = cbor.decode(new Uint8Array(data));
    const type = told.get("type");
    if (type === "refused" && told.get("id") === BARRIER) this.passed();
    else if (type !== "diagnosed") this.inbox.push(data); // diagnostics come when they are ready, and write nothing
    if (type === "welcome") this.welcomed();
    if (type === "patched" && told.get("ops").length > 0) // else nothing was left to change, and it has no seq of its own
      this.seat.journal.set(told.get("seq"), frame.readFrame(new Uint8Array(data)));
  }

  send(bytes) {
    const told = cbor.decode(bytes);
    if (told.get("type") === "hello") this.seat.client = told.get("client");
    if (told.get("type") === "push") {
      count.pushes += 1;
      this.seat.flying = told.get("ops");
    }
    this.real.send(bytes);
    this.seat.sent = true;
  }

  /** When all that was sent before is answered. */
  async barrier() {
    const passed = this.orBroken((resolve) => {
      this.passed = resolve;
    });
    this.real.send(cbor.encode(new Map([["type", "resume"], ["run", BARRIER], ["after_seq", 0]])));
    await passed;
  }

  orBroken(begin) {
    return Promise.race([new Promise(begin), this.broken]);
  }

  close() {
    this.real.onclose = null;
    this.real.close();
  }
}

class Seat {
  constructor(space, journal) {
    this.journal = journal;
    this.seq = 0;
    this.confirmed = start;
    this.members = new Map(); // names, of those who were here before
    this.flying = []; // ops of the push that is not answered
    this.undo = []; // gestures, as the law sees them
    this.redo = [];
    this.gone = new Map();
    this.told = [];
    this.as(() => {
      this.store = store.createEditor({
        base: given.base,
        space,
        catalogue: new Map(),
        socket: (url) => {
          this.line = new Line(this, url);
          return this.line;
        },
        frame: () => {},
        random: () => 0.5,
      });
    });
    this.store.subscribe(({ refusal }, { refusal: before }) => {
      if (refusal && refusal !== before) this.told.push(refusal);
    });
  }

  get graph() {
    return this.store.getState().graph;
  }

  as(work) {
    owner = this;
    work();
    owner = null;
  }

  fire(isDue) {
    for (const [id, { call, ms, seat }] of [...timers]) {
      if (seat !== this || !isDue(ms)) continue;
      timers.delete(id);
      this.as(call);
    }
  }

  /** Hand over the oldest frame that waits. */
  deliver() {
    const data = this.line.inbox.shift();
    if (data === undefined) return;
    const told = frame.readFrame(new Uint8Array(data));
    if (told?.type === "welcome") {
      for (const { client, name } of told.members) this.members.set(client, name);
      this.learn(told.seq, igb.read(told.igb));
    }
    if (told?.type === "patched" || told?.type === "ack") this.learn(told.seq, null);
    const isAnswer = told?.author === this.client || (Array.isArray(told?.id) && told.id[0] === this.client);
    if (isAnswer) this.flying = [];
    this.as(() => this.line.onmessage?.({ data }));
  }

  /** What others wrote that this seat learns of now. A welcome shows what came of it, not who did it nor what was taken back. */
  learn(seq, welcome) {
    const learned = new Map();
    const known = factsOf(this.confirmed);
    const own = welcome && factsOf(patch.rebase(this.confirmed, this.flying).graph);
    for (let at = this.seq + 1; at <= seq; at++) {
      const push = this.journal.get(at);
      if (!push) throw new Error(`nobody heard of push ${at}`);
      this.confirmed = patch.applyOps(this.confirmed, push.ops);
      const keys = written(push.ops, this.gone);
      if (push.author !== this.client) for (const [key, value] of keys) learned.set(key, { value, author: push.author });
    }
    this.seq = Math.max(this.seq, seq);
    const now = factsOf(this.confirmed);
    for (const [key, { value, author }] of learned) {
      const isHidden = welcome && [known, own].some((facts) => facts.get(key) === now.get(key));
      const name = welcome || !this.members.has(author) ? "" : this.members.get(author);
      if (!isHidden) for (const entry of [...this.undo, ...this.redo]) note(entry, key, value, name);
    }
    if (welcome) this.confirmed = welcome;
  }

  edit(ops) {
    const before = factsOf(this.graph);
    const label = `gesture ${count.gestures}`;
    this.as(() => this.store.getState().edit(label, ops));
    const after = factsOf(this.graph);
    if (sameFacts(before, after)) return;
    count.gestures += 1;
    this.undo.push(gesture(label, before, after));
    this.redo = [];
  }

  step(direction) {
    const [from, to] = direction === "undo" ? [this.undo, this.redo] : [this.redo, this.undo];
    const { undoLabel, redoLabel } = this.store.getState();
    const entry = from.pop();
    const label = direction === "undo" ? undoLabel : redoLabel;
    if ((entry?.label ?? null) !== label) throw new Error(`${direction}: expected ${entry?.label}, got ${label}`);
    if (!entry) return;
    const [pre, bytes] = [factsOf(this.graph), this.bytes()];
    this.told = [];
    this.as(() => this.store.getState()[direction]());
    const post = factsOf(this.graph);
    const wrong = faults(entry, pre, post, this.told);
    const isUntouched = entry.from === bytes && entry.others.size === 0; // since it was undone
    if (isUntouched && this.bytes() !== entry.to) wrong.push("done again, it is not what it was");
    if (wrong.length > 0) throw new Error(`${direction} of ${entry.label}: ${wrong.join("; ")}`);
    count[direction === "undo" ? "undone" : "redone"] += 1;
    count.partly += this.told.length > 0;
    count.equal += isUntouched;
    if (!sameFacts(pre, post)) to.push({ ...gesture(entry.label, pre, post), from: this.bytes(), to: bytes });
  }

  bytes() {
    return Buffer.from(igb.write(this.graph)).toString("base64");
  }
}

function sameFacts(a, b) {
  return a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);
}

// A schedule ----------------------------------------------------------------------------------------------------------

const plain = (component) => [component, 1, new Map(), new Map()];
const FIRST = ["0000000001", "0000000002", "0000000003"];
const start = patch.applyOps(igb.EMPTY, [
  ...FIRST.map((id, at) => ["node+", [id], plain(at === 0 ? "text.input" : "text.template")]),
  ["edge+", [FIRST[0], "text", FIRST[1], "value", 0]],
  ["move", [FIRST[0]], [], [[0, 0]]],
  ["label", [FIRST[1]], [], ["First"]],
  ["group", ["000000000g"], [], [["Pair", [FIRST[0], FIRST[1]]]]],
]);

const GESTURES = {
  set: (graph, id, n) => edits.setParam(graph, new Map(), id, "text", n % 5 === 0 ? undefined : `text ${n}`),
  flag: (graph, id, n) => edits.setFlag(graph, id, "steps", n % 5 === 0 ? undefined : n + 1),
  move: (graph, id, n) => edits.moveNodes(graph, new Map([[id, [n, -n]]])),
  label: (graph, id, n) => edits.rename(graph, id, n % 5 === 0 ? "" : `label ${n}`),
  remove: (graph, id) => edits.removeNodes(graph, [id]),
  add: (_, __, n) => edits.addNode({ name: "text.template", version: 1 }, [n, n]).ops,
  copy: (graph, id) => edits.duplicate(graph, [id], [20, 20]).ops,
  cut: (graph, id) => edits.disconnect(graph, graph.edges.filter((edge) => edge.target === id)),
  connect: (graph, id, n) => {
    const source = [...graph.nodes.keys()][n % graph.nodes.size];
    if (paths.downstream(graph.edges, id).has(source)) return [];
    return edits.connect(graph, { source, output: "text", target: id, input: "value", slot: 0 });
  },
};

async function reach(seats, what) {
  const [kind, who, where, n] = what;
  const seat = seats[who % seats.length];
  const ids = [...seat.graph.nodes.keys()];
  if (kind in GESTURES) {
    if (ids.length > 0 || kind === "add") seat.edit(GESTURES[kind](seat.graph, ids[where % ids.length], n));
  } else if (kind === "undo" || kind === "redo") seat.step(kind);
  else if (kind === "push") seat.fire((ms) => ms === store.PUSH_MS);
  else if (kind === "hear") seat.deliver();
  else if (kind === "listen") while (seat.line.inbox.length > 0) seat.deliver();
  else await comeBack(seat);
  await quiet(seats);
}

/** The link is lost with all that was on its way to this seat, and made anew. */
async function comeBack(seat) {
  count.returns += 1;
  const { line } = seat;
  seat.as(() => line.onclose?.({ code: 1006 }));
  seat.fire((ms) => ms >= 250 && !WAITS.includes(ms));
  await seat.line.welcome;
  seat.deliver();
}

/** Every frame that was sent is answered, and the answers are here. */
async function quiet(seats) {
  const senders = seats.filter(({ sent }) => sent);
  if (senders.length === 0) return;
  for (const seat of seats) seat.sent = false;
  for (const { line } of senders) await line.barrier();
  await Promise.all(seats.map(({ line }) => line.barrier()));
}

async function play(steps) {
  draws = 1;
  timers.clear();
  const made = await fetch(`${given.base}/api/spaces/import?name=Undo`, { method: "POST", headers, body: igb.write(start) });
  const { id: space } = await made.json();
  const journal = new Map();
  const seats = [];
  try {
    for (let at = 0; at < given.clients; at++) {
      const seat = new Seat(space, journal);
      seats.push(seat);
      await seat.line.welcome;
      seat.deliver();
    }
    await quiet(seats);
    for (const what of steps) await reach(seats, what);
    for (let round = 0; round < 3; round++) {
      for (const [who] of seats.entries()) await reach(seats, ["push", who, 0, 0]);
      for (const [who] of seats.entries()) await reach(seats, ["listen", who, 0, 0]);
    }
    const answer = await fetch(`${given.base}/api/spaces/${space}/graph.igb`, { headers });
    const server = Buffer.from(await answer.arrayBuffer()).toString("base64");
    if (seats.some((seat) => seat.bytes() !== server)) throw new Error("the seats do not end equal with the server");
    count.schedules += 1;
  } finally {
    for (const seat of seats) seat.store.getState().close();
  }
}

const kinds = [
  { arbitrary: fc.constantFrom(...Object.keys(GESTURES)), weight: 3 },
  { arbitrary: fc.constantFrom("set", "remove", "connect"), weight: 3 }, // what people get in each other's way with
  { arbitrary: fc.constantFrom("undo", "undo", "redo"), weight: 5 },
  { arbitrary: fc.constantFrom("push", "push", "listen", "listen", "hear"), weight: 12 },
  { arbitrary: fc.constant("return"), weight: given.returns ?? 1 },
];
const step = fc.tuple(fc.oneof(...kinds), fc.nat(given.clients - 1), fc.nat(2), fc.nat(9));
const steps = given.steps ? fc.constant(given.steps) : fc.array(step, { maxLength: 60, size: "max" });
const done = await fc.check(fc.asyncProperty(steps, play), { numRuns: given.schedules, seed: given.seed, endOnFailure: true });
if (done.failed) {
  const failing = done.counterexample[0];
  const shrunk = await shorter(failing);
  console.log(`seed ${done.seed}, schedule ${done.numRuns}: ${failing.length} steps, ${shrunk.length} are enough:`);
  console.log(shrunk.map((what) => JSON.stringify(what)).join("\n"));
  console.log(await failure(shrunk));
} else console.log(JSON.stringify(count));
process.exit(done.failed ? 1 : 0);

async function failure(steps) {
  return play(steps).then(
    () => null,
    (error) => error?.message ?? String(error),
  );
}

/** As many steps left out as can be while it fails: halves first, then quarters, down to single ones, until none may go. */
async function shorter(steps) {
  let [kept, size] = [steps, steps.length];
  while (size >= 1) {
    const before = kept.length;
    for (let at = kept.length - size; at > -size; at -= size) {
      const tried = [...kept.slice(0, Math.max(at, 0)), ...kept.slice(Math.max(at + size, 0))];
      if (await failure(tried)) kept = tried;
    }
    if (size > 1 || kept.length === before) size = Math.floor(size / 2);
  }
  return kept;
}
