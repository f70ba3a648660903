import { describe, expect, it } from 'vitest';
import { createConsoleLogger, noopLogger, noopMetrics, noopTracer } from './index.js';
import { guardLogger, guardMetrics } from './internal/index.js';
import { loggerOption, metricsOption, tracerOption } from './option-checks.js';

describe('checks of options', () => {
  it.each([
    [loggerOption, noopLogger],
    [loggerOption, guardLogger(noopLogger)],
    [loggerOption, createConsoleLogger().child({ a: 1 })],
    [metricsOption, noopMetrics],
    [metricsOption, { counter: () => undefined, gauge: () => undefined }],
    [loggerOption, console],
    [loggerOption, { warn: () => undefined }],
    [metricsOption, guardMetrics(noopMetrics, () => undefined)],
    [tracerOption, noopTracer],
  ])('take what fits: %#', (check, value) => {
    expect(check('it', value)).toBeUndefined();
  });

  it.each([
    [
      loggerOption,
      {},
      /^it has no method isEnabled, trace, debug, info, warn, error, child: expected a Logger, such as/,
    ],
    [loggerOption, { level: 'info' }, /^it has no method isEnabled, trace, debug, info, warn, error, child: expected/],
    [loggerOption, null, /^it is null: expected a Logger/],
    [loggerOption, 'debug', /^it is a value of type string: expected a Logger/],
    [metricsOption, {}, /^it has no method counter, gauge, histogram, onCollect: expected Metrics, such as/],
    [tracerOption, { startSpan: () => undefined }, /^it has no method withSpan: expected a Tracer/],
  ])('name what does not fit: %#', (check, value, problem) => {
    expect(check('it', value)).toMatch(problem);
  });
});
