import { isAlreadyExists, isNotFound, mutableCopy } from '@kctl/apimachinery';
import { retryOnConflict, type Client } from '@kctl/client';
import { type Lease } from '@kctl/leader-election';
import { leaseKind } from '@kctl/leader-election/internal';
import type { ScheduleStore } from '@kctl/manager';
import { accessTo } from '@kctl/rbac';
import { clockOption, requireOptions, type OptionNames } from '@kctl/options';
import { type Clock } from '@kctl/wait';

/** Options of {@link createLeaseScheduleStore}. */
export interface LeaseScheduleStoreOptions {
  /** Reads and writes the Lease, uncached; fenced if only the leader may write. */
  readonly client: Pick<Client, 'get' | 'create' | 'update'>;
  readonly namespace: string;
  /** Name of the Lease; it is made when the first run is remembered. Not that of the election. */
  readonly name: string;
  /** @default systemClock */
  readonly clock?: Clock;
}

const optionNames: OptionNames<LeaseScheduleStoreOptions> = {
  client: true,
  namespace: true,
  name: true,
  clock: clockOption,
};
const prefix = 'schedule.kctl.dev/';

/**
 * Remembers the last runs of schedules as annotations of a Lease, for which an operator with leader election has the
 * rights already (get, create and update of leases).
 */
export function createLeaseScheduleStore(options: LeaseScheduleStoreOptions): ScheduleStore {
  requireOptions('createLeaseScheduleStore', options, optionNames);
  const { client, namespace, name, clock } = options;
  const key = { namespace, name };
  const find = async (signal: AbortSignal): Promise<Lease | undefined> => {
    try {
      return mutableCopy(await client.get(leaseKind, key, { live: true, signal }));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
  const write = async (annotation: string, value: string, signal: AbortSignal): Promise<void> => {
    const lease = await find(signal);
    const annotations = { ...lease?.metadata.annotations, [annotation]: value };
    if (lease === undefined) await client.create(leaseKind, { metadata: { ...key, annotations } }, { signal });
    else await client.update(leaseKind, { ...lease, metadata: { ...lease.metadata, annotations } }, { signal });
  };
  /** One write after another, so that those of one process do not conflict. */
  let last: Promise<unknown> = Promise.resolve();
  return {
    accessNeeds: () => {
      const where = { namespaces: [namespace], reason: 'last runs of schedules' };
      return [
        accessTo(leaseKind, ['get', 'update'], { ...where, names: [name] }),
        accessTo(leaseKind, ['create'], where),
      ];
    },
    load: async (schedule, { signal }) => {
      const value = (await find(signal))?.metadata.annotations?.[`${prefix}${schedule}`];
      const time = value === undefined ? Number.NaN : Date.parse(value);
      return Number.isNaN(time) ? undefined : time;
    },
    save: async (schedule, dueAt, { signal }) => {
      const work = async (): Promise<void> => {
        const value = new Date(dueAt).toISOString();
        const attempt = (): Promise<void> => write(`${prefix}${schedule}`, value, signal);
        await retryOnConflict(
          () =>
            attempt().catch(async (error: unknown) => {
              // Another process has made it meanwhile.
              if (!isAlreadyExists(error)) throw error;
              await attempt();
            }),
          { signal, ...(clock === undefined ? {} : { clock }) },
        );
      };
      const written = last.then(work, work);
      last = written.catch(() => undefined);
      await written;
    },
  };
}
