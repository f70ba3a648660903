import type { Logger, RequestTally } from '@kctl/telemetry';
import type { ReconcileContext } from './reconciler/reconciler.js';
import type { SourceEnqueueOptions } from './source/source.js';

/** How a run ended, for a {@link ReconcileObserver}. */
export interface SettledRun {
  /**
   * `requeue`: with back-off; `terminal`: failed, and not tried again before the next event; `stopped`: cut short by the
   * stop of the controller.
   */
  readonly result: 'success' | 'requeue' | 'requeue_after' | 'error' | 'terminal' | 'stopped';
  /** Why it failed. Error messages may repeat the content of objects. */
  readonly error: unknown;
  /**
   * When the key runs again unless an event comes first, in ms from now, ≥ 0; undefined means not before the next
   * event.
   */
  readonly nextMs: number | undefined;
  /** Whether the hot-loop detector found the key with this run. */
  readonly isLooping: boolean;
}

/**
 * Observes controllers, for recorders such as @kctl/inspection. Each method is called synchronously in the path of
 * every event and run, so it must be quick; its errors are logged once, and the record is lost. With no observer
 * nothing is allocated for it.
 */
export interface ReconcileObserver {
  /** A source has queued a request. `options.event` is the event that triggered it, if there is one. */
  queued(controller: string, key: string, options: SourceEnqueueOptions): void;
  /**
   * A run begins. Returns the tally of the run. With a `requestCounter`, it is the current one in everything that the
   * run awaits.
   */
  started(controller: string, key: string, run: ReconcileContext): RequestTally;
  /** The run of a tally has ended. */
  settled(tally: RequestTally, run: SettledRun): void;
  /** The queue of a controller is gone, with everything that waited in it. @default nothing */
  ended?(controller: string): void;
}

/** The observer as called by the loop; its errors end nothing. */
export function guardObserver(observer: ReconcileObserver, logger: Logger): ReconcileObserver {
  let hasFailed = false;
  const failed = (error: unknown): void => {
    if (hasFailed) return;
    hasFailed = true;
    try {
      logger.error('the observer failed, what it misses is not recorded', { error });
    } catch {
      // a logger that fails as well must not end the run that is looked at
    }
  };
  return {
    queued: (controller, key, options) => {
      try {
        observer.queued(controller, key, options);
      } catch (error) {
        failed(error);
      }
    },
    started: (controller, key, run) => {
      try {
        const tally: unknown = observer.started(controller, key, run);
        if (isTally(tally)) return tally;
        failed(new TypeError('observer.started returned something that is not a tally: expected { requests: 0 }'));
      } catch (error) {
        failed(error);
      }
      return { requests: 0 };
    },
    settled: (tally, run) => {
      try {
        observer.settled(tally, run);
      } catch (error) {
        failed(error);
      }
    },
    ended: (controller) => {
      try {
        observer.ended?.(controller);
      } catch (error) {
        failed(error);
      }
    },
  };
}

function isTally(value: unknown): value is RequestTally {
  return typeof value === 'object' && value !== null && 'requests' in value;
}
