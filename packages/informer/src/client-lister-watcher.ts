import { fieldSelectorFrom, labelSelectorFrom } from '@kctl/apimachinery';
import type { Kind, KubeObject } from '@kctl/apimachinery';
import type { FrameOptions, FrameReader, ListOptions, Reader, Watcher, WatchOptions } from '@kctl/client';
import { decides, requireOptions, sentOptions, textOption } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import type { ListerWatcher } from './list-watcher.js';
import { hasMethods, requireKind, requireThat } from './required.js';

/** Which objects of a kind an informer holds. */
export interface ListerWatcherScope {
  /** If unset, all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: NonNullable<ListOptions['labelSelector']>;
  readonly fieldSelector?: NonNullable<ListOptions['fieldSelector']>;
}

/** A selector under a name that is not known would have everything listed. */
const scopeNames: OptionNames<ListerWatcherScope> = { namespace: textOption, labelSelector: true, fieldSelector: true };

/** List options that a reflector has; the others are the scope, or the server ends the list by itself. */
const listDecisions = decides<ListOptions & FrameOptions>()({
  resourceVersion: 'sent',
  resourceVersionMatch: 'sent',
  limit: 'sent',
  continue: 'sent',
  signal: 'sent',
  namespace: 'answered',
  labelSelector: 'answered',
  fieldSelector: 'answered',
  live: 'answered',
  readYourWrites: 'answered',
  timeoutSeconds: 'answered',
  transient: 'answered',
});

/** The same of a watch. */
const watchDecisions = decides<WatchOptions & FrameOptions>()({
  resourceVersion: 'sent',
  resourceVersionMatch: 'sent',
  allowWatchBookmarks: 'sent',
  sendInitialEvents: 'sent',
  timeoutSeconds: 'sent',
  signal: 'sent',
  namespace: 'answered',
  labelSelector: 'answered',
  fieldSelector: 'answered',
  transient: 'answered',
});

/** A client that an informer can read with. It returns parsed objects, or bytes, or both (then bytes are used). */
export type InformerClient = (Reader & Watcher) | FrameReader | (Reader & Watcher & FrameReader);

/**
 * The ListerWatcher of a kind over a client. Bytes are taken if the client yields them; a batch of them is valid until
 * the next one is requested.
 *
 * @throws TypeError when the client cannot read, the kind is not valid, or the scope has an unknown option;
 * SelectorError for a selector that is not valid
 *
 * @example
 * ```ts
 * import { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { createSharedInformer, listerWatcherFor } from '@kctl/informer';
 *
 * const listerWatcher = listerWatcherFor(client, Pod, { namespace: 'shop', labelSelector: 'app=web' });
 * const informer = createSharedInformer({ kind: Pod, listerWatcher });
 * ```
 */
export function listerWatcherFor<T extends KubeObject>(
  client: InformerClient,
  kind: Kind<T>,
  scope: ListerWatcherScope = {},
): ListerWatcher<T> {
  requireThat(
    hasMethods(client, ['listFrames', 'watchFrames']) || hasMethods(client, ['list', 'watch']),
    'listerWatcherFor: client',
    { value: client, expected: 'a client, such as createHttpClient(…) of @kctl/client-http' },
  );
  requireKind('listerWatcherFor', kind);
  requireOptions('listerWatcherFor', scope, scopeNames);
  const own = fixed(scope);
  if (readsFrames(client))
    return {
      // An informer copies what it keeps, so the memory of a batch can be used again when it requests the next one.
      listFrames: (call) => client.listFrames(kind, { ...own, ...sentOptions(listDecisions, call), transient: true }),
      watchFrames: (call) =>
        client.watchFrames(kind, { ...own, ...sentOptions(watchDecisions, call), transient: true }),
    };
  return {
    // A live client returns separate objects; `live` keeps a caching client from answering out of this very informer.
    list: async (call) =>
      (await client.list(kind, { ...own, ...sentOptions(listDecisions, call), live: true })) as never,
    watch: (call) => client.watch<Kind<T>>(kind, { ...own, ...sentOptions(watchDecisions, call) }),
  };
}

/**
 * The current scope, independent of later changes to its objects. A selector that is not valid throws here, and not
 * with each list.
 *
 * @throws SelectorError
 */
function fixed({ labelSelector, fieldSelector, ...scope }: ListerWatcherScope): ListerWatcherScope {
  const labels = labelSelector === undefined ? undefined : labelSelectorFrom(labelSelector);
  const fields = fieldSelector === undefined ? undefined : fieldSelectorFrom(fieldSelector);
  return {
    ...scope,
    ...(labels === undefined ? {} : { labelSelector: typeof labelSelector === 'string' ? labelSelector : labels }),
    ...(fields === undefined ? {} : { fieldSelector: typeof fieldSelector === 'string' ? fieldSelector : fields }),
  };
}

/** Both, or neither, because a wrapper may have one of them, or a member that is undefined. */
function readsFrames(client: InformerClient): client is FrameReader {
  return hasMethods(client, ['listFrames', 'watchFrames']);
}
