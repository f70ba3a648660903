import type { Kind, KubeObject } from '@kctl/apimachinery';
import { createHttpClient } from '@kctl/client-http';
import type { KubeConfigLike } from '@kctl/client-http';
import { listerWatcherFor } from '../client-lister-watcher.js';
import type { ListerWatcherScope } from '../client-lister-watcher.js';
import type { ListerWatcher } from '../list-watcher.js';

/**
 * The ListerWatcher of a kind over a `KubeConfig` of `@kubernetes/client-node`, with its server and the credentials of
 * its current context at the time of the call. `@kctl/client-http` makes the requests, so that no list or watch hangs,
 * and objects arrive as bytes. For several kinds, one `createHttpClient({ kubeConfig })` with `listerWatcherFor` shares
 * connections.
 *
 * @throws KubeConfigError when the KubeConfig has no current context, TypeError for another kind or scope than
 * `listerWatcherFor` accepts
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { createSharedInformer } from '@kctl/informer';
 * import { listerWatcherFromClientNode } from '@kctl/informer/client-node';
 * import { KubeConfig } from '@kubernetes/client-node';
 *
 * const kubeConfig = new KubeConfig();
 * kubeConfig.loadFromDefault();
 * const listerWatcher = listerWatcherFromClientNode(kubeConfig, Pod, { namespace: 'shop' });
 * const pods = createSharedInformer({ kind: Pod, listerWatcher });
 * ```
 */
export function listerWatcherFromClientNode<T extends KubeObject>(
  kubeConfig: KubeConfigLike,
  kind: Kind<T>,
  scope: ListerWatcherScope = {},
): ListerWatcher<T> {
  return listerWatcherFor(createHttpClient({ kubeConfig }), kind, scope);
}
