import { guardMetrics, loggerOption } from '@kctl/telemetry/internal';
import { requireOptions, signalOption } from '@kctl/options';
import { systemClock } from '@kctl/wait';
import { abortReason } from '@kctl/wait/internal';
import type { OptionNames } from '@kctl/options';
import type { Clock } from '@kctl/wait';
import { Drain } from './drain.js';
import { getProblem, noGetOptions, requireFunction } from './errors.js';
import { IdleWaiters } from './idle-waiters.js';
import type { FailurePolicy, PoolSource } from './pool.js';
import { Pool } from './pool.js';
import { QueueIteration } from './queue-iteration.js';
import type { IterationSource, SlotHolder } from './queue-iteration.js';
import { QueueLookUps } from './queue-look-ups.js';
import { QueueMetrics } from './queue-metrics.js';
import type { WorkQueueOptions } from './queue-options.js';
import { QueueRoom } from './queue-room.js';
import { requireBound } from './require-bound.js';
import { processing, SlotTable } from './slot-table.js';
import type { Waiter } from './waiter-list.js';
import { WaiterList } from './waiter-list.js';
import type { GetOptions, RunOptions, WorkerPool, WorkFunction } from './worker-pool.js';
import type { IdleOptions, InspectableQueue, QueueEntry, QueueKey, WorkQueue } from './work-queue.js';

const runOptionNames: OptionNames<RunOptions<never>> = {
  concurrency: true,
  signal: signalOption,
  timeoutMs: true,
  startRate: true,
  onError: true,
  logger: loggerOption,
};
const idleOptionNames: OptionNames<IdleOptions> = { signal: signalOption, includeDelayed: true };
/**
 * Base of all queues, which composes a table of slots, its consumers (waiting calls, pools, iterations), its look-ups, its
 * room and its end. A subclass decides the order in which ready slots are taken. `V` is the value that waiters get.
 *
 * No method awaits between two changes of state, so each call is atomic for its callers.
 */
export abstract class QueueBase<T, V> implements WorkQueue<T>, InspectableQueue<T>, PoolSource<T>, IterationSource<T> {
  readonly clock: Clock;
  readonly table: SlotTable<T>;
  protected readonly metrics: QueueMetrics | undefined;
  protected isDown = false;
  readonly #room: QueueRoom<T> | undefined;
  readonly #waiters = new WaiterList();
  readonly #pools = new Set<Pool<T>>();
  #processing = 0;
  #isWakeDue = false;
  #hadConsumers = false;
  /** The slot handed out last, which is most often the next one done and then needs no look-up. */
  #lastTaken = -1;
  /** Iterations that hold a slot. */
  readonly #iterations = new Set<SlotHolder>();
  readonly #drain = new Drain(this);
  readonly #idle = new IdleWaiters(this);
  readonly #lookUps = new QueueLookUps<T>(this);

  constructor(options: WorkQueueOptions<T>, withPriority: boolean) {
    const { name, metrics, clock = systemClock, bound } = options;
    if (bound !== undefined) requireBound(bound);
    if (options.key !== undefined) requireFunction('key', options.key);
    this.clock = clock;
    this.table = new SlotTable<T>(options.key, () => this.resetSlots());
    this.metrics =
      metrics === undefined || name === undefined
        ? undefined
        : new QueueMetrics(
            { metrics: guardMetrics(metrics, () => undefined), name, controller: options.controller ?? name, clock },
            withPriority,
          );
    this.#room = bound === undefined ? undefined : new QueueRoom(bound, this);
  }

  abstract get length(): number;
  abstract add(item: T): void;
  abstract shutDown(): void;
  abstract shutDownWithDrain(): Promise<void>;
  /** Removes the next slot from the ready ones and marks it as being processed; -1 if no slot is ready. */
  protected abstract takeReady(): number;
  /** Clears the processing flag of a slot, makes it ready if it was added meanwhile, releases it if nothing is left. */
  protected abstract settle(slot: number): void;
  /** Marks a slot being processed so that {@link settle} makes it ready again. */
  protected abstract requeue(slot: number): void;
  /** Result of a waiter for a slot that was just taken. */
  protected abstract handedOut(slot: number): V | undefined;
  abstract readonly failurePolicy: FailurePolicy<T>;
  /** Removes the slot that a full queue gives up first; -1 if none is ready. */
  abstract dropReady(): number;
  /** Takes a slot back that is pending; its flags but `processing` are cleared. */
  protected abstract withdraw(slot: number): void;
  /** The slots that are ready and not being processed, in the order of their hand-out. */
  abstract readySlots(): readonly number[];
  /** When the delay of the slot ends, in ms of the monotonic clock; undefined if not delayed. */
  abstract dueAt(slot: number): number | undefined;
  /** The priority that a pending slot is queued with. */
  abstract priorityOf(slot: number): number;
  /** Slots are numbered anew, so arrays by slot can be released. */
  protected resetSlots(): void {
    this.#lastTaken = -1;
    this.metrics?.reset();
  }

  get processing(): number {
    return this.#processing;
  }

  get shuttingDown(): boolean {
    return this.isDown;
  }

  /** Whether a pool or a waiting `get` is there to take what waits. */
  get hasConsumers(): boolean {
    return this.#waiters.size > 0 || this.#pools.size > 0;
  }

  /** Whether nothing was ever taken, and nothing is there that will. */
  protected get isUnattended(): boolean {
    return !this.#hadConsumers && !this.hasConsumers;
  }

  /** Whether this queue will not hand out anything again. */
  get isFinished(): boolean {
    return this.isDown && this.#processing === 0 && this.length === 0;
  }

  abstract get(options?: GetOptions): Promise<T | undefined>;

  tryGet(): T | undefined {
    const slot = this.take();
    return slot < 0 ? undefined : this.table.items[slot];
  }

  done(item: T): void {
    const last = this.#lastTaken;
    const slot = last >= 0 && this.table.items[last] === item ? last : this.table.find(item);
    if (slot < 0) return;
    // A consumer that works for a pool or an iteration may call `done` itself.
    if (this.#pools.size > 0) for (const pool of this.#pools) pool.letGo(slot);
    if (this.#iterations.size > 0) for (const iteration of this.#iterations) iteration.letGo(slot);
    this.finish(slot);
  }

  has(item: T): boolean {
    return this.#lookUps.has(item);
  }

  peek(item: T): QueueEntry<T> | undefined {
    return this.#lookUps.peek(item);
  }

  entries(): QueueEntry<T>[] {
    return this.#lookUps.entries();
  }

  waitUntilIdle(options: IdleOptions = {}): Promise<void> {
    requireOptions('waitUntilIdle', options, idleOptionNames);
    return this.#idle.wait(options);
  }

  delete(item: T): boolean {
    if (!this.has(item)) return false;
    const slot = this.table.find(item);
    try {
      this.withdraw(slot);
    } finally {
      // Even if a custom backing queue has thrown after it had removed the item.
      if (this.table.flags[slot] === 0) this.table.release(slot);
      if (this.isDown) this.checkEnd();
      this.#idle.check();
    }
    return true;
  }

  run(options: RunOptions<T>, work: WorkFunction<T>): WorkerPool {
    requireFunction('work', work);
    requireOptions('run', options, runOptionNames);
    if (options.onError !== undefined) requireFunction('onError', options.onError);
    const pool: Pool<T> = new Pool<T>(this, this.failurePolicy, {
      ...options,
      work,
      onEnd: () => {
        this.#pools.delete(pool);
        this.#drain.check();
      },
    });
    this.#pools.add(pool);
    this.wake();
    return pool;
  }

  [Symbol.asyncIterator](options: GetOptions = noGetOptions): AsyncIterableIterator<T, undefined> {
    return new QueueIteration<T>(this, options);
  }

  items(options: GetOptions = noGetOptions): AsyncIterableIterator<T, undefined> {
    return new QueueIteration<T>(this, options);
  }

  /** How many keys there are, those that are delayed included. */
  get live(): number {
    return this.table.live;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutDownWithDrain();
  }

  take(): number {
    const slot = this.takeReady();
    if (slot >= 0) {
      this.#processing++;
      this.#hadConsumers = true;
      this.#lastTaken = slot;
    }
    return slot;
  }

  itemAt(slot: number): T | undefined {
    return this.table.items[slot];
  }

  keyOf(item: T): QueueKey {
    return this.table.keyOf(item);
  }

  hold(holder: SlotHolder): void {
    this.#iterations.add(holder);
  }

  letGo(holder: SlotHolder): void {
    this.#iterations.delete(holder);
  }

  countFailure(slot: number): number {
    if (slot < 0) return 1;
    const { failures } = this.table;
    const count = (failures.get(slot) ?? 0) + 1;
    failures.set(slot, count);
    return count;
  }

  endFailures(slot: number): void {
    const { failures } = this.table;
    if (failures.size > 0) failures.delete(slot);
  }

  giveBack(slot: number): void {
    if (((this.table.flags[slot] ?? 0) & processing) === 0) return;
    this.requeue(slot);
    this.finish(slot);
  }

  finish(slot: number): void {
    if (((this.table.flags[slot] ?? 0) & processing) === 0) return;
    this.metrics?.done(slot);
    this.#processing--;
    try {
      this.settle(slot);
    } finally {
      if (this.#processing === 0) {
        if (this.isDown) this.checkEnd();
        this.#idle.check();
      }
    }
  }

  /** Waits in the order of the calls, also when items are ready but were not handed out yet. */
  protected waitForNext(options: GetOptions): Promise<V | undefined> {
    const problem = getProblem('get', options);
    if (problem !== undefined) return Promise.reject(problem);
    const { signal } = options;
    if (signal?.aborted === true) return Promise.reject(abortReason(signal));
    try {
      if (this.#waiters.size === 0) {
        const slot = this.take();
        if (slot >= 0) return Promise.resolve(this.handedOut(slot));
      }
      return this.#waitForNext(signal);
    } catch (error) {
      return Promise.reject(asError(error));
    }
  }

  #waitForNext(signal: AbortSignal | undefined): Promise<V | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<V | undefined>();
    const taken = this.takeOrWait((slot, failure) => {
      signal?.removeEventListener('abort', onAbort);
      if (failure !== undefined) reject(failure);
      else resolve(slot < 0 ? undefined : this.handedOut(slot));
    });
    const onAbort = (): void => {
      if (typeof taken === 'function') taken();
      reject(signal === undefined ? new Error('aborted') : abortReason(signal));
    };
    if (typeof taken === 'number') resolve(taken < 0 ? undefined : this.handedOut(taken));
    else signal?.addEventListener('abort', onAbort, { once: true });
    return promise;
  }

  takeOrWait(waiter: Waiter): number | (() => void) {
    if (this.#waiters.size === 0) {
      const slot = this.take();
      if (slot >= 0 || this.isDown) return slot;
    }
    return this.#waiters.add(waiter);
  }

  /** Serves waiters and pools after the current synchronous step, so that what it adds is merged and ordered first. */
  protected wake(): void {
    if (this.#isWakeDue || (this.#waiters.size === 0 && this.#pools.size === 0)) return;
    this.#isWakeDue = true;
    void settled.then(this.#serve);
  }

  readonly #serve = (): void => {
    this.#isWakeDue = false;
    while (this.#waiters.size > 0) {
      try {
        const slot = this.take();
        if (slot >= 0 || this.isDown) this.#waiters.serveNext(slot);
        else break;
      } catch (error) {
        // A custom backing queue failed.
        this.#waiters.serveNext(-1, asError(error));
      }
    }
    if (this.#pools.size > 0) for (const pool of this.#pools) pool.pump();
    if (this.isDown) this.#drain.check();
  };

  /** Resolves when everything is handled and done, or when {@link endDrain} is called. */
  protected drained(): Promise<void> {
    return this.#drain.wait();
  }

  protected endDrain(): void {
    this.#drain.end();
  }

  /** Lets all who wait for the end of the queue look whether it has come. */
  protected checkEnd(): void {
    this.#idle.check();
    if (this.#processing === 0) this.metrics?.close();
    this.wake();
    this.#drain.check();
  }

  /** Whether an item may be added. */
  protected admits(item: T): boolean {
    return this.#room === undefined || this.#room.admits(item);
  }

  /** Hands what the add in progress has dropped to the bound's `onDrop`. @throws the first error of the hook */
  protected reportDropped(): void {
    this.#room?.report();
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown), { cause: thrown });
}

/** Its `then` is a microtask like that of `queueMicrotask`, without the resource that Node makes for each of those. */
const settled: Promise<void> = Promise.resolve();
