// The run that is shown: the newest one of the Space, or an earlier one that was asked for. It takes events as they come, folds
// them at most once a picture, asks for what is missing, and keeps what it had while the link is lost. A run that had ended before
// this page looked is shown when it is here whole. Owned by the store, which passes on what it shows.

import type { Id } from "../igb/graph";
import { mint } from "../igb/id";
import type { EventFrame } from "../wire/frames";
import type { PastRun, Pool, RunView } from "./editor";
import * as runs from "./runs";

export interface FollowerOptions {
  /** Calls back before the next picture is drawn. */
  frame: (callback: () => void) => void;
  resume: (run: Id, after: number) => void;
  show: (shown: { run?: RunView | null; past?: PastRun | null; pool?: Pool | null }) => void;
  /** The newest run of the Space, if it has ended. */
  newest: () => Promise<Id | null>;
}

export class Follower {
  private log: runs.RunLog | null = null; // of the newest run
  private past: { which: PastRun; log: runs.RunLog } | null = null;
  private events: EventFrame[] = []; // since the last picture
  private readonly asked = new Map<Id, number>(); // the seq after which events of a run were asked for, until they come
  private readonly left = new Set<Id>(); // runs that are no longer looked at
  private closed = false;

  constructor(private readonly options: FollowerOptions) {}

  /** A run of our own; its id. */
  begin(): Id {
    const run = mint();
    this.follow(run);
    return run;
  }

  /** The id of the newest run, while it is not known to have ended. */
  get running(): Id | null {
    return this.log && !this.log.view.recalled && !runs.hasEnded(this.log) ? this.log.view.id : null;
  }

  /** What a new link goes on with. */
  resumable(): ReadonlyMap<Id, number> {
    const open = [this.log, this.past?.log].filter((log) => log && !runs.hasEnded(log)) as runs.RunLog[];
    return new Map(open.map(({ view, last }) => [view.id, last]));
  }

  /** A new link is open; `running` are the runs that the server has going. */
  welcome(running: readonly Id[]): void {
    this.asked.clear();
    const newest = running.at(-1);
    if (newest === undefined) {
      if (!this.log) void this.lookBack();
      return;
    }
    if (newest === this.log?.view.id || this.running !== null) return;
    this.follow(newest);
    this.options.resume(newest, 0);
  }

  take(event: EventFrame): void {
    if (this.events.push(event) === 1) this.options.frame(() => this.fold());
  }

  /** The server does not run it, or does not know it. */
  refused(run: Id, code: string): void {
    if (run === this.past?.which.id) this.live();
    if (this.log?.view.id !== run) return;
    this.log = this.log.view.recalled ? null : runs.failed(this.log, code);
    if (!this.past) this.options.show({ run: this.log?.view ?? null });
  }

  /** Show an earlier run. While the newest one goes on, that one is shown. */
  recall(which: PastRun): void {
    if (this.running !== null) return;
    this.live();
    if (which.id === this.log?.view.id) return;
    this.left.delete(which.id);
    this.past = { which, log: runs.begun(which.id, performance.now(), true) };
    this.options.resume(which.id, 0);
  }

  /** Show the newest run again. */
  live(): void {
    if (!this.past) return;
    this.leave(this.past.log);
    this.past = null;
    this.options.show({ run: this.log && this.isShown(this.log) ? this.log.view : null, past: null });
  }

  close(): void {
    this.closed = true;
  }

  private async lookBack(): Promise<void> {
    const run = await this.options.newest();
    if (run === null || this.log || this.closed) return;
    this.log = runs.begun(run, performance.now(), true);
    this.options.resume(run, 0);
  }

  private follow(run: Id): void {
    this.live();
    if (this.log) this.leave(this.log);
    this.log = runs.begun(run, performance.now());
    this.options.show({ run: this.log.view });
  }

  private leave({ view }: runs.RunLog): void {
    this.left.add(view.id);
    this.asked.delete(view.id);
  }

  private isShown(log: runs.RunLog): boolean {
    return !log.view.recalled || runs.hasEnded(log);
  }

  private fold(): void {
    if (this.closed) return;
    const batch = this.events;
    this.events = [];
    // An event of a run that was never shown is of a newer one.
    for (const { run } of batch) {
      if (run !== this.log?.view.id && run !== this.past?.which.id && !this.left.has(run)) this.follow(run);
    }
    if (this.log) {
      const before = this.log;
      this.log = this.folded(before, batch);
      if (this.log.view !== before.view && !this.past && this.isShown(this.log))
        this.options.show({ run: this.log.view });
      if (this.log.pool !== before.pool && !before.view.recalled) this.options.show({ pool: this.log.pool });
    }
    if (this.past) {
      const { which, log: before } = this.past;
      const log = this.folded(before, batch);
      this.past = { which, log };
      if (log.view !== before.view && this.isShown(log)) this.options.show({ run: log.view, past: which });
    }
  }

  private folded(before: runs.RunLog, batch: readonly EventFrame[]): runs.RunLog {
    const { id } = before.view;
    const events = batch.filter(({ run }) => run === id);
    const log = runs.fold(before, events, performance.now());
    if (runs.hasGap(log) && this.asked.get(id) !== log.last) {
      this.asked.set(id, log.last);
      this.options.resume(id, log.last);
    }
    return log;
  }
}

/** Before the next picture, or soon where none is drawn (a tab in the background). */
export function beforeNextPicture(callback: () => void): void {
  let due = true;
  const once = (): void => {
    if (due) callback();
    due = false;
  };
  const draws = typeof requestAnimationFrame === "function";
  if (draws) requestAnimationFrame(once);
  setTimeout(once, draws ? 250 : 16);
}
