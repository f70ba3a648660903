import type { DeepReadonly, UntypedObject } from '@kctl/apimachinery';
import { cloneJson, isObject } from '@kctl/crd/internal/engine';
import { formatTime } from '../protocol/go-text.js';
import type { ResourceDefinition, WriteContext } from '../resource/resource.js';
import { invalid } from '../protocol/status.js';
import { crdTable, liveObjects, type Backend } from './call.js';
import { placeOf } from './commit.js';
import { shownIn, storedForm } from './conversions.js';

/** Metadata that a seeded object keeps, and that the API gives or refuses. */
const keptFields = [
  'uid',
  'creationTimestamp',
  'generation',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
] as const;

/**
 * Puts objects into the store with their given status, uid and times, in one step each, past admission, and over
 * objects of the same name. Fields that they leave open are filled in as by a create.
 *
 * @throws TypeError for a kind that is not served, and for a namespace that does not exist; StatusError 400, 422
 */
export async function seed(
  backend: Backend,
  objects: readonly DeepReadonly<UntypedObject>[],
): Promise<readonly UntypedObject[]> {
  const isList: boolean = Array.isArray(objects);
  if (!isList) throw new TypeError('seed: expected a list of objects');
  const seeded: UntypedObject[] = [];
  for (const [index, object] of objects.entries()) seeded.push(await seedOne(backend, object, `seed[${index}]`));
  return seeded;
}

async function seedOne(backend: Backend, given: DeepReadonly<UntypedObject>, at: string): Promise<UntypedObject> {
  const { store } = backend;
  const { metadata }: Partial<typeof given> = isObject(given) ? given : {};
  if (!isObject(metadata)) throw new TypeError(`${at}: expected an object with metadata`);
  const definition = definitionOf(backend, given, at);
  const { object, problems } = definition.decode({ value: cloneJson(given) });
  if (problems.length > 0) throw new TypeError(`${at}: ${problems.join(', ')}`);
  const status: unknown = cloneJson(object['status']);
  const kept = Object.fromEntries(
    keptFields.flatMap((field) => {
      const value = object.metadata[field];
      return value === undefined ? [] : [[field, value]];
    }),
  );
  for (const field of keptFields) delete object.metadata[field];
  delete object.metadata.resourceVersion;
  if (definition.namespaced) requireNamespace(backend, object, at);
  else delete object.metadata.namespace;
  const context = contextOf(backend);
  object.metadata.uid = backend.newUid();
  object.metadata.creationTimestamp = context.now;
  definition.prepareForCreate(object, context);
  const errors = definition.validateCreate(object, context);
  if (errors.length > 0)
    throw invalid({ group: definition.group, kind: definition.kind }, object.metadata.name ?? '', errors);
  Object.assign(object.metadata, kept);
  if (status !== undefined) object['status'] = status;
  const place = placeOf(definition, object);
  const form = storedForm(definition, object);
  const stored = form instanceof Promise ? await form : form;
  const expected = store.table(place.table).get(place.key)?.revision ?? 0;
  const { current } = store.commit({ ...place, expected, object: stored });
  return (await shownIn(definition, current)).object;
}

function definitionOf(
  { registry }: Backend,
  { apiVersion = '', kind = '' }: DeepReadonly<UntypedObject>,
  at: string,
): ResourceDefinition {
  const found = registry.list().find((each) => each.apiVersion === apiVersion && each.kind === kind && each.isStored);
  if (found === undefined)
    throw new TypeError(
      `${at}: ${apiVersion === '' ? '(no apiVersion)' : apiVersion} ${kind === '' ? '(no kind)' : kind} is not served: set both, and create its CustomResourceDefinition first`,
    );
  if (found.storageKey === crdTable)
    throw new TypeError(`${at}: a CustomResourceDefinition is created through the API, which serves its kind`);
  return found;
}

function requireNamespace({ store }: Backend, { metadata }: UntypedObject, at: string): void {
  metadata.namespace ??= 'default';
  if (store.table('/namespaces').get(metadata.namespace) === undefined)
    throw new TypeError(`${at}: namespace ${JSON.stringify(metadata.namespace)} does not exist: seed it first`);
}

function contextOf({ clock, random, store }: Backend): WriteContext {
  return {
    now: formatTime(clock.now()),
    random,
    objects: (storageKey) => liveObjects(store, storageKey),
    warn: () => undefined,
    dryRun: false,
  };
}
