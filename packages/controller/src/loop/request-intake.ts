import type { AddOptions } from '@kctl/workqueue';
import { lowPriority } from '@kctl/workqueue';
import type { ReconcileObserver } from '../observer.js';
import type { Policies } from '../policy/policies.js';
import type { ReconcileQueue } from '../queue/reconcile-queue.js';
import type { RunningRequests } from '../reconciler/running-requests.js';
import type { SourceEnqueueOptions, SourceQueue } from '../source/source.js';

/** Options of {@link RequestIntake}. */
export interface RequestIntakeOptions<R> {
  readonly controller: string;
  /** If undefined, there is no observer, and nothing is done for it. */
  readonly observer: ReconcileObserver | undefined;
  readonly queue: ReconcileQueue<R>;
  readonly running: RunningRequests;
  readonly requestKey: (request: R) => string;
  readonly policies: Pick<Policies, 'debounce' | 'restWindows' | 'safetyIntervals'>;
}

/** Entry of events into the queue, past the running reconcile, the rest window of a failed key, and the debounce. */
export class RequestIntake<R> implements SourceQueue<R> {
  readonly #options: RequestIntakeOptions<R>;

  constructor(options: RequestIntakeOptions<R>) {
    this.#options = options;
  }

  add(request: R, options: SourceEnqueueOptions = {}): void {
    const { queue, running, requestKey, policies, observer } = this.#options;
    const key = requestKey(request);
    observer?.queued(this.#options.controller, key, options);
    policies.safetyIntervals?.observe(key, options.presence);
    running.runOf(key)?.markSuperseded();
    queue.addWith(this.#plan(key, options), request);
  }

  left(request: R): void {
    const { requestKey, policies } = this.#options;
    policies.safetyIntervals?.observe(requestKey(request), 'gone');
  }

  #plan(key: string, options: SourceEnqueueOptions): AddOptions {
    const { debounce, restWindows } = this.#options.policies;
    const plan: { -readonly [K in keyof AddOptions]: AddOptions[K] } = {};
    if (options.priority !== undefined) plan.priority = options.priority;
    if (options.reason !== undefined) plan.reason = options.reason;
    if (options.rateLimited === true) plan.rateLimited = true;
    if (options.afterMs !== undefined) plan.afterMs = options.afterMs;
    else if (options.rateLimited !== true) {
      const afterMs = restWindows?.left(key) ?? 0;
      if (afterMs > 0) plan.afterMs = afterMs;
      else if (debounce !== undefined && mayWait(options)) plan.debounce = debounce;
    }
    return plan;
  }
}

function mayWait(options: SourceEnqueueOptions): boolean {
  return options.presence !== 'gone' && options.priority !== lowPriority;
}
