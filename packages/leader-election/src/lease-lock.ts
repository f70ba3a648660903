import {
  defineKind,
  isNotFound,
  type DeepReadonly,
  type KubeObject,
  type Kind,
  type ObjectMeta,
} from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import type { Reader, Writer } from '@kctl/client';
import { type OptionNames, optionWithMethods, requireOptions, shownType, shownValue, textsOption } from '@kctl/options';
import { throwIfAborted } from '@kctl/wait/internal';
import type { LeaderElectionRecord, LockRequestOptions, ObservedRecord, ResourceLock } from './record.js';

/**
 * `coordination.k8s.io/v1` Lease, as far as an election needs it.
 *
 * @example
 * ```ts
 * import { Lease as leaseKind } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1';
 * import type { Lease } from '@kctl/leader-election';
 *
 * const holder = ({ spec }: Lease): string | null | undefined => spec?.holderIdentity;
 * console.log(holder(await client.get(leaseKind, { namespace: 'shop', name: 'sweeper' })));
 * ```
 */
export interface Lease extends KubeObject {
  metadata: ObjectMeta;
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
    strategy?: string;
    preferredHolder?: string;
  };
}

/** The kind token of {@link Lease}. */
export const leaseKind: Kind<Lease, 'Namespaced'> = defineKind<Lease>()({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  scope: 'Namespaced',
});

/** The client of a {@link createLeaseLock | Lease lock}, which needs live reads, never cached ones. */
export type LeaseClient = Pick<Reader, 'get'> & Pick<Writer, 'create' | 'update'>;

/** Options of {@link createLeaseLock}. */
export interface LeaseLockOptions {
  /** Reads and writes Leases, uncached. */
  readonly client: LeaseClient;
  /** The namespace of the Lease. */
  readonly namespace: string;
  /** Its name, one for each election. */
  readonly name: string;
  /** Who this candidate is; unique in the world, e.g. `<host>_<uuid>`. */
  readonly identity: string;
  /** Labels for the Lease, merged into those it has. */
  readonly labels?: Readonly<Record<string, string>>;
}

const optionNames = {
  client: optionWithMethods(['get', 'create', 'update'], 'one such as createHttpClient({ … })'),
  namespace: true,
  name: true,
  identity: true,
  labels: textsOption,
} satisfies OptionNames<LeaseLockOptions>;

/**
 * A lock on a Lease object. It remembers the Lease it last saw, so that every write is based on a known version.
 *
 * @throws TypeError when a field is empty or missing, or a name is one that no object may have
 *
 * @example
 * ```ts
 * import { createLeaseLock } from '@kctl/leader-election';
 *
 * const lock = createLeaseLock({ client, namespace: 'shop', name: 'sweeper', identity: 'host-1_7f3a' });
 * console.log(lock.description);
 * ```
 */
export function createLeaseLock(options: LeaseLockOptions): ResourceLock {
  requireOptions('createLeaseLock', options, optionNames);
  for (const field of ['namespace', 'name', 'identity'] as const) {
    const given: unknown = options[field];
    if (typeof given !== 'string' || given === '') throw new TypeError(`createLeaseLock: ${field} must not be empty`);
  }
  for (const [field, { pattern, most, expected }] of Object.entries(nameRules)) {
    const given = options[field as keyof typeof nameRules];
    if (given.length > most || !pattern.test(given))
      throw new TypeError(`createLeaseLock: ${field} ${shownValue(given)} is not valid: expected ${expected}`);
  }
  const client: unknown = options.client;
  if (typeof client !== 'object' || client === null)
    throw new TypeError(`createLeaseLock: client is ${String(client)}: expected one such as createHttpClient({ … })`);
  return new LeaseLock(options);
}

/** Names that the API server accepts. For a Lease with another name each request fails, and no candidate ever leads. */
const nameRules = {
  namespace: {
    pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
    most: 63,
    expected: 'at most 63 lower-case letters, digits and "-", such as "shop"',
  },
  name: {
    pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
    most: 253,
    expected: 'lower-case letters, digits, "-" and ".", such as "sweeper"',
  },
} as const;

class LeaseLock implements ResourceLock {
  readonly identity: string;
  readonly description: string;
  readonly #options: LeaseLockOptions;
  #lease: DeepReadonly<Lease> | undefined;

  constructor(options: LeaseLockOptions) {
    this.#options = options;
    this.identity = options.identity;
    this.description = `lease ${options.namespace}/${options.name}`;
  }

  async get(request: LockRequestOptions = {}): Promise<ObservedRecord | undefined> {
    const { client, namespace, name } = this.#options;
    try {
      const lease = await client.get(leaseKind, { namespace, name }, { ...request, live: true });
      // An answer to an abandoned request is no evidence of the known version.
      throwIfAborted(request.signal);
      return this.#observe(lease);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#lease = undefined;
      return undefined;
    }
  }

  async create(record: LeaderElectionRecord, request: LockRequestOptions = {}): Promise<ObservedRecord> {
    const { client, namespace, name, labels } = this.#options;
    const metadata: ObjectMeta = { namespace, name, ...(labels === undefined ? {} : { labels: { ...labels } }) };
    const created = await client.create(
      leaseKind,
      { apiVersion: leaseKind.apiVersion, kind: leaseKind.kind, metadata, spec: toSpec(record) },
      request,
    );
    throwIfAborted(request.signal);
    return this.#observe(created);
  }

  async update(record: LeaderElectionRecord, request: LockRequestOptions = {}): Promise<ObservedRecord> {
    const { client, labels } = this.#options;
    const lease = this.#lease;
    if (lease === undefined)
      throw new TypeError(`${this.description}: update before get or create: the version to replace is not known`);
    const metadata =
      labels === undefined ? lease.metadata : { ...lease.metadata, labels: { ...lease.metadata.labels, ...labels } };
    const updated = await client.update(leaseKind, { ...lease, metadata, spec: toSpec(record) }, request);
    throwIfAborted(request.signal);
    return this.#observe(updated);
  }

  #observe(lease: DeepReadonly<Lease>): ObservedRecord {
    const given: unknown = lease;
    if (!isJsonObject(given) || !isJsonObject(given['metadata']))
      throw new TypeError(
        `${this.description}: the client returned ${shownType(given)} without metadata: expected the Lease as the server answers`,
      );
    // Owners that a write does not name stay unchanged; sending them back would be half of the request, for nothing.
    const { managedFields: _, ...metadata } = lease.metadata;
    this.#lease = { ...lease, metadata };
    const record = toRecord(lease);
    return { record, fingerprint: JSON.stringify(record) };
  }
}

function toSpec(record: LeaderElectionRecord): NonNullable<Lease['spec']> {
  const { leaderTransitions, acquireTime, renewTime, strategy, preferredHolder, ...same } = record;
  return {
    ...same,
    leaseTransitions: leaderTransitions,
    // A coordinated Lease comes without the one, and the server refuses an empty time.
    ...(acquireTime === '' ? {} : { acquireTime }),
    ...(renewTime === '' ? {} : { renewTime }),
    ...(strategy === undefined ? {} : { strategy }),
    ...(preferredHolder === undefined ? {} : { preferredHolder }),
  };
}

function toRecord({ spec: given }: DeepReadonly<Lease>): LeaderElectionRecord {
  const spec = given ?? {}; // null where somebody wrote it so
  return {
    holderIdentity: spec.holderIdentity ?? '',
    leaseDurationSeconds: spec.leaseDurationSeconds ?? 0,
    acquireTime: spec.acquireTime ?? '',
    renewTime: spec.renewTime ?? '',
    leaderTransitions: spec.leaseTransitions ?? 0,
    ...(spec.strategy === undefined ? {} : { strategy: spec.strategy }),
    ...(spec.preferredHolder === undefined ? {} : { preferredHolder: spec.preferredHolder }),
  };
}
