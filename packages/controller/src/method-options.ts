import { loggerOption, metricsOption, requestCounterOption, tracerOption } from '@kctl/telemetry/internal';
import { clockOption, functionOption, objectOption } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import type { AdoptOptions, RunOptions, WatchOptions } from './controller.js';
import type { EnqueueOptions } from './handler/event-handler.js';
import { observerOption } from './check-options.js';

/** The names of the options of each method of a controller. */
export const watchOptionNames: OptionNames<WatchOptions> = { startPolicy: true };
export const runOptionNames: OptionNames<RunOptions> = { life: true };
export const enqueueOptionNames: OptionNames<EnqueueOptions> = {
  afterMs: true,
  rateLimited: true,
  priority: true,
  presence: true,
};
export const adoptOptionNames: OptionNames<AdoptOptions> = {
  settings: objectOption('the settings that controllers inherit'),
  logger: loggerOption,
  metrics: metricsOption,
  tracer: tracerOption,
  requestCounter: requestCounterOption,
  observer: observerOption,
  clock: clockOption,
  onSourcesChanged: functionOption,
};
