import type { KeptEvent, Origin, RecordedEnd, RecordedWrite } from './cycle.js';
import { Cycle, Timeline } from './cycle.js';
import { textSize } from './own-text.js';

/** Options of {@link CycleStore}. */
export interface CycleStoreOptions {
  readonly budgetBytes: number;
  readonly maxRunsPerKey: number;
  /** When it begins, in ms since 1970. */
  readonly at: number;
}

/** Events of one run that are kept one by one, because each key also has 16 reasons at most. */
const maxEvents = 16;
/** Writes of one run that are kept one by one. */
const maxWrites = 64;

/** The part of the budget that failing keys without a cycle may take. */
const keptShare = 0.25;

/**
 * The memory of each in V8, measured by `test/memory.test.ts`, on the generous side, including object, hidden arrays
 * and place in the tables.
 */
const sizes = { timeline: 420, cycle: 350, event: 120, write: 160, details: 80 };

/**
 * Timelines of keys with a fixed budget of bytes, of which the oldest parts are forgotten first, over all keys and
 * within each. A key without a cycle is forgotten with the last one, so that nothing grows with forgotten keys. Every
 * operation is O(1), except for the removal of a controller.
 */
export class CycleStore {
  /** The origin of its times. */
  readonly origin: Origin;
  readonly #options: CycleStoreOptions;
  /** By controller, then by key. */
  readonly #timelines = new Map<string, Map<string, Timeline>>();
  /** The keys of the controller that was looked up last. */
  #lastController = '';
  #lastKeys: Map<string, Timeline> | undefined;
  /** Failing keys of which no cycle is left, so that a stuck key stays visible. Oldest first. */
  readonly #kept = new Set<Timeline>();
  #keptBytes = 0;
  #oldest: Cycle | undefined;
  #newest: Cycle | undefined;
  #bytes = 0;
  #cycles = 0;
  #forgotten = 0;
  #sequence = 0;

  constructor(options: CycleStoreOptions) {
    this.#options = options;
    this.origin = { at: options.at };
  }

  /** The share of everything that is kept in the budget. */
  get bytes(): number {
    return this.#bytes;
  }

  get cycles(): number {
    return this.#cycles;
  }

  /** Cycles that were recorded and have been forgotten since. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Changes with whatever is recorded. */
  get version(): number {
    return this.#sequence + this.#forgotten;
  }

  *timelines(controller?: string): Iterable<Timeline> {
    if (controller !== undefined) yield* this.#timelines.get(controller)?.values() ?? [];
    else for (const keys of this.#timelines.values()) yield* keys.values();
  }

  find(controller: string, key: string): Timeline | undefined {
    return this.#keysOf(controller)?.get(key);
  }

  /** All cycles, newest first. */
  *newestFirst(): Iterable<Cycle> {
    for (let at = this.#newest; at !== undefined; at = at.older) yield at;
  }

  /**
   * Returns the cycle that collects the causes of the next run of a key. If there is no such cycle, it begins at
   * `queuedMs` since the origin.
   */
  pendingOf(controller: string, key: string, queuedMs: number): Cycle {
    const timeline = this.#keysOf(controller)?.get(key) ?? this.#addTimeline(controller, key);
    const { pending, newest } = timeline;
    if (pending !== undefined) return pending;
    const cycle = new Cycle(timeline, ++this.#sequence, queuedMs);
    timeline.pending = cycle;
    if (newest === undefined) timeline.oldest = cycle;
    else newest.newerOfKey = cycle;
    cycle.olderOfKey = newest;
    timeline.newest = cycle;
    timeline.count++;
    if (this.#kept.size > 0 && this.#kept.delete(timeline)) this.#keptBytes -= timelineSize(timeline);
    cycle.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = cycle;
    else this.#newest.newer = cycle;
    this.#newest = cycle;
    this.#cycles++;
    this.#grow(cycle, sizes.cycle);
    if (timeline.count > this.#options.maxRunsPerKey && timeline.oldest !== undefined) this.#forget(timeline.oldest);
    return cycle;
  }

  addEvent(cycle: Cycle, event: KeptEvent): void {
    if (cycle.eventCount >= maxEvents) {
      cycle.eventsOmitted++;
      return;
    }
    cycle.addEvent(event);
    // If it is the key, the string is shared.
    const own = event.object === cycle.timeline.key ? 0 : textSize(event.object);
    this.#grow(cycle, sizes.event + own + textSize(event.resourceVersion));
  }

  addWrite(cycle: Cycle, write: RecordedWrite): void {
    if (cycle.isForgotten) return;
    this.#sequence++;
    if (cycle.writes.length >= maxWrites) {
      cycle.writesOmitted++;
      return;
    }
    cycle.addWrite(write);
    const texts = textSize(write.object) + textSize(write.resourceVersion) + textSize(write.failure);
    this.#grow(cycle, sizes.write + texts);
  }

  setReasons(cycle: Cycle, reasons: readonly string[]): void {
    cycle.reasons = reasons;
  }

  setEnd(cycle: Cycle, end: RecordedEnd): void {
    cycle.settle(end);
    this.#sequence++;
    const { failure, nextMs, isLooping, reconcileId } = end;
    const isPlain = failure === undefined && nextMs === undefined && !isLooping;
    if (isPlain || cycle.isForgotten) return;
    this.#grow(cycle, sizes.details + textSize(failure) + textSize(reconcileId));
  }

  /** Forgets the waiting keys of a controller's queue, because the queue is gone. */
  endQueue(controller: string): void {
    this.#sequence++;
    for (const timeline of [...this.timelines(controller)]) {
      const { pending } = timeline;
      timeline.pending = undefined;
      timeline.dueAt = undefined;
      timeline.failuresInRow = 0;
      timeline.failingSince = undefined;
      if (pending !== undefined && !pending.isForgotten) this.#forget(pending);
      if (this.#kept.has(timeline)) this.#removeTimeline(timeline);
    }
  }

  /** Forgets everything of a controller. */
  remove(controller: string): void {
    for (const timeline of [...this.timelines(controller)]) {
      for (const cycle of timeline.cycles) this.#forget(cycle);
      this.#removeTimeline(timeline);
    }
  }

  #keysOf(controller: string): Map<string, Timeline> | undefined {
    if (controller === this.#lastController) return this.#lastKeys;
    this.#lastController = controller;
    this.#lastKeys = this.#timelines.get(controller);
    return this.#lastKeys;
  }

  #addTimeline(controller: string, key: string): Timeline {
    let keys = this.#keysOf(controller);
    if (keys === undefined) {
      keys = new Map();
      this.#timelines.set(controller, keys);
      this.#lastKeys = keys;
    }
    const timeline = new Timeline(controller, key, this.origin);
    keys.set(key, timeline);
    this.#bytes += timelineSize(timeline);
    return timeline;
  }

  #grow(cycle: Cycle, bytes: number): void {
    cycle.bytes += bytes;
    this.#bytes += bytes;
    while (this.#bytes > this.#options.budgetBytes && this.#oldest !== undefined && this.#oldest !== cycle)
      this.#forget(this.#oldest);
  }

  #forget(cycle: Cycle): void {
    const { timeline, older, newer } = cycle;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    cycle.older = undefined;
    cycle.newer = undefined;
    const { olderOfKey, newerOfKey } = cycle;
    if (olderOfKey === undefined) timeline.oldest = newerOfKey;
    else olderOfKey.newerOfKey = newerOfKey;
    if (newerOfKey === undefined) timeline.newest = olderOfKey;
    else newerOfKey.olderOfKey = olderOfKey;
    cycle.olderOfKey = undefined;
    cycle.newerOfKey = undefined;
    cycle.isForgotten = true;
    this.#bytes -= cycle.bytes;
    this.#cycles--;
    this.#forgotten++;
    if (timeline.pending === cycle) timeline.pending = undefined;
    if (--timeline.count > 0) return;
    if (timeline.failuresInRow === 0) this.#removeTimeline(timeline);
    else this.#keep(timeline);
  }

  #keep(timeline: Timeline): void {
    this.#kept.add(timeline);
    this.#keptBytes += timelineSize(timeline);
    for (const oldest of this.#kept) {
      if (this.#keptBytes <= this.#options.budgetBytes * keptShare) break;
      this.#removeTimeline(oldest);
    }
  }

  #removeTimeline(timeline: Timeline): void {
    const { controller, key } = timeline;
    const keys = this.#timelines.get(controller);
    if (keys?.delete(key) !== true) return;
    this.#bytes -= timelineSize(timeline);
    if (this.#kept.delete(timeline)) this.#keptBytes -= timelineSize(timeline);
    if (keys.size > 0) return;
    this.#timelines.delete(controller);
    if (this.#lastController === controller) this.#lastKeys = undefined;
  }
}

function timelineSize({ key }: Timeline): number {
  return sizes.timeline + textSize(key);
}
