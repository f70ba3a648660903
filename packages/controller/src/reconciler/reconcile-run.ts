import { randomUUID } from 'node:crypto';
import type { Logger, Span } from '@kctl/telemetry';
import type { Clock, ClockTimer } from '@kctl/wait';
import { abortReason, startTimer } from '@kctl/wait/internal';
import { ReconcileTimeoutError } from './errors.js';
import type { ReconcileContext } from './reconciler.js';

/** The details of a request when it is dequeued. */
export interface RunFacts {
  readonly attempt: number;
  readonly isLastAttempt: boolean;
  readonly priority: number;
  readonly reasons: readonly string[];
  /** The controller's signal, aborted when it stops. */
  readonly stopSignal: AbortSignal;
  readonly makeLogger: (reconcileId: string) => Logger;
  readonly clock: Clock;
  /** 0: none. */
  readonly timeoutMs: number;
}

const silentSpan: Span = { setAttributes: () => undefined, recordError: () => undefined, end: () => undefined };

/**
 * One run of a reconciler, as seen by its user code. Expensive parts (signals, logger, id) are created on first access,
 * because most reconciles of a converged cluster end before they need them.
 */
export class ReconcileRun implements ReconcileContext {
  readonly attempt: number;
  readonly isLastAttempt: boolean;
  readonly priority: number;
  readonly reasons: readonly string[];
  readonly span: Span;
  readonly #facts: RunFacts;
  #id: string | undefined;
  #logger: Logger | undefined;
  #controller: AbortController | undefined;
  #supersede: AbortController | undefined;
  #isSuperseded = false;
  #hasEnded = false;
  #timer: ClockTimer | undefined;
  #timeout: ReconcileTimeoutError | undefined;
  #onStop: (() => void) | undefined;

  constructor(facts: RunFacts, span: Span = silentSpan) {
    this.attempt = facts.attempt;
    this.isLastAttempt = facts.isLastAttempt;
    this.priority = facts.priority;
    this.reasons = facts.reasons;
    this.span = span === silentSpan ? span : quietSpan(span);
    this.#facts = facts;
    if (facts.timeoutMs > 0) this.#timer = startTimer(facts.clock, () => this.#expire(), facts.timeoutMs);
  }

  get reconcileId(): string {
    return (this.#id ??= randomUUID());
  }

  get logger(): Logger {
    return (this.#logger ??= this.#facts.makeLogger(this.reconcileId));
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const { stopSignal } = this.#facts;
      this.#controller = new AbortController();
      if (this.#timeout !== undefined) this.#controller.abort(this.#timeout);
      else if (stopSignal.aborted) this.#controller.abort(abortReason(stopSignal));
      // Nothing would ever remove the listener. Code that reads it now works on after the run, unless a stop reaches
      // it.
      else if (this.#hasEnded) this.#controller.abort(new DOMException('the reconcile has ended', 'AbortError'));
      else {
        this.#onStop = (): void => this.#controller?.abort(stopSignal.reason);
        stopSignal.addEventListener('abort', this.#onStop, { once: true });
      }
    }
    return this.#controller.signal;
  }

  get superseded(): AbortSignal {
    if (this.#supersede === undefined) {
      this.#supersede = new AbortController();
      if (this.#isSuperseded) this.#supersede.abort(supersededReason());
    }
    return this.#supersede.signal;
  }

  get isSuperseded(): boolean {
    return this.#isSuperseded;
  }

  /** Whether the reconciliation timeout has passed. */
  get hasTimedOut(): boolean {
    return this.#timeout !== undefined;
  }

  /** A newer event for the same request was queued. */
  markSuperseded(): void {
    if (this.#isSuperseded) return;
    this.#isSuperseded = true;
    this.#supersede?.abort(supersededReason());
  }

  /** Releases timer and listener; the signals stay as they are. */
  end(): void {
    this.#hasEnded = true;
    this.#timer?.cancel();
    if (this.#onStop !== undefined) this.#facts.stopSignal.removeEventListener('abort', this.#onStop);
  }

  #expire(): void {
    this.#timeout = new ReconcileTimeoutError(this.#facts.timeoutMs);
    this.#controller?.abort(this.#timeout);
  }
}

function supersededReason(): DOMException {
  return new DOMException('a newer event for this request arrived', 'AbortError');
}

/** A span that cannot fail the run. */
function quietSpan(span: Span): Span {
  const quietly = (call: () => void): void => {
    try {
      call();
    } catch {
      // Tracing is secondary to the work; a failure only loses a span.
    }
  };
  return {
    setAttributes: (attributes) => quietly(() => span.setAttributes(attributes)),
    recordError: (error) => quietly(() => span.recordError(error)),
    end: () => quietly(() => span.end()),
  };
}
