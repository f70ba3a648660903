import type { Logger, Span, SpanAttributes, Tracer } from '@kctl/telemetry';
import { noopTracer } from '@kctl/telemetry';
import type { Clock, Random } from '@kctl/wait';
import { isAbortError } from '@kctl/wait';
import { isConflict } from '@kctl/apimachinery';
import type { PrioritizedItem, RateLimiter } from '@kctl/workqueue';
import { asksForAnotherRun, checkResult } from './check-result.js';
import type { ControllerOptions } from './controller-options.js';
import { isReconcileTimeoutError, isTerminalError, ReconcilePanicError, someInChain } from './errors.js';
import { HotLoopDetector } from './hot-loop.js';
import type { ControllerMetrics, ReconcileOutcome } from './metrics.js';
import { isPanic } from './panic.js';
import type { ReconcileQueue } from './reconcile-queue.js';
import { ReconcileRun } from './reconcile-run.js';
import type { ReconcileErrorHook, ReconcileFunction, ReconcileResult, RetryDecision } from './reconciler.js';
import type { RequestIntake } from './request-intake.js';
import type { RequestSlots } from './request-slots.js';
import type { RetryPolicy } from './retry-policy.js';
import type { RunLimiter } from './run-limit.js';
import { putBack } from './worker-pool.js';

/** A conflict means that the cache was behind: it is no news until it has happened this often in a row. */
const quietConflicts = 5;

/** What a reconcile loop works with. */
export interface ReconcileLoopOptions<R> {
  readonly reconcile: ReconcileFunction<R>;
  readonly onError: ReconcileErrorHook<R> | undefined;
  readonly retryPolicy: RetryPolicy;
  readonly rateLimiter: RateLimiter<R>;
  readonly recoverPanic: boolean;
  readonly timeoutMs: number;
  readonly hotLoop: ControllerOptions<R>['hotLoop'];
  readonly runLimiter: RunLimiter | undefined;
  readonly queue: ReconcileQueue<R>;
  readonly intake: RequestIntake<R>;
  readonly slots: RequestSlots;
  readonly metrics: ControllerMetrics;
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly random: Random;
  readonly requestKey: (request: R) => string;
  readonly makeLogger: (request: R, reconcileId: string) => Logger;
  readonly spanAttributes: (request: R) => SpanAttributes;
  readonly stopSignal: AbortSignal;
  readonly fail: (error: unknown) => void;
}

/** Runs the reconciler for one dequeued request after another and decides what follows. Mirrors `reconcileHandler`. */
export class ReconcileLoop<R> {
  readonly #options: ReconcileLoopOptions<R>;
  readonly #hotLoop: HotLoopDetector | undefined;

  constructor(options: ReconcileLoopOptions<R>) {
    this.#options = options;
    const { clock, random, hotLoop } = options;
    this.#hotLoop = hotLoop === false ? undefined : new HotLoopDetector(clock, random, hotLoop);
  }

  /** Reconciles one request and releases its key. Never rejects. */
  async work(item: PrioritizedItem<R>): Promise<void> {
    const { queue, slots, metrics, requestKey, clock } = this.#options;
    const key = requestKey(item.item);
    const started = clock.monotonicNow();
    const deferMs = this.#options.runLimiter?.begin(key, started) ?? 0;
    if (deferMs > 0) {
      putBack(this.#options.queue, item, deferMs);
      return;
    }
    metrics.activeWorkers.inc();
    try {
      const { tracer } = this.#options;
      if (tracer === noopTracer) await this.#run(item, key, undefined);
      else
        await tracer.withSpan('reconcile', this.#options.spanAttributes(item.item), (span) =>
          this.#run(item, key, span),
        );
    } catch (error) {
      this.#options.fail(error); // nothing below rejects except a broken logger, tracer or queue
    } finally {
      slots.end(key);
      metrics.activeWorkers.dec();
      metrics.seconds.observe((clock.monotonicNow() - started) / 1000);
      queue.done(item.item);
    }
  }

  async #run(item: PrioritizedItem<R>, key: string, span: Span | undefined): Promise<void> {
    const { slots, retryPolicy, clock, stopSignal, timeoutMs } = this.#options;
    const attempt = (slots.failures(key)?.attempts ?? 0) + 1;
    const run = new ReconcileRun(
      {
        attempt,
        isLastAttempt: attempt >= (retryPolicy.maxAttempts ?? Infinity),
        priority: item.priority,
        reasons: item.reasons,
        stopSignal,
        makeLogger: (reconcileId) => this.#options.makeLogger(item.item, reconcileId),
        clock,
        timeoutMs,
      },
      span,
    );
    slots.begin(key, run);
    const dequeued: Dequeued<R> = { item, key, run };
    let outcome: string;
    let step: 'call' | 'wait' | 'settle' = 'call';
    try {
      const pending = this.#options.reconcile(item.item, run);
      step = 'wait';
      const result = await pending;
      step = 'settle';
      outcome = this.#settle(dequeued, checkResult(result));
    } catch (error) {
      const panics = step === 'call' || (step === 'wait' && isPanic(error));
      outcome = await this.#fail(dequeued, panics ? this.#panic(error, run) : error);
    } finally {
      run.end();
    }
    if (this.#hotLoop?.record(key, outcome) === true) {
      this.#options.metrics.hotLoops.inc();
      run.logger.warn('reconciled in a loop: does the reconciler wake itself by what it writes?', {
        outcome,
        reasons: item.reasons,
      });
    }
  }

  #panic(error: unknown, run: ReconcileRun): unknown {
    const { metrics, recoverPanic, fail } = this.#options;
    metrics.panics.inc();
    if (recoverPanic) return new ReconcilePanicError(error);
    run.logger.error('Observed a panic', { error });
    fail(error);
    return error;
  }

  #settle({ item, key, run }: Dequeued<R>, result: ReconcileResult): string {
    const { queue, slots, rateLimiter, metrics, intake } = this.#options;
    const request = item.item;
    const priority = result.priority ?? item.priority;
    if (result.requeueAfterMs !== undefined && result.requeueAfterMs > 0) {
      this.#forget(request, key);
      if (result.keep === true) slots.keep(key, result.requeueAfterMs);
      queue.addWith({ afterMs: result.requeueAfterMs, priority, reason: 'requeue' }, request);
      this.#keepTime(item, key);
      return this.#count('requeue_after', run);
    }
    if (asksForAnotherRun(result)) {
      slots.fail(key);
      const afterMs = slots.rest(key, rateLimiter.when(request));
      queue.addWith({ afterMs, priority, reason: 'back-off' }, request);
      this.#keepTime(item, key);
      return this.#count('requeue', run);
    }
    this.#forget(request, key);
    intake.rest(request, key);
    this.#keepTime(item, key);
    metrics.total.success.inc();
    return 'success';
  }

  async #fail(dequeued: Dequeued<R>, error: unknown): Promise<string> {
    const { metrics, stopSignal, retryPolicy, slots, clock } = this.#options;
    const { run, key } = dequeued;
    if (stopSignal.aborted && isOwnAbort(error, stopSignal)) {
      run.logger.debug('Reconcile cut short by the stop', { error });
      // It is not done: the next run of the session has it. Where the session ends, the queue drops it.
      this.#options.queue.addWith({ priority: dequeued.item.priority, reason: 'stopped' }, dequeued.item.item);
      return 'stopped';
    }
    metrics.errors.inc();
    metrics.total.error.inc();
    const isTerminal = isTerminalError(error);
    if (isTerminal) metrics.terminalErrors.inc();
    if (run.hasTimedOut && (isAbortError(error) || isReconcileTimeoutError(error))) metrics.timeouts.inc();
    run.span.recordError(error);
    const row = slots.fail(key);
    const input = { error, attempt: run.attempt, elapsedMs: clock.monotonicNow() - row.since };
    const decision = await this.#ask(dequeued, error, retryPolicy.decide(input));
    const wait = this.#follow(dequeued, error, decision);
    const fields = { error, attempt: run.attempt, ...(wait === undefined ? {} : { retryInMs: wait }) };
    if (isConflict(error) && run.attempt <= quietConflicts && wait !== undefined)
      run.logger.info('Reconcile met a conflict', fields);
    else run.logger.error('Reconciler error', fields);
    return isTerminal ? 'terminal' : 'error';
  }

  /** Lets the error hook have its say. */
  async #ask({ item, run }: Dequeued<R>, error: unknown, decision: RetryDecision): Promise<RetryDecision> {
    const { onError } = this.#options;
    if (onError === undefined) return decision;
    try {
      return (await onError({ request: item.item, error, decision }, run)) ?? decision;
    } catch (hookError) {
      run.logger.error('The error hook failed, its decision is ignored', { error: hookError });
      return decision;
    }
  }

  /** Plans the retry; returns its delay. */
  #follow({ item, key }: Dequeued<R>, error: unknown, decision: RetryDecision): number | undefined {
    const { queue, slots, rateLimiter, intake } = this.#options;
    const request = item.item;
    if (decision.type === 'stop') {
      this.#forget(request, key);
      intake.rest(request, key);
      this.#keepTime(item, key);
      return undefined;
    }
    const wanted = decision.type === 'backoff' ? rateLimiter.when(request, { error }) : decision.afterMs;
    const afterMs = slots.rest(key, wanted);
    queue.addWith({ afterMs, priority: item.priority, reason: 'retry' }, request);
    this.#keepTime(item, key);
    return afterMs;
  }

  /** Plans again what was to stand, see `ReconcileResult.keep`. */
  #keepTime({ item, priority }: PrioritizedItem<R>, key: string): void {
    const afterMs = this.#options.slots.keptLeft(key);
    if (afterMs !== undefined) this.#options.queue.addWith({ afterMs, priority, reason: 'requeue' }, item);
  }

  #forget(request: R, key: string): void {
    this.#options.rateLimiter.forget(request);
    this.#options.slots.succeed(key);
  }

  #count(outcome: ReconcileOutcome, run: ReconcileRun): string {
    this.#options.metrics.total[outcome].inc();
    run.span.setAttributes({ result: outcome });
    return outcome;
  }
}

interface Dequeued<R> {
  readonly item: PrioritizedItem<R>;
  readonly key: string;
  readonly run: ReconcileRun;
}

function isOwnAbort(error: unknown, signal: AbortSignal): boolean {
  return isAbortError(error) || someInChain(error, (link) => link === signal.reason);
}
