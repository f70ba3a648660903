import { labelSelectorFrom, metadataOnly, nameFilter } from '@kctl/apimachinery';
import type { NameFilter } from '@kctl/apimachinery';
import { Namespace } from '@kctl/apimachinery/kinds/core/v1';
import type { ListOptions } from '@kctl/client';
import { createSharedInformer, listerWatcherFor } from '@kctl/informer';
import { InformerStartedError } from '@kctl/informer/internal';
import type { InformerClient, SharedInformer } from '@kctl/informer';
import type { Logger, Metrics } from '@kctl/telemetry';
import { guardSinks, loggerOption, metricsOption } from '@kctl/telemetry/internal';
import type { OptionNames } from '@kctl/options';
import type { Backoff, Clock, ClockTimer, Random } from '@kctl/wait';
import {
  clockOption,
  functionOption,
  listOption,
  objectOption,
  optionWithMethods,
  requireOptions,
  requireSignal,
  textOption,
} from '@kctl/options';
import { createBackoff, orAborted, systemClock, systemRandom } from '@kctl/wait';
import { throwIfAborted, guardedRandom, startTimer } from '@kctl/wait/internal';
import type { NamespaceScopes, ScopeOptions } from '../cache-options.js';
import type { Cache } from '../cache.js';
import { scopeProblems } from '../options/required.js';

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
  /** Options for the content of each namespace in the cache. @default everything */
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
  names: listOption('a list of names and patterns, such as ["team-*"]', textOption),
  labelSelector: true,
  client: true,
  cache: optionWithMethods(['setNamespaces'], 'a cache, such as createCache({ … })'),
  scope: objectOption('what the cache holds of each namespace, such as { labelSelector: "app=web" }'),
  clock: clockOption,
  random: functionOption,
  logger: loggerOption,
  metrics: metricsOption,
};

/**
 * Watches Namespaces (their metadata alone), and calls `cache.setNamespaces` with those whose names and labels are
 * selected. A namespace that is created or labelled is listed and then becomes visible; one that no longer matches
 * leaves with deletes marked `leftScope`. A terminating namespace stays until it is gone. If the cache refuses the
 * namespaces, they are set again after a second, later after up to a minute, or with the next change. Does nothing
 * before it runs, except for setting the cache to no namespace at all.
 *
 * @throws TypeError naming the option that is not valid
 */
export function createNamespaceFollower(options: NamespaceFollowerOptions): NamespaceFollower {
  requireOptions('createNamespaceFollower', options, optionNames);
  const [problem] = scopeProblems(options.scope, 'scope');
  if (problem !== undefined) throw new TypeError(`createNamespaceFollower: ${problem}`);
  return new Follower(options);
}

/**
 * How long a change waits for the previous one, so that a namespace that cannot be listed does not hold up all others.
 */
const patienceMs = 10_000;

class Follower implements NamespaceFollower {
  readonly name = 'namespaces';
  readonly group = 'caches';
  readonly needLeaderElection = false;
  readonly #options: NamespaceFollowerOptions;
  readonly #filter: NameFilter | undefined;
  readonly #informer: SharedInformer<{ metadata: { name: string } } & Namespace>;
  readonly #ready = Promise.withResolvers<undefined>();
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #backoff: Backoff;
  #namespaces: readonly string[] = [];
  /** Whether the cache has them, or is about to. */
  #isSet = false;
  #isDue = false;
  #isStopped = false;
  #work: Promise<void> | undefined;
  /** How many calls of `setNamespaces` have not ended. */
  #pending = 0;
  /** Ends the wait for the last of them. */
  #goOn: () => void = () => undefined;
  #retry: ClockTimer | undefined;

  constructor(options: NamespaceFollowerOptions) {
    const { names, labelSelector, client, clock, random, logger, metrics } = options;
    this.#options = options;
    this.#clock = clock ?? systemClock;
    this.#logger = guardSinks(options).logger;
    this.#backoff = createBackoff({
      initialMs: 1000,
      capMs: 60_000,
      jitter: 0.5,
      clock: this.#clock,
      random: guardedRandom(random ?? systemRandom, (error) =>
        this.#logger.error('random failed, Math.random is used instead', { error }),
      ),
    });
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
    // A cache without default namespaces holds all of them, so it is set to none until the first are read.
    void this.#set([], {});
    // The first namespaces read are set, even an empty list.
    this.#isSet = false;
  }

  get namespaces(): readonly string[] {
    return this.#namespaces;
  }

  async waitForReady(signal: AbortSignal): Promise<void> {
    throwIfAborted(signal);
    await orAborted(this.#ready.promise, signal);
  }

  async run(signal: AbortSignal): Promise<void> {
    requireSignal('namespace follower: run', signal);
    if (this.#informer.isStarted) throw new InformerStartedError('the follower was started already; make another one');
    this.#informer.addEventHandler({
      onEvent: ({ type }) => {
        if (type !== 'update' && this.#informer.hasSynced) this.#due();
      },
    });
    const running = this.#informer.run(signal);
    const first = this.#informer.waitForSync({ signal }).then(() => this.#due());
    try {
      await Promise.all([running, first.catch(() => undefined)]);
    } finally {
      this.#isStopped = true;
      this.#retry?.cancel();
      this.#goOn();
      this.#ready.reject(new Error('the namespaces were not read: the follower has stopped'));
    }
    await this.#work;
  }

  /** Sets the cache to what there is now; what changes meanwhile is one more turn. */
  #due(): void {
    this.#isDue = true;
    this.#work ??= this.#follow().finally(() => (this.#work = undefined));
  }

  async #follow(): Promise<void> {
    const { scope = {} } = this.#options;
    while (this.#isDue && !this.#isStopped) {
      this.#isDue = false;
      const names = this.#informer.indexer
        .list()
        .map(({ metadata }) => metadata.name)
        .filter((name) => this.#filter?.matches(name) !== false)
        .sort();
      if (this.#isSet && names.join() === this.#namespaces.join()) continue;
      this.#retry?.cancel();
      this.#logger.info('the namespaces of the cache changed', { namespaces: names.length });
      const scopes: NamespaceScopes = Object.fromEntries(names.map((name) => [name, scope]));
      const patience = Promise.withResolvers<undefined>();
      this.#goOn = () => patience.resolve(undefined);
      const timer = startTimer(this.#clock, this.#goOn, patienceMs);
      await Promise.race([this.#set(names, scopes), patience.promise]);
      timer.cancel();
    }
  }

  /** If the cache refuses them and no change has followed, they are due again later. */
  async #set(names: readonly string[], scopes: NamespaceScopes): Promise<void> {
    this.#namespaces = names;
    this.#isSet = true;
    this.#pending++;
    try {
      await this.#options.cache.setNamespaces(scopes);
      if (this.#namespaces === names) this.#backoff.reset();
    } catch (error) {
      this.#logger.error('cannot set the namespaces of the cache', { error });
      if (this.#namespaces === names) this.#again();
    } finally {
      this.#pending--;
    }
    if (this.#isSet && this.#pending === 0) this.#ready.resolve(undefined);
  }

  #again(): void {
    this.#isSet = false;
    if (!this.#informer.hasSynced || this.#isStopped) return;
    this.#retry = startTimer(this.#clock, () => this.#due(), this.#backoff.next());
  }
}
