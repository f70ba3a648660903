import { defineKind, isConflict, isNotFound, metadataOnly, mutableCopy } from '@kctl/apimachinery';
import type { Kind, StatusError } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { clockOption, functionOption, numberProblem, requireOptions, signalOption } from '@kctl/options';
import { sleep, systemClock } from '@kctl/wait';
import { throwIfAborted } from '@kctl/wait/internal';
import type { OptionNames } from '@kctl/options';
import type { Clock } from '@kctl/wait';
import { requireListAnswer } from '../checks/answers.js';
import type { Reader, ReadObject, SubResources, Writer } from '../client.js';
import { listAll } from '../list-all.js';
import type { AbortOptions } from '../options.js';
import { StorageMigrationError, type FailedMigration } from './storage-migration-error.js';
import { requireClient } from '../checks/require-arguments.js';
import { requireKind } from '../checks/require-kind.js';

/** The client of {@link migrateStorage}. It must read from the API server, not from a cache. */
export type StorageMigrationClient = Reader & Pick<Writer, 'patch'> & Pick<SubResources, 'status'>;

/** How far a migration is. */
export interface StorageMigrationProgress {
  /** The pass over all objects. A second one follows if the definition changed meanwhile. */
  readonly pass: number;
  /** Objects of this pass that are stored in the storage version now. */
  readonly migrated: number;
  readonly failed: number;
}

/** Options of {@link migrateStorage}. */
export interface MigrateStorageOptions extends AbortOptions {
  /** Objects that are written at the same time. @default 4 */
  readonly concurrency?: number;
  /** Objects for each list request. @default 500 */
  readonly pageSize?: number;
  /**
   * How long to wait before the first write, in ms, so that every API server has seen the storage version. One that has
   * not would continue to store the old one.
   *
   * @default 5_000
   */
  readonly settleMs?: number;
  /** Called after each object. */
  readonly onProgress?: (progress: StorageMigrationProgress) => void;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** Result of a migration. */
export interface StorageMigration {
  /** The version that all objects are stored in. */
  readonly storageVersion: string;
  /** Objects of the last pass. */
  readonly migrated: number;
  /** Versions that `status.storedVersions` no longer names. */
  readonly pruned: readonly string[];
}

const optionNames: OptionNames<MigrateStorageOptions> = {
  clock: clockOption,
  concurrency: true,
  onProgress: functionOption,
  pageSize: true,
  settleMs: true,
  signal: signalOption,
};
/** Passes after which a definition that changes again and again is given up. */
const maxPasses = 3;
/** How often `status.storedVersions` is written again after a conflict. */
const maxPrunes = 10;
/** Failures that the error names; it counts the rest. */
const maxFailures = 100;

type Definition = ReadObject<typeof CustomResourceDefinition>;

/**
 * Moves the stored objects of a CustomResourceDefinition to its storage version, then removes every other version from
 * `status.storedVersions`, after which the definition may drop them. Objects keep their content, because each is
 * written once with nothing but its uid and resourceVersion.
 *
 * `storedVersions` is pruned only when every object was written (by the migration or, as its resourceVersion shows, by
 * another client) and the definition did not change meanwhile. A migration that is aborted, or fails, changes nothing there; the next one
 * starts over, and the API server stores nothing for objects that are migrated already.
 *
 * Requires get on customresourcedefinitions, update on customresourcedefinitions/status, and list and patch on the
 * objects.
 *
 * @param definition the kind, or the name of the definition, such as `cronjobs.batch.example.com`
 * @throws StorageMigrationError if objects could not be written (each is named, the others are migrated), if no version
 * is served, or if the definition keeps changing; StatusError of other requests; the signal's reason on abort
 *
 * @example
 * ```ts
 * import { migrateStorage } from '@kctl/client/operations';
 *
 * const { migrated, pruned } = await migrateStorage(client, 'cronjobs.batch.example.com');
 * console.log(`${migrated} objects, removed ${pruned.join(', ')}`);
 * ```
 */
export async function migrateStorage(
  client: StorageMigrationClient,
  definition: Kind | string,
  options: MigrateStorageOptions = {},
): Promise<StorageMigration> {
  requireClient('migrateStorage', client, ['get', 'list']);
  if (typeof definition !== 'string') requireKind('migrateStorage', definition);
  requireOptions('migrateStorage', options, optionNames);
  const { settleMs = 5_000, clock = systemClock, signal, concurrency = 4 } = options;
  const problem =
    numberProblem('settleMs', settleMs, { remedy: '0 does not wait' }) ??
    numberProblem('concurrency', concurrency, { integer: true, least: 1, remedy: '1 writes one object at a time' });
  if (problem !== undefined) throw new TypeError(`migrateStorage: ${problem}`);
  const name = typeof definition === 'string' ? definition : `${definition.plural}.${definition.group}`;
  const live = { live: true, ...(signal !== undefined && { signal }) };
  const read = (): Promise<Definition> => client.get(CustomResourceDefinition, { name }, live);
  let before = await read();
  if (obsoleteVersions(before).length === 0) {
    return { storageVersion: storageVersionOf(before), migrated: 0, pruned: [] };
  }
  for (let pass = 1; pass <= maxPasses; pass++) {
    await sleep(settleMs, { clock, ...(signal !== undefined && { signal }) });
    const migrated = await writeAll(client, before, { ...options, concurrency, pass });
    let after = await read();
    for (let attempt = 1; isSame(before, after); attempt++) {
      const pruned = obsoleteVersions(after);
      const conflict = await prune(client, after, signal);
      if (conflict === undefined) return { storageVersion: storageVersionOf(after), migrated, pruned };
      // A conflict that stays is not one of two writers, such as the answer of a webhook.
      if (attempt >= maxPrunes) throw conflict;
      after = await read();
    }
    before = after;
  }
  throw new StorageMigrationError(
    name,
    `the definition changed during each of ${String(maxPasses)} passes: run it again when no client writes the definition`,
  );
}

/**
 * Reports whether no write of the definition came between, because another storage version may have been in force for a
 * moment.
 */
function isSame(before: Definition, after: Definition): boolean {
  return before.metadata.uid === after.metadata.uid && before.metadata.generation === after.metadata.generation;
}

function storageVersionOf({ spec }: Definition): string {
  return spec.versions.find(({ storage }) => storage)?.name ?? '';
}

function obsoleteVersions(definition: Definition): string[] {
  const storage = storageVersionOf(definition);
  return (definition.status?.storedVersions ?? []).filter((version) => version !== storage);
}

/** The kind in a version that is served, the storage version if it is. */
function servedKind({ metadata, spec }: Definition): Kind {
  const served = spec.versions.filter((version) => version.served);
  const version = served.find(({ storage }) => storage) ?? served[0];
  if (version === undefined) {
    throw new StorageMigrationError(
      metadata.name,
      'no version is served, so that objects can be neither read nor written: set served: true on one version',
    );
  }
  const { group, names, scope } = spec;
  return defineKind({
    group,
    version: version.name,
    kind: names.kind,
    plural: names.plural,
    scope: scope === 'Cluster' ? 'Cluster' : 'Namespaced',
  });
}

interface PassOptions extends MigrateStorageOptions {
  readonly concurrency: number;
  readonly pass: number;
}

/** Writes every object once. @returns how many there were */
async function writeAll(client: StorageMigrationClient, definition: Definition, options: PassOptions): Promise<number> {
  const { concurrency, pass, pageSize, onProgress, signal } = options;
  const kind = servedKind(definition);
  const failures: FailedMigration[] = [];
  const cancel = signal === undefined ? {} : { signal };
  let [migrated, failed] = [0, 0];
  const write = async ({ metadata }: ReadObject<Kind>): Promise<void> => {
    throwIfAborted(signal);
    const { namespace, name, uid, resourceVersion } = metadata;
    const key = namespace === undefined ? { name } : { namespace, name };
    try {
      await client.patch(kind, key, { type: 'merge', body: { metadata: { uid, resourceVersion } } }, cancel);
      migrated += 1;
    } catch (error) {
      throwIfAborted(signal);
      const isOver = isConflict(error) || isNotFound(error);
      if (isOver && (await isChanged(client, kind, metadata, cancel))) migrated += 1;
      else {
        throwIfAborted(signal);
        failed += 1;
        if (failures.length < maxFailures) failures.push({ ...key, error });
      }
    }
    onProgress?.({ pass, migrated, failed });
  };
  const objects = listAll(client, metadataOnly(kind), {
    live: true,
    ...cancel,
    ...(pageSize !== undefined && { pageSize }),
  });
  await eachOf(objects, concurrency, write);
  if (failed > 0)
    throw new StorageMigrationError(definition.metadata.name, 'objects could not be written', { failures, failed });
  return migrated;
}

/**
 * Reports whether an object is gone, or was written by another client since it was listed, and so is in the storage
 * version. The code of a refusal does not show this, because a webhook may answer 409, and a server that does not serve
 * the version yet answers 404.
 */
async function isChanged(
  client: StorageMigrationClient,
  kind: Kind,
  { namespace, name, uid, resourceVersion }: ReadObject<Kind>['metadata'],
  cancel: AbortOptions,
): Promise<boolean> {
  try {
    const options = { live: true, fieldSelector: `metadata.name=${name}`, ...cancel };
    const { items } = requireListAnswer(
      'migrateStorage',
      await client.list(metadataOnly(kind), {
        ...options,
        ...(namespace !== undefined && { namespace }),
      }),
    );
    const now = items.find((each) => each.metadata.name === name)?.metadata;
    return now?.uid !== uid || now.resourceVersion !== resourceVersion;
  } catch {
    return false;
  }
}

/** Calls for each item, so many at a time. The first rejection ends the rest; nothing runs on when this settles. */
async function eachOf<T>(
  items: AsyncIterator<T>,
  concurrency: number,
  call: (item: T) => Promise<void>,
): Promise<void> {
  const failed = new AbortController();
  const lane = async (): Promise<void> => {
    try {
      while (!failed.signal.aborted) {
        const next = await items.next();
        if (next.done === true) return;
        await call(next.value);
      }
    } catch (error) {
      if (!failed.signal.aborted) failed.abort(error);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  await items.return?.();
  if (failed.signal.aborted) throw failed.signal.reason;
}

/** Keeps only the storage version in `storedVersions`. @returns the conflict if the definition has changed meanwhile */
async function prune(
  client: StorageMigrationClient,
  definition: Definition,
  signal: AbortSignal | undefined,
): Promise<StatusError | undefined> {
  const next = mutableCopy(definition);
  const storedVersions = [storageVersionOf(definition)];
  try {
    await client
      .status(CustomResourceDefinition)
      .update({ ...next, status: { ...next.status, storedVersions } }, signal === undefined ? {} : { signal });
    return undefined;
  } catch (error) {
    if (!isConflict(error)) throw error;
    return error;
  }
}
