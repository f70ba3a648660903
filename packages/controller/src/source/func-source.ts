import { requireName } from '@kctl/client/internal';
import { requireFunction } from '../event/required.js';
import type { Source, SourceContext, StartedSource } from './source.js';

/** The start of a {@link funcSource}. The returned function, if any, is called to end it. */
export type SourceFunction<R> = (context: SourceContext<R>) => undefined | (() => Promise<void> | void);

/**
 * A source made of a function that begins to queue requests and does not block. Mirrors `source.Func`. @throws TypeError when it is not one
 *
 * @example
 * ```ts
 * import { funcSource } from '@kctl/controller';
 * import type { ObjectKey } from '@kctl/apimachinery';
 *
 * const source = funcSource<ObjectKey>('hourly', ({ queue }) => {
 *   const timer = setInterval(() => queue.add({ name: 'report' }), 3_600_000);
 *   return () => clearInterval(timer);
 * });
 * ```
 */
export function funcSource<R>(name: string, start: SourceFunction<R>): Source<R> {
  requireName('funcSource', 'name', name);
  requireFunction(`funcSource ${name}`, 'start', start);
  return {
    name: `func source: ${name}`,
    start: async (context): Promise<StartedSource> => {
      // A start that is asynchronous by mistake has failed if it rejects; nothing else would notice.
      const returned: unknown = start(context);
      const stop = await returned;
      return {
        stop: async () => {
          if (typeof stop === 'function') await Reflect.apply(stop, undefined, []);
        },
      };
    },
  };
}
