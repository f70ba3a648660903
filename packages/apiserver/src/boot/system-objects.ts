import type { UntypedObject } from '@kctl/apimachinery';
import { formatTime } from '../protocol/go-text.js';
import type { Backend } from '../handlers/call.js';
import { systemObjects } from './generated/system-objects.js';

/**
 * Puts the objects into a fresh store that a real server makes at its start, such as priority levels and flow schemas,
 * priority classes, and an APIService for each built-in group version. Kinds that are not served are left out.
 */
export function bootSystemObjects({ store, registry, clock, newUid }: Backend): void {
  const now = formatTime(clock.now());
  const tables = new Map(
    registry
      .list()
      .map(({ apiVersion, kind, storageKey, namespaced }) => [`${apiVersion} ${kind}`, namespaced ? '' : storageKey]),
  );
  for (const line of systemObjects.replaceAll('<now>', now).split('\n')) {
    const object = JSON.parse(line) as UntypedObject;
    const table = tables.get(`${object.apiVersion ?? ''} ${object.kind ?? ''}`);
    const { name } = object.metadata;
    if (table === undefined || table === '' || name === undefined) continue;
    const metadata = { ...object.metadata, uid: newUid(), creationTimestamp: now };
    store.commit({ table, key: name, expected: 0, object: { ...object, metadata } });
  }
}
