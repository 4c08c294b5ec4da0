// The run that is shown: the newest one of the Space. It takes events as they come, folds them at most once a picture, asks for
// what is missing, and keeps what it had while the link is lost. Owned by the store, which passes on what it shows.

import type { Id } from "../igb/graph";
import { mint } from "../igb/id";
import type { EventFrame } from "../wire/frames";
import type { Pool, RunView } from "./editor";
import * as runs from "./runs";

export interface FollowerOptions {
  /** Calls back before the next picture is drawn. */
  frame: (callback: () => void) => void;
  resume: (run: Id, after: number) => void;
  show: (shown: { run?: RunView; pool?: Pool | null }) => void;
}

export class Follower {
  private log: runs.RunLog | null = null;
  private events: EventFrame[] = []; // since the last picture
  private asked: number | null = null; // the seq after which events were asked for, until they come
  private readonly left = new Set<Id>(); // runs that a newer one has taken the place of
  private closed = false;

  constructor(private readonly options: FollowerOptions) {}

  /** A run of our own; its id. */
  begin(): Id {
    const run = mint();
    this.follow(run);
    return run;
  }

  /** The id of the run, while it is not known to have ended. */
  get running(): Id | null {
    return this.log && !runs.hasEnded(this.log) ? this.log.view.id : null;
  }

  /** What a new link goes on with. */
  resumable(): ReadonlyMap<Id, number> {
    return this.log && !runs.hasEnded(this.log) ? new Map([[this.log.view.id, this.log.last]]) : new Map();
  }

  /** A new link is open; `running` are the runs that the server has going. */
  welcome(running: readonly Id[]): void {
    this.asked = null;
    const newest = running.at(-1);
    if (newest === undefined || newest === this.log?.view.id || this.running !== null) return;
    this.follow(newest);
    this.options.resume(newest, 0);
  }

  take(event: EventFrame): void {
    if (this.events.push(event) === 1) this.options.frame(() => this.fold());
  }

  /** The server does not run it, or does not know it. */
  refused(run: Id, code: string): void {
    if (this.log?.view.id !== run) return;
    this.log = runs.failed(this.log, code);
    this.options.show({ run: this.log.view });
  }

  close(): void {
    this.closed = true;
  }

  private follow(run: Id): void {
    if (this.log) this.left.add(this.log.view.id);
    this.log = runs.begun(run, performance.now());
    this.asked = null;
    this.options.show({ run: this.log.view });
  }

  private fold(): void {
    if (this.closed) return;
    const batch = this.events;
    this.events = [];
    // An event of a run that was never shown is of a newer one.
    for (const { run } of batch) if (run !== this.log?.view.id && !this.left.has(run)) this.follow(run);
    const before = this.log;
    if (!before) return;
    const { id } = before.view;
    const log = runs.fold(
      before,
      batch.filter(({ run }) => run === id),
      performance.now(),
    );
    this.log = log;
    if (log.view !== before.view) this.options.show({ run: log.view });
    if (log.pool !== before.pool) this.options.show({ pool: log.pool });
    if (!runs.hasGap(log) || this.asked === log.last) return;
    this.asked = log.last;
    this.options.resume(id, log.last);
  }
}
