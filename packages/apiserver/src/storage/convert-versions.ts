import type { UntypedObject } from '@kctl/apimachinery';
import type { ResourceDefinition } from '../resource/resource.js';
import { isLongText } from './long-object.js';
import type { ObjectVersion } from './version.js';

/** Objects that one call of a conversion webhook gets at most, and about how many characters they have together. */
const batchSize = 100;
const batchLength = 2 * 1024 * 1024;

/** Conversions under way, by their input. Readers and watchers of one state share one call. */
const underWay = new WeakMap<ResourceDefinition, WeakMap<ObjectVersion, Promise<void>>>();

/**
 * Calls the conversion webhook for versions that {@link ObjectVersion.in} does not answer for yet, and has long ones
 * read in another thread. Returns undefined if it answers for all, so nothing is called, and nothing waits.
 *
 * @throws StatusError 500 (by rejecting) when the webhook fails
 */
export function convertVersions(
  definition: ResourceDefinition,
  versions: readonly ObjectVersion[],
): Promise<void> | undefined {
  if (definition.conversion === undefined && definition.slowReading === undefined) return undefined;
  const missing = versions.filter((version) => !version.has(definition));
  return missing.length === 0 ? undefined : convertMissing(definition, missing);
}

async function convertMissing(definition: ResourceDefinition, missing: readonly ObjectVersion[]): Promise<void> {
  let batch: ObjectVersion[] = [];
  let length = 0;
  for (const version of missing) {
    const own = version.textLength;
    if (batch.length === batchSize || (batch.length > 0 && length + own > batchLength)) {
      await convertBatch(definition, batch);
      batch = [];
      length = 0;
    }
    batch.push(version);
    length += own;
  }
  await convertBatch(definition, batch);
}

async function convertBatch(definition: ResourceDefinition, batch: readonly ObjectVersion[]): Promise<void> {
  let calls = underWay.get(definition);
  if (calls === undefined) {
    calls = new WeakMap();
    underWay.set(definition, calls);
  }
  const waiting = new Set<Promise<void>>();
  const own: ObjectVersion[] = [];
  for (const version of batch) {
    const call = calls.get(version);
    if (call === undefined) own.push(version);
    else waiting.add(call);
  }
  if (own.length > 0) {
    const call = callFor(definition, own);
    waiting.add(call);
    const known = calls;
    for (const version of own) known.set(version, call);
    const forget = (): void => {
      for (const version of own) known.delete(version);
    };
    call.then(forget, forget);
  }
  await Promise.all(waiting);
}

async function callFor(definition: ResourceDefinition, versions: readonly ObjectVersion[]): Promise<void> {
  const objects = await readAll(definition, versions);
  for (const [index, version] of versions.entries()) version.keep(definition, objects?.[index] ?? version.object);
}

/** Objects that are long together are read by another thread, and so is what the webhook answers for them. */
async function readAll(
  { conversion, slowReading }: ResourceDefinition,
  versions: readonly ObjectVersion[],
): Promise<readonly (UntypedObject | undefined)[] | undefined> {
  const length = versions.reduce((sum, { textLength }) => sum + textLength, 0);
  const isSlow = isLongText({ length }) || versions.some((version) => slowReading?.isSlow(version));
  if (isSlow && slowReading !== undefined) return slowReading.read(versions);
  return conversion?.fromStorage(versions.map(({ object }) => object));
}

/**
 * As {@link convertVersions}, for one version, and the webhook is called whatever is known. Upstream keeps converted
 * objects in its watch caches only, and reads of the most recent state, and deletes, go past them.
 */
export function convertAnew(definition: ResourceDefinition, version: ObjectVersion): Promise<void> | undefined {
  if (definition.conversion?.needsCall(version.object) !== true) return convertVersions(definition, [version]);
  return callFor(definition, [version]);
}
