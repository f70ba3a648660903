import { messageOf } from '@kctl/telemetry/internal';
import type { Logger } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import { fetchVersion } from './discovery.js';
import type { ApiGroup, ApiResource, ApiVersion, ReadableCache } from './discovery.js';
import type { Transport } from '../transport/transport.js';

/** A group version that does not answer for its resources. */
export interface UnavailableGroup {
  /** `metrics.k8s.io/v1beta1`; `/api` or `/apis` if the list of groups itself is unavailable. */
  readonly groupVersion: string;
  readonly error: unknown;
}

const code = 'KCTL_GROUP_DISCOVERY';

/** Thrown when a kind was not found and might be in a group that does not answer. Mirrors `ErrGroupDiscoveryFailed`. */
export class GroupDiscoveryError extends Error {
  override readonly name = 'GroupDiscoveryError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_GROUP_DISCOVERY' = code;
  /** The groups that do not answer, and the reasons. */
  readonly unavailable: readonly UnavailableGroup[];

  constructor(what: string, unavailable: readonly UnavailableGroup[]) {
    const list = unavailable.map(({ groupVersion, error }) => `${groupVersion} (${messageOf(error)})`).join(', ');
    super(`${what} was not found, and these groups cannot be discovered: ${list}`, { cause: unavailable[0]?.error });
    this.unavailable = unavailable;
  }
}

/** Whether an error is a {@link GroupDiscoveryError}, also one of another copy of this package. */
export function isGroupDiscoveryError(error: unknown): error is GroupDiscoveryError {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** Options of {@link GroupResources}. */
export interface GroupResourcesOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long a failed group version is not requested again, in ms. */
  readonly failureTtlMs: number;
  /** Documents of an earlier run; undefined for none. */
  readonly cache: () => ReadableCache | undefined;
}

interface Failure {
  readonly error: unknown;
  readonly until: number;
}

/**
 * The resources of group versions, as discovery returned them, or else by one request for each version, shared by all
 * concurrent callers. A failed version is requested again after a while; the others are not affected.
 */
export class GroupResources {
  readonly #options: GroupResourcesOptions;
  readonly #versions = new Map<string, Promise<readonly ApiResource[]>>();
  readonly #failures = new Map<string, Failure>();
  /** Number of resets. Failures of requests from before a reset are ignored. */
  #epoch = 0;

  constructor(options: GroupResourcesOptions) {
    this.#options = options;
  }

  clear(): void {
    this.#epoch++;
    this.#versions.clear();
    this.#failures.clear();
  }

  /** Versions that are to be fetched anew. Failures are kept, so that a search requests each of them once. */
  forgetFetched(): void {
    this.#versions.clear();
  }

  /**
   * Returns the resources of one version; if they are unavailable, the list is empty and `unavailable` records the
   * version.
   */
  async of(
    group: ApiGroup,
    version: ApiVersion,
    unavailable: Map<string, UnavailableGroup>,
  ): Promise<readonly ApiResource[]> {
    // Aggregated discovery reports an unreachable API server as stale and empty.
    if (version.resources !== undefined && !(version.isStale && version.resources.length === 0))
      return version.resources;
    const groupVersion = group.name === '' ? version.version : `${group.name}/${version.version}`;
    try {
      return await this.#fetch(groupVersion, { group: group.name, version: version.version });
    } catch (error) {
      unavailable.set(groupVersion, { groupVersion, error });
      return [];
    }
  }

  async #fetch(
    groupVersion: string,
    where: { readonly group: string; readonly version: string },
  ): Promise<readonly ApiResource[]> {
    const { transport, clock, logger, failureTtlMs, cache } = this.#options;
    const known = this.#versions.get(groupVersion);
    if (known !== undefined) return await known;
    const failure = this.#failures.get(groupVersion);
    if (failure !== undefined && clock.monotonicNow() < failure.until) throw failure.error;
    const epoch = this.#epoch;
    const fetched = fetchVersion(transport, where, { cache: cache() }).then(
      (resources) => {
        this.#failures.delete(groupVersion);
        return resources ?? [];
      },
      (error: unknown) => {
        logger.warn('cannot discover what an API group serves', { groupVersion, error });
        if (epoch === this.#epoch)
          this.#failures.set(groupVersion, { error, until: clock.monotonicNow() + failureTtlMs });
        if (this.#versions.get(groupVersion) === fetched) this.#versions.delete(groupVersion);
        throw error;
      },
    );
    this.#versions.set(groupVersion, fetched);
    return await fetched;
  }
}
