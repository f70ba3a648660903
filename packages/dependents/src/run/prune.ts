import type { Kind, ObjectKey } from '@kctl/apimachinery';
import { formatKey, isConflict, isDeleting, isNoKindMatch, isNotFound, metadataOnly } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import { mergeFrom } from '@kctl/client';
import type { KindResolver } from '@kctl/client';
import type { AnyObject, ChildNode, Definition } from '../definition/node.js';
import { childNodes } from '../definition/node.js';
import { NodeFailure } from '../errors.js';
import type { Inventory, Place } from '../ownership/inventory.js';
import { formatPlace } from '../ownership/inventory.js';
import {
  idLabel,
  idValue,
  isPaused,
  isProven,
  nodeLabel,
  onDeleteAnnotation,
  partOf,
  partOfLabel,
  waveAnnotation,
} from '../ownership/labels.js';
import type { NodeResult } from '../results.js';
import { targetOf } from './configuration.js';
import type { NodeOutcome } from './node-outcome.js';
import type { Calls, DependentsContext } from './run-context.js';
import { Superseded } from './run-context.js';
import { writeInventory } from './write-inventory.js';

/** An object that a node wants. */
export interface Wanted {
  readonly node: ChildNode;
  readonly id: string;
  readonly key: ObjectKey;
}

interface Pruning {
  readonly definition: Definition;
  readonly primary: AnyObject;
  readonly context: DependentsContext;
  readonly calls: Calls;
  readonly inventory: Inventory;
  readonly nodes: ReadonlyMap<string, NodeOutcome>;
  readonly wanted: readonly Wanted[];
  readonly unknown: ReadonlySet<string>;
  readonly dryRun: boolean;
  readonly now: number;
}

/**
 * Deletes objects of the primary that no node wants any longer, and removes places without objects from the inventory. A
 * kind that cannot be listed costs that kind: nothing of it is deleted.
 */
export async function prune(pruning: Pruning): Promise<NodeResult[]> {
  const { inventory, wanted, primary, definition, calls, dryRun } = pruning;
  const results: NodeResult[] = [];
  const isUsed = new Set(
    wanted.map(({ node, key }) =>
      formatPlace({ group: node.kind.group, kind: node.kind.kind, namespace: key.namespace ?? '' }),
    ),
  );
  let isSmaller = false;
  for (const place of inventory.places) {
    const found = await prunePlace(pruning, place).catch((error: unknown) =>
      isMissingKind(error) ? [] : [failedResult(pruning, place, error)],
    );
    results.push(...found);
    if (found.length > 0 || isUsed.has(formatPlace(place)) || isUnknown(pruning, place)) continue;
    // A cache may not have seen yet what another replica made.
    const left = await prunePlace(pruning, place, { live: true }).catch((error: unknown) =>
      isMissingKind(error) ? [] : undefined,
    );
    results.push(...(left ?? []));
    if (left === undefined || left.length > 0) continue;
    inventory.delete(place);
    isSmaller = true;
  }
  if (isSmaller && !dryRun)
    await writeInventory(calls, definition, { primary, inventory }).catch((error: unknown) => {
      // It is tried again with the next run.
      if (!(error instanceof Superseded) && !isNotFound(error) && !isConflict(error)) throw error;
    });
  return results;
}

/** Whether the server does not serve the kind, whose objects are gone with it. */
export function isMissingKind(error: unknown): boolean {
  return isNoKindMatch(error) || (isNotFound(error) && error.status.details?.name === undefined);
}

function isUnknown({ definition, unknown }: Pruning, place: Place): boolean {
  return childNodes(definition).some(({ name, kind }) => unknown.has(name) && isPlaceOf(kind, place));
}

function isPlaceOf(kind: Kind, { group, kind: name }: Place): boolean {
  return kind.group === group && kind.kind === name;
}

async function prunePlace(pruning: Pruning, place: Place, { live = false } = {}): Promise<NodeResult[]> {
  const { definition, primary, calls } = pruning;
  const known = childNodes(definition).find(({ kind }) => isPlaceOf(kind, place))?.kind;
  const kind = known ?? (await resolveKind(calls, place));
  if (kind === undefined) return [];
  const found = await listChildren(calls, { definition, primary, kind, place, live: live || known === undefined });
  const results: NodeResult[] = [];
  for (const object of found) {
    const reason = unwanted(pruning, kind, object);
    if (reason !== undefined) results.push(...(await remove(pruning, { kind, object, reason })));
  }
  return results;
}

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

/** Why an object is not wanted; undefined if it is, or if that is not known. */
function unwanted({ wanted, unknown, nodes }: Pruning, kind: Kind, object: AnyObject): string | undefined {
  const name = object.metadata.labels?.[nodeLabel] ?? '';
  if (unknown.has(name)) return undefined;
  const node = nodes.get(name)?.node;
  if (node === undefined) return 'no node of this name is declared';
  const sameNode = wanted.filter((each) => each.node === node);
  const target = targetOf(kind, object.metadata as ObjectKey);
  if (sameNode.some(({ key }) => targetOf(node.kind, key) === target && formatKey(key) === keyText(object)))
    return undefined;
  const id = object.metadata.labels?.[idLabel] ?? '';
  const successor = sameNode.find((each) => each.node.type === 'child' || idValue(each.id) === id);
  if (successor === undefined) return sameNode.length === 0 ? 'it is not wanted' : `${id} is not in the set`;
  return isReplaced(nodes, successor) ? `${formatKey(successor.key)} replaces it` : undefined;
}

function keyText(object: AnyObject): string {
  const { namespace, name = '' } = object.metadata;
  return (namespace ?? '') === '' ? name : `${namespace}/${name}`;
}

/** The object of the new name exists, and is ready if another node needs it ready. */
function isReplaced(nodes: ReadonlyMap<string, NodeOutcome>, { node, id }: Wanted): boolean {
  const result = nodes.get(node.name)?.results.get(id);
  if (result?.object === undefined) return false;
  const needsReady = [...nodes.values()].some(
    (each) => each.node.type !== 'ref' && each.node.edges.some((edge) => edge.ready && edge.name === node.name),
  );
  return !needsReady || result.state === 'ready';
}

interface Removal {
  readonly kind: Kind;
  readonly object: AnyObject;
  readonly reason: string;
}

async function remove(pruning: Pruning, { kind, object, reason }: Removal): Promise<NodeResult[]> {
  const { calls, definition, primary, dryRun, now, context } = pruning;
  const key = keyFrom(object);
  const target = targetOf(kind, key);
  const base = { target, since: now };
  if (isPaused(object)) return [{ ...base, state: 'paused', reason: 'Paused', message: reason, action: 'none' }];
  // The cache may be behind, and a label alone proves nothing.
  const live = await calls.find(kind, key, { live: true });
  if (live === undefined || live.metadata.uid !== object.metadata.uid || !isProven(definition, primary, live))
    return [];
  if (live.metadata.labels?.[partOfLabel] !== partOf(definition.primary, primary)) return [];
  const deleting = { ...base, state: 'deleting', reason: 'Deleting', message: reason } as const;
  if (isDeleting(live)) return [{ ...deleting, message: describeTerminating(live), action: 'none' }];
  const isOrphan = isOrphaned(definition, live);
  if (dryRun) return [{ ...deleting, action: isOrphan ? 'orphaned' : 'deleted' }];
  if (isOrphan) {
    await release(calls, definition, { primary, kind, object: live });
    context.events?.normal(primary, 'Orphaned', `released ${target}: ${reason}`);
    return [];
  }
  const deletion = await deleteOne(calls, kind, live);
  if (deletion === 'replaced') return [{ ...deleting, action: 'none' }];
  context.events?.normal(primary, 'Deleted', `deleted ${target}: ${reason}`);
  return deletion === 'gone' ? [] : [{ ...deleting, action: 'deleted' }];
}

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

function failedResult({ now, context }: Pruning, place: Place, error: unknown): NodeResult {
  context.signal?.throwIfAborted();
  if (error instanceof Superseded)
    return { state: 'waiting', reason: 'Superseded', message: error.message, since: now, action: 'none' };
  const known = error instanceof Error ? error : new Error(String(error));
  const reason = error instanceof NodeFailure ? error.reason : 'PruneFailed';
  const target = formatPlace(place);
  return { state: 'failed', reason, message: known.message, since: now, action: 'none', target, error: known };
}
