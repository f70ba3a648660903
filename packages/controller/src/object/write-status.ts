import type { DeepReadonly, Kind, KubeObject } from '@kctl/apimachinery';
import { isConflict, isNotFound, isSameJson, keyOf } from '@kctl/apimachinery';
import { mergeFrom } from '@kctl/client';
import { requireClient, requireKind, requireObject, requireOptionsObject } from '@kctl/client/internal';
import type { Client, ReadObject } from '@kctl/client';
import { requireOptions } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { keyFor } from '../reconciler/key-for.js';

/** Conflicts with writers of the same generation, e.g. of labels. */
const maxStatusAttempts = 5;

/** Where a status is written, and under which name. */
export interface StatusTarget<K extends Kind> {
  readonly client: Client;
  readonly kind: K;
  readonly fieldOwner: string;
}

const targetNames: OptionNames<StatusTarget<never>> = { client: true, kind: true, fieldOwner: true };

/**
 * Writes the whole status of an object if it changed, and only for the generation that was reconciled. An object that is
 * gone, or has another generation, is left alone: its event leads to another run.
 */
export async function writeStatus<K extends Kind>(
  target: StatusTarget<K>,
  reconciled: ReadObject<K>,
  update: { readonly status: unknown; readonly signal: AbortSignal },
): Promise<void> {
  requireOptions('writeStatus', target, targetNames);
  requireObject('writeStatus', 'object', reconciled);
  requireOptionsObject('writeStatus', update, '{ status, signal }');
  const { client, kind, fieldOwner } = target;
  const { status, signal } = update;
  requireClient('writeStatus', client, ['status']);
  requireKind('writeStatus', kind);
  let present: DeepReadonly<KubeObject> & { readonly status?: unknown } = reconciled;
  for (let attempt = 1; !isSameJson(present.status, status); attempt++) {
    try {
      const patch = mergeFrom(present, { ...present, status }, { optimisticLock: true });
      await client.status(kind).patch(keyFor(kind, keyOf(reconciled)), patch, { signal, fieldOwner });
      return;
    } catch (error) {
      // Without the object there is nothing to write, and its deletion triggers a separate event.
      if (isNotFound(error) && (await find(client, kind, reconciled, signal)) === undefined) return;
      if (!isConflict(error) || attempt === maxStatusAttempts) throw error;
    }
    const latest = await find(client, kind, reconciled, signal);
    if (latest === undefined || !isSameGeneration(latest, reconciled)) return;
    present = latest;
  }
}

async function find<K extends Kind>(
  client: Client,
  kind: K,
  object: ReadObject<K>,
  signal: AbortSignal,
): Promise<ReadObject<K> | undefined> {
  try {
    return await client.get(kind, keyFor(kind, keyOf(object)), { live: true, signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function isSameGeneration(
  { metadata }: DeepReadonly<KubeObject>,
  { metadata: reconciled }: DeepReadonly<KubeObject>,
): boolean {
  return metadata.uid === reconciled.uid && metadata.generation === reconciled.generation;
}
