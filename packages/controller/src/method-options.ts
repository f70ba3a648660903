import type { OptionNames } from '@kctl/options';
import type { AdoptOptions, RunOptions, WatchOptions } from './controller.js';
import type { EnqueueOptions } from './handler/event-handler.js';

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
  settings: true,
  logger: true,
  metrics: true,
  tracer: true,
  requestCounter: true,
  observer: true,
  clock: true,
  onSourcesChanged: true,
};
