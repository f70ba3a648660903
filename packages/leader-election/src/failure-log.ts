import type { Logger } from '@kctl/telemetry';

/**
 * Logs a series of failed lock requests, with a warning when it begins and when its cause changes, and one line when it
 * ends. A forbidden lease otherwise means a warning each retry period, for as long as it is forbidden.
 */
export class FailureLog {
  readonly #logger: Logger;
  readonly #lock: string;
  #cause: string | undefined;
  #current: unknown;
  #count = 0;

  constructor(logger: Logger, lock: string) {
    this.#logger = logger;
    this.#lock = lock;
  }

  /** The error of the last request; undefined when it succeeded. */
  get current(): unknown {
    return this.#current;
  }

  failed(error: unknown): void {
    this.#current = error;
    this.#count++;
    const cause = causeOf(error);
    const fields = { lock: this.#lock, error };
    if (cause === this.#cause) this.#logger.debug('failed to acquire or renew the lease again', fields);
    else this.#logger.warn('failed to acquire or renew the lease', fields);
    this.#cause = cause;
  }

  succeeded(): void {
    if (this.#count > 0)
      this.#logger.info('requests for the lease succeed again', { lock: this.#lock, failures: this.#count });
    this.#cause = undefined;
    this.#current = undefined;
    this.#count = 0;
  }
}

/** The common part of failures with one cause, because numbers (ports, times, versions) differ from one to the next. */
function causeOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message.replaceAll(/\d+/g, '#')}` : typeof error;
}
