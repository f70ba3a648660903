import type { Logger, RequestCounter, RequestTally, Span, SpanAttributes, Tracer } from '@kctl/telemetry';
import { noopTracer } from '@kctl/telemetry';
import { anySignal, sleep } from '@kctl/wait';
import type { Clock } from '@kctl/wait';
import type { PrioritizedItem, RateLimiter } from '@kctl/workqueue';
import type { FailureJudge, RunStep } from './failure-judge.js';
import type { ControllerMetrics } from '../reconciler/metrics.js';
import type { ReconcileObserver, SettledRun } from '../observer.js';
import type { Outcome } from '../retry/outcome.js';
import { outcomeOf } from '../retry/outcome.js';
import type { ReconcilePolicy, Requeue, Settled } from '../policy/policy.js';
import type { ReconcileQueue } from '../queue/reconcile-queue.js';
import { ReconcileRun } from '../reconciler/reconcile-run.js';
import type { ReconcileFunction } from '../reconciler/reconciler.js';
import type { RunningRequests } from '../reconciler/running-requests.js';
import { putBack } from '../queue/worker-pool.js';
import { counted } from './counted.js';

/** Time that a tracer may take to call its work, in ms, which is as long as a run waits for it. */
const tracerTimeoutMs = 1000;

/** Dependencies of a reconcile loop. */
export interface ReconcileLoopOptions<R> {
  readonly controller: string;
  readonly reconcile: ReconcileFunction<R>;
  readonly queue: ReconcileQueue<R>;
  readonly running: RunningRequests;
  readonly judge: FailureJudge<R>;
  /** From the outside in. */
  readonly policies: readonly ReconcilePolicy[];
  readonly rateLimiter: RateLimiter<R>;
  readonly metrics: ControllerMetrics;
  readonly tracer: Tracer;
  /** If undefined, requests are not counted, and nothing is allocated for it. */
  readonly requestCounter: RequestCounter | undefined;
  /** If undefined, there is no observer, and nothing is allocated for it. */
  readonly observer: ReconcileObserver | undefined;
  readonly clock: Clock;
  readonly requestKey: (request: R) => string;
  /** 0: none. */
  readonly timeoutMs: number;
  readonly maxAttempts: number;
  readonly makeLogger: (request: R, reconcileId: string) => Logger;
  readonly spanAttributes: (request: R) => SpanAttributes;
  /** A tracer that fails costs the span, not the run. */
  readonly onTracerError: (error: unknown) => void;
  /** Ends the controller. */
  readonly fail: (error: unknown) => void;
}

/**
 * Runs the reconciler for one dequeued request after another and decides what follows. Mirrors `reconcileHandler`. The
 * order: `admit` of the policies, the run, its outcome, the switch over it, `settle` of the policies, the queue.
 */
export class ReconcileLoop<R> {
  readonly #options: ReconcileLoopOptions<R>;
  readonly #admits: readonly NonNullable<ReconcilePolicy['admit']>[];
  readonly #settles: readonly NonNullable<ReconcilePolicy['settle']>[];

  constructor(options: ReconcileLoopOptions<R>) {
    this.#options = options;
    const { policies } = options;
    this.#admits = policies.flatMap((policy) => policy.admit?.bind(policy) ?? []);
    this.#settles = policies.toReversed().flatMap((policy) => policy.settle?.bind(policy) ?? []);
  }

  /** Reconciles one request and releases its key. Never rejects. */
  work(item: PrioritizedItem<R>, stopSignal: AbortSignal): Promise<void> {
    const { queue, requestKey, clock, tracer } = this.#options;
    const started = clock.monotonicNow();
    const key = requestKey(item.item);
    for (const admit of this.#admits) {
      const deferMs = admit(key, item.reasons);
      if (deferMs <= 0) continue;
      if (deferMs === Infinity) queue.done(item.item);
      else putBack(queue, item, deferMs);
      return deferred;
    }
    const dequeued = { item, key, stopSignal, started };
    return tracer === noopTracer ? this.#run(dequeued, undefined) : this.#traced(dequeued);
  }

  async #traced(dequeued: Dequeued<R>): Promise<void> {
    const { tracer, spanAttributes, onTracerError, clock } = this.#options;
    let run: Promise<void> | undefined;
    const begun = Promise.withResolvers<undefined>();
    const within = (span: Span): Promise<void> => {
      run ??= this.#run(dequeued, span);
      begun.resolve(undefined);
      return run;
    };
    const traced = async (): Promise<void> => {
      try {
        await tracer.withSpan('reconcile', spanAttributes(dequeued.item.item), within);
      } catch (error) {
        onTracerError(error);
      }
    };
    // The worker waits for the run, not for what the tracer does before and after it, which may hang.
    const tracing = traced();
    if (run === undefined) {
      const waiting = new AbortController();
      using ended = anySignal([waiting.signal, dequeued.stopSignal]);
      const patience = sleep(tracerTimeoutMs, { clock, signal: ended.signal }).catch(() => undefined);
      await Promise.race([tracing, begun.promise, patience]);
      waiting.abort();
    }
    if (run === undefined) {
      run = this.#run(dequeued, undefined);
      onTracerError(
        new TypeError(
          `tracer.withSpan did not call its work within ${tracerTimeoutMs} ms: expected one call of work(span), whose promise it returns`,
        ),
      );
    }
    await run;
  }

  /** One function and one promise, because every reconcile goes through it. */
  async #run({ item, key, stopSignal, started }: Dequeued<R>, span: Span | undefined): Promise<void> {
    const { reconcile, running, clock, queue, judge, metrics, timeoutMs, maxAttempts, requestCounter } = this.#options;
    const { observer } = this.#options;
    const { item: request, priority, reasons } = item;
    let tally: RequestTally | undefined = requestCounter === undefined ? undefined : { requests: 0 };
    let settled: Settled | undefined;
    metrics.activeWorkers.inc();
    try {
      const attempt = running.failures(key) + 1;
      const isLastAttempt = attempt >= maxAttempts;
      const makeLogger = (reconcileId: string): Logger => this.#options.makeLogger(request, reconcileId);
      const run = new ReconcileRun(
        { attempt, isLastAttempt, priority, reasons, stopSignal, makeLogger, clock, timeoutMs },
        span,
      );
      if (span !== undefined) run.span.setAttributes({ reasons: reasons.join('; '), attempt });
      running.begin(key, run);
      if (observer !== undefined) tally = observer.started(this.#options.controller, key, run);
      let outcome: Outcome;
      let step: RunStep = 'call';
      try {
        const pending =
          requestCounter === undefined || tally === undefined
            ? reconcile(request, run)
            : counted(requestCounter, tally, () => reconcile(request, run));
        step = 'wait';
        const result = await pending;
        step = 'settle';
        outcome = outcomeOf(result);
      } catch (error) {
        // A hook may write the status, so these requests belong to the run as well.
        const failed = { request, key, run, error, step, stopSignal };
        outcome = await (requestCounter === undefined || tally === undefined
          ? judge.judge(failed)
          : counted(requestCounter, tally, () => judge.judge(failed)));
      }
      run.end();
      if (span !== undefined && tally !== undefined) run.span.setAttributes({ requests: tally.requests });
      const next = this.#next(request, { key, run }, outcome);
      settled = { key, run, outcome, next, kept: undefined, isLooping: false };
      for (const settle of this.#settles) settle(settled);
      if (settled.next !== undefined) queue.addWith(settled.next, request);
      if (settled.kept !== undefined) queue.addWith(settled.kept, request);
      judge.log(settled);
    } catch (error) {
      this.#options.fail(error); // nothing above rejects except a broken logger or queue
    } finally {
      if (observer !== undefined && tally !== undefined) observer.settled(tally, settledRun(settled));
      running.end(key);
      queue.done(request);
      metrics.activeWorkers.dec();
      if (tally !== undefined) metrics.requests?.observe(tally.requests);
      metrics.seconds.observe((clock.monotonicNow() - started) / 1000);
    }
  }

  /** Consequence of an outcome, apart from the policies. */
  #next(request: R, { key, run }: Pick<Settled, 'key' | 'run'>, outcome: Outcome): Requeue | undefined {
    const { metrics, running, rateLimiter } = this.#options;
    switch (outcome.type) {
      case 'done':
        this.#forget(request, key);
        metrics.total.success.inc();
        return undefined;
      case 'requeueAfter':
        this.#forget(request, key);
        metrics.total.requeue_after.inc();
        run.span.setAttributes({ result: 'requeue_after' });
        return { afterMs: outcome.afterMs, priority: outcome.priority ?? run.priority, reason: 'requeue' };
      case 'backoff':
        running.fail(key);
        metrics.total.requeue.inc();
        run.span.setAttributes({ result: 'requeue' });
        return { afterMs: rateLimiter.when(request), priority: outcome.priority ?? run.priority, reason: 'back-off' };
      case 'error': {
        // A time that has passed already means now, through the rate limiter: `deadline - now` must not become a hot loop.
        const { error, afterMs: asked = 0 } = outcome;
        const afterMs = asked > 0 ? asked : rateLimiter.when(request, { error });
        return { afterMs, priority: run.priority, reason: 'retry' };
      }
      case 'terminal':
        this.#forget(request, key);
        return undefined;
      case 'stopped':
        // Not done. The next run of the session has it. If the session ends, the queue drops it.
        return { afterMs: 0, priority: run.priority, reason: 'stopped' };
    }
  }

  #forget(request: R, key: string): void {
    this.#options.rateLimiter.forget(request);
    this.#options.running.succeed(key);
  }
}

/** Outcome passed to an observer; undefined if the run has failed together with the controller. */
function settledRun(settled: Settled | undefined): SettledRun {
  if (settled === undefined) return { result: 'stopped', error: undefined, nextMs: undefined, isLooping: false };
  const { outcome, next, isLooping } = settled;
  const nextMs = next === undefined ? undefined : Math.max(0, next.afterMs);
  const error = 'error' in outcome ? outcome.error : undefined;
  return { result: results[outcome.type], error, nextMs, isLooping };
}

const results: Readonly<Record<Outcome['type'], SettledRun['result']>> = {
  done: 'success',
  requeueAfter: 'requeue_after',
  backoff: 'requeue',
  error: 'error',
  terminal: 'terminal',
  stopped: 'stopped',
};

interface Dequeued<R> {
  readonly item: PrioritizedItem<R>;
  readonly key: string;
  readonly stopSignal: AbortSignal;
  /** Monotonic time at which it was dequeued. */
  readonly started: number;
}

const deferred: Promise<void> = Promise.resolve();
