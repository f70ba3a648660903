import { defineKind, NoKindMatchError } from '@kctl/apimachinery';
import { formatGroupKind, isJsonObject } from '@kctl/apimachinery/internal';
import type { GroupVersionKind, Kind, UntypedObject } from '@kctl/apimachinery';
import { requireKind } from '@kctl/client/internal';
import type { AbortOptions, KindResolver } from '@kctl/client';
import { noopLogger } from '@kctl/telemetry';
import { guardLogger, loggerOption } from '@kctl/telemetry/internal';
import type { Logger } from '@kctl/telemetry';
import { clockOption, numberOption, optionWithMethods, requireOptions, shownType } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { orAborted, systemClock } from '@kctl/wait';
import type { Clock } from '@kctl/wait';
import { fetchGroups } from './discovery.js';
import type { ApiGroup, ApiResource, DiscoveredGroups, ReadableCache } from './discovery.js';
import type { DiscoveryCache } from './discovery-cache.js';
import { GroupDiscoveryError, GroupResources } from './group-resources.js';
import type { UnavailableGroup } from './group-resources.js';
import type { Transport } from '../transport/transport.js';

/** How many misses are remembered at most. */
const maxMisses = 1000;

/** Options of {@link createRestMapper}. */
export interface RestMapperOptions {
  readonly transport: Transport;
  /** Kinds that need no request, which are the built-in ones and those of the program. */
  readonly kinds?: Iterable<Kind>;
  /** How long a kind that the server does not know, or a group that fails, is remembered as such, in ms. @default 5_000 */
  readonly missTtlMs?: number;
  /**
   * Keeps discovery documents between runs of the program, such as `createDiscoveryFileCache` of
   * `@kctl/client-http/discovery-cache`. A kind that is not found is looked up again on the server.
   *
   * @default none, and each mapper sends its requests once
   */
  readonly cache?: DiscoveryCache;
  /** Logger for groups that do not answer. @default noopLogger */
  readonly logger?: Logger;
  /** @default systemClock */
  readonly clock?: Clock;
}

const optionNames: OptionNames<RestMapperOptions> = {
  transport: optionWithMethods(['send'], 'a Transport, such as the transport of an HttpClient'),
  kinds: true,
  missTtlMs: numberOption({ orInfinity: true }),
  cache: optionWithMethods(['read', 'write'], 'a DiscoveryCache, such as createDiscoveryFileCache()'),
  logger: loggerOption,
  clock: clockOption,
};

/** A kind by name; without a version, the one that the server prefers. */
export type KindName = GroupVersionKind | { readonly group: string; readonly kind: string };

/** A kind, and its source. */
export interface ResolvedKind {
  readonly kind: Kind<UntypedObject>;
  /**
   * `known` means that the mapper was given the kind and sent no request, `discovery` that the server reports that it
   * serves the kind.
   */
  readonly source: 'known' | 'discovery';
}

/** A resource as people type it: `deployments`, `deployment`, `deploy`, `deployments.apps`, `deployments.v1.apps`. */
export type ResourceName = string;

/** Maps kinds and resources to each other. Mirrors controller-runtime's lazy `RESTMapper`. */
export interface RestMapper extends KindResolver {
  /**
   * The token of a kind that is known only by name. Known kinds cost no request; others cost one discovery for all, for
   * any number of concurrent calls. A miss sends requests again, at most once per `missTtlMs` for each kind.
   *
   * @throws NoKindMatchError when the server does not serve it; GroupDiscoveryError naming the group when the kind was
   *   not found and might be in a group that does not answer
   */
  kindFor(name: KindName, options?: AbortOptions): Promise<Kind<UntypedObject>>;
  /**
   * As {@link kindFor}, and reports whether the server was queried. A kind that the mapper was given, as built-in ones
   * are, is returned without checking what the server serves; use `isServed` for those.
   *
   * @throws as {@link kindFor}
   */
  resolveKind(name: KindName, options?: AbortOptions): Promise<ResolvedKind>;
  /**
   * Returns the kind of a command-line resource name, which is a plural, singular or kind of any group, else a short
   * name. A group that does not answer only fails names that are not found elsewhere. A short name shared by resources
   * of several groups is that of the first group in the server's order; the others are logged, once for each name.
   *
   * @throws as {@link kindFor}
   */
  kindForResource(name: ResourceName, options?: AbortOptions): Promise<Kind<UntypedObject>>;
  /**
   * Everything that the server serves, in its order of preference. A group that does not answer is left out and logged.
   *
   * @throws GroupDiscoveryError when no group answers
   */
  resources(options?: AbortOptions): Promise<readonly ApiResource[]>;
  /**
   * Each resource once, in the version that the server prefers among those that have it. Mirrors client-go's
   * `ServerPreferredResources`.
   *
   * @throws as {@link resources}
   */
  preferredResources(options?: AbortOptions): Promise<readonly ApiResource[]>;
  /**
   * The kinds of a category, such as `all`, each in its preferred version; empty if it has no resource. Mirrors
   * client-go's `CategoryExpander`.
   *
   * @throws as {@link resources}
   */
  kindsOfCategory(category: string, options?: AbortOptions): Promise<readonly Kind<UntypedObject>[]>;
  /**
   * The groups and their versions as discovery returned them. A version with `isStale` is one of an aggregated API
   * server that the server cannot reach, so its information may be out of date.
   *
   * @throws the error of discovery
   */
  groups(options?: AbortOptions): Promise<readonly ApiGroup[]>;
  /** Drops the results of discovery, including earlier runs, e.g. after a CustomResourceDefinition was installed. */
  invalidate(): void;
}

/**
 * Makes a mapper. It sends nothing before the first look-up that it cannot answer.
 *
 * @throws TypeError when `missTtlMs` is not a number ≥ 0
 *
 * @example
 * ```ts
 * import { createHttpClient, createRestMapper, loadConnection } from '@kctl/client-http';
 *
 * await using client = createHttpClient({ connection: await loadConnection() });
 * const mapper = createRestMapper({ transport: client.transport });
 * const Widget = await mapper.kindFor({ group: 'example.com', kind: 'Widget' });
 * const { items } = await client.list(Widget, { namespace: 'shop' });
 * console.log(items.length, (await mapper.kindForResource('deploy')).apiVersion);
 * ```
 */
export function createRestMapper(options: RestMapperOptions): RestMapper {
  requireOptions('createRestMapper', options, optionNames);
  return new DiscoveryRestMapper(options);
}

const abortOptionNames: OptionNames<AbortOptions> = { signal: true };

class DiscoveryRestMapper implements RestMapper {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #missTtlMs: number;
  readonly #known = new Map<string, Kind>();
  /** When a miss may be looked up again, by what was looked up. */
  readonly #misses = new Map<string, number>();
  #groups: DiscoveredGroups | undefined;
  #loading: Promise<DiscoveredGroups> | undefined;
  readonly #resources: GroupResources;
  readonly #logger: Logger;
  readonly #documents: DiscoveryCache | undefined;
  /** Whether documents of earlier runs still count, which holds until a miss or {@link RestMapper.invalidate}. */
  #mayReadDocuments = true;
  /** Short names whose ambiguity was looked for. */
  readonly #ambiguous = new Set<string>();

  constructor(options: RestMapperOptions) {
    const { transport, clock = systemClock, missTtlMs = 5_000, kinds = [] } = options;
    this.#transport = transport;
    this.#clock = clock;
    this.#missTtlMs = missTtlMs;
    const logger = guardLogger(options.logger ?? noopLogger);
    this.#logger = logger;
    this.#documents = options.cache;
    this.#resources = new GroupResources({
      transport,
      clock,
      logger,
      failureTtlMs: missTtlMs,
      cache: () => this.#cache(),
    });
    const listed: unknown = kinds;
    if (typeof listed !== 'object' || listed === null || !(Symbol.iterator in listed))
      throw new TypeError(`createRestMapper: kinds is ${shownType(listed)}: expected a list of kinds`);
    for (const kind of kinds) {
      requireKind('createRestMapper: kinds', kind);
      this.#known.set(nameOf(kind), kind);
      const versionless = nameOf({ group: kind.group, kind: kind.kind });
      if (!this.#known.has(versionless)) this.#known.set(versionless, kind);
    }
  }

  async kindFor(name: KindName, options: AbortOptions = {}): Promise<Kind<UntypedObject>> {
    requireOptions('kindFor', options, abortOptionNames);
    return (await this.resolveKind(name, options)).kind;
  }

  async resolveKind(name: KindName, options: AbortOptions = {}): Promise<ResolvedKind> {
    requireOptions('resolveKind', options, abortOptionNames);
    const { signal } = options;
    const known = this.#known.get(nameOf(name));
    if (known !== undefined) return { kind: toKind(known), source: 'known' };
    const version = 'version' in name ? name.version : undefined;
    const found = await this.#find(nameOf(name), {
      signal,
      version,
      isCandidate: (group) => group.name === name.group,
      matches: [(resource) => resource.kind === name.kind],
    });
    if (found !== undefined) return { kind: toKind(found), source: 'discovery' };
    throw new NoKindMatchError({
      group: name.group,
      kind: name.kind,
      server: this.#transport.server,
      ...(version === undefined ? {} : { version }),
    });
  }

  async kindForResource(name: ResourceName, options: AbortOptions = {}): Promise<Kind<UntypedObject>> {
    requireOptions('kindForResource', options, abortOptionNames);
    if (typeof name !== 'string')
      throw new TypeError(
        `kindForResource: the name is ${shownType(name)}: expected a resource such as "deployments.apps"`,
      );
    const { signal } = options;
    const [resource = '', ...rest] = name.toLowerCase().split('.');
    const whole: Place = { version: undefined, group: rest.join('.') };
    const [first = '', ...others] = rest;
    // As in kubectl, a possible version is taken as one, unless only a group of the whole name has the resource.
    const places = versionName.test(first) ? [{ version: first, group: others.join('.') }, whole] : [whole];
    const isNamed = ({ plural, singular, kind }: ApiResource): boolean =>
      [plural, singular, kind.toLowerCase()].includes(resource);
    const isShort = ({ shortNames }: ApiResource): boolean => shortNames.includes(resource);
    for (const { version, group } of places) {
      const isCandidate = ({ name: own }: ApiGroup): boolean =>
        group === '' || own === group || own.startsWith(`${group}.`);
      const found = await this.#find(`resource ${name}`, { signal, version, isCandidate, matches: [isNamed, isShort] });
      if (found === undefined) continue;
      if (group === '' && !isNamed(found)) await this.#warnOfOthers(resource, found, signal);
      return toKind(found);
    }
    const [{ version, group } = whole] = places;
    throw new NoKindMatchError({
      group,
      kind: resource,
      server: this.#transport.server,
      ...(version === undefined ? {} : { version }),
    });
  }

  async resources(options: AbortOptions = {}): Promise<readonly ApiResource[]> {
    requireOptions('resources', options, abortOptionNames);
    const { signal } = options;
    const all = async (): Promise<readonly ApiResource[]> => {
      const { groups, unavailable: roots } = await this.#load();
      const unavailable = new Map(roots.map((root) => [root.groupVersion, root]));
      const versions = groups.flatMap((group) =>
        group.versions.map((version) => this.#resources.of(group, version, unavailable)),
      );
      const resources = (await Promise.all(versions)).flat();
      if (resources.length > 0 || unavailable.size === 0) return resources;
      throw new GroupDiscoveryError('any resource', [...unavailable.values()]);
    };
    return await orAborted(all(), signal);
  }

  async preferredResources(options: AbortOptions = {}): Promise<readonly ApiResource[]> {
    requireOptions('preferredResources', options, abortOptionNames);
    const resources = await this.resources(options);
    const stale = new Set(
      (await this.groups(options)).flatMap(({ name, versions }) =>
        versions.filter(({ isStale }) => isStale).map(({ version }) => `${name}/${version}`),
      ),
    );
    const isStale = ({ group, version }: ApiResource): boolean => stale.has(`${group}/${version}`);
    const preferred = new Map<string, ApiResource>();
    for (const resource of resources.toSorted((a, b) => Number(isStale(a)) - Number(isStale(b)))) {
      const id = `${resource.plural}.${resource.group}`;
      if (!preferred.has(id)) preferred.set(id, resource);
    }
    return [...preferred.values()];
  }

  async kindsOfCategory(category: string, options: AbortOptions = {}): Promise<readonly Kind<UntypedObject>[]> {
    requireOptions('kindsOfCategory', options, abortOptionNames);
    const resources = await this.preferredResources(options);
    return resources.filter(({ categories }) => categories.includes(category)).map(toKind);
  }

  async groups(options: AbortOptions = {}): Promise<readonly ApiGroup[]> {
    requireOptions('groups', options, abortOptionNames);
    const { signal } = options;
    return (await orAborted(this.#load(), signal)).groups;
  }

  invalidate(): void {
    this.#mayReadDocuments = false;
    this.#groups = undefined;
    this.#loading = undefined;
    this.#resources.clear();
    this.#misses.clear();
    this.#ambiguous.clear();
  }

  /** Once for each name, because it may be looked up for every command. */
  async #warnOfOthers(shortName: string, taken: ApiResource, signal: AbortSignal | undefined): Promise<void> {
    if (this.#ambiguous.has(shortName)) return;
    this.#ambiguous.add(shortName);
    // The name was found, so other matches may be missing.
    const all = await this.preferredResources(signal === undefined ? {} : { signal }).catch(() => []);
    const others = all.filter(
      ({ shortNames, plural, group }) =>
        shortNames.includes(shortName) && (plural !== taken.plural || group !== taken.group),
    );
    if (others.length === 0) return;
    const shown = ({ plural, group }: ApiResource): string => (group === '' ? plural : `${plural}.${group}`);
    this.#logger.warn('short name could also match lower priority resources', {
      shortName,
      resource: shown(taken),
      others: others.map(shown),
    });
  }

  /** Looks into the cached discovery; on a miss, requests it again unless it was just requested. An abort by one caller does not end it for others. */
  #find(what: string, search: Search): Promise<ApiResource | undefined> {
    const searchTwice = async (): Promise<ApiResource | undefined> => {
      // Results requested before this call may be older than the kind being looked up.
      const isOld = this.#groups !== undefined || this.#loading !== undefined || this.#cache()?.mayRead === true;
      const first = await this.#search(search);
      if (first.found !== undefined) return first.found;
      const hasJustMissed = this.#clock.monotonicNow() < (this.#misses.get(what) ?? 0);
      const mayAskAgain = isOld && !hasJustMissed;
      if (!hasJustMissed) this.#remember(what);
      if (mayAskAgain) {
        this.#mayReadDocuments = false;
        this.#groups = undefined;
        this.#resources.forgetFetched();
      }
      const last = mayAskAgain ? await this.#search(search) : first;
      if (last.found === undefined && last.unavailable.length > 0)
        throw new GroupDiscoveryError(what, last.unavailable);
      return last.found;
    };
    return orAborted(searchTwice(), search.signal);
  }

  /** All groups by the first match, then all by the next; versions in the server's order, those out of date last. */
  async #search({ isCandidate, matches, version }: Search): Promise<SearchResult> {
    const { groups, unavailable: roots } = await this.#load();
    const unavailable = new Map(roots.map((root) => [root.groupVersion, root]));
    for (const match of matches) {
      for (const group of groups.filter(isCandidate)) {
        const wanted = group.versions.filter((candidate) => version === undefined || candidate.version === version);
        for (const candidate of wanted.toSorted((a, b) => Number(a.isStale) - Number(b.isStale))) {
          const found = (await this.#resources.of(group, candidate, unavailable)).find(match);
          if (found !== undefined) return { found, unavailable: [] };
        }
      }
    }
    return { found: undefined, unavailable: [...unavailable.values()] };
  }

  #cache(): ReadableCache | undefined {
    const documents = this.#documents;
    if (documents === undefined) return undefined;
    const onError = (error: unknown): void =>
      this.#logger.debug('cannot read or write a kept discovery document', { error });
    return { documents, mayRead: this.#mayReadDocuments, onError };
  }

  #remember(miss: string): void {
    this.#misses.delete(miss);
    this.#misses.set(miss, this.#clock.monotonicNow() + this.#missTtlMs);
    if (this.#misses.size <= maxMisses) return;
    const [oldest] = this.#misses.keys();
    if (oldest !== undefined) this.#misses.delete(oldest);
  }

  /** One discovery for all concurrent callers. */
  async #load(): Promise<DiscoveredGroups> {
    if (this.#groups !== undefined) return this.#groups;
    if (this.#loading !== undefined) return await this.#loading;
    const loading = fetchGroups(this.#transport, this.#cache())
      .then((discovered) => {
        if (this.#loading === loading && discovered.unavailable.length === 0) this.#groups = discovered;
        return discovered;
      })
      .finally(() => {
        if (this.#loading === loading) this.#loading = undefined;
      });
    this.#loading = loading;
    return await loading;
  }
}

/** A possible place of a resource. */
interface Place {
  readonly version: string | undefined;
  /** '' for any. */
  readonly group: string;
}

/** A group may begin with a letter and a digit, too, as v2ray.io does. */
const versionName = /^v\d+((alpha|beta)\d+)?$/;

interface Search {
  readonly signal: AbortSignal | undefined;
  /** Any if unset. */
  readonly version: string | undefined;
  readonly isCandidate: (group: ApiGroup) => boolean;
  /** The first that holds anywhere decides. */
  readonly matches: readonly ((resource: ApiResource) => boolean)[];
}

interface SearchResult {
  readonly found: ApiResource | undefined;
  /** Groups that might have it, but do not answer. */
  readonly unavailable: readonly UnavailableGroup[];
}

function nameOf(name: KindName): string {
  const given: unknown = name;
  if (!isJsonObject(given) || typeof given['group'] !== 'string' || typeof given['kind'] !== 'string')
    throw new TypeError(`the name of the kind is ${shownType(given)}: expected { group, kind }, such as a kind`);
  return 'version' in name && name.version !== undefined
    ? `${formatGroupKind(name)} ${name.version}`
    : formatGroupKind(name);
}

function toKind(resource: ApiResource | Kind): Kind<UntypedObject> {
  const { group, version, kind, plural, scope } = resource;
  return defineKind({ group, version, kind, plural, scope });
}
