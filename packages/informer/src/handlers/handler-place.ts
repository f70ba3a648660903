import type { KubeObject } from '@kctl/apimachinery';
import type { Turn } from '@kctl/delivery';
import type { Slicer } from '@kctl/wait/internal';
import { Delivery } from '@kctl/delivery';
import { isThenable } from '@kctl/options';
import type { Clock, ClockTimer } from '@kctl/wait';
import { startTimer } from '@kctl/wait/internal';
import { callHandler } from './call-handler.js';
import type { Change } from './change.js';
import { allChanges, latestChanges } from './change-traits.js';
import { SyncError } from '../errors.js';
import type { HandlerRegistration, InformerEventHandler } from './event.js';
import type { InformerState } from '../informer-state.js';
import { initialAdd, leftScopeOf, resync, resyncOf, StoreSeries } from './store-series.js';
import type { Content, SeriesSource } from './store-series.js';
import { Waiters } from '../waiters.js';

/** Requirements of a handler's place on its informer. */
export interface HandlerHost<T extends KubeObject> extends SeriesSource<T> {
  readonly name: string;
  readonly state: InformerState;
  readonly clock: Clock;
  /** Shared by everything that works for the informer. */
  readonly slicer: Slicer;
  onHandlerError(error: unknown, handlerName: string, change: Change<T>): void;
  removed(place: HandlerPlace<T>): void;
}

/** Parts of a handler's place. */
export interface HandlerPlaceOptions<T extends KubeObject> {
  readonly handler: InformerEventHandler<T>;
  readonly name: string;
  readonly delivery: 'latest' | 'every';
  readonly resyncMs: number;
  readonly timeoutMs: number;
  readonly turn: Turn | undefined;
  /** No callback begins before this has settled. */
  readonly after: Promise<unknown> | undefined;
  /** Receives how long each callback took, in ms. */
  readonly observe: ((durationMs: number) => void) | undefined;
}

/** One handler in one informer (its delivery, whether it has synced, and its resyncs). */
export class HandlerPlace<T extends KubeObject> implements HandlerRegistration {
  readonly name: string;
  readonly ended: Promise<void>;
  readonly #host: HandlerHost<T>;
  readonly #delivery: Delivery<Change<T>>;
  readonly #isEvery: boolean;
  readonly #resyncMs: number;
  readonly #waiters: Waiters;
  /** Set while the handler receives the objects stored at a moment (when it joined, or at a resync). */
  readonly #followed = new Set<StoreSeries<T>>();
  #hasSynced = false;
  #isEnded = false;
  #resyncTimer: ClockTimer | undefined;
  /** A resync that fell due while the store was ahead, or while an earlier one goes on. */
  #isResyncDue = false;
  #isResyncing = false;

  constructor(host: HandlerHost<T>, options: HandlerPlaceOptions<T>) {
    const { handler, name, turn, after, timeoutMs } = options;
    this.#host = host;
    this.name = name;
    this.#isEvery = options.delivery === 'every';
    this.#resyncMs = options.resyncMs;
    this.#waiters = new Waiters(host.clock);
    this.#delivery = new Delivery({
      call: options.observe === undefined ? (change) => callHandler(handler, change) : timed(host, options),
      traits: this.#isEvery ? allChanges<T>() : latestChanges<T>(),
      onFailure: ({ event, error }) => host.onHandlerError(error, name, event),
      clock: host.clock,
      name: `handler ${name} of informer ${host.name}`,
      slicer: host.slicer,
      timeoutMs,
      ...(turn === undefined ? {} : { turn }),
      ...(after === undefined ? {} : { after }),
    });
    this.ended = this.#delivery.ended();
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  get pending(): number {
    return this.#delivery.pending;
  }

  /** Whether a callback of the handler runs, wherever it was called from. */
  get isCalling(): boolean {
    return this.#delivery.isCalling;
  }

  waitForSync(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    if (this.#isEnded && !this.#hasSynced) return Promise.reject(this.#endedError());
    return this.#waiters.wait(
      () => this.#hasSynced,
      options,
      () => this.#endedError(),
    );
  }

  async remove(): Promise<void> {
    this.end();
    await this.ended;
  }

  /** No callback begins after this. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#followed.clear();
    this.#resyncTimer?.cancel();
    this.#delivery.end();
    this.#waiters.fail(() => this.#endedError());
    this.#host.removed(this);
  }

  /** The store is empty, and was left with this content. Ends when everything is delivered. */
  async endWithScope(content: Content<T>): Promise<void> {
    this.#delivery.insert(leftScopeOf(content));
    await this.#delivery.drained();
    this.end();
    await this.ended;
  }

  offer(change: Change<T>): void {
    if (this.#followed.size > 0) for (const series of this.#followed) series.note(change);
    this.#delivery.offer(change);
  }

  /** Hands out what is stored already. */
  catchUp(): void {
    this.#follow(new StoreSeries(this.#host, initialAdd), (series) => this.#delivery.replay(series));
    this.initialListOffered();
  }

  /** The last change of the initial list was offered. */
  initialListOffered(): void {
    this.#delivery.mark(() => {
      this.#hasSynced = true;
      this.#waiters.check();
    });
    if (this.#resyncMs > 0 && !this.#isEnded && this.#resyncTimer === undefined) this.#armResync();
  }

  /** The store is no longer ahead of what was offered. */
  storeIsLevel(): void {
    if (this.#isResyncDue) this.#resync();
    this.#delivery.proceed();
  }

  #armResync(): void {
    this.#resyncTimer = startTimer(
      this.#host.clock,
      () => {
        if (this.#isEnded) return;
        this.#resync();
        this.#armResync();
      },
      this.#resyncMs,
      { keepAlive: false },
    );
  }

  /**
   * One resync at a time. A handler that is busy for longer than the period gets the next one when this one is
   * complete.
   */
  #resync(): void {
    this.#isResyncDue = this.#host.isAhead;
    if (this.#isResyncDue || this.#isResyncing || this.#isEnded) return;
    this.#isResyncing = true;
    // If changes merge, each object is looked up at its turn, because a later change may have been delivered. Else
    // changes offered from now on wait behind those offered so far, which lead up to the present versions.
    if (this.#isEvery) this.#follow(new StoreSeries(this.#host, resync), (series) => this.#delivery.insert(series));
    else this.#delivery.interleave(resyncOf(this.#host));
    this.#delivery.mark(() => (this.#isResyncing = false));
  }

  /** Notes in a series what changes, until it is delivered. */
  #follow(series: StoreSeries<T>, begin: (series: StoreSeries<T>) => void): void {
    this.#followed.add(series);
    begin(series);
    // It may begin only when what was offered before is delivered.
    this.#delivery.mark(() => this.#delivery.mark(() => this.#followed.delete(series)));
  }

  #endedError(): SyncError {
    const { name, state } = this.#host;
    return new SyncError(`handler ${this.name} of informer ${name} ended before it had synced`, [{ name, state }]);
  }
}

/** Calls the handler, and observes the duration, also if it failed. */
function timed<T extends KubeObject>(
  { clock }: HandlerHost<T>,
  { handler, observe }: HandlerPlaceOptions<T>,
): (change: Change<T>) => void | Promise<void> {
  return (change) => {
    const begin = clock.monotonicNow();
    const done = (): void => observe?.(clock.monotonicNow() - begin);
    let result: unknown;
    try {
      result = callHandler(handler, change);
    } catch (error) {
      done();
      throw error;
    }
    if (isThenable(result))
      return Promise.resolve(result).then(done, (error: unknown) => {
        done();
        throw error;
      });
    done();
    return undefined;
  };
}
