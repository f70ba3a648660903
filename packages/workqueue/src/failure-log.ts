import { createConsoleLogger } from '@kctl/telemetry';
import { guardLogger } from '@kctl/telemetry/internal';
import type { Logger } from '@kctl/telemetry';
import { shownKey } from './errors.js';
import type { QueueKey } from './work-queue.js';

/** A failure of the work on an item, and the decision on it. */
export interface LoggedFailure {
  readonly key: QueueKey;
  readonly attempt: number;
  readonly error: unknown;
}

/**
 * Log of failures that do not end the pool. With neither a logger nor `onError` they are written to standard error
 * (sampled), because nothing else shows them. With `onError` alone nothing is logged. Created at the first failure.
 */
export class FailureLog {
  readonly #given: Logger | undefined;
  readonly #isJudged: boolean;
  #logger: Logger | undefined;

  constructor(logger: Logger | undefined, isJudged: boolean) {
    this.#given = logger;
    this.#isJudged = isJudged;
  }

  retried(failure: LoggedFailure): void {
    this.#log('work failed, retrying', failure);
  }

  dropped(failure: LoggedFailure): void {
    this.#log('work failed, dropping the item', failure);
  }

  #log(message: string, { key, attempt, error }: LoggedFailure): void {
    if (this.#given === undefined && this.#isJudged) return;
    this.#logger ??= guardLogger(this.#given ?? createConsoleLogger({ sampling: {} }));
    this.#logger.error(message, { key: shownKey(key), attempt, error });
  }
}
