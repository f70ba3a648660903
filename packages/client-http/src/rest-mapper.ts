import { defineKind, formatGroupKind, NoKindMatchError } from '@kctl/apimachinery';
import type { GroupVersionKind, Kind, UntypedObject } from '@kctl/apimachinery';
import type { AbortOptions, KindResolver } from '@kctl/client';
import { numberProblem, systemClock } from '@kctl/wait';
import type { Clock } from '@kctl/wait';
import { fetchGroups, fetchVersion } from './discovery.js';
import type { ApiGroup, ApiResource, ApiVersion } from './discovery.js';
import { orAborted } from './or-aborted.js';
import type { Transport } from './transport.js';

/** How many misses are remembered at most. */
const maxMisses = 1000;

/** Options of {@link createRestMapper}. */
export interface RestMapperOptions {
  readonly transport: Transport;
  /** Kinds that need no request: the built-in ones, and those of the program. */
  readonly kinds?: Iterable<Kind>;
  /** How long a kind that the server does not know is remembered as such, in ms. @default 5_000 */
  readonly missTtlMs?: number;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** A kind by name; without a version, the one that the server prefers. */
export type KindName = GroupVersionKind | { readonly group: string; readonly kind: string };

/** A resource as people type it: `deployments`, `deployment`, `deploy`, `deployments.apps`, `deployments.v1.apps`. */
export type ResourceName = string;

/** Maps kinds and resources to each other. Mirrors controller-runtime's lazy `RESTMapper`. */
export interface RestMapper extends KindResolver {
  /**
   * The token of a kind that is known only by name. Known kinds cost no request; others cost one discovery for all,
   * however many ask at once. A miss asks again, at most once per `missTtlMs` for each kind.
   *
   * @throws NoKindMatchError when the server does not serve it
   */
  kindFor(name: KindName, options?: AbortOptions): Promise<Kind<UntypedObject>>;
  /** The kind that a resource name of the command line means. @throws NoKindMatchError */
  kindForResource(name: ResourceName, options?: AbortOptions): Promise<Kind<UntypedObject>>;
  /** Everything that the server serves, in its order of preference. */
  resources(options?: AbortOptions): Promise<readonly ApiResource[]>;
  /** Forgets what discovery said, e.g. after a CustomResourceDefinition was installed. */
  invalidate(): void;
}

/**
 * Makes a mapper. It sends nothing before the first look-up that it cannot answer.
 *
 * @throws TypeError when `missTtlMs` is not a number ≥ 0
 */
export function createRestMapper(options: RestMapperOptions): RestMapper {
  return new DiscoveryRestMapper(options);
}

class DiscoveryRestMapper implements RestMapper {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #missTtlMs: number;
  readonly #known = new Map<string, Kind>();
  /** When a miss may be looked up again, by what was looked up. */
  readonly #misses = new Map<string, number>();
  #groups: readonly ApiGroup[] | undefined;
  #loading: Promise<readonly ApiGroup[]> | undefined;
  readonly #versions = new Map<string, Promise<readonly ApiResource[] | undefined>>();

  constructor(options: RestMapperOptions) {
    const { transport, clock = systemClock, missTtlMs = 5_000, kinds = [] } = options;
    const problem = numberProblem('missTtlMs', missTtlMs, { orInfinity: true });
    if (problem !== undefined) throw new TypeError(`createRestMapper: ${problem}`);
    this.#transport = transport;
    this.#clock = clock;
    this.#missTtlMs = missTtlMs;
    for (const kind of kinds) {
      this.#known.set(nameOf(kind), kind);
      const versionless = nameOf({ group: kind.group, kind: kind.kind });
      if (!this.#known.has(versionless)) this.#known.set(versionless, kind);
    }
  }

  async kindFor(name: KindName, { signal }: AbortOptions = {}): Promise<Kind<UntypedObject>> {
    const known = this.#known.get(nameOf(name));
    if (known !== undefined) return toKind(known);
    const version = 'version' in name ? name.version : undefined;
    const found = await this.#find(nameOf(name), (group) => this.#resourceOf(group, name.kind, version), {
      signal,
      isCandidate: (group) => group.name === name.group,
    });
    if (found !== undefined) return toKind(found);
    throw new NoKindMatchError({
      group: name.group,
      kind: name.kind,
      server: this.#transport.server,
      ...(version === undefined ? {} : { version }),
    });
  }

  async kindForResource(name: ResourceName, { signal }: AbortOptions = {}): Promise<Kind<UntypedObject>> {
    const [resource = '', ...rest] = name.toLowerCase().split('.');
    const version = /^v\d/.test(rest[0] ?? '') ? rest.shift() : undefined;
    const group = rest.join('.');
    const isCandidate = ({ name: own }: ApiGroup): boolean =>
      group === '' || own === group || own.startsWith(`${group}.`);
    const search = (matches: (resource: ApiResource) => boolean): Promise<ApiResource | undefined> =>
      this.#find(`resource ${name}`, (candidate) => this.#firstIn(candidate, matches, version), {
        signal,
        isCandidate,
      });
    const exact = await search(({ plural, singular, kind }) =>
      [plural, singular, kind.toLowerCase()].includes(resource),
    );
    const found = exact ?? (await search(({ shortNames }) => shortNames.includes(resource)));
    if (found !== undefined) return toKind(found);
    throw new NoKindMatchError({
      group,
      kind: resource,
      server: this.#transport.server,
      ...(version === undefined ? {} : { version }),
    });
  }

  async resources({ signal }: AbortOptions = {}): Promise<readonly ApiResource[]> {
    const all = async (): Promise<readonly ApiResource[]> => {
      const groups = await this.#load();
      const versions = groups.flatMap((group) => group.versions.map((version) => this.#resources(group, version)));
      return (await Promise.all(versions)).flat();
    };
    return await orAborted(all(), signal);
  }

  invalidate(): void {
    this.#groups = undefined;
    this.#loading = undefined;
    this.#versions.clear();
    this.#misses.clear();
  }

  /** Looks into what is known; on a miss, asks the server again unless it just said no. Nobody's signal stops it for the others. */
  #find(what: string, lookUp: LookUp, { signal, isCandidate }: Search): Promise<ApiResource | undefined> {
    const search = async (): Promise<ApiResource | undefined> => {
      for (const group of await this.#load()) {
        const found = isCandidate(group) ? await lookUp(group) : undefined;
        if (found !== undefined) return found;
      }
      return undefined;
    };
    const searchTwice = async (): Promise<ApiResource | undefined> => {
      // What was asked before this call may be older than what it asks about.
      const isOld = this.#groups !== undefined || this.#loading !== undefined;
      const found = await search();
      if (found !== undefined || this.#clock.monotonicNow() < (this.#misses.get(what) ?? 0)) return found;
      this.#remember(what);
      if (!isOld) return undefined;
      this.#groups = undefined;
      this.#versions.clear();
      return await search();
    };
    return orAborted(searchTwice(), signal);
  }

  #remember(miss: string): void {
    this.#misses.delete(miss);
    this.#misses.set(miss, this.#clock.monotonicNow() + this.#missTtlMs);
    if (this.#misses.size <= maxMisses) return;
    const [oldest] = this.#misses.keys();
    if (oldest !== undefined) this.#misses.delete(oldest);
  }

  /** One discovery for all who ask at once. */
  async #load(): Promise<readonly ApiGroup[]> {
    if (this.#groups !== undefined) return this.#groups;
    if (this.#loading !== undefined) return await this.#loading;
    const loading = fetchGroups(this.#transport)
      .then((groups) => {
        if (this.#loading === loading) this.#groups = groups;
        return groups;
      })
      .finally(() => {
        if (this.#loading === loading) this.#loading = undefined;
      });
    this.#loading = loading;
    return await loading;
  }

  async #resources(group: ApiGroup, version: ApiVersion): Promise<readonly ApiResource[]> {
    if (version.resources !== undefined) return version.resources;
    const name = `${group.name}/${version.version}`;
    let resources = this.#versions.get(name);
    if (resources === undefined) {
      const fetched = fetchVersion(this.#transport, { group: group.name, version: version.version });
      fetched.catch(() => {
        if (this.#versions.get(name) === fetched) this.#versions.delete(name);
      });
      resources = fetched;
      this.#versions.set(name, resources);
    }
    return (await resources) ?? [];
  }

  #resourceOf(group: ApiGroup, kind: string, version: string | undefined): Promise<ApiResource | undefined> {
    return this.#firstIn(group, (resource) => resource.kind === kind, version);
  }

  /** Versions in the server's order, those that may be out of date last. */
  async #firstIn(
    group: ApiGroup,
    matches: (resource: ApiResource) => boolean,
    version: string | undefined,
  ): Promise<ApiResource | undefined> {
    const wanted = group.versions.filter((candidate) => version === undefined || candidate.version === version);
    for (const candidate of wanted.toSorted((a, b) => Number(a.isStale) - Number(b.isStale))) {
      const found = (await this.#resources(group, candidate)).find(matches);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

type LookUp = (group: ApiGroup) => Promise<ApiResource | undefined>;

interface Search {
  readonly signal: AbortSignal | undefined;
  readonly isCandidate: (group: ApiGroup) => boolean;
}

function nameOf(name: KindName): string {
  return 'version' in name ? `${formatGroupKind(name)} ${name.version}` : formatGroupKind(name);
}

function toKind(resource: ApiResource | Kind): Kind<UntypedObject> {
  const { group, version, kind, plural, scope } = resource;
  return defineKind({ group, version, kind, plural, scope });
}
