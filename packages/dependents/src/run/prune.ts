import type { Kind } from '@kctl/apimachinery';
import { isConflict, isDeleting, isNotFound } from '@kctl/apimachinery';
import type { AnyObject, Definition } from '../definition/node.js';
import { childNodes } from '../definition/node.js';
import { NodeFailure } from '../errors.js';
import type { Inventory, Place } from '../ownership/inventory.js';
import { formatPlace } from '../ownership/inventory.js';
import { isDeletable, isPaused } from '../ownership/labels.js';
import type { NodeResult } from '../results.js';
import { targetOf } from './configuration.js';
import { isMissingKind, listChildren, resolveKind } from './list-children.js';
import { deleteOne, describeTerminating, isOrphaned, keyFrom, release } from './remove.js';
import type { Calls, DependentsContext } from './run-context.js';
import { Superseded } from './run-context.js';
import { unwanted } from './unwanted.js';
import type { Wishes } from './unwanted.js';
import { writeInventory } from './write-inventory.js';

interface Pruning extends Wishes {
  readonly definition: Definition;
  readonly primary: AnyObject;
  readonly context: DependentsContext;
  readonly calls: Calls;
  readonly inventory: Inventory;
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

interface Removal {
  readonly kind: Kind;
  readonly object: AnyObject;
  readonly reason: string;
}

async function remove(pruning: Pruning, { kind, object, reason: cachedReason }: Removal): Promise<NodeResult[]> {
  const { calls, definition, primary, dryRun, now, context } = pruning;
  const key = keyFrom(object);
  const target = targetOf(kind, key);
  const base = { target, since: now };
  const paused = { ...base, state: 'paused', reason: 'Paused', message: cachedReason, action: 'none' } as const;
  if (isPaused(object)) return [paused];
  // The cache may be behind, and a label alone proves nothing.
  const live = await calls.find(kind, key, { live: true });
  if (live === undefined || live.metadata.uid !== object.metadata.uid || !isDeletable(definition, primary, live))
    return [];
  const reason = unwanted(pruning, kind, live);
  if (reason === undefined) return [];
  if (isPaused(live)) return [paused];
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

function failedResult({ now, context }: Pruning, place: Place, error: unknown): NodeResult {
  context.signal?.throwIfAborted();
  if (error instanceof Superseded)
    return { state: 'waiting', reason: 'Superseded', message: error.message, since: now, action: 'none' };
  const known = error instanceof Error ? error : new Error(String(error));
  const reason = error instanceof NodeFailure ? error.reason : 'PruneFailed';
  const target = formatPlace(place);
  return { state: 'failed', reason, message: known.message, since: now, action: 'none', target, error: known };
}
