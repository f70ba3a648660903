import type { Status } from '@kctl/apimachinery';
import { aborted, systemClock } from '@kctl/wait';
import { nextTurn } from '@kctl/wait/internal';
import type { Clock, ClockTimer } from '@kctl/wait';
import type { Offload } from '../offload/offload.js';
import { expired, resourceVersionTooLarge } from '../protocol/status.js';
import type { Sink } from '../protocol/sink.js';
import type { Store } from '../storage/store.js';
import type { Table } from '../storage/table.js';
import type { ObjectVersion } from '../storage/version.js';
import { statesOf, type WatchBatch, type WatchChange, type WatchHub, type WatchScope } from './hub.js';
import { isReady, makeReady } from './readiness.js';
import type { WatchShape } from '../codecs/shape.js';

/** Start of a watch. */
export type WatchStart =
  /** ADDED for all that is there (at `atLeast` or later), then changes. */
  | { readonly from: 'current'; readonly atLeast: number; readonly endBookmark: boolean }
  /** Changes after a revision. */
  | { readonly from: 'revision'; readonly revision: number }
  /** Changes from now on. */
  | { readonly from: 'now' };

/** Changes to the lines of one watch on their way out; faults use it. */
export interface WatchTap {
  /** Called before anything goes out. */
  start?(sink: Sink, shape: WatchShape): void;
  /** Called before a line goes out; answers what goes out in its place. */
  line(line: Uint8Array, sink: Sink, shape: WatchShape): readonly Uint8Array[];
}

/** Options of {@link runWatch}. */
export interface WatchOptions {
  readonly scope: WatchScope;
  readonly shape: WatchShape;
  readonly start: WatchStart;
  readonly bookmarks: boolean;
  readonly timeoutMs: number;
  readonly sink: Sink;
  readonly tap?: WatchTap;
}

/** Environment shared by all watches. */
export interface WatchEnvironment {
  readonly store: Store;
  readonly hub: WatchHub;
  readonly clock: Clock;
  /** Thread that reads long objects. */
  readonly offload: Offload;
  /** @default 60000 */
  readonly bookmarkIntervalMs: number;
  /** A watcher that has this much waiting is cut. */
  readonly maxBufferedBytes: number;
  /** Aborted when the server stops, so that all watches end properly. */
  readonly stopping: AbortSignal;
}

/** How many events or objects are written before others get their turn. */
const sliceSize = 500;
/** A turn that writes states ends after this time, because a selector may read long objects. */
const turnMs = 8;
/** A last bookmark comes this long before the end of the watch. */
const lastBookmarkMs = 2000;

const initialEventsEnd = { 'k8s.io/initial-events-end': 'true' };

class Session {
  readonly #env: WatchEnvironment;
  readonly #options: WatchOptions;
  /** The last revision that this watcher has received. */
  #seen = 0;
  /** Events of this revision and before in the hub are not for this watcher, which has read them itself. */
  #joinedAt = 0;
  #isFirst = true;
  /** States that have been made ready for this watcher. */
  readonly #made = new WeakSet<ObjectVersion>();
  #leave: (() => void) | undefined;
  readonly #timers = new Set<ClockTimer>();

  constructor(env: WatchEnvironment, options: WatchOptions) {
    this.#env = env;
    this.#options = options;
  }

  async run(): Promise<void> {
    const { sink } = this.#options;
    const { stopping } = this.#env;
    const end = (): void => sink.end();
    stopping.addEventListener('abort', end, { once: true });
    const closed = aborted(sink.closed);
    try {
      if (stopping.aborted) sink.end();
      else await this.#watch();
      await closed;
    } finally {
      stopping.removeEventListener('abort', end);
      this.#leave?.();
      for (const timer of this.#timers) timer.cancel();
    }
  }

  async #watch(): Promise<void> {
    const { start, timeoutMs, sink, shape, bookmarks } = this.#options;
    const { store } = this.#env;
    this.#options.tap?.start?.(sink, shape);
    const asked = start.from === 'current' ? start.atLeast : 0;
    if (asked > store.revision) {
      this.#fail(resourceVersionTooLarge(String(asked), String(store.revision)).status);
      return;
    }
    this.#after(timeoutMs, end(sink));
    if (start.from === 'current') {
      this.#seen = store.revision;
      if (!(await this.#sendCurrent(this.#seen))) return;
      if (start.endBookmark && !sink.closed.aborted) this.#bookmark(initialEventsEnd, this.#seen);
    } else {
      this.#seen = start.from === 'now' ? store.revision : start.revision;
    }
    const isLive = await this.#catchUp();
    if (isLive && bookmarks) this.#scheduleBookmarks(timeoutMs);
  }

  /**
   * Writes the state at a revision, slice by slice; the pin keeps it readable meanwhile. Resolves with false if its
   * conversion failed.
   */
  async #sendCurrent(revision: number): Promise<boolean> {
    const { scope, sink } = this.#options;
    const table = this.#env.store.table(scope.table);
    const unpin = this.#env.store.pin(revision);
    try {
      let start = scope.key ?? '';
      let found = sliceSize;
      while (found === sliceSize && !sink.closed.aborted) {
        const slice: ObjectVersion[] = [];
        for (const [key, version] of table.scan({ prefix: scope.key ?? scope.prefix, start, revision })) {
          if (scope.key !== undefined && key !== scope.key) break;
          start = `${key}\u0000`;
          slice.push(version);
          if (slice.length === sliceSize) break;
        }
        if (!(await this.#sendSlice(slice))) return false;
        found = slice.length;
        await this.#breathe(found === sliceSize);
      }
      return true;
    } finally {
      unpin();
    }
  }

  /**
   * Writes states, and gives other requests their turn if one of them takes long. Resolves with false if a conversion
   * failed.
   */
  async #sendSlice(slice: readonly ObjectVersion[]): Promise<boolean> {
    const { scope, shape } = this.#options;
    const isSelected = (version: ObjectVersion): boolean =>
      scope.matches?.(version.in(shape.definition).object) ?? true;
    let begun = systemClock.monotonicNow();
    for (const version of slice) {
      if (systemClock.monotonicNow() - begun >= turnMs) {
        await this.#breathe(true);
        begun = systemClock.monotonicNow();
      }
      // An object that another thread has to read is read once it is selected.
      if (!version.has(shape.definition) && !(await this.#isReady(slice))) return false;
      if (!isSelected(version)) continue;
      if (!this.#canShow(version) && !(await this.#isReady([version]))) return false;
      this.#send({ type: 'ADDED', version, revision: version.revision });
    }
    return true;
  }

  /** Replays history after the revision seen until the present is reached, then joins the hub in the same turn. */
  async #catchUp(): Promise<boolean> {
    const { scope, shape, sink } = this.#options;
    const { store, hub } = this.#env;
    while (!sink.closed.aborted) {
      const table = store.table(scope.table);
      if (this.#seen < table.floor) {
        this.#fail(expired(`too old resource version: ${this.#seen} (${table.floor + 1})`).status);
        return false;
      }
      let index = table.eventsAfter(this.#seen);
      const ready = this.#areReady(table, index);
      if (ready !== true) {
        if (!(await ready)) return false;
        // History may have been trimmed meanwhile, and the present is another one.
        continue;
      }
      for (let sent = 0; sent < sliceSize; sent++, index++) {
        const event = table.eventAt(index);
        if (event === undefined) break;
        const change = hub.see(event, scope, shape);
        if (change !== undefined) this.#send(change);
        this.#seen = event.revision;
      }
      if (table.eventAt(index) === undefined) {
        this.#joinedAt = this.#seen;
        this.#leave = hub.join(
          { deliver: (batch) => this.#deliver(batch), end: () => this.#options.sink.end() },
          scope,
          shape,
        );
        return true;
      }
      await this.#breathe(true);
    }
    return false;
  }

  /** Whether the next slice of events can be shown; a promise of it if a webhook or another thread has to be called. */
  #areReady(table: Table, first: number): true | Promise<boolean> {
    const { scope, shape } = this.#options;
    const { conversion, slowReading } = shape.definition;
    if (conversion === undefined && slowReading === undefined && shape.pending === undefined) return true;
    const states: ObjectVersion[] = [];
    for (let index = first; index < first + sliceSize; index++) {
      const event = table.eventAt(index);
      if (event === undefined) break;
      states.push(...statesOf(event, scope).filter((version) => !this.#canShow(version)));
    }
    return states.length === 0 ? true : this.#isReady(states);
  }

  /** Whether a state can be shown at once. A state that was made ready is not made again when time has gone on. */
  #canShow(version: ObjectVersion): boolean {
    const { shape } = this.#options;
    return this.#made.has(version) ? version.has(shape.definition) : isReady(shape, version);
  }

  /**
   * Has states made ready; ends the watch if the webhook goes on failing, as upstream ends watches of a cache that it
   * fills anew.
   */
  async #isReady(versions: readonly ObjectVersion[]): Promise<boolean> {
    const { shape, sink } = this.#options;
    const isWanted = (): boolean => !sink.closed.aborted;
    const { clock, offload } = this.#env;
    const ready = makeReady(shape, versions, { clock, offload, isWanted });
    if (ready === true || (await ready)) {
      for (const version of versions) this.#made.add(version);
      return true;
    }
    sink.end();
    return false;
  }

  #deliver(batch: WatchBatch): void {
    const { sink, shape, tap } = this.#options;
    const future = this.#joinedAt;
    const last = batch.changes.at(-1);
    if (last === undefined || last.revision <= future) return;
    const isWhole =
      tap === undefined && !(this.#isFirst && shape.hasPreamble) && (batch.changes[0]?.revision ?? 0) > future;
    if (isWhole) sink.write(batch.bytes);
    else for (const change of batch.changes) if (change.revision > future) this.#send(change);
    this.#seen = Math.max(this.#seen, last.revision);
    this.#cutIfSlow();
  }

  #send(change: WatchChange): void {
    const { shape } = this.#options;
    this.#write(shape.event(change.type, change.version, this.#isFirst));
    this.#isFirst = false;
    this.#seen = Math.max(this.#seen, change.revision);
  }

  #write(line: Uint8Array): void {
    const { sink, shape, tap } = this.#options;
    if (tap === undefined) sink.write(line);
    else for (const out of tap.line(line, sink, shape)) sink.write(out);
  }

  #bookmark(annotations: Readonly<Record<string, string>> | undefined, revision: number): void {
    this.#write(this.#options.shape.bookmark(String(revision), annotations));
    this.#seen = Math.max(this.#seen, revision);
  }

  /** Each interval and shortly before the end, but only if there is news, so an idle server sends none. */
  #scheduleBookmarks(timeoutMs: number): void {
    const beat = (): void => {
      if (this.#env.store.revision > this.#seen) {
        // Events of this turn are still on their way through the hub; the bookmark must not overtake them.
        setImmediate(() => setImmediate(() => this.#bookmarkIfNews()));
      }
    };
    const again = (): void => {
      beat();
      this.#after(this.#env.bookmarkIntervalMs, again);
    };
    this.#after(this.#env.bookmarkIntervalMs, again);
    if (timeoutMs > lastBookmarkMs) this.#after(timeoutMs - lastBookmarkMs, beat);
  }

  #bookmarkIfNews(): void {
    const { sink, scope, shape } = this.#options;
    const { store, hub } = this.#env;
    if (sink.closed.aborted || store.revision <= this.#seen) return;
    const table = store.table(scope.table);
    // An event for this watcher may have been committed since, in which case it carries the revision itself.
    for (let index = table.eventsAfter(this.#seen); ; index++) {
      const event = table.eventAt(index);
      if (event === undefined) break;
      if (statesOf(event, scope).some((version) => !version.has(shape.definition))) return;
      if (hub.see(event, scope, shape) !== undefined) return;
    }
    this.#bookmark(undefined, store.revision);
  }

  #fail(status: Status): void {
    this.#write(this.#options.shape.error(status));
    this.#options.sink.end();
  }

  #cutIfSlow(): void {
    if (this.#options.sink.buffered > this.#env.maxBufferedBytes) this.#options.sink.destroy();
  }

  #after(ms: number, callback: () => void): void {
    const timer = this.#env.clock.setTimer(
      () => {
        this.#timers.delete(timer);
        if (!this.#options.sink.closed.aborted) callback();
      },
      ms,
      { keepAlive: false },
    );
    this.#timers.add(timer);
  }

  /** Lets the consumer take what is written, and others have their turn. */
  async #breathe(more: boolean): Promise<void> {
    if (this.#options.sink.buffered > 0) await this.#options.sink.drained();
    if (more) await nextTurn();
  }
}

function end(sink: Sink): () => void {
  return () => sink.end();
}

/** Runs one watch until it ends; resolves when its sink is closed. Every end leaves hub and timers clean. */
export function runWatch(env: WatchEnvironment, options: WatchOptions): Promise<void> {
  return new Session(env, options).run();
}
