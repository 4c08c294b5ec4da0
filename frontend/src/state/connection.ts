// The socket of an open Space: hello and welcome, reconnect with backoff and jitter, detection of half-open links,
// frames in and out. It knows no graph: what a frame means is decided by the store.
import { readFrame, type ServerFrame, writeFrame } from "../wire/frame";
import { type ClientFrame, FRAME_LIMIT, type WelcomeFrame } from "../wire/frames";
import { Parts } from "../wire/parts";
import type { ClosedFor, Link } from "./editor";

/** The part of the browser's WebSocket that is used; tests give their own. */
export interface Socket {
  binaryType: string;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number }) => void) | null;
  onerror: ((event: never) => void) | null;
  send(bytes: Uint8Array): void;
  close(): void;
}

export type SocketFactory = (url: string) => Socket;

export interface ConnectionOptions {
  url: string;
  socket: SocketFactory;
  hello: () => ClientFrame;
  /** A frame that the server always answers and that changes nothing; sent when the line has been quiet. */
  probe: () => ClientFrame;
  /** The HTTP status of the Space, 0 without an answer. A browser does not tell why a socket did not open, so this is asked. */
  status: () => Promise<number>;
  onLink: (link: Link, closedFor: ClosedFor | null) => void;
  onWelcome: (frame: WelcomeFrame, igb: Uint8Array) => void;
  onFrame: (frame: Told) => void;
  random: () => number;
}

/** What is left for the store: a welcome is handed over apart, parts are put together on the way. */
export type Told = Exclude<ServerFrame, { type: "welcome" } | { type: "part" }>;

export const QUIET_MS = 15_000; // without a frame for so long the link is probed
export const ANSWER_MS = 10_000; // without an answer for so long the link is lost
const STEADY_MS = 5_000; // a link that lived so long starts the backoff anew
/** HTTP statuses after which coming back is no use; close codes are the same ones from 4000. */
const FINAL: ReadonlyMap<number, ClosedFor> = new Map([
  [401, "unauthenticated"],
  [403, "forbidden"],
  [404, "not_found"],
  [409, "conflict"],
]);
const CLOSE = 4000;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 30_000;

type Timer = ReturnType<typeof setTimeout>;

export class Connection {
  private socket: Socket | null = null;
  private link: Link = "connecting";
  private readonly parts = new Parts();
  private opened = false; // the newest socket was
  private attempt = 0;
  private openedAt = 0;
  private quiet: Timer | undefined;
  private answer: Timer | undefined;
  private retry: Timer | undefined;
  private closed = false;

  constructor(private readonly options: ConnectionOptions) {
    this.connect();
  }

  /** Send a frame; false when there is no open link. `answered` frames must get an answer in time or the link is lost. */
  send(frame: ClientFrame, answered = false): boolean {
    if (this.link !== "open") return false;
    if (answered) this.awaitAnswer();
    this.write(frame);
    return true;
  }

  /** Give up the link and come back for a fresh welcome. */
  drop(): void {
    this.lost();
  }

  /** The machine says that the network is back: do not wait for the backoff. */
  retryNow(): void {
    if (this.closed || this.socket) return;
    clearTimeout(this.retry);
    this.connect();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.retry);
    this.detach();
  }

  private connect(): void {
    const socket = this.options.socket(this.options.url);
    this.socket = socket;
    this.opened = false;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.opened = true;
      this.write(this.options.hello());
    };
    socket.onmessage = ({ data }) => this.receive(data);
    socket.onclose = ({ code }) => this.lost(FINAL.get(code - CLOSE));
    socket.onerror = () => this.lost();
    this.awaitAnswer();
  }

  private write(frame: ClientFrame): void {
    this.socket?.send(writeFrame(frame));
  }

  private receive(data: unknown): void {
    clearTimeout(this.answer);
    this.answer = undefined;
    if (!(data instanceof ArrayBuffer) || data.byteLength > FRAME_LIMIT) {
      this.lost();
      return;
    }
    let frame: ServerFrame | null;
    try {
      frame = readFrame(new Uint8Array(data));
    } catch (error) {
      console.error("a frame of the server was refused", error);
      this.lost();
      return;
    }
    this.listen();
    if (frame) this.hand(frame);
    if (this.socket && this.link !== "open") this.awaitAnswer(); // parts came, the welcome is still due
  }

  private hand(frame: ServerFrame): void {
    if (frame.type === "part") {
      if (!this.parts.add(frame)) this.lost();
      return;
    }
    if (frame.type !== "welcome") {
      if (this.link === "open" || frame.type === "refused") this.options.onFrame(frame);
      return;
    }
    const igb = frame.igb ?? (frame.transfer === null ? null : this.parts.take(frame.transfer));
    if (igb === null) {
      this.lost();
      return;
    }
    this.openedAt = Date.now();
    this.setLink("open");
    this.options.onWelcome(frame, igb);
  }

  /** Start counting silence anew. */
  private listen(): void {
    clearTimeout(this.quiet);
    this.quiet = setTimeout(() => this.send(this.options.probe(), true), QUIET_MS);
  }

  private awaitAnswer(): void {
    this.answer ??= setTimeout(() => this.lost(), ANSWER_MS);
  }

  /** The link is lost as soon as that is known here: on a dead network the browser tells of its own close minutes later. */
  private lost(closedFor?: ClosedFor): void {
    if (this.closed || !this.socket) return;
    if (closedFor) {
      this.end(closedFor);
      return;
    }
    const steady = this.link === "open" && Date.now() - this.openedAt >= STEADY_MS;
    this.detach();
    this.attempt = steady ? 0 : this.attempt + 1;
    const delay = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(this.attempt, 10));
    this.retry = setTimeout(() => this.connect(), delay * (0.5 + this.options.random() / 2));
    this.setLink("lost");
    if (!this.opened) void this.ask();
  }

  private async ask(): Promise<void> {
    const closedFor = FINAL.get(await this.options.status());
    if (closedFor && !this.closed && this.link !== "open") this.end(closedFor);
  }

  private end(closedFor: ClosedFor): void {
    this.close();
    this.setLink("lost", closedFor);
  }

  private detach(): void {
    clearTimeout(this.quiet);
    clearTimeout(this.answer);
    this.answer = undefined;
    this.parts.clear();
    const socket = this.socket;
    this.socket = null;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = socket.onerror = null;
    socket.close();
  }

  private setLink(link: Link, closedFor: ClosedFor | null = null): void {
    this.link = link;
    this.options.onLink(link, closedFor);
  }
}
