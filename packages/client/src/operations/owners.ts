import { controllerOf, isNotFound } from '@kctl/apimachinery';
import type { DeepReadonly, Kind, KubeObject } from '@kctl/apimachinery';
import { headerValues } from '@kctl/apimachinery/internal/wire';
import { booleanOption, requireOptions, shownType } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { orAborted } from '@kctl/wait';
import { requireListAnswer, requireObjectAnswer } from '../checks/answers.js';
import type { KindResolver, Reader, ReadObject } from '../client.js';
import type { AbortOptions } from '../options.js';
import { isSet } from '../kube-object.js';
import { requireClient, requireList, requireObject, requireOptionsObject } from '../checks/require-arguments.js';
import { requireKind } from '../checks/require-kind.js';

/** Options of {@link childrenOf}. */
export interface ChildrenOptions extends AbortOptions {
  /** Every object that names the owner, not those alone whose controller it is. @default false */
  readonly everyOwner?: boolean;
}

const childrenOptionNames: OptionNames<ChildrenOptions> = { everyOwner: booleanOption, signal: true };

/**
 * The objects of some kinds that an object owns, by its uid. Kinds are read in the owner's namespace; those of a
 * cluster-scoped owner in all. With a cached client and an index on owners this costs no request; otherwise one list a
 * kind.
 *
 * @throws TypeError when the owner has no uid, and for other arguments that do not fit; what the client throws
 */
export async function childrenOf<K extends Kind>(
  client: Pick<Reader, 'list'>,
  owner: DeepReadonly<KubeObject>,
  kinds: readonly K[],
  options: ChildrenOptions = {},
): Promise<ReadObject<K>[]> {
  requireClient('childrenOf', client, ['list']);
  requireObject('childrenOf', 'owner', owner);
  requireList('childrenOf', 'kinds', kinds, 'the kinds to look at, such as [Pod, ConfigMap]');
  for (const kind of kinds) requireKind('childrenOf', kind);
  requireOptionsObject('childrenOf', options);
  requireOptions('childrenOf', options, childrenOptionNames);
  const { uid = '', namespace } = owner.metadata;
  if (uid === '') throw new TypeError('childrenOf: the owner has no uid: pass an object as it was read');
  const { everyOwner = false, signal } = options;
  const isOwned = ({ metadata }: DeepReadonly<KubeObject>): boolean =>
    headerValues
      .owners(metadata.ownerReferences)
      .some((reference) => reference.uid === uid && (everyOwner || reference.controller === true));
  const lists = kinds.map(async (kind) => {
    const { items } = requireListAnswer(
      'childrenOf',
      await client.list(kind, {
        ...(!isSet(namespace) || kind.scope === 'Cluster' ? {} : { namespace }),
        ...(signal === undefined ? {} : { signal }),
      }),
    );
    return items.filter(isOwned);
  });
  return (await Promise.all(lists)).flat();
}

/** Options of {@link ownersOf}. */
export interface OwnersOptions extends AbortOptions {
  /** Finds kinds that are known by name alone, e.g. `manager.mapper`. */
  readonly resolver: KindResolver;
}

const ownersOptionNames: OptionNames<OwnersOptions> = { resolver: true, signal: true };

/** One owner. */
export interface OwnerLink {
  readonly kind: Kind;
  readonly object: ReadObject<Kind>;
}

const maxDepth = 32;

/**
 * Returns the controllers of an object, the nearest one first, such as a Pod's ReplicaSet, then its Deployment. It ends
 * at an object without a controller, and at a controller that does not exist or is another one of that name by now.
 *
 * @throws NoKindMatchError for a kind that the server does not serve; what the client throws
 */
export async function ownersOf(
  client: Pick<Reader, 'get'>,
  object: DeepReadonly<KubeObject>,
  options: OwnersOptions,
): Promise<OwnerLink[]> {
  requireClient('ownersOf', client, ['get']);
  requireObject('ownersOf', 'object', object);
  requireOptionsObject('ownersOf', options, '{ resolver }');
  requireOptions('ownersOf', options, ownersOptionNames);
  const { resolver, signal } = options;
  if (typeof (resolver as Partial<KindResolver> | undefined)?.kindFor !== 'function')
    throw new TypeError(
      `ownersOf: options.resolver is ${shownType(resolver)}: expected what finds kinds by name, such as manager.mapper or createRestMapper returns`,
    );
  const owners: OwnerLink[] = [];
  let present: DeepReadonly<KubeObject> = object;
  while (owners.length < maxDepth) {
    const reference = controllerOf(present);
    if (reference === undefined) break;
    const { apiVersion, kind: named, name: ownerName, uid } = reference;
    if (![apiVersion, named, ownerName, uid].every((text) => typeof text === 'string' && text !== ''))
      throw new TypeError(
        `ownersOf: the controller reference of ${present.metadata.name ?? ''} is not valid: expected apiVersion, kind, name and uid`,
      );
    const [version = '', group = ''] = apiVersion.split('/').toReversed();
    const kind = await orAborted(resolver.kindFor({ group, version, kind: named }), signal);
    requireKind('ownersOf: what resolver.kindFor returned', kind);
    const { namespace } = present.metadata;
    const key = { name: reference.name, ...(kind.scope === 'Cluster' || !isSet(namespace) ? {} : { namespace }) };
    let owner: ReadObject<Kind>;
    try {
      owner = requireObjectAnswer('ownersOf', await client.get(kind, key, signal === undefined ? {} : { signal }));
    } catch (error) {
      if (isNotFound(error)) break;
      throw error;
    }
    if (owner.metadata.uid !== reference.uid) break;
    owners.push({ kind, object: owner });
    present = owner;
  }
  return owners;
}
