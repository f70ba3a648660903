import { formatKey, isConflict, isNotFound, parseKey, type DeepReadonly } from '@kctl/apimachinery';
import { Node } from '@kctl/apimachinery/kinds/core/v1';
import type { FrameReader, Writer } from '@kctl/client';
import { createSharedInformer, listerWatcherFor } from '@kctl/informer';
import { systemClock, type Clock } from '@kctl/wait';
import { createDelayingQueue } from '@kctl/workqueue';

/** How a node joined, as its bootstrap wrote it. */
export const joinedByAnnotation = 'demo.kctl.dev/joined-by';
/** What nodes that joined by autoscaling get. */
export const elasticLabel = 'demo.kctl.dev/elastic';

const retryAfterMs = 30_000;

/** Options of {@link runNodeLabeler}. */
export interface NodeLabelerOptions {
  readonly client: FrameReader & Pick<Writer, 'patch'>;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
  readonly clock?: Clock;
}

/**
 * Labels nodes that joined by autoscaling. The pattern is that of client-go's sample controller: handlers only queue
 * keys; one worker looks the key up in the informer's store and makes the world agree. A key whose node is gone *is*
 * the news of the deletion.
 */
export async function runNodeLabeler({ client, signal, log, clock = systemClock }: NodeLabelerOptions): Promise<void> {
  const queue = createDelayingQueue({ clock });
  const informer = createSharedInformer({ kind: Node, listerWatcher: listerWatcherFor(client, Node), clock });
  informer.addEventHandler({ onEvent: ({ header }) => queue.add(formatKey(header)) });

  const running = informer.run(signal);
  running.catch(() => undefined); // awaited below; a failure must not surface before
  await informer.waitForSync({ signal });
  log(`in sync: ${informer.lister.list().length} nodes`);

  const reconcile = async (key: string): Promise<void> => {
    const node = informer.lister.get(parseKey(key).name);
    if (node === undefined) {
      log(`${key} is gone`);
      return;
    }
    if (!needsLabel(node)) return;
    try {
      await client.patch(
        Node,
        { name: key },
        { type: 'merge', body: { metadata: { labels: { [elasticLabel]: 'true' } } } },
        { signal },
      );
      log(`${key} joined by autoscaling: labelled`);
    } catch (error) {
      if (isNotFound(error)) return;
      const why = isConflict(error) ? 'it changed meanwhile' : error instanceof Error ? error.message : String(error);
      log(`${key} could not be labelled (${why}): again in ${retryAfterMs / 1000} s`);
      queue.addAfter(key, retryAfterMs);
    }
  };
  const worker = queue.run({ concurrency: 1, signal, onError: () => 'stop' }, reconcile);
  await Promise.all([running, worker.ended.then(() => queue.shutDown())]);
}

function needsLabel({ metadata }: DeepReadonly<Node>): boolean {
  return metadata.annotations?.[joinedByAnnotation] === 'autoscaling' && metadata.labels?.[elasticLabel] !== 'true';
}
