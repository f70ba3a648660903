import type { Kind, ObjectKey } from '@kctl/apimachinery';
import { isConflict, isNotFound } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import { mergeFrom } from '@kctl/client';
import type { AnyObject, Definition } from '../definition/node.js';
import { childNodes } from '../definition/node.js';
import { idLabel, nodeLabel, onDeleteAnnotation, partOfLabel, waveAnnotation } from '../ownership/labels.js';
import type { Calls } from './run-context.js';

/** Whether an object stays when it is not wanted: by its node, or by what is stored on it if the node is gone. */
export function isOrphaned(definition: Definition, object: AnyObject): boolean {
  const name = object.metadata.labels?.[nodeLabel];
  const node = childNodes(definition).find((each) => each.name === name);
  return node === undefined
    ? object.metadata.annotations?.[onDeleteAnnotation] === 'orphan'
    : node.onDelete === 'orphan';
}

/** Outcome of a delete: the object is gone, on its way out, or was replaced by another of its name meanwhile. */
export type Deletion = 'gone' | 'begun' | 'replaced';

export async function deleteOne(calls: Calls, kind: Kind, object: AnyObject): Promise<Deletion> {
  const { uid } = object.metadata;
  calls.beforeWrite();
  try {
    const answer: unknown = await calls.client.delete(kind, keyFrom(object), {
      ...calls.abort,
      propagationPolicy: 'Background',
      ...(uid === undefined ? {} : { preconditions: { uid } }),
    });
    return !isJsonObject(answer) || answer['kind'] === 'Status' ? 'gone' : 'begun';
  } catch (error) {
    if (isNotFound(error)) return 'gone';
    // The other object is looked at in the next run.
    if (isConflict(error)) return 'replaced';
    throw error;
  }
}

/** Takes the owner reference and the labels of this package from an object; its fields keep their values. */
export async function release(
  calls: Calls,
  { fieldOwner }: Definition,
  { primary, kind, object }: { readonly primary: AnyObject; readonly kind: Kind; readonly object: AnyObject },
): Promise<void> {
  const own = new Set([partOfLabel, nodeLabel, idLabel, waveAnnotation, onDeleteAnnotation]);
  const without = (all: Readonly<Record<string, string>> | undefined): Record<string, string> =>
    Object.fromEntries(Object.entries(all ?? {}).filter(([name]) => !own.has(name)));
  const after = {
    ...object,
    metadata: {
      ...object.metadata,
      labels: without(object.metadata.labels),
      annotations: without(object.metadata.annotations),
      ownerReferences: (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== primary.metadata.uid),
    },
  };
  calls.beforeWrite();
  const patch = mergeFrom(object, after, { optimisticLock: true });
  await calls.client.patch(kind, keyFrom(object), patch, { ...calls.abort, fieldOwner });
}

/** `the object is being deleted since 2026-01-01T00:00:00Z, finalizers: example.com/x`. */
export function describeTerminating({ metadata }: AnyObject): string {
  const { deletionTimestamp, finalizers = [] } = metadata;
  const waiting = finalizers.length === 0 ? '' : `, finalizers: ${finalizers.join(', ')}`;
  return `the object is being deleted since ${String(deletionTimestamp)}${waiting}`;
}

export function keyFrom({ metadata: { namespace, name = '' } }: AnyObject): ObjectKey {
  return (namespace ?? '') === '' ? { name } : { namespace: namespace ?? '', name };
}
