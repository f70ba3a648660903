import { expect, it } from 'vitest';
import { guardSinks } from './guard-sinks.js';
import { noopLogger, noopMetrics } from './noop.js';

it('logs the first failure of the metrics, by a logger that may be a stub', () => {
  const lines: string[] = [];
  const throwing = (): never => {
    throw new Error('the sink is broken');
  };
  const { logger, metrics } = guardSinks({
    logger: { error: (message: string) => void lines.push(message) } as never,
    metrics: { ...noopMetrics, counter: throwing },
  });
  for (const name of ['a', 'b']) metrics.counter({ name, help: name }).with({}).inc();
  logger.info('is not written');
  expect(lines).toEqual(['The metrics sink failed, measurements are lost; later failures are not logged']);
});

it('guards nothing where there is nothing to guard', () => {
  expect(guardSinks({})).toEqual({ logger: noopLogger, metrics: noopMetrics });
});
