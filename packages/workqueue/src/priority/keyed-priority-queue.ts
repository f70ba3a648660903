import { booleanOption, requireOptions, textOption } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { AgedLevels } from './aged-levels.js';
import { DelayLine, requireDebounce } from '../delaying/delay-line.js';
import { noGetOptions, QueueArgumentError, requireNumber } from '../errors.js';
import { exponentialRateLimiter } from '../limiters/item-rate-limiters.js';
import type { FailurePolicy } from '../pool.js';
import { PriorityLevels } from './priority-levels.js';
import type { AddOptions, PrioritizedItem, PriorityQueue } from './priority-queue.js';
import { QueueBase } from '../queue-base.js';
import type { PriorityQueueOptions } from '../queue-options.js';
import { requireQueueOptions } from '../queue-options.js';
import type { RateLimiter } from '../limiters/rate-limiter.js';
import { requireRateLimiter } from '../limiters/rate-limiter.js';
import type { ReadyLevels } from './ready-levels.js';
import { delayed, processing, ready } from '../slot-table.js';
import type { Debounce, InspectableQueue, RequeueCause } from '../work-queue.js';
import type { GetOptions } from '../worker-pool.js';

const noOptions: AddOptions = {};
const noReasons: readonly string[] = [];
const maxReasons = 16;
/** Complete by type, so that none can be forgotten here. */
const addNames: OptionNames<AddOptions> = {
  afterMs: true,
  rateLimited: booleanOption,
  priority: true,
  debounce: true,
  error: true,
  reason: textOption,
};
const initialCapacity = 64;

/**
 * Makes a priority queue. The rate limiter defaults to an exponential one without a shared bucket, as in
 * controller-runtime.
 *
 * @throws QueueArgumentError for an option out of range; TypeError for one that is not known
 */
export function createPriorityQueue<T = string>(
  options: PriorityQueueOptions<T> = {},
): PriorityQueue<T> & InspectableQueue<T> {
  requireQueueOptions('createPriorityQueue', options);
  return new KeyedPriorityQueue<T>(options);
}

/**
 * One slot per key: `ready` (in a level) or `delayed` (in the line), or neither while it is only being processed. A
 * slot can be ready and processed at once; then it is parked in its level.
 */
class KeyedPriorityQueue<T> extends QueueBase<T, PrioritizedItem<T>> implements PriorityQueue<T> {
  readonly #limiter: RateLimiter<T>;
  readonly #line: DelayLine;
  readonly #levels: ReadyLevels;
  /** By slot, as far as slots have any. */
  #reasons: (string[] | undefined)[] = [];
  /** The priority that a slot being processed was handed out with, if it is not 0. */
  readonly #handedPriorities = new Map<number, number>();
  /** By slot. The options with which a ready or delayed slot is queued. */
  #priorities = new Float64Array(initialCapacity);
  #takenReasons = noReasons;
  /** The priority of the add in progress, for the overflow rule. */
  #incomingPriority = 0;
  #isDraining = false;
  readonly #isParked = (slot: number): boolean => ((this.table.flags[slot] ?? 0) & processing) !== 0;

  override readonly failurePolicy: FailurePolicy<T> = {
    verdict: 'retry',
    attempt: (item) => this.numRequeues(item) + 1,
    retry: (item, error, slot) =>
      this.addWith({ rateLimited: true, priority: this.#handedPriorities.get(slot) ?? 0, error }, item),
    forget: (item) => this.forget(item),
  };

  constructor(options: PriorityQueueOptions<T>) {
    super(options, true);
    const { ageing, key, rateLimiter } = options;
    if ('queue' in options && options.queue !== undefined)
      throw new QueueArgumentError(
        'queue',
        options.queue,
        'leave it out: a priority queue has an order of its own; the other queues take one',
      );
    if (rateLimiter !== undefined) requireRateLimiter(rateLimiter);
    if (ageing !== undefined) requireNumber('ageing.stepMs', ageing.stepMs, Number.MIN_VALUE);
    this.#levels =
      ageing === undefined
        ? new PriorityLevels(this.#isParked)
        : new AgedLevels({ now: () => this.clock.monotonicNow(), stepMs: ageing.stepMs });
    this.#limiter = rateLimiter ?? exponentialRateLimiter<T>();
    if (key !== undefined) this.#limiter.adoptKey?.(key);
    this.#line = new DelayLine({
      clock: this.clock,
      keepAlive: options.keepAlive ?? true,
      onDue: (slot) => this.#becomeReady(slot),
    });
  }

  override get length(): number {
    return this.#levels.length;
  }

  get delayed(): number {
    return this.#line.size;
  }

  override add(item: T): void {
    this.#addOne(item, 0, 0, noOptions);
  }

  addAfter(item: T, delayMs: number): void {
    requireNumber('delayMs', delayMs);
    this.#addOne(item, delayMs, 0, noOptions);
  }

  addRateLimited(item: T, cause?: RequeueCause): void {
    if (!this.isDown) this.#addOne(item, this.#limitedDelay(item, 0, cause), 0, noOptions);
  }

  addDebounced(item: T, debounce: Debounce): void {
    requireDebounce(debounce);
    this.addWith({ debounce }, item);
  }

  addWith(options: AddOptions, ...items: readonly T[]): void {
    requireOptions('addWith', options, addNames);
    const { afterMs = 0, priority = 0, debounce } = options;
    requireNumber('afterMs', afterMs);
    requireNumber('priority', priority);
    if (debounce !== undefined) requireDebounce(debounce);
    if (this.isDown) return;
    let refusal: Error | undefined;
    for (const item of items) {
      try {
        const delayMs = options.rateLimited === true ? this.#limitedDelay(item, afterMs, options) : afterMs;
        this.#addOne(item, delayMs, priority, options);
      } catch (error) {
        refusal ??= error instanceof Error ? error : new Error(String(error), { cause: error });
      }
    }
    // The items that are in order are added all the same.
    if (refusal !== undefined) throw refusal;
  }

  forget(item: T): void {
    this.#limiter.forget(item);
    if (this.table.failures.size > 0) this.endFailures(this.table.find(item));
  }

  numRequeues(item: T): number {
    return this.#limiter.numRequeues(item);
  }

  override async get(options: GetOptions = noGetOptions): Promise<T | undefined> {
    return (await this.waitForNext(options))?.item;
  }

  getWithPriority(options: GetOptions = noGetOptions): Promise<PrioritizedItem<T> | undefined> {
    return this.waitForNext(options);
  }

  tryGetWithPriority(): PrioritizedItem<T> | undefined {
    const slot = this.take();
    return slot < 0 ? undefined : this.handedOut(slot);
  }

  override shutDown(): void {
    this.isDown = true;
    this.#isDraining = false;
    this.#dropDelayed();
    this.#levels.clear((slot, priority) => {
      this.metrics?.dropped(slot, priority);
      this.#leave(slot, ready);
    });
    this.endDrain();
    this.checkEnd();
  }

  override shutDownWithDrain(): Promise<void> {
    if (!this.isDown) {
      this.isDown = true;
      this.#isDraining = true;
      this.#dropDelayed();
    }
    this.checkEnd();
    return this.drained();
  }

  protected override takeReady(): number {
    const slot = this.#levels.take();
    if (slot < 0) return -1;
    const { flags } = this.table;
    flags[slot] = ((flags[slot] ?? 0) & ~ready) | processing;
    const priority = this.#priorities[slot] ?? 0;
    if (priority !== 0) this.#handedPriorities.set(slot, priority);
    this.#takenReasons = this.#takeReasons(slot);
    this.metrics?.taken(slot, priority);
    return slot;
  }

  override dropReady(): number {
    if (this.#levels.lowest > this.#incomingPriority) return -1;
    const slot = this.#levels.takeLowest();
    if (slot < 0) return -1;
    const { flags } = this.table;
    flags[slot] = (flags[slot] ?? 0) & ~ready;
    this.#takeReasons(slot);
    this.metrics?.dropped(slot, this.#priorities[slot] ?? 0);
    return slot;
  }

  protected override withdraw(slot: number): void {
    const { flags } = this.table;
    const state = flags[slot] ?? 0;
    if ((state & delayed) !== 0) this.#line.remove(slot);
    if ((state & ready) !== 0) {
      const priority = this.#priorities[slot] ?? 0;
      this.#levels.remove(slot, priority);
      this.metrics?.dropped(slot, priority);
    }
    flags[slot] = state & ~(ready | delayed);
    this.#takeReasons(slot);
  }

  override readySlots(): readonly number[] {
    return this.#levels.slots();
  }

  override dueAt(slot: number): number | undefined {
    return ((this.table.flags[slot] ?? 0) & delayed) === 0 ? undefined : this.#line.dueAt(slot);
  }

  override priorityOf(slot: number): number {
    return this.#priorities[slot] ?? 0;
  }

  protected override settle(slot: number): void {
    const { flags } = this.table;
    const state = (flags[slot] ?? 0) & ~processing;
    flags[slot] = state;
    if (this.#handedPriorities.size > 0) this.#handedPriorities.delete(slot);
    if ((state & ready) !== 0) {
      this.#levels.unpark(slot, this.#priorities[slot] ?? 0);
      this.wake();
    } else if (state === 0) {
      this.table.release(slot);
    }
  }

  protected override requeue(slot: number): void {
    // After a plain shutdown nothing is handed out, so the key is abandoned like the waiting ones.
    if (this.isDown && !this.#isDraining) return;
    const { flags } = this.table;
    const state = flags[slot] ?? 0;
    if ((state & ready) !== 0) return;
    if ((state & delayed) !== 0) this.#line.remove(slot);
    const priority = this.#priorities[slot] ?? 0;
    flags[slot] = (state & ~delayed) | ready;
    this.metrics?.requeued(slot, priority);
    this.#levels.push(slot, priority, true);
  }

  protected override handedOut(slot: number): PrioritizedItem<T> | undefined {
    const item = this.table.items[slot];
    if (item === undefined) return undefined;
    return { item, priority: this.#priorities[slot] ?? 0, reasons: this.#takenReasons };
  }

  protected override resetSlots(): void {
    super.resetSlots();
    this.#levels.release();
    this.#priorities = new Float64Array(initialCapacity);
    this.#reasons = [];
  }

  #addOne(item: T, delayMs: number, priority: number, options: AddOptions): void {
    if (this.isDown) return;
    this.#incomingPriority = priority;
    if (this.admits(item)) this.#place(item, delayMs, priority, options);
    this.reportDropped();
  }

  #place(item: T, delayMs: number, priority: number, options: AddOptions): void {
    const slot = this.table.slotOf(item);
    const state = this.table.flags[slot] ?? 0;
    if (state === 0) this.table.use();
    if (options.reason !== undefined) this.#addReason(slot, options.reason);
    if (delayMs > 0) this.metrics?.retried();
    if ((state & ready) !== 0) {
      if (priority > (this.#priorities[slot] ?? 0)) this.#raise(slot, priority);
      return;
    }
    const isWaiting = (state & delayed) !== 0;
    this.#setPriority(slot, isWaiting ? Math.max(priority, this.#priorities[slot] ?? 0) : priority);
    this.#schedule(slot, isWaiting, delayMs, options.debounce);
  }

  /** Places a slot that is not ready in time; the earliest wins, except among debounced adds. */
  #schedule(slot: number, isWaiting: boolean, delayMs: number, debounce: Debounce | undefined): void {
    if (debounce !== undefined) {
      this.#enter(slot, delayed);
      this.#line.debounce(slot, isWaiting, debounce);
    } else if (delayMs <= 0) {
      if (isWaiting) this.#line.remove(slot);
      this.#becomeReady(slot);
    } else if (isWaiting) {
      this.#line.advance(slot, delayMs);
    } else {
      this.#enter(slot, delayed);
      this.#line.push(slot, delayMs);
    }
  }

  #becomeReady(slot: number): void {
    const { flags } = this.table;
    const priority = this.#priorities[slot] ?? 0;
    flags[slot] = ((flags[slot] ?? 0) & ~delayed) | ready;
    this.metrics?.added(slot, priority);
    this.#levels.push(slot, priority, this.#isParked(slot));
    this.wake();
  }

  #raise(slot: number, priority: number): void {
    const former = this.#priorities[slot] ?? 0;
    this.#levels.raise(slot, former, priority);
    this.#setPriority(slot, priority);
    this.metrics?.moved(former, priority);
    this.wake();
  }

  #limitedDelay(item: T, afterMs: number, cause: RequeueCause | undefined): number {
    const delay = this.#limiter.when(item, cause);
    requireNumber('the delay of the rate limiter', delay);
    return afterMs > 0 ? Math.min(delay, afterMs) : delay;
  }

  #setPriority(slot: number, priority: number): void {
    if (slot >= this.#priorities.length) {
      const more = new Float64Array(Math.max(slot + 1, this.#priorities.length * 2));
      more.set(this.#priorities);
      this.#priorities = more;
    }
    this.#priorities[slot] = priority;
  }

  #addReason(slot: number, reason: string): void {
    const reasons = this.#reasons[slot];
    if (reasons === undefined) {
      while (this.#reasons.length < slot) this.#reasons.push(undefined);
      this.#reasons[slot] = [reason];
    } else if (reasons.length < maxReasons && !reasons.includes(reason)) reasons.push(reason);
  }

  #takeReasons(slot: number): readonly string[] {
    const reasons = this.#reasons[slot];
    if (reasons === undefined) return noReasons;
    this.#reasons[slot] = undefined;
    return reasons;
  }

  #dropDelayed(): void {
    this.#line.clear((slot) => this.#leave(slot, delayed));
  }

  #enter(slot: number, flag: number): void {
    this.table.flags[slot] = (this.table.flags[slot] ?? 0) | flag;
  }

  /** The slot is given up without being worked on. */
  #leave(slot: number, flag: number): void {
    const { flags } = this.table;
    const state = (flags[slot] ?? 0) & ~flag;
    flags[slot] = state;
    this.#takeReasons(slot);
    if (state === 0) this.table.release(slot);
  }
}
