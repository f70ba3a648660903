import type { Kind } from '@kctl/apimachinery';
import { isNoKindMatch, isNotFound, metadataOnly } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import type { KindResolver } from '@kctl/client';
import type { AnyObject, Definition } from '../definition/node.js';
import { NodeFailure } from '../errors.js';
import type { Place } from '../ownership/inventory.js';
import { formatPlace } from '../ownership/inventory.js';
import { partOf, partOfLabel } from '../ownership/labels.js';
import type { Calls } from './run-context.js';

/** The objects of a place with the primary's label; proof is looked at before anything is deleted. */
export async function listChildren(
  calls: Calls,
  given: {
    readonly definition: Definition;
    readonly primary: AnyObject;
    readonly kind: Kind;
    readonly place: Place;
    readonly live: boolean;
  },
): Promise<readonly AnyObject[]> {
  const { definition, primary, kind, place, live } = given;
  const { items } = await calls.client.list(live ? metadataOnly(kind) : kind, {
    ...calls.abort,
    ...(live ? { live } : {}),
    ...(place.namespace === '' ? {} : { namespace: place.namespace }),
    labelSelector: { [partOfLabel]: partOf(definition.primary, primary) },
  });
  return items;
}

/** The kind of a place that no node has any longer; undefined if the server does not serve it. */
export async function resolveKind({ client }: Calls, place: Place): Promise<Kind | undefined> {
  if (!resolvesKinds(client))
    throw new NodeFailure(
      'KindUnknown',
      `objects of ${formatPlace(place)} may be left, and the client does not resolve kinds: delete them by their label ${partOfLabel}`,
    );
  try {
    const kind: unknown = await client.kindFor({ group: place.group, kind: place.kind });
    return isKind(kind) ? kind : undefined;
  } catch (error) {
    if (isNoKindMatch(error)) return undefined;
    throw error;
  }
}

function resolvesKinds(client: object): client is KindResolver {
  return 'kindFor' in client && typeof client.kindFor === 'function';
}

function isKind(value: unknown): value is Kind {
  return isJsonObject(value) && typeof value['plural'] === 'string';
}

/** Whether the server does not serve the kind, whose objects are gone with it. */
export function isMissingKind(error: unknown): boolean {
  return isNoKindMatch(error) || (isNotFound(error) && error.status.details?.name === undefined);
}
