import { requireOptions } from '@kctl/options';
import { anySignal, createTokenBucket, isAbortError } from '@kctl/wait';
import type { OptionNames } from '@kctl/options';
import type { AbortLink, Clock, ClockTimer, TokenBucket } from '@kctl/wait';
import { Slicer, DeadlineExceededError, startTimer } from '@kctl/wait/internal';
import { QueueArgumentError, requireInteger, requireNumber, WorkFailedError } from './errors.js';
import { FailureLog } from './failure-log.js';
import { sliceMs } from './slice.js';
import type { QueueKey } from './work-queue.js';
import { Workers } from './workers.js';
import type {
  FailureVerdict,
  RunOptions,
  StartRate,
  StopOptions,
  WorkContext,
  WorkerPool,
  WorkFunction,
} from './worker-pool.js';

/** So many items are worked on synchronously between two looks at the clock. */
const startsPerLook = 16;
/** This number of clock reads ends a slice too, because a clock of tests stands still, and work may be endless. */
const maxLooks = 512;

/** Requirements of a pool on a queue (items by slot). */
export interface PoolSource<T> {
  readonly clock: Clock;
  readonly isFinished: boolean;
  /** How many items can be taken. */
  readonly length: number;
  take(): number;
  itemAt(slot: number): T | undefined;
  keyOf(item: T): QueueKey;
  finish(slot: number): void;
  /** Queues a slot again as if it had not been handed out. */
  giveBack(slot: number): void;
  /** Counts a failure of the work on a slot and returns how many there were in a row. */
  countFailure(slot: number): number;
  endFailures(slot: number): void;
}

/** Verdicts of the kind of queue on success and failure. */
export interface FailurePolicy<T> {
  /** The verdict if `onError` is not given. */
  readonly verdict: FailureVerdict;
  /** How often the work on the item has failed as the rate limiter counts it, this time included. */
  attempt(item: T): number;
  retry(item: T, error: unknown, slot: number): void;
  forget(item: T): void;
}

/** Options of {@link Pool}. */
export interface PoolOptions<T> extends RunOptions<T> {
  readonly work: WorkFunction<T>;
  readonly onEnd: () => unknown;
}

/** Asynchronous work in progress. */
interface Job<T> {
  readonly item: T;
  /** -1 if the work has called `done` itself, because the slot may be another worker's, or another key's, by now. */
  slot: number;
  /** Set if the work has limited time. */
  readonly limit: TimeLimit | undefined;
}

/** Failed work on an item; `attempt` is how often in a row. */
interface Failure<T> {
  readonly item: T;
  readonly error: unknown;
  readonly attempt: number;
}

const startRateNames: OptionNames<StartRate> = { perSecond: true, burst: true };
const stopOptionNames: OptionNames<StopOptions> = { graceMs: true };

/** See {@link WorkerPool}. Takes by slot, with neither a look-up nor, for synchronous work, a promise per item. */
export class Pool<T> implements WorkerPool {
  readonly #source: PoolSource<T>;
  readonly #policy: FailurePolicy<T>;
  readonly #options: PoolOptions<T>;
  readonly #abort = new AbortController();
  readonly #context: WorkContext = { signal: this.#abort.signal };
  readonly #onAbort: () => void;
  readonly #workers: Workers;
  /** The slot whose work is being called right now; -1 if no work is being called, or if it has called `done`. */
  #current = -1;
  /** By slot. The asynchronous work in progress. */
  readonly #jobs = new Map<number, Job<T>>();
  /** When the signal of work in progress is aborted, after a stop with a grace period. */
  #graceEnd = Infinity;
  #graceTimer: ClockTimer | undefined;
  readonly #work: WorkFunction<T>;
  /** Undefined if work has no time limit. */
  readonly #timeoutMs: number | undefined;
  readonly #bucket: TokenBucket | undefined;
  readonly #log: FailureLog;
  /** Armed while work waits for its turn. */
  #turnTimer: ClockTimer | undefined;

  constructor(source: PoolSource<T>, policy: FailurePolicy<T>, options: PoolOptions<T>) {
    const { concurrency = 1, signal, timeoutMs = Infinity, startRate } = options;
    requireInteger('concurrency', concurrency, 0);
    if (timeoutMs !== Infinity) requireNumber('timeoutMs', timeoutMs, Number.MIN_VALUE);
    if (startRate !== undefined) this.#bucket = bucketFor(startRate, source.clock);
    this.#source = source;
    this.#policy = policy;
    this.#options = options;
    this.#log = new FailureLog(options.logger, options.onError !== undefined);
    this.#work = options.work;
    this.#timeoutMs = timeoutMs === Infinity ? undefined : timeoutMs;
    this.#workers = new Workers({
      concurrency,
      slicer: new Slicer(source.clock, sliceMs, { maxLooks }),
      startsPerLook,
      startNext: () => this.#startNext(),
      mayEnd: () => this.#workers.isStopping || source.isFinished,
      onEnd: () => this.#close(),
    });
    this.#onAbort = () => this.#halt(signal?.reason);
    if (signal?.aborted === true) queueMicrotask(this.#onAbort);
    else signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  get concurrency(): number {
    return this.#workers.concurrency;
  }

  set concurrency(value: number) {
    requireInteger('concurrency', value, 0);
    this.#workers.concurrency = value;
    queueMicrotask(() => this.pump());
  }

  get active(): number {
    return this.#workers.active;
  }

  get ended(): Promise<void> {
    return this.#workers.ended;
  }

  stop(options: StopOptions = {}): Promise<void> {
    requireOptions('stop', options, stopOptionNames);
    const { graceMs = Infinity } = options;
    if (graceMs !== Infinity) requireNumber('graceMs', graceMs, 0);
    this.#workers.stop();
    this.#workers.checkEnd();
    if (graceMs !== Infinity && !this.#workers.isEnded) this.#endGraceIn(graceMs);
    return this.#workers.ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Takes items while there are any and workers are free. Called by the queue when items became ready. */
  pump(): void {
    this.#workers.pump();
  }

  #startNext(): boolean {
    if (this.#bucket !== undefined && !this.#hasTurn(this.#bucket)) return false;
    const slot = this.#take();
    if (slot < 0) return false;
    this.#start(slot);
    return true;
  }

  #take(): number {
    let slot = -1;
    try {
      slot = this.#source.take();
    } catch (error) {
      // A custom backing queue failed.
      this.#fail(error);
    }
    if (slot < 0) this.#bucket?.cancel();
    return slot;
  }

  /** Whether the start rate lets work be started now; otherwise comes back when it does. */
  #hasTurn(bucket: TokenBucket): boolean {
    if (bucket.tryTake()) return true;
    if (this.#turnTimer !== undefined || this.#source.length === 0) return false;
    const waitMs = bucket.reserve();
    bucket.cancel();
    this.#turnTimer = startTimer(
      this.#source.clock,
      () => {
        this.#turnTimer = undefined;
        this.pump();
      },
      waitMs,
    );
    return false;
  }

  /** The slot has been finished by a call of `done`: if it is held here, it is not from now on. */
  letGo(slot: number): void {
    if (this.#current === slot) this.#current = -1;
    const job = this.#jobs.get(slot);
    if (job === undefined) return;
    job.slot = -1;
    this.#jobs.delete(slot);
  }

  #start(slot: number): void {
    const item = this.#source.itemAt(slot);
    // take() hands out slots that hold an item; this only informs the compiler.
    if (item === undefined) return;
    this.#workers.active++;
    this.#current = slot;
    const limit = this.#timeoutMs === undefined ? undefined : this.#limit(this.#timeoutMs);
    try {
      const work = this.#work;
      const result = work(item, limit ?? this.#context);
      if (isPromiseLike(result)) {
        void this.#follow(result, this.#jobOf(item, limit));
        return;
      }
    } catch (error) {
      limit?.end();
      this.#workers.active--;
      this.#failed(this.#currentSlot(), item, error);
      return;
    }
    limit?.end();
    this.#workers.active--;
    this.#succeeded(this.#currentSlot(), item);
  }

  #currentSlot(): number {
    const slot = this.#current;
    this.#current = -1;
    return slot;
  }

  #limit(timeoutMs: number): TimeLimit {
    return new TimeLimit(this.#source.clock, timeoutMs, this.#abort.signal);
  }

  #jobOf(item: T, limit: TimeLimit | undefined): Job<T> {
    const job = { item, slot: this.#currentSlot(), limit };
    if (job.slot >= 0) this.#jobs.set(job.slot, job);
    return job;
  }

  /** `await` settles once, even if a thenable throws in `then`, calls back twice, or calls back at once. */
  async #follow(result: PromiseLike<unknown>, job: Job<T>): Promise<void> {
    try {
      await result;
    } catch (error) {
      this.#endJob(job);
      this.#failed(job.slot, job.item, job.limit?.failure(error) ?? error);
      this.#workers.next();
      return;
    }
    this.#endJob(job);
    this.#succeeded(job.slot, job.item);
    this.#workers.next();
  }

  #endJob({ slot, limit }: Job<T>): void {
    this.#workers.active--;
    limit?.end();
    if (slot >= 0) this.#jobs.delete(slot);
  }

  #succeeded(slot: number, item: T): void {
    this.#source.endFailures(slot);
    try {
      this.#policy.forget(item);
    } catch (thrown) {
      this.#fail(thrown);
    }
    this.#finish(slot);
  }

  /** An item added again while it is worked on goes back to a backing queue of the user's, which may not take it. */
  #finish(slot: number): void {
    try {
      this.#source.finish(slot);
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  #giveBack(slot: number): void {
    try {
      this.#source.giveBack(slot);
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  #failed(slot: number, item: T, error: unknown): void {
    const { signal } = this.#abort;
    if (signal.aborted && (error === signal.reason || isAbortError(error))) {
      this.#giveBack(slot);
      return;
    }
    try {
      const attempt = Math.max(this.#source.countFailure(slot), this.#policy.attempt(item));
      const { onError } = this.#options;
      const verdict = onError === undefined ? this.#policy.verdict : onError(error, item, attempt);
      this.#apply(verdict, slot, { item, error, attempt });
    } catch (thrown) {
      // onError or a rate limiter of the user's is broken, so there is no decision for this item.
      if (thrown instanceof QueueArgumentError) thrown.cause ??= error;
      this.#fail(thrown);
      this.#giveBack(slot);
    }
  }

  #apply(verdict: unknown, slot: number, { item, error, attempt }: Failure<T>): void {
    switch (verdict) {
      case 'retry':
        this.#log.retried({ key: this.#source.keyOf(item), attempt, error });
        this.#policy.retry(item, error, slot);
        this.#finish(slot);
        break;
      case 'drop':
        this.#log.dropped({ key: this.#source.keyOf(item), attempt, error });
        this.#source.endFailures(slot);
        this.#policy.forget(item);
        this.#finish(slot);
        break;
      case 'stop': {
        // onError has seen the item and the error; without onError, the error has to name the item.
        const isJudged = this.#options.onError !== undefined;
        this.#fail(isJudged ? error : new WorkFailedError(this.#source.keyOf(item), item, error));
        this.#giveBack(slot);
        break;
      }
      default:
        if (isPromiseLike(verdict)) void Promise.resolve(verdict).catch(() => undefined);
        throw new QueueArgumentError(
          'the verdict of onError',
          verdict,
          "return 'retry', 'drop' or 'stop', not a promise of it",
        );
    }
  }

  #fail(error: unknown): void {
    this.#workers.fail(error);
    this.#halt(error);
  }

  /** Aborts the signal of the work in progress after the given ms, or earlier if an earlier call requested it. */
  #endGraceIn(graceMs: number): void {
    const { clock } = this.#source;
    const graceEnd = clock.monotonicNow() + graceMs;
    if (this.#graceEnd <= graceEnd) return;
    this.#graceEnd = graceEnd;
    this.#graceTimer?.cancel();
    const abort = (): void => this.#abort.abort(new DOMException('the grace period of the stop is over', 'AbortError'));
    if (graceMs === 0) abort();
    else this.#graceTimer = startTimer(clock, abort, graceMs);
  }

  /** Takes nothing more and aborts the signal of the work in progress. */
  #halt(reason: unknown): void {
    this.#workers.stop();
    this.#abort.abort(reason);
    queueMicrotask(() => this.#workers.checkEnd());
  }

  #close(): void {
    this.#graceTimer?.cancel();
    this.#turnTimer?.cancel();
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    this.#options.onEnd();
  }
}

/** The time that the work on one item has. Is the context of that work. */
class TimeLimit implements WorkContext {
  readonly #link: AbortLink;
  readonly #timer: ClockTimer;
  /** Abort reason of the signal when the time is over. */
  #exceeded: DeadlineExceededError | undefined;

  constructor(clock: Clock, timeoutMs: number, stop: AbortSignal) {
    this.#link = anySignal([stop]);
    this.#timer = startTimer(
      clock,
      () => {
        this.#exceeded = new DeadlineExceededError(timeoutMs, `work exceeded its timeoutMs of ${timeoutMs} ms`);
        this.#link.abort(this.#exceeded);
      },
      timeoutMs,
    );
  }

  get signal(): AbortSignal {
    return this.#link.signal;
  }

  /** The actual failure of work that rejected with `error`. The abort that caused it is not reported. */
  failure(error: unknown): unknown {
    const exceeded = this.#exceeded;
    return exceeded !== undefined && isAbortError(error) ? exceeded : error;
  }

  end(): void {
    this.#timer.cancel();
    this.#link[Symbol.dispose]();
  }
}

function bucketFor(startRate: StartRate, clock: Clock): TokenBucket {
  if (typeof startRate !== 'object' || startRate === null)
    throw new QueueArgumentError('startRate', startRate, 'give { perSecond, burst }');
  requireOptions('run: startRate', startRate, startRateNames);
  const { perSecond, burst = 1 } = startRate;
  requireNumber('startRate.perSecond', perSecond, Number.MIN_VALUE);
  requireNumber('startRate.burst', burst, 1);
  return createTokenBucket({ perSecond, burst, clock });
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return false;
  return 'then' in value && typeof value.then === 'function';
}
