import type { Kind } from '@kctl/apimachinery';
import { controllerOf, isDeleting } from '@kctl/apimachinery';
import type { Plan, PlannedChange } from '@kctl/controller';
import type { AnyObject, Definition } from '../definition/node.js';
import { childNodes, isForeignScope } from '../definition/node.js';
import { formatPlace, Inventory, placeOf } from '../ownership/inventory.js';
import type { Place } from '../ownership/inventory.js';
import { isDeletable, isProven, nodeLabel, waveAnnotation } from '../ownership/labels.js';
import { targetOf } from './configuration.js';
import { isMissingKind, listChildren, resolveKind } from './list-children.js';
import { deleteOne, describeTerminating, isOrphaned, keyFrom, release } from './remove.js';
import type { DependentsContext } from './run-context.js';
import { Calls } from './run-context.js';

/** An object that a teardown waits for. */
export interface RemainingObject {
  /** `Deployment shop/web` */
  readonly target: string;
  /** Undefined for an object without a usable wave, which goes last. */
  readonly wave: number | undefined;
  /** For people: since when it is being deleted, and its finalizers; or that it waits for a higher wave. */
  readonly message: string;
}

/** Objects that a teardown has left. */
export interface TeardownResult {
  /** Nothing is left: the finalizer may go. */
  readonly done: boolean;
  readonly remaining: readonly RemainingObject[];
}

interface Found {
  readonly kind: Kind;
  readonly object: AnyObject;
  readonly wave: number | undefined;
}

/** The finalizer of a deletion with `propagationPolicy: Orphan`, until the garbage collector has removed the owner references. */
const orphanFinalizer = 'orphan';

/** Children of a primary, and whether all of them stay. */
interface Children {
  readonly found: readonly Found[];
  readonly keeps: boolean;
}

/**
 * All stay if the primary is deleted with `propagationPolicy: Orphan`. Once the garbage collector has removed the finalizer,
 * that shows in the children which could have an owner: none has one any longer.
 */
async function childrenOf(calls: Calls, definition: Definition, primary: AnyObject): Promise<Children> {
  const { finalizers = [] } = primary.metadata;
  const found = await listAll(calls, definition, primary);
  const ownable = found.filter((each) => isOwnable(primary, each));
  const isLetGo = ownable.length > 0 && ownable.every(({ object }) => controllerOf(object) === undefined);
  if (finalizers.includes(orphanFinalizer) || (isDeleting(primary) && isLetGo)) return { found, keeps: true };
  return { found: found.filter(({ object }) => isDeletable(definition, primary, object)), keeps: false };
}

/**
 * One step of the deletion of all children, from what is stored on them: the highest wave is deleted, and the next one
 * begins once all of its objects are absent. Of a primary that is deleted with `propagationPolicy: Orphan`, all children
 * are released. Calls no function of the definition.
 */
export async function teardown(
  definition: Definition,
  primary: AnyObject,
  context: DependentsContext,
): Promise<TeardownResult> {
  const calls = new Calls(context);
  const { found, keeps } = await childrenOf(calls, definition, primary);
  if (keeps) {
    for (const each of evidenceLast(primary, found)) await letGo(calls, definition, { primary, context, found: each });
    return { done: true, remaining: [] };
  }
  const waves = [...new Set(found.map(({ wave }) => wave))].toSorted((a, b) => (b ?? -1) - (a ?? -1));
  const [highest] = waves;
  const remaining: RemainingObject[] = [];
  let blocks = false;
  for (const { kind, object, wave } of found.filter((each) => each.wave === highest)) {
    const target = targetOf(kind, keyFrom(object));
    if (isOrphaned(definition, object)) {
      await letGo(calls, definition, { primary, context, found: { kind, object, wave } });
      continue;
    }
    if (!isDeleting(object)) {
      const deletion = await deleteOne(calls, kind, object);
      if (deletion !== 'replaced') context.events?.normal(primary, 'Deleted', `deleted ${target}`);
      if (deletion === 'gone') continue;
    }
    blocks = true;
    const message = isDeleting(object) ? describeTerminating(object) : 'the object is being deleted';
    remaining.push({ target, wave, message });
  }
  const later = found.filter((each) => each.wave !== highest);
  if (!blocks && later.length > 0) return await teardown(definition, primary, context);
  for (const { kind, object, wave } of later)
    remaining.push({
      target: targetOf(kind, keyFrom(object)),
      wave,
      message: `waits for wave ${highest ?? ''}`.trimEnd(),
    });
  return { done: remaining.length === 0, remaining };
}

/** Whether an object can have the primary as its owner. */
function isOwnable({ metadata: { namespace } }: AnyObject, { object }: Found): boolean {
  return namespace === undefined || namespace === object.metadata.namespace;
}

/**
 * The children that can have no owner first: a step that fails or ends between two of them finds the others without an
 * owner, which show that all are to stay.
 */
function evidenceLast(primary: AnyObject, found: readonly Found[]): readonly Found[] {
  return found.toSorted((a, b) => Number(isOwnable(primary, a)) - Number(isOwnable(primary, b)));
}

async function letGo(
  calls: Calls,
  definition: Definition,
  given: { readonly primary: AnyObject; readonly context: DependentsContext; readonly found: Found },
): Promise<void> {
  const { primary, context, found } = given;
  await release(calls, definition, { primary, ...found });
  context.events?.normal(primary, 'Orphaned', `released ${targetOf(found.kind, keyFrom(found.object))}`);
}

/** The objects that a teardown would delete or release, in its order. */
export async function planTeardown(
  definition: Definition,
  primary: AnyObject,
  context: DependentsContext,
): Promise<Plan> {
  const { found, keeps } = await childrenOf(new Calls(context), definition, primary);
  const changes = found
    .filter(({ object }) => keeps || !isDeleting(object))
    .toSorted((a, b) => (b.wave ?? -1) - (a.wave ?? -1))
    .map(
      ({ kind, object }): PlannedChange => ({
        node: object.metadata.labels?.[nodeLabel],
        target: targetOf(kind, keyFrom(object)),
        action: keeps || isOrphaned(definition, object) ? 'orphaned' : 'deleted',
        differences: [],
        fields: [],
      }),
    );
  return { changes, obstacles: [] };
}

async function listAll(calls: Calls, definition: Definition, primary: AnyObject): Promise<Found[]> {
  const found: Found[] = [];
  for (const place of placesOf(definition, primary))
    found.push(...(await listPlace(calls, { definition, primary, place })));
  return found;
}

/** The places of the inventory, and those that the code knows for a primary of before it had an inventory. */
function placesOf(definition: Definition, primary: AnyObject): readonly Place[] {
  const inventory = Inventory.of(primary);
  if (inventory.places.length > 0) return inventory.places;
  for (const node of childNodes(definition))
    if (!node.optionalKind && node.namespace === undefined && !isForeignScope(definition, node))
      inventory.add(placeOf(node.kind, primary.metadata.namespace ?? ''));
  return inventory.places;
}

async function listPlace(
  calls: Calls,
  {
    definition,
    primary,
    place,
  }: { readonly definition: Definition; readonly primary: AnyObject; readonly place: Place },
): Promise<Found[]> {
  const known = childNodes(definition).find(
    ({ kind }) => formatPlace({ ...kind, namespace: '' }) === formatPlace({ ...place, namespace: '' }),
  );
  const kind = known?.kind ?? (await resolveKind(calls, place));
  if (kind === undefined) return [];
  try {
    const items = await listChildren(calls, { definition, primary, kind, place, live: true });
    return items
      .filter((object) => isProven(definition, primary, object))
      .map((object) => ({ kind, object, wave: waveOf(object) }));
  } catch (error) {
    // The kind is gone, and its objects with it.
    if (isMissingKind(error)) return [];
    throw error;
  }
}

function waveOf({ metadata }: AnyObject): number | undefined {
  const text = metadata.annotations?.[waveAnnotation] ?? '';
  return /^\d{1,4}$/.test(text) ? Number(text) : undefined;
}
