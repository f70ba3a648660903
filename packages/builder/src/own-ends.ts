import type { Kind } from '@kctl/apimachinery';
import type { ReadObject } from '@kctl/client';
import type { EventInformer, Source, SourceContext, StartedSource } from '@kctl/controller';

/**
 * Reports, for a client that reads its own writes, the deletions of objects that it wrote and that no informer has
 * received, so that no informer reports them. The client of @kctl/client-delegating implements it.
 */
export interface OwnEnds {
  vanished<K extends Kind>(kind: K): EventInformer<ReadObject<K>>;
}

/** The client among the dependencies of a manager if it reports the deletions of objects that it wrote. */
export function ownEndsOf(dependencies: object): readonly OwnEnds[] {
  return ownEndsIn(Reflect.get(dependencies, 'client'));
}

/** A client, if it reports the deletions of objects that it wrote. */
export function ownEndsIn(client: unknown): readonly OwnEnds[] {
  return isOwnEnds(client) ? [client] : [];
}

function isOwnEnds(client: unknown): client is OwnEnds {
  return typeof client === 'object' && client !== null && typeof Reflect.get(client, 'vanished') === 'function';
}

/**
 * A source that also has the events of a second one. The second one has no objects, so it is neither waited for nor
 * replayed.
 */
export function withEvents<R>(source: Source<R>, more: Source<R>): Source<R> {
  return {
    ...source,
    start: async (context) => {
      // The second one first, so that deletions during the start of the other are reported, too.
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

/** Starts a source; if that fails, `undo` stops those started before. */
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
