import type { Clock, Random } from '@kctl/wait';
import type { AddOptions, Debounce } from '@kctl/workqueue';
import { lowPriority } from '@kctl/workqueue';
import type { SafetyInterval } from './controller-options.js';
import type { ReconcileQueue } from './reconcile-queue.js';
import type { RequestSlots } from './request-slots.js';
import type { SourceEnqueueOptions, SourceQueue } from './source/source.js';

/** Options of {@link RequestIntake}. */
export interface RequestIntakeOptions<R> {
  readonly queue: ReconcileQueue<R>;
  readonly slots: RequestSlots;
  readonly requestKey: (request: R) => string;
  readonly clock: Clock;
  readonly random: Random;
  readonly debounce: Debounce | undefined;
  readonly eventsDuringBackoff: 'immediate' | 'oncePerWindow';
  readonly safetyInterval: SafetyInterval | undefined;
}

/** Where events enter the queue, and where successful requests are put back for the safety interval. */
export class RequestIntake<R> implements SourceQueue<R> {
  readonly #options: RequestIntakeOptions<R>;
  /** Objects that a source reported as present; only kept for the safety interval. */
  readonly #present = new Set<string>();

  constructor(options: RequestIntakeOptions<R>) {
    this.#options = options;
  }

  add(request: R, options: SourceEnqueueOptions = {}): void {
    const { queue, slots, requestKey } = this.#options;
    const key = requestKey(request);
    this.#observe(key, options.presence);
    slots.runOf(key)?.markSuperseded();
    queue.addWith(this.#plan(key, options), request);
  }

  /** Plans the next run of a request that succeeded. */
  rest(request: R, key: string): void {
    const { queue, random, safetyInterval } = this.#options;
    if (safetyInterval === undefined || !this.#present.has(key)) return;
    const afterMs = safetyInterval.everyMs * (0.8 + 0.4 * random());
    queue.addWith({ afterMs, priority: lowPriority, reason: 'safety interval' }, request);
  }

  #observe(key: string, presence: SourceEnqueueOptions['presence']): void {
    if (this.#options.safetyInterval === undefined || presence === undefined) return;
    if (presence === 'gone') this.#present.delete(key);
    else this.#present.add(key);
  }

  #plan(key: string, options: SourceEnqueueOptions): AddOptions {
    const plan: { -readonly [K in keyof AddOptions]: AddOptions[K] } = {};
    if (options.priority !== undefined) plan.priority = options.priority;
    if (options.reason !== undefined) plan.reason = options.reason;
    if (options.rateLimited === true) plan.rateLimited = true;
    if (options.afterMs !== undefined) plan.afterMs = options.afterMs;
    else if (options.rateLimited !== true) {
      const afterMs = this.#restLeft(key);
      if (afterMs > 0) plan.afterMs = afterMs;
      else if (this.#options.debounce !== undefined && mayWait(options)) plan.debounce = this.#options.debounce;
    }
    return plan;
  }

  /** ms that the key still has to rest, where events do not cut a back-off short any more. */
  #restLeft(key: string): number {
    const { eventsDuringBackoff, slots, clock } = this.#options;
    if (eventsDuringBackoff === 'immediate') return 0;
    const row = slots.failures(key);
    if (row === undefined) return 0;
    const left = row.restUntil - clock.monotonicNow();
    if (left <= 0 || row.hasJumped) return left;
    row.hasJumped = true;
    return 0;
  }
}

function mayWait(options: SourceEnqueueOptions): boolean {
  return options.presence !== 'gone' && options.priority !== lowPriority;
}
