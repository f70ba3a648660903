import type { Kind } from '@kctl/apimachinery';
import type { ReadObject } from '@kctl/client';
import type { EventInformer, Source, SourceContext, StartedSource } from '@kctl/controller';

/**
 * What a client has that reads its own writes: the ends of objects that it wrote and that no informer has had, so that
 * none reports them. The client of @kctl/client-delegating is one.
 */
export interface OwnEnds {
  vanished<K extends Kind>(kind: K): EventInformer<ReadObject<K>>;
}

/** Whether what a manager can be asked for has a client that reports the ends of its own objects. */
export function ownEndsOf(dependencies: object): OwnEnds | undefined {
  const client: unknown = Reflect.get(dependencies, 'client');
  return isOwnEnds(client) ? client : undefined;
}

function isOwnEnds(client: unknown): client is OwnEnds {
  return typeof client === 'object' && client !== null && typeof Reflect.get(client, 'vanished') === 'function';
}

/** A source that also has the events of a second one, which has no objects of its own: it is neither waited for nor replayed. */
export function withEvents<R>(source: Source<R>, more: Source<R>): Source<R> {
  return {
    ...source,
    start: async (context) => {
      // The second one first: what ends while the other starts is reported, too.
      const added = await more.start(context);
      const main = await startedOr(source, context, () => added.stop());
      const stop = async (): Promise<void> => {
        try {
          await added.stop();
        } finally {
          await main.stop();
        }
      };
      return {
        stop,
        ...(main.waitForSync === undefined
          ? {}
          : { waitForSync: (signal) => main.waitForSync?.(signal) ?? Promise.resolve() }),
        ...(main.replay === undefined ? {} : { replay: () => main.replay?.() }),
      };
    },
  };
}

/** Starts a source; where that fails, `undo` ends what was started before. */
async function startedOr<R>(
  source: Source<R>,
  context: SourceContext<R>,
  undo: () => Promise<void> | void,
): Promise<StartedSource> {
  try {
    return await source.start(context);
  } catch (error) {
    await undo();
    throw error;
  }
}
