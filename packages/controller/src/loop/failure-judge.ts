import { messageOf } from '@kctl/telemetry/internal';
import { isConflict } from '@kctl/apimachinery';
import type { Clock } from '@kctl/wait';
import { isAbortError } from '@kctl/wait';
import { isReconcileTimeoutError, isTerminalError, ReconcilePanicError, someInChain } from '../reconciler/errors.js';
import type { ControllerMetrics } from '../reconciler/metrics.js';
import type { Outcome } from '../retry/outcome.js';
import { isPanic } from './panic.js';
import type { Settled } from '../policy/policy.js';
import type { ReconcileRun } from '../reconciler/reconcile-run.js';
import type { ReconcileErrorHook, RetryDecision } from '../reconciler/reconciler.js';
import { checkDecision } from '../retry/retry-decision.js';
import type { RetryPolicy } from '../retry/retry-policy.js';
import type { RunningRequests } from '../reconciler/running-requests.js';

/** A conflict means that the cache was behind, so it is logged as an error only after this many in a row. */
const quietConflicts = 5;

/** Stage of a run that failed, which is the call, the returned promise, or the check of its result. */
export type RunStep = 'call' | 'wait' | 'settle';

/** Options of {@link FailureJudge}. */
export interface FailureJudgeOptions<R> {
  readonly onError: ReconcileErrorHook<R> | undefined;
  readonly retryPolicy: RetryPolicy;
  readonly recoverPanic: boolean;
  readonly running: RunningRequests;
  readonly metrics: ControllerMetrics;
  readonly clock: Clock;
  /** Ends the controller. */
  readonly fail: (error: unknown) => void;
}

/** A run that threw or rejected. */
export interface FailedRun<R> {
  readonly request: R;
  readonly key: string;
  readonly run: ReconcileRun;
  readonly error: unknown;
  readonly step: RunStep;
  readonly stopSignal: AbortSignal;
}

/**
 * Decides the consequence of a failure. The retry policy comes first, then the error hook, which may override it. Each
 * may throw or return anything; that is logged by name, and the decision of the previous step stands (before the
 * policy, back-off).
 */
export class FailureJudge<R> {
  readonly #options: FailureJudgeOptions<R>;

  constructor(options: FailureJudgeOptions<R>) {
    this.#options = options;
  }

  /** Never rejects. */
  async judge(failed: FailedRun<R>): Promise<Outcome> {
    const { key, run, stopSignal } = failed;
    const { metrics, clock, running } = this.#options;
    if (stopSignal.aborted && isOwnAbort(failed.error, stopSignal)) return { type: 'stopped', error: failed.error };
    const error = this.#panicOr(failed);
    metrics.errors.inc();
    metrics.total.error.inc();
    if (isTerminalError(error)) metrics.terminalErrors.inc();
    if (run.hasTimedOut && isTimeout(error)) metrics.timeouts.inc();
    run.span.recordError(error);
    const row = running.fail(key);
    const elapsedMs = clock.monotonicNow() - row.since;
    const decision = await this.#overruled(failed, error, this.#decide(run, error, elapsedMs));
    if (decision.type === 'stop') return { type: 'terminal', error };
    return { type: 'error', error, afterMs: decision.type === 'retry' ? decision.afterMs : undefined };
  }

  /** Logs a failure, once it is known what follows. */
  log({ run, outcome, next }: Settled): void {
    if (outcome.type === 'stopped') run.logger.debug('reconcile cut short by the stop', { error: outcome.error });
    if (outcome.type !== 'error' && outcome.type !== 'terminal') return;
    const { error } = outcome;
    const retryInMs = outcome.type === 'error' ? Math.max(0, next?.afterMs ?? 0) : undefined;
    const fields = { error, attempt: run.attempt, ...(retryInMs === undefined ? {} : { retryInMs }) };
    if (outcome.type === 'error' && run.attempt <= quietConflicts && someInChain(error, isConflict))
      run.logger.info('reconcile met a conflict', fields);
    else run.logger.error('Reconciler error', fields);
  }

  #panicOr({ error, step, run }: FailedRun<R>): unknown {
    const { metrics, recoverPanic, fail } = this.#options;
    if (step === 'settle' || (step === 'wait' && !isPanic(error))) return error;
    metrics.panics.inc();
    if (recoverPanic) return new ReconcilePanicError(error);
    run.logger.error('Observed a panic', { error });
    fail(error);
    return error;
  }

  #decide({ attempt, logger }: ReconcileRun, error: unknown, elapsedMs: number): RetryDecision {
    try {
      return checkDecision('retryPolicy.decide', this.#options.retryPolicy.decide({ error, attempt, elapsedMs }));
    } catch (policyError) {
      logger.error('the retry policy failed, the back-off counts', {
        error: policyError,
        reconcileError: messageOf(error),
      });
      return { type: 'backoff' };
    }
  }

  async #overruled({ request, run }: FailedRun<R>, error: unknown, decision: RetryDecision): Promise<RetryDecision> {
    const { onError } = this.#options;
    if (onError === undefined) return decision;
    try {
      const answer: unknown = await onError({ request, error, decision }, run);
      return answer === undefined || answer === null ? decision : checkDecision('onError', answer);
    } catch (hookError) {
      run.logger.error('the error hook failed, its decision is ignored', { error: hookError });
      return decision;
    }
  }
}

function isTimeout(error: unknown): boolean {
  return someInChain(error, isAbortError) || isReconcileTimeoutError(error);
}

function isOwnAbort(error: unknown, signal: AbortSignal): boolean {
  return someInChain(error, (link) => link === signal.reason || isAbortError(link));
}
