import type { ClockTimer } from '@kctl/wait';
import type { Listener } from './audience.js';
import { Checkpoints } from './checkpoints.js';
import type { DeliveryOptions } from './delivery-options.js';
import type { Series } from './series.js';
import { Slicer, DeadlineExceededError, startTimer } from '@kctl/wait/internal';
import { isThenable } from '@kctl/options';
import type { TurnTaker } from './turn.js';
import { Turn } from './turn.js';
import type { Unit } from './waiting-list.js';
import { createUnit, WaitingList } from './waiting-list.js';

/** A callback that returned a promise. */
interface Running<E> {
  readonly unit: Unit<E>;
  readonly event: E;
  /** Since when its time counts. */
  startedAt: number;
  isDone: boolean;
}

/**
 * Delivers events to one handler in order, one callback at a time, merged per object if they have to wait, in slices. A
 * callback that fails is reported and its event counts as delivered; it holds up nothing else.
 *
 * It retains one unit per object that waits (with at most `keep + 1` events). Each operation is O(1).
 */
export class Delivery<E> implements Listener<E>, TurnTaker {
  readonly #options: DeliveryOptions<E>;
  readonly #call: (event: E) => unknown;
  /** Whose slice others use, too. */
  readonly #shared: Slicer | undefined;
  readonly #lanes: number;
  readonly #turn: Turn;
  readonly #budget: Slicer;
  readonly #checkpoints = new Checkpoints();
  readonly #waiting: WaitingList<E>;
  readonly #running = new Set<Running<E>>();
  /** Objects being delivered, if there may be several. */
  readonly #busyKeys = new Set<string>();
  readonly #isBusyKey = (key: string): boolean => this.#busyKeys.has(key);
  readonly #isWaitingKey = (key: string): boolean => this.#waiting.has(key);
  /** Goes before everything that waits. */
  #replay: Unit<Series<E>> | undefined;
  /** Takes turns with what waits. */
  #spare: Unit<Series<E>> | undefined;
  #isSpareTurn = false;
  #isBlocked = false;
  #isScheduled = false;
  #isEnded = false;
  #timeoutMs: number;
  #watchdog: ClockTimer | undefined;
  readonly #caughtUpWaiters = new Set<() => void>();
  #idleWaiters: (() => void)[] = [];
  #endWaiters: (() => void)[] = [];

  constructor(options: DeliveryOptions<E>) {
    const { traits, clock, keep = 1, lanes = 1, turn = new Turn(), after, slicer } = options;
    this.#options = options;
    this.#call = options.call;
    this.#shared = slicer;
    this.#lanes = lanes;
    this.#turn = turn;
    this.#budget = slicer ?? new Slicer(clock, defaultSliceMs);
    this.#waiting = new WaitingList({ keep, traits }, this.#checkpoints);
    this.#timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
    if (after === undefined) return;
    this.#isBlocked = true;
    const begin = (): void => {
      this.#isBlocked = false;
      this.proceed();
    };
    after.then(begin, begin);
  }

  /** How many objects have something that waits; what a series has left included. */
  get pending(): number {
    let count = this.#waiting.size + (this.#replay?.events[0]?.left ?? 0) + (this.#spare?.events[0]?.left ?? 0);
    for (const { unit } of this.#running) if (unit.next < unit.events.length) count++;
    return count;
  }

  /** Whether nothing waits and no callback of this delivery runs. */
  get isIdle(): boolean {
    return this.pending === 0 && this.#running.size === 0;
  }

  /** Whether a callback of the handler runs, of this delivery or of another one with the same turn. */
  get isCalling(): boolean {
    return this.#turn.isTaken || this.#running.size > 0;
  }

  /** Takes one event. Delivers it at once if nothing is before it, else keeps it. Neither waits nor throws. */
  offer(event: E): void {
    if (this.#isEnded) return;
    if (!this.#isFree() || this.#shared?.isOver === true || (this.#running.size > 0 && !this.#isFreeLane(event))) {
      this.#waiting.add(event, this.#isBusyKey);
      this.proceed();
      return;
    }
    this.#turn.enter(this);
    const promise = this.#invoke(event);
    if (promise === undefined) {
      this.#turn.release();
      return;
    }
    const key = this.#lanes === 1 ? undefined : this.#options.traits.keyOf(event);
    if (key !== undefined) this.#busyKeys.add(key);
    const unit = createUnit(key, event, this.#checkpoints.begin());
    unit.next = 1;
    this.#waitFor(promise, event, unit);
  }

  /**
   * Delivers a series before everything that waits and everything that is offered from now on.
   *
   * @throws Error while another one is under way
   */
  replay(series: Series<E>): void {
    if (this.#replay !== undefined) throw new Error(`${this.#options.name}: a replay is under way; end it first`);
    this.#replay = this.#begin(series);
    this.proceed();
  }

  /**
   * Delivers a series after everything that was offered before and before everything that is offered from now on. For
   * deliveries whose events do not merge; in others an event that is offered later may be merged into an earlier one.
   */
  insert(series: Series<E>): void {
    this.mark(() => {
      if (this.#replay === undefined) this.replay(series);
      else this.insert(series);
    });
  }

  /**
   * Delivers a series in turns with what waits. One that is under way goes on, and the new one is dropped.
   *
   * @returns whether it was taken
   */
  interleave(series: Series<E>): boolean {
    if (this.#spare !== undefined) return false;
    this.#spare = this.#begin(series);
    this.proceed();
    return true;
  }

  /** Calls back once everything that was offered before is delivered; at once if nothing is left. Not after the end. */
  mark(reached: () => void): void {
    if (!this.#isEnded) this.#checkpoints.mark(reached);
  }

  /** Looks whether something can be delivered. Called when the turn is free or a series may go on. */
  proceed(): void {
    if (this.#isScheduled) return;
    if (this.#isEnded || this.#isBlocked || !this.#hasNext() || this.#running.size >= this.#lanes) {
      this.#turn.leave(this);
      return;
    }
    if (!this.#turn.ask(this)) return;
    this.#isScheduled = true;
    this.#budget.schedule(() => {
      this.#isScheduled = false;
      this.#pump();
    });
  }

  /** No callback begins after this. Waiting events are dropped. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#waiting.clear();
    this.#checkpoints.clear();
    this.#replay = undefined;
    this.#spare = undefined;
    this.#turn.leave(this);
    this.#timeoutMs = Math.min(this.#timeoutMs, this.#options.endTimeoutMs ?? defaultEndTimeoutMs);
    this.#disarm();
    this.#watch();
    for (const done of this.#caughtUpWaiters) done();
    this.#idleWaiters = wakeAll(this.#idleWaiters);
    this.#rest();
  }

  /** Resolves once everything that was offered before is delivered, or at the end. */
  caughtUp(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#caughtUpWaiters.delete(done);
        resolve();
      };
      this.#caughtUpWaiters.add(done);
      if (this.#isEnded) done();
      else this.#checkpoints.mark(done);
    });
  }

  /** Resolves when nothing waits and nothing runs, or at the end. */
  async drained(): Promise<void> {
    while (!this.#isEnded && !this.isIdle) await new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
  }

  /** Resolves when it has ended and no callback runs; one that does not settle is waited for `endTimeoutMs`. */
  async ended(): Promise<void> {
    while (!this.#isEnded || this.#running.size > 0)
      await new Promise<void>((resolve) => this.#endWaiters.push(resolve));
  }

  /** Whether nothing goes before an event that is offered now. */
  #isFree(): boolean {
    return (
      !this.#isScheduled &&
      !this.#waiting.isReady &&
      !this.#isBlocked &&
      this.#replay === undefined &&
      this.#running.size < this.#lanes &&
      this.#turn.isFreeFor(this)
    );
  }

  #isFreeLane(event: E): boolean {
    const key = this.#options.traits.keyOf(event);
    return key !== undefined && !this.#busyKeys.has(key);
  }

  #hasNext(): boolean {
    return this.#waiting.isReady || this.#replay !== undefined || this.#isSpareReady();
  }

  #isSpareReady(): boolean {
    return this.#spare !== undefined && this.#spare.events[0]?.isPaused !== true;
  }

  #begin(series: Series<E>): Unit<Series<E>> | undefined {
    if (this.#isEnded || series.left === 0) return undefined;
    return createUnit<Series<E>>(undefined, series, this.#checkpoints.begin());
  }

  #pump(): void {
    while (!this.#isEnded && this.#running.size < this.#lanes && this.#hasNext() && this.#turn.take(this)) {
      const unit = this.#take();
      if (unit === undefined) this.#turn.release();
      else this.#deliver(unit);
      if (!this.#budget.isOver) continue;
      this.proceed();
      break;
    }
    if (!this.#isScheduled && !this.#hasNext()) this.#turn.leave(this);
    this.#rest();
  }

  #take(): Unit<E> | undefined {
    if (this.#replay !== undefined) return this.#takeOf(this.#replay);
    if (this.#spare !== undefined && this.#isSpareReady() && (this.#isSpareTurn || !this.#waiting.isReady)) {
      this.#isSpareTurn = false;
      return this.#takeOf(this.#spare);
    }
    this.#isSpareTurn = true;
    const unit = this.#waiting.take();
    if (unit?.key !== undefined && this.#lanes > 1) this.#busyKeys.add(unit.key);
    return unit;
  }

  /** The next event of a series; the last one ends what the series counts for. */
  #takeOf(series: Unit<Series<E>>): Unit<E> | undefined {
    const [events] = series.events;
    const event = events?.next(this.#isWaitingKey);
    const isLast = events === undefined || events.left === 0;
    if (isLast && this.#replay === series) this.#replay = undefined;
    else if (isLast) this.#spare = undefined;
    const epoch = isLast ? series.epoch : undefined;
    if (event !== undefined) return createUnit(undefined, event, epoch);
    if (epoch !== undefined) this.#checkpoints.end(epoch);
    return undefined;
  }

  /** Calls the handler with the events of a unit, as far as no callback takes time. The turn is taken. */
  #deliver(unit: Unit<E>): void {
    while (unit.next < unit.events.length && !this.#isEnded) {
      const event = unit.events[unit.next++] as E;
      const promise = this.#invoke(event);
      if (promise === undefined) continue;
      this.#waitFor(promise, event, unit);
      return;
    }
    this.#turn.release();
    this.#complete(unit);
  }

  #invoke(event: E): PromiseLike<unknown> | undefined {
    try {
      const result = this.#call(event);
      return result !== undefined && isThenable(result) ? result : undefined;
    } catch (error) {
      this.#fail(event, error);
      return undefined;
    }
  }

  #waitFor(promise: PromiseLike<unknown>, event: E, unit: Unit<E>): void {
    const running: Running<E> = { unit, event, startedAt: this.#options.clock.monotonicNow(), isDone: false };
    this.#running.add(running);
    if (this.#lanes > 1) this.#turn.release();
    this.#watch();
    void this.#settle(promise, running);
  }

  async #settle(promise: PromiseLike<unknown>, running: Running<E>): Promise<void> {
    try {
      await promise;
    } catch (error) {
      if (!running.isDone) this.#fail(running.event, error);
    }
    if (!running.isDone) this.#finish(running);
  }

  #finish(running: Running<E>): void {
    const { unit } = running;
    running.isDone = true;
    this.#running.delete(running);
    if (this.#lanes > 1) this.#turn.take(this); // held only while a callback is on the stack, so free here
    this.#deliver(unit);
    if (this.#isEnded || this.#isScheduled) this.#rest();
    else if (this.#budget.isOver) {
      this.proceed();
      this.#rest();
    } else this.#pump();
  }

  #complete(unit: Unit<E>): void {
    if (unit.key !== undefined && this.#busyKeys.delete(unit.key)) this.#waiting.unpark(unit.key);
    if (unit.epoch !== undefined && !this.#isEnded) this.#checkpoints.end(unit.epoch);
  }

  #fail(event: E, error: unknown, hasSettled = true): void {
    try {
      this.#options.onFailure({ event, error, hasSettled });
    } catch {
      // The report is the last resort, so a failure in it must not end the delivery.
    }
  }

  /**
   * One timer however many callbacks follow one another. It checks how long the present ones have run, several times
   * until their time is over, because a late check shows that the event loop stood still.
   */
  #watch(): void {
    if (this.#watchdog !== undefined || this.#running.size === 0 || this.#timeoutMs === Infinity) return;
    const { clock } = this.#options;
    let oldest = Infinity;
    for (const { startedAt } of this.#running) oldest = Math.min(oldest, startedAt);
    const now = clock.monotonicNow();
    const lookAt = Math.max(now, Math.min(oldest + this.#timeoutMs, now + this.#timeoutMs / looks));
    this.#watchdog = startTimer(clock, () => this.#look(lookAt), lookAt - now, { keepAlive: false });
  }

  /**
   * Gives up callbacks that have run for too long. Time in which the event loop stood still does not count, because no
   * handler could go on.
   */
  #look(dueAt: number): void {
    this.#watchdog = undefined;
    const { clock, name } = this.#options;
    const now = clock.monotonicNow();
    const stoodStillMs = now - dueAt;
    if (stoodStillMs > this.#timeoutMs / looks)
      for (const running of this.#running) running.startedAt = Math.min(now, running.startedAt + stoodStillMs);
    const latest = now - this.#timeoutMs;
    for (const running of [...this.#running]) {
      if (running.startedAt > latest) continue;
      const message = `${name} has not settled after ${this.#timeoutMs} ms: the event counts as delivered; let the handler end its waits by a deadline`;
      this.#fail(running.event, new DeadlineExceededError(this.#timeoutMs, message), false);
      this.#finish(running);
    }
    this.#watch();
  }

  #disarm(): void {
    this.#watchdog?.cancel();
    this.#watchdog = undefined;
  }

  /** Nothing may be left to do, so timers and waits end. */
  #rest(): void {
    if (this.#running.size > 0) return;
    if (!this.#isEnded && this.pending > 0) return;
    this.#disarm();
    this.#idleWaiters = wakeAll(this.#idleWaiters);
    if (this.#isEnded) this.#endWaiters = wakeAll(this.#endWaiters);
  }
}

function wakeAll(waiters: readonly (() => void)[]): (() => void)[] {
  for (const wake of waiters) wake();
  return [];
}

const defaultSliceMs = 5;
/** How often the watchdog looks within the time of a callback. */
const looks = 4;
const defaultTimeoutMs = 30_000;
const defaultEndTimeoutMs = 5_000;
