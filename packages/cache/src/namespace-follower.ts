import { labelSelectorFrom, metadataOnly, nameFilter } from '@kctl/apimachinery';
import type { NameFilter } from '@kctl/apimachinery';
import { Namespace } from '@kctl/apimachinery/kinds/core/v1';
import type { ListOptions } from '@kctl/client';
import { createSharedInformer, listerWatcherFor } from '@kctl/informer';
import type { InformerClient, SharedInformer } from '@kctl/informer';
import type { Logger, Metrics } from '@kctl/telemetry';
import { noopLogger } from '@kctl/telemetry';
import type { Clock, OptionNames, Random } from '@kctl/wait';
import { requireOptions } from '@kctl/wait';
import type { NamespaceScopes, ScopeOptions } from './cache-options.js';
import type { Cache } from './cache.js';

/** Which namespaces a cache holds, by what Namespaces there are. */
export interface NamespaceSelection {
  /** Names, and patterns such as `team-*` and `!kube-*`, see `nameFilter`. @default every name */
  readonly names?: readonly string[];
  /** Labels of the Namespace, chosen by the server. @default every one */
  readonly labelSelector?: NonNullable<ListOptions['labelSelector']>;
}

/** Options of {@link createNamespaceFollower}. */
export interface NamespaceFollowerOptions extends NamespaceSelection {
  /** Lists and watches Namespaces. */
  readonly client: InformerClient;
  /** Whose default namespaces follow. */
  readonly cache: Pick<Cache, 'setNamespaces'>;
  /** What the cache holds of each. @default everything */
  readonly scope?: ScopeOptions;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
}

/** Keeps the namespaces of a cache to those that a selection chooses; a runnable of a manager, by its shape. */
export interface NamespaceFollower {
  readonly name: string;
  readonly group: 'caches';
  readonly needLeaderElection: false;
  /** Those that the cache was last set to, in order. */
  readonly namespaces: readonly string[];
  /** Follows until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the cache has the namespaces that there are at the start. */
  waitForReady(signal: AbortSignal): Promise<void>;
}

const optionNames: OptionNames<NamespaceFollowerOptions> = {
  names: true,
  labelSelector: true,
  client: true,
  cache: true,
  scope: true,
  clock: true,
  random: true,
  logger: true,
  metrics: true,
};

/**
 * Watches Namespaces (their metadata alone), and calls `cache.setNamespaces` with those whose names and labels are
 * chosen: a namespace that is made, or labelled, is listed and then becomes visible; one that no longer matches leaves
 * with deletes marked `leftScope`. One that is being deleted stays until it is gone. It does nothing before it runs, but
 * for setting the cache to no namespace at all.
 *
 * @throws TypeError naming the option that is not valid
 */
export function createNamespaceFollower(options: NamespaceFollowerOptions): NamespaceFollower {
  requireOptions('createNamespaceFollower', options, optionNames);
  return new Follower(options);
}

class Follower implements NamespaceFollower {
  readonly name = 'namespaces';
  readonly group = 'caches';
  readonly needLeaderElection = false;
  readonly #options: NamespaceFollowerOptions;
  readonly #filter: NameFilter | undefined;
  readonly #informer: SharedInformer<{ metadata: { name: string } } & Namespace>;
  readonly #ready = Promise.withResolvers<undefined>();
  #namespaces: readonly string[] = [];
  /** Whether the cache has them. */
  #isSet = false;
  #isDue = false;
  #work: Promise<void> | undefined;

  constructor(options: NamespaceFollowerOptions) {
    const { names, labelSelector, client, clock, random, logger, metrics } = options;
    this.#options = options;
    this.#filter = names === undefined ? undefined : nameFilter(names);
    if (labelSelector !== undefined) labelSelectorFrom(labelSelector); // says what is wrong with it
    const kind = metadataOnly(Namespace);
    this.#informer = createSharedInformer({
      kind,
      listerWatcher: listerWatcherFor(client, kind, labelSelector === undefined ? {} : { labelSelector }),
      name: 'namespaces (followed)',
      ...(clock === undefined ? {} : { clock }),
      ...(random === undefined ? {} : { random }),
      ...(logger === undefined ? {} : { logger }),
      ...(metrics === undefined ? {} : { metrics }),
    }) as never;
    this.#ready.promise.catch(() => undefined);
    // An empty set of default namespaces would mean all.
    void options.cache.setNamespaces({});
  }

  get namespaces(): readonly string[] {
    return this.#namespaces;
  }

  async waitForReady(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await Promise.race([
      this.#ready.promise,
      new Promise<never>((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
      ),
    ]);
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#informer.addEventHandler({
      onEvent: ({ type }) => {
        if (type !== 'update' && this.#informer.hasSynced) this.#due();
      },
    });
    const running = this.#informer.run(signal);
    const first = this.#informer.waitForSync({ signal }).then(() => this.#due());
    await Promise.all([running, first.catch(() => undefined)]);
    await this.#work;
    this.#ready.reject(new Error('the namespaces were not read: the follower has stopped'));
  }

  /** Sets the cache to what there is now; what changes meanwhile is one more turn. */
  #due(): void {
    this.#isDue = true;
    this.#work ??= this.#follow().finally(() => (this.#work = undefined));
  }

  async #follow(): Promise<void> {
    const { cache, scope = {}, logger = noopLogger } = this.#options;
    while (this.#isDue) {
      this.#isDue = false;
      const names = this.#informer.indexer
        .list()
        .map(({ metadata }) => metadata.name)
        .filter((name) => this.#filter?.matches(name) !== false)
        .sort();
      if (this.#isSet && names.join() === this.#namespaces.join()) continue;
      logger.info('the namespaces of the cache changed', { namespaces: names.length });
      const scopes: NamespaceScopes = Object.fromEntries(names.map((name) => [name, scope]));
      this.#namespaces = names;
      this.#isSet = false;
      try {
        await cache.setNamespaces(scopes);
        this.#isSet = true;
        this.#ready.resolve(undefined);
      } catch (error) {
        // A namespace that ended while it was listed: the change that is due sets the rest.
        logger.error('cannot set the namespaces of the cache', { error });
      }
    }
  }
}
