import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import type { HttpClient } from '@kctl/client-http';
import { sleep } from '@kctl/wait';
import { protectedName, sharedNow } from './protocol.js';
import type { Applied } from './witness.js';

/**
 * Collects what the server applies, in its order, until `signal` is aborted. After a crash of the server it goes on
 * from where it was; what it misses then is missing, not reordered.
 */
export async function watchWrites(
  client: HttpClient,
  namespace: string,
  onWrite: (write: Applied) => void,
  signal: AbortSignal,
): Promise<void> {
  let resourceVersion = '';
  while (!signal.aborted) {
    try {
      const events = await client.watch(ConfigMap, {
        namespace,
        fieldSelector: { 'metadata.name': protectedName },
        signal,
        ...(resourceVersion === '' ? {} : { resourceVersion }),
      });
      for await (const event of events) {
        if (event.type !== 'ADDED' && event.type !== 'MODIFIED') {
          if (event.type === 'ERROR') resourceVersion = '';
          continue;
        }
        resourceVersion = event.object.metadata.resourceVersion ?? '';
        const { writer, term, write } = event.object.data ?? {};
        if (writer !== undefined && term !== undefined && write !== undefined)
          onWrite({ writer, term, write, seenAt: sharedNow() });
      }
    } catch {
      // The server was killed; it comes back.
    }
    await sleep(20, { signal }).catch(() => undefined);
  }
}
