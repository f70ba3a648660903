import type { KubeObject } from '@kctl/apimachinery';
import type { StoredObject } from '@kctl/cache-index';
import type { Clock, ClockTimer } from '@kctl/wait';
import { abortReason } from '@kctl/wait';
import { callByType } from './call-by-type.js';
import { Change } from './change.js';
import { SyncError } from './errors.js';
import type { HandlerRegistration, InformerEventHandler } from './event.js';
import type { InformerState } from './informer-state.js';
import type { PendingBatch, PendingChanges } from './pending-changes.js';
import { CoalescedChanges, QueuedChanges } from './pending-changes.js';
import { Slicer } from './slicer.js';

/** What a handler's queue needs of its informer. */
export interface HandlerHost<T extends KubeObject> {
  readonly name: string;
  readonly state: InformerState;
  readonly clock: Clock;
  readonly sliceMs: number;
  /** Whether the changes of a replaced store are being told: the store is ahead of what the handlers know. */
  readonly isDraining: boolean;
  versions(): readonly StoredObject<T>[];
  onHandlerError(error: unknown, handlerName: string): void;
  removed(queue: HandlerQueue<T>): void;
}

/** What a handler's queue is made of. */
export interface HandlerQueueOptions<T extends KubeObject> {
  readonly handler: InformerEventHandler<T>;
  readonly name: string;
  readonly delivery: 'latest' | 'every';
  readonly resyncMs: number;
  /** No callback begins before this has settled. */
  readonly after: Promise<unknown> | undefined;
  /** Changes of drains before this one are not for this handler: its replay covers them. */
  readonly firstEpoch: number;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Delivers the changes of one informer to one handler: in order, one at a time, and without holding up anybody else. */
export class HandlerQueue<T extends KubeObject> implements HandlerRegistration {
  readonly firstEpoch: number;
  readonly name: string;
  readonly #host: HandlerHost<T>;
  readonly #handler: InformerEventHandler<T>;
  readonly #pending: PendingChanges<T>;
  readonly #resyncMs: number;
  readonly #slicer: Slicer;
  /** Objects to hand out before anything that is pending: the replay of a late handler, or a resync. */
  #backlog: readonly StoredObject<T>[] = [];
  #backlogNext = 0;
  #backlogIsReplay = false;
  #running: Promise<void> | undefined;
  /** Ends the wait for what the handler comes after. */
  #begin: (() => void) | undefined;
  #isScheduled = false;
  #isEnded = false;
  #initialOffered = false;
  #initialLeft = 0;
  #hasSynced = false;
  #waiters = new Set<Waiter>();
  #resyncTimer: ClockTimer | undefined;
  #idleWaiters: (() => void)[] = [];

  constructor(host: HandlerHost<T>, options: HandlerQueueOptions<T>) {
    this.#host = host;
    this.#handler = options.handler;
    this.name = options.name;
    this.firstEpoch = options.firstEpoch;
    this.#pending = options.delivery === 'every' ? new QueuedChanges() : new CoalescedChanges();
    this.#resyncMs = options.resyncMs;
    this.#slicer = new Slicer(host.clock, host.sliceMs);
    const { after } = options;
    if (after === undefined) return;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#begin = () => resolve(undefined);
    this.#running = promise.then(() => {
      this.#running = undefined;
      this.#schedule();
    });
    after.then(this.#begin, this.#begin);
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  get pending(): number {
    return this.#pending.size + this.#backlog.length - this.#backlogNext;
  }

  waitForSync(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    if (this.#hasSynced) return Promise.resolve();
    const { signal } = options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(abortReason(signal));
        return;
      }
      if (this.#isEnded) {
        reject(this.#endedError());
        return;
      }
      const settle = (): void => {
        this.#waiters.delete(waiter);
        signal?.removeEventListener('abort', onAbort);
      };
      const onAbort = (): void => {
        settle();
        if (signal !== undefined) reject(abortReason(signal));
      };
      const waiter: Waiter = {
        resolve: () => {
          settle();
          resolve();
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      };
      this.#waiters.add(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  async remove(): Promise<void> {
    this.end();
    await this.#running;
  }

  /** No callback begins after this. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#resyncTimer?.cancel();
    this.#pending.clear();
    this.#backlog = [];
    this.#backlogNext = 0;
    for (const waiter of this.#waiters) waiter.reject(this.#endedError());
    this.#begin?.();
    this.#wakeIdleWaiters();
    this.#host.removed(this);
  }

  /** Resolves when a callback that still runs has ended. */
  async settled(): Promise<void> {
    await this.#running;
  }

  /** Resolves when nothing waits and nothing runs. */
  async drained(): Promise<void> {
    while (!this.#isEnded && !this.#isIdle()) await new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
  }

  /** Hands the objects that are there already to a late handler. */
  replay(versions: readonly StoredObject<T>[]): void {
    this.#backlog = versions;
    this.#backlogNext = 0;
    this.#backlogIsReplay = true;
    this.#initialLeft += versions.length;
    this.initialListOffered();
    this.#schedule();
  }

  /** Takes one change: delivers it at once where the handler is idle, else keeps it. */
  offer(change: Change<T>): void {
    if (this.#isEnded) return;
    if (change.isInInitialList) this.#initialLeft++;
    if (this.#isIdle() && !this.#slicer.isOver) {
      const initial = change.isInInitialList ? 1 : 0;
      const running = this.#call(change);
      if (running === undefined) this.#settleInitial(initial);
      else this.#continueAfter(running, { changes: [change], initial }, 1);
      return;
    }
    this.#pending.add(change);
    this.#schedule();
  }

  /** The informer starts a slice: direct delivery may use it. */
  beginSlice(): void {
    this.#slicer.begin();
  }

  /** The last change of the initial list was offered. */
  initialListOffered(): void {
    this.#initialOffered = true;
    this.#checkSynced();
    this.#armResync();
  }

  #isIdle(): boolean {
    return (
      this.#running === undefined &&
      !this.#isScheduled &&
      this.#pending.size === 0 &&
      this.#backlogNext >= this.#backlog.length
    );
  }

  #schedule(): void {
    if (this.#isScheduled || this.#running !== undefined) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#slicer.begin();
      this.#pump();
    });
  }

  #pump(): void {
    while (!this.#isEnded && this.#running === undefined) {
      const batch = this.#nextBatch();
      if (batch === undefined) {
        this.#wakeIdleWaiters();
        return;
      }
      this.#deliver(batch);
      if (this.#slicer.isOver) {
        if (this.#isIdle()) this.#wakeIdleWaiters();
        else this.#schedule();
        return;
      }
    }
  }

  #wakeIdleWaiters(): void {
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const wake of waiters) wake();
  }

  #nextBatch(): PendingBatch<T> | undefined {
    const version = this.#backlog[this.#backlogNext];
    if (version === undefined) return this.#pending.take();
    if (++this.#backlogNext >= this.#backlog.length) {
      this.#backlog = [];
      this.#backlogNext = 0;
    }
    return this.#backlogIsReplay
      ? { changes: [new Change('add', version, undefined, { isInInitialList: true })], initial: 1 }
      : { changes: [new Change('update', version, version, { isResync: true })], initial: 0 };
  }

  /** Calls the handler; where that takes time, the rest of the batch and everything after it waits. */
  #deliver(batch: PendingBatch<T>, from = 0): void {
    for (let index = from; index < batch.changes.length; index++) {
      const change = batch.changes[index];
      if (change === undefined || this.#isEnded) break;
      const running = this.#call(change);
      if (running === undefined) continue;
      this.#continueAfter(running, batch, index + 1);
      return;
    }
    this.#settleInitial(batch.initial);
  }

  #continueAfter(running: Promise<void>, batch: PendingBatch<T>, next: number): void {
    this.#running = running.then(() => {
      this.#running = undefined;
      if (next < batch.changes.length) this.#deliver(batch, next);
      else this.#settleInitial(batch.initial);
      this.#schedule();
    });
  }

  /** Whatever the handler does, it comes to an end for the queue: an error is reported, once. */
  #call(change: Change<T>): Promise<void> | undefined {
    const handler = this.#handler;
    try {
      const first = handler.onEvent?.(change);
      if (first instanceof Promise) return this.#callNext(first, change);
      const second = callByType(handler, change);
      return second instanceof Promise ? this.#settleCall(second) : undefined;
    } catch (error) {
      this.#host.onHandlerError(error, this.name);
      return undefined;
    }
  }

  #callNext(first: Promise<void>, change: Change<T>): Promise<void> {
    return this.#settleCall(first.then(() => callByType(this.#handler, change)));
  }

  async #settleCall(call: Promise<void>): Promise<void> {
    try {
      await call;
    } catch (error) {
      this.#host.onHandlerError(error, this.name);
    }
  }

  #settleInitial(count: number): void {
    if (count === 0) return;
    this.#initialLeft -= count;
    this.#checkSynced();
  }

  #checkSynced(): void {
    if (this.#hasSynced || !this.#initialOffered || this.#initialLeft > 0) return;
    this.#hasSynced = true;
    for (const waiter of this.#waiters) waiter.resolve();
  }

  #armResync(): void {
    if (this.#resyncMs <= 0 || this.#isEnded || this.#resyncTimer !== undefined) return;
    const arm = (): void => {
      this.#resyncTimer = this.#host.clock.setTimer(
        () => {
          if (this.#isEnded) return;
          this.#resync();
          arm();
        },
        this.#resyncMs,
        { keepAlive: false },
      );
    };
    arm();
  }

  /** A handler that is still busy with real changes is spared: it hears of every object that changed anyway. */
  #resync(): void {
    if (!this.#isIdle() || this.#host.isDraining) return;
    this.#backlog = this.#host.versions();
    this.#backlogNext = 0;
    this.#backlogIsReplay = false;
    if (this.#backlog.length > 0) this.#schedule();
  }

  #endedError(): SyncError {
    const { name, state } = this.#host;
    return new SyncError(`handler ${this.name} of informer ${name} ended before it had synced`, [{ name, state }]);
  }
}
