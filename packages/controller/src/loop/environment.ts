import type { Logger, Metrics, RequestCounter, Tracer } from '@kctl/telemetry';
import { noopLogger, noopMetrics, noopTracer } from '@kctl/telemetry';
import { guardLogger, guardSinks } from '@kctl/telemetry/internal';
import type { Clock, Random } from '@kctl/wait';
import { systemClock, systemRandom } from '@kctl/wait';
import { guardedRandom } from '@kctl/wait/internal';
import type { AdoptOptions } from '../controller.js';
import type { ControllerOptions, ControllerSettings } from '../controller-options.js';
import { resolveSettings } from '../controller-options.js';
import type { ControllerMetrics } from '../reconciler/metrics.js';
import { createControllerMetrics } from '../reconciler/metrics.js';
import type { ReconcileObserver } from '../observer.js';
import { guardObserver } from '../observer.js';

/** Environment of a controller. Contains its options and, for those left open, the values of its host. */
export interface ControllerEnvironment {
  readonly settings: Required<ControllerSettings>;
  readonly logger: Logger;
  /** Cannot throw. */
  readonly metrics: Metrics;
  /** The controller's own of `metrics`. */
  readonly measured: ControllerMetrics;
  readonly tracer: Tracer;
  /**
   * Undefined if requests are not counted, either because there is no counter or because its counts would not be used.
   */
  readonly requestCounter: RequestCounter | undefined;
  /** Cannot throw. Undefined if not set. */
  readonly observer: ReconcileObserver | undefined;
  readonly clock: Clock;
  readonly random: Random;
}

/** The environment of a controller. @throws TypeError when a setting is not valid */
export function environmentOf<R>(options: ControllerOptions<R>, adopted: AdoptOptions): ControllerEnvironment {
  const { name } = options;
  const settings = resolveSettings(name, options, adopted.settings);
  const given = options.logger ?? adopted.logger ?? noopLogger;
  const givenMetrics = options.metrics ?? adopted.metrics ?? noopMetrics;
  const { logger, metrics } = guardSinks({
    logger: guardLogger(given).child({ controller: name }),
    metrics: givenMetrics,
  });
  const tracer = options.tracer ?? adopted.tracer ?? noopTracer;
  const observer = options.observer ?? adopted.observer;
  const isObserved = givenMetrics !== noopMetrics || tracer !== noopTracer || observer !== undefined;
  const requestCounter = isObserved ? (options.requestCounter ?? adopted.requestCounter) : undefined;
  return {
    settings,
    logger,
    metrics,
    measured: createControllerMetrics(metrics, name, requestCounter !== undefined),
    tracer,
    requestCounter,
    observer: observer === undefined ? undefined : guardObserver(observer, logger),
    clock: options.clock ?? adopted.clock ?? systemClock,
    random: guardedRandom(options.random ?? systemRandom, (error) =>
      logger.error('random failed, Math.random is used instead', { error }),
    ),
  };
}
