import { guardLogger } from './guard-logger.js';
import { guardMetrics } from './guard-metrics.js';
import type { Logger } from './logger.js';
import type { Metrics } from './metrics.js';
import { noopLogger, noopMetrics } from './noop.js';

/** Sinks that a component writes to, per its options. */
export interface SinkOptions {
  /** @default noopLogger */
  readonly logger?: Logger | undefined;
  /** @default noopMetrics */
  readonly metrics?: Metrics | undefined;
}

/** Result of {@link guardSinks}, of which neither fails. */
export interface Sinks {
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Logger and metrics from options, as {@link guardLogger} and {@link guardMetrics} make them. Work that must not stop
 * goes on if a sink fails, or is a stub that lacks a method. The first failure of the metrics is logged.
 *
 * @example
 * ```ts
 * import type { Logger, Metrics } from '@kctl/telemetry';
 * import { guardSinks } from '@kctl/telemetry/internal';
 *
 * function createSweeper(options: { logger?: Logger; metrics?: Metrics } = {}) {
 *   const { logger, metrics } = guardSinks(options);
 *   const sweeps = metrics.counter({ name: 'sweeps_total', help: 'Sweeps' }).with({});
 *   return () => {
 *     logger.info('Sweeping');
 *     sweeps.inc();
 *   };
 * }
 * ```
 */
export function guardSinks({ logger = noopLogger, metrics = noopMetrics }: SinkOptions): Sinks {
  const guarded = guardLogger(logger);
  const report = (error: unknown): void =>
    guarded.error('The metrics sink failed, measurements are lost; later failures are not logged', { error });
  return { logger: guarded, metrics: guardMetrics(metrics, report) };
}
