import { shownValue } from '@kctl/options';
import type { WatchOptions } from '../controller.js';
import type { Source, StartedSource } from '../source/source.js';

/** @throws TypeError when it is not a source */
export function requireSource(controller: string, source: unknown): void {
  if (isSource(source)) return;
  throw new TypeError(
    `controller ${JSON.stringify(controller)}: watch: the source is not valid: expected { name, start }, such as kindSource(…)`,
  );
}

function isSource(source: unknown): boolean {
  if (typeof source !== 'object' || source === null || !('start' in source) || !('name' in source)) return false;
  return typeof source.start === 'function' && typeof source.name === 'string';
}

/** @throws TypeError naming what is not valid */
export function requireWatchOptions(controller: string, options: WatchOptions): void {
  const { startPolicy } = options;
  if (startPolicy === undefined || startPolicy === 'required' || startPolicy === 'optional') return;
  throw new TypeError(
    `controller ${JSON.stringify(controller)}: startPolicy ${shownValue(startPolicy)} is not valid: expected 'required' or 'optional'`,
  );
}

/** @throws TypeError when a source cannot be ended */
export function requireStarted(started: unknown): StartedSource {
  if (isStarted(started)) return started;
  throw new TypeError('its start() does not return a started source: expected { stop } with an optional waitForSync');
}

function isStarted(started: unknown): started is StartedSource {
  return typeof started === 'object' && started !== null && 'stop' in started && typeof started.stop === 'function';
}

/** A source whose requests call `trigger` instead of being queued. */
export function triggerSource<R>(source: Source<unknown>, trigger: () => void): Source<R> {
  return {
    name: source.name,
    kind: source.kind,
    informers: source.informers,
    start: async (context) => {
      const queue = {
        add: () => {
          if (!context.signal.aborted) trigger();
        },
      };
      const started = requireStarted(await source.start({ ...context, queue }));
      // Excludes its replay, because each request of a replay would trigger the next replay of all sources, this one
      // included.
      return {
        ...(started.waitForSync === undefined
          ? {}
          : { waitForSync: async (signal: AbortSignal) => await started.waitForSync?.(signal) }),
        stop: () => started.stop(),
      };
    },
  };
}
