import type { RecordedEvent, RecordedWrite } from './cycle.js';
import { Cycle, Timeline } from './cycle.js';

/** Options of {@link CycleStore}. */
export interface CycleStoreOptions {
  readonly budgetBytes: number;
  readonly maxRunsPerKey: number;
}

/** Events of one run that are kept one by one: each key has 16 reasons at most, too. */
const maxEvents = 16;
/** Writes of one run that are kept one by one. */
const maxWrites = 64;

/** The part of the budget that failing keys without a cycle may take. */
const keptShare = 0.25;

/**
 * What V8 takes of each, measured by `test/memory.test.ts`, on the generous side: object, hidden arrays, place in the
 * tables.
 */
const sizes = { timeline: 640, cycle: 480, event: 120, write: 160, end: 120, character: 1, text: 24 };

/**
 * Timelines of keys with a fixed budget of bytes: what is oldest is forgotten first, over all keys and within each. A key
 * without a cycle is forgotten with the last one, so that nothing grows with what has gone. Every operation is O(1), but
 * for the removal of a controller.
 */
export class CycleStore {
  readonly #options: CycleStoreOptions;
  /** By controller, then by key. */
  readonly #timelines = new Map<string, Map<string, Timeline>>();
  /** Failing keys of which no cycle is left: what is stuck stays visible. Oldest first. */
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
  }

  /** What everything that is kept counts against the budget. */
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
    return this.#timelines.get(controller)?.get(key);
  }

  /** All cycles, newest first. */
  *newestFirst(): Iterable<Cycle> {
    for (let at = this.#newest; at !== undefined; at = at.older) yield at;
  }

  /** Begins a cycle of a key. */
  begin(controller: string, key: string, queuedAt: number): Cycle {
    const timeline = this.find(controller, key) ?? this.#addTimeline(controller, key);
    const cycle = new Cycle(timeline, ++this.#sequence, queuedAt);
    timeline.cycles.push(cycle);
    if (this.#kept.delete(timeline)) this.#keptBytes -= timelineSize(timeline);
    cycle.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = cycle;
    else this.#newest.newer = cycle;
    this.#newest = cycle;
    this.#cycles++;
    this.#grow(cycle, sizes.cycle);
    if (timeline.cycles.length > this.#options.maxRunsPerKey) this.#forgetOldestOf(timeline);
    return cycle;
  }

  addEvent(cycle: Cycle, event: RecordedEvent): void {
    if (cycle.events.length >= maxEvents) {
      cycle.eventsOmitted++;
      return;
    }
    cycle.events.push(event);
    // Where it is the key, the text is shared.
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
    cycle.writes.push(write);
    const texts = textSize(write.object) + textSize(write.resourceVersion) + textSize(write.failure);
    this.#grow(cycle, sizes.write + texts);
  }

  setReasons(cycle: Cycle, reasons: readonly string[]): void {
    cycle.reasons = reasons;
  }

  setEnd(cycle: Cycle, end: NonNullable<Cycle['end']>): void {
    cycle.end = end;
    this.#sequence++;
    if (!cycle.isForgotten) this.#grow(cycle, sizes.end + textSize(end.failure) + textSize(end.reconcileId));
  }

  /** Forgets what waits in a controller's queue: the queue is gone. */
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
      for (const cycle of [...timeline.cycles]) this.#forget(cycle);
      this.#removeTimeline(timeline);
    }
  }

  #addTimeline(controller: string, key: string): Timeline {
    let keys = this.#timelines.get(controller);
    if (keys === undefined) {
      keys = new Map();
      this.#timelines.set(controller, keys);
    }
    const timeline = new Timeline(controller, key);
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

  #forgetOldestOf({ cycles }: Timeline): void {
    const [oldest] = cycles;
    if (oldest !== undefined) this.#forget(oldest);
  }

  #forget(cycle: Cycle): void {
    const { timeline, older, newer } = cycle;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    cycle.older = undefined;
    cycle.newer = undefined;
    cycle.isForgotten = true;
    this.#bytes -= cycle.bytes;
    this.#cycles--;
    this.#forgotten++;
    const place = timeline.cycles.indexOf(cycle);
    if (place !== -1) timeline.cycles.splice(place, 1);
    if (timeline.pending === cycle) timeline.pending = undefined;
    if (timeline.cycles.length > 0) return;
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
    if (keys.size === 0) this.#timelines.delete(controller);
  }
}

function timelineSize({ key }: Timeline): number {
  return sizes.timeline + textSize(key);
}

function textSize(text: string | undefined): number {
  return text === undefined || text === '' ? 0 : sizes.text + text.length * sizes.character;
}
