import { createMergePatch, isNotFound, isSameJson, mutableCopy } from '@kctl/apimachinery';
import type {
  DraftOf,
  InputOf,
  KeyOf,
  KeyOrObject,
  Kind,
  ObjectKey,
  PersistedObject,
  WholeKind,
} from '@kctl/apimachinery';
import type { Reader, ReadObject, SubResources, WriteObject, Writer } from './client.js';
import { emptyObject, metadataOf } from './kube-object.js';
import { writeOptionNames } from './write-option-names.js';
import type { WriteOptions } from './options.js';
import { shownType, unknownOptions } from '@kctl/options';
import { keyIn } from './checks/require-kind.js';
import type { OptionNames } from '@kctl/options';

/** Result of {@link createOrUpdate} and {@link createOrPatch}. */
export type OperationResult = 'unchanged' | 'created' | 'updated' | 'updatedStatus' | 'updatedStatusOnly';

/**
 * Declared as a method, so that its parameter is bivariant and a function that takes the object as it is read is
 * accepted too.
 */
type Mutate<Draft> = { of(draft: Draft): void | Promise<void> }['of'];

/** Options of {@link createOrUpdate} and {@link createOrPatch}. */
export interface CreateOrUpdateOptions<K extends Kind> extends WriteOptions {
  /**
   * Changes the draft into the desired state of the object. The draft is a copy of the present object, or an object
   * that has nothing but its name. It must not change name or namespace. Fields that have a default in the schema of
   * the kind may be omitted.
   */
  readonly mutate: Mutate<DraftOf<K>>;
}

const optionNames: OptionNames<CreateOrUpdateOptions<Kind>> = {
  ...writeOptionNames,
  mutate: true,
};

/** The operation, and the object as it is now. */
export interface CreateOrUpdateResult<K extends Kind, R extends OperationResult = OperationResult> {
  readonly result: R;
  readonly object: ReadObject<K>;
}

/**
 * Creates the object or updates it, and writes nothing if `mutate` changes nothing. Mirrors
 * `controllerutil.CreateOrUpdate`. The status of kinds with a status subresource is not written; see
 * {@link createOrPatch}.
 *
 * If two callers meet, the slower one fails with AlreadyExists or a conflict. A reconciler lets that pass and is run
 * again.
 *
 * @throws what the client and `mutate` throw; TypeError when `mutate` changes name or namespace
 *
 * @example
 * ```ts
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { createOrUpdate } from '@kctl/client';
 *
 * const { result } = await createOrUpdate(client, ConfigMap, { namespace: 'shop', name: 'settings' }, {
 *   mutate: (draft) => {
 *     draft.data = { colour: 'blue' };
 *   },
 * });
 * console.log(result); // created, updated or unchanged
 * ```
 */
export async function createOrUpdate<K extends WholeKind>(
  client: Reader & Writer,
  kind: K,
  named: NoInfer<KeyOrObject<K>>,
  given: CreateOrUpdateOptions<K>,
): Promise<CreateOrUpdateResult<K, 'unchanged' | 'created' | 'updated'>> {
  const key = keyIn('createOrUpdate', kind, named);
  requireMutate(`createOrUpdate ${kind.kind} ${key.name}`, given);
  const { mutate, ...options } = given;
  const { signal } = options;
  const present = await find(client, kind, key, signal === undefined ? {} : { signal });
  const draft = present === undefined ? emptyObject(kind, key) : draftOf<K>(present);
  await changeDraft(mutate, draft);
  requireSameKey(kind, key, draft);
  if (present === undefined)
    return { result: 'created', object: readonly(await client.create(kind, made<K>(draft), options)) };
  if (isSameJson(present, draft)) return { result: 'unchanged', object: present };
  return { result: 'updated', object: readonly(await client.update(kind, whole<K>(draft), options)) };
}

/**
 * Creates the object or patches it and its status with two merge patches of the changes of `mutate`, each sent only if
 * it is not empty. Mirrors `controllerutil.CreateOrPatch`.
 *
 * A merge patch carries no lock and replaces lists as a whole. The status of an object that is created now is written
 * by the next run.
 *
 * @throws what the client and `mutate` throw; TypeError when `mutate` changes name or namespace
 */
export async function createOrPatch<K extends Kind>(
  client: Reader & Writer & SubResources,
  kind: K,
  named: NoInfer<KeyOrObject<K>>,
  given: CreateOrUpdateOptions<K>,
): Promise<CreateOrUpdateResult<K>> {
  const key = keyIn('createOrPatch', kind, named);
  requireMutate(`createOrPatch ${kind.kind} ${key.name}`, given);
  const { mutate, ...options } = given;
  const { signal } = options;
  const present = await find(client, kind, key, signal === undefined ? {} : { signal });
  const draft = present === undefined ? emptyObject(kind, key) : draftOf<K>(present);
  await changeDraft(mutate, draft);
  requireSameKey(kind, key, draft);
  if (present === undefined)
    return { result: 'created', object: readonly(await client.create(kind, made<K>(draft), options)) };
  const { status, ...rest } = createMergePatch(present, draft);
  const isRestChanged = Object.keys(rest).length > 0;
  let object = present;
  if (isRestChanged) object = readonly(await client.patch(kind, key, { type: 'merge', body: rest }, options));
  if (status === undefined) return { result: isRestChanged ? 'updated' : 'unchanged', object };
  object = readonly(await client.status(kind).patch(key, { type: 'merge', body: { status } }, options));
  return { result: isRestChanged ? 'updatedStatus' : 'updatedStatusOnly', object };
}

async function find<K extends Kind>(
  reader: Reader,
  kind: K,
  key: KeyOf<K>,
  options: { readonly signal?: AbortSignal },
): Promise<ReadObject<K> | undefined> {
  try {
    return await reader.get(kind, key, options);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Before the object is read. */
function requireMutate(what: string, given: unknown): void {
  if (typeof given === 'object' && given !== null) {
    const unknown = unknownOptions(given, Object.keys(optionNames));
    if (unknown.length > 0) throw new TypeError(`${what}: ${unknown.join('; ')}`);
  }
  const mutate: unknown = typeof given === 'object' && given !== null ? Reflect.get(given, 'mutate') : undefined;
  if (typeof mutate !== 'function')
    throw new TypeError(`${what}: mutate is ${shownType(mutate)}: expected { mutate: (draft) => { draft.data = … } }`);
}

/** Another object than the draft would be dropped; a part of it, which a short function returns, means nothing. */
async function changeDraft<D extends object>(mutate: (draft: D) => unknown, draft: D): Promise<void> {
  const returned = await mutate(draft);
  if (typeof returned === 'object' && returned !== null && returned !== draft && 'metadata' in returned)
    throw new TypeError('mutate returned another object: change the draft that it is given, and return nothing');
}

function requireSameKey(kind: Kind, key: ObjectKey, draft: unknown): void {
  const { name } = metadataOf(draft);
  const namespace = metadataOf(draft).namespace ?? '';
  // A client of one namespace fills in what the key leaves open.
  const wanted = key.namespace ?? '';
  const isSame = name === key.name && (kind.scope === 'Cluster' || wanted === '' || namespace === wanted);
  if (!isSame) throw new TypeError(`mutate must not change the name or the namespace of ${kind.kind} ${key.name}`);
}

/** A draft of what was read. */
function draftOf<K extends Kind>(object: ReadObject<K>): DraftOf<K>;
function draftOf(object: object): object {
  return mutableCopy(object);
}

/** The readonly view of an object: TypeScript cannot derive it for a kind that is not known yet. */
function readonly<K extends Kind>(object: PersistedObject<K>): ReadObject<K>;
function readonly(object: unknown): unknown {
  return object;
}

/** The draft as the argument of a write. */
function made<K extends Kind>(object: DraftOf<K>): InputOf<K>;
function made(object: unknown): unknown {
  return object;
}

/** The draft of a whole kind is whole. */
function whole<K extends WholeKind>(object: DraftOf<K>): WriteObject<K>;
function whole(object: unknown): unknown {
  return object;
}
