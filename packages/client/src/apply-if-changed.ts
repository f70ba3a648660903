import { hash } from 'node:crypto';
import { isNotFound, isSameJson, mutableCopy } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import type { Kind } from '@kctl/apimachinery';
import { functionOption, numberProblem, requireOptions } from '@kctl/options';
import { requireObjectAnswer } from './checks/answers.js';
import { apply, appliedFields } from './apply.js';
import type { ApplyConfiguration, ApplyOptions } from './apply.js';
import { differences, knownEqualities } from './apply-match.js';
import type { FieldDifference, FieldEquality } from './apply-match.js';
import type { Reader, ReadObject, Writer } from './client.js';
import { isSet, keyOfKind, metadataOf } from './kube-object.js';
import { ownedFields } from './managed-fields.js';
import { requireClient, requireOptionsObject } from './checks/require-arguments.js';
import { requireKind } from './checks/require-kind.js';
import type { OptionNames } from '@kctl/options';
import { patchOptionNames } from './write-option-names.js';

/** Why {@link applyIfChanged} applied, or did not. */
export type ApplyReason =
  /** All fields are held and have the desired values. */
  | 'matches'
  /** This very version is the result of applying the same configuration, so that applying it again changes nothing. */
  | 'knownNoop'
  /** There is no such object. */
  | 'absent'
  /** This owner has never applied the object. */
  | 'neverApplied'
  /** This owner applied it under another API version. */
  | 'otherVersion'
  /** The compared object has no managedFields. Without a memo, a cache that strips them costs an apply each time. */
  | 'noManagedFields'
  /** Fields differ, see `differences`. */
  | 'differs';

/** Result of {@link applyIfChanged}. */
export interface ApplyResult<K extends Kind> {
  /** Whether a request to apply was sent. */
  readonly applied: boolean;
  /**
   * Whether the object has changed. Applied but not changed, again and again, means that the server (or a webhook)
   * changes a field that was sent; see `differences`, and pass a memo.
   */
  readonly changed: boolean;
  readonly reason: ApplyReason;
  /** The differences that were found; values are omitted for Secrets. */
  readonly differences: readonly FieldDifference[];
  readonly object: ReadObject<K>;
}

/** Options of {@link applyIfChanged}. */
export interface ApplyIfChangedOptions<K extends Kind> extends ApplyOptions {
  /** The name under which fields are held. It is required here, because the comparison depends on it. */
  readonly fieldOwner: string;
  /** The present object, if the caller has it. @default a `get` */
  readonly actual?: ReadObject<K>;
  /**
   * Remembers the version that an apply led to, so that one request per change is sent, even if the cache strips
   * managedFields or the server rewrites fields.
   */
  readonly memo?: ApplyMemo;
  /** More values that are equal although they differ as JSON, e.g. fields that a webhook rewrites. */
  readonly isEqual?: FieldEquality;
}

/**
 * Applies the configuration only if that would change the object. Nothing is sent while this owner holds all of its
 * fields with the desired values. The comparison uses `managedFields`, so that fields of others do not count and a
 * field that is no longer desired is removed.
 *
 * No-op applies are not free, because each runs admission webhooks and is audited.
 *
 * @throws ApplyConflictError when others own some of the fields; what the client throws
 *
 * @example
 * ```ts
 * import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
 * import { applyIfChanged } from '@kctl/client';
 *
 * const desired = { metadata: { namespace: 'shop', name: 'web' }, spec: { replicas: 3 } };
 * const { applied, reason } = await applyIfChanged(client, Deployment, desired, { fieldOwner: 'shop-operator' });
 * console.log(applied, reason);
 * ```
 */
export async function applyIfChanged<K extends Kind>(
  client: Pick<Reader, 'get'> & Pick<Writer, 'patch'>,
  kind: K,
  configuration: ApplyConfiguration<K>,
  options: ApplyIfChangedOptions<K>,
): Promise<ApplyResult<K>> {
  requireClient('applyIfChanged', client, ['get', 'patch']);
  requireKind('applyIfChanged', kind);
  requireOptionsObject('applyIfChanged', options, '{ fieldOwner }');
  requireOptions<ApplyIfChangedOptions<K>>('applyIfChanged', options, optionNames);
  const { actual: given, memo, isEqual: _isEqual, ...applyOptions } = options;
  const wanted = withoutStringData(kind, configuration);
  const actual = given ?? (await find(client, kind, configuration, applyOptions));
  const { reason, differences: found } = match(kind, wanted, actual, options);
  if (actual !== undefined && (reason === 'matches' || memo?.isNoop(kind, actual, wanted) === true))
    return {
      applied: false,
      changed: false,
      reason: reason === 'matches' ? reason : 'knownNoop',
      differences: found,
      object: readonly<K>(actual),
    };
  const object = readonly<K>(await apply(client, kind, wanted, applyOptions));
  const changed = actual === undefined || metadataOf(actual).resourceVersion !== metadataOf(object).resourceVersion;
  // Of an apply that changed the object too, because applying is idempotent, and the cache may strip managedFields.
  if (options.dryRun !== true) memo?.noteNoop(kind, object, wanted);
  return { applied: true, changed, reason, differences: found, object };
}

const optionNames: OptionNames<ApplyIfChangedOptions<Kind>> = {
  ...patchOptionNames,
  actual: true,
  memo: true,
  isEqual: functionOption,
};

async function find<K extends Kind>(
  client: Pick<Reader, 'get'>,
  kind: K,
  configuration: ApplyConfiguration<K>,
  { signal }: ApplyOptions,
): Promise<ReadObject<K> | undefined> {
  try {
    const present = await client.get(kind, keyOfKind(kind, configuration), signal === undefined ? {} : { signal });
    return requireObjectAnswer('applyIfChanged', present);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function match<K extends Kind>(
  kind: K,
  configuration: object,
  actual: ReadObject<K> | undefined,
  { fieldOwner, isEqual }: ApplyIfChangedOptions<K>,
): { readonly reason: ApplyReason; readonly differences: FieldDifference[] } {
  if (actual === undefined) return { reason: 'absent', differences: [] };
  const owned = ownedFields(actual, kind, fieldOwner);
  if ('missing' in owned) return { reason: owned.missing, differences: [] };
  const known = knownEqualities(kind);
  const isSame: FieldEquality = (path, desired, present) =>
    known(path, desired, present) || isEqual?.(path, desired, present) === true;
  const found = differences(owned.fields, trackedFields(configuration, owned.fields), actual, isSame);
  const shown = isSecret(kind) ? found.map(({ path, reason }) => ({ path, reason })) : found;
  return { reason: found.length === 0 ? 'matches' : 'differs', differences: shown };
}

/** The server drops a status in a configuration if the kind has a status subresource, so it is never held. */
function trackedFields(
  configuration: object,
  owned: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { status, ...fields } = appliedFields(configuration);
  return 'f:status' in owned ? { ...fields, status } : fields;
}

const isSecret = (kind: Kind): boolean => kind.group === '' && kind.kind === 'Secret';

/**
 * The server turns `stringData` into `data`. With `data` set at once, the fields that are held are those that are sent.
 */
function withoutStringData<C extends object>(kind: Kind, configuration: C): C;
function withoutStringData(kind: Kind, configuration: object): object {
  if (!isSecret(kind) || !isJsonObject(configuration) || !isJsonObject(configuration['stringData']))
    return configuration;
  const { stringData, data, ...rest }: Readonly<Record<string, unknown>> = configuration;
  const encoded = Object.entries(isJsonObject(stringData) ? stringData : {})
    // A missing value must not become the string "undefined".
    .filter(([, text]) => isSet(text))
    .map(([key, text]): [string, string] => [key, Buffer.from(String(text)).toString('base64')]);
  return { ...rest, data: { ...(isJsonObject(data) ? data : {}), ...Object.fromEntries(encoded) } };
}

/** The readonly view of an object: TypeScript cannot derive it for a kind that is not known yet. */
function readonly<K extends Kind>(object: unknown): ReadObject<K>;
function readonly(object: unknown): unknown {
  return object;
}

/** Remembers which configuration changes nothing if applied to which version of an object. */
export interface ApplyMemo {
  isNoop(kind: Kind, actual: unknown, configuration: object): boolean;
  noteNoop(kind: Kind, actual: unknown, configuration: object): void;
}

/** Options of {@link createApplyMemo}. */
export interface ApplyMemoOptions {
  /** Objects that are remembered; the one that was noted longest ago is forgotten first. @default 10000 */
  readonly capacity?: number;
}

interface Noop {
  readonly version: string | undefined;
  /** Undefined for an object without a generation. */
  readonly content: string | undefined;
  readonly configuration: object;
}

/**
 * Whether a cached object is the noted one with another status, as a Deployment is at each step of a rollout. With
 * managedFields the comparison of fields decides. A field that another owner takes over increases the generation.
 */
function isStatusChange({ content }: Noop, actual: unknown): boolean {
  return content !== undefined && metadataOf(actual).managedFields === undefined && contentOf(actual) === content;
}

/** Hash of an object without its type, its status, and the parts of its metadata that change with every write. */
function contentOf(object: unknown): string | undefined {
  if (!isJsonObject(object) || metadataOf(object).generation === undefined) return undefined;
  const { apiVersion: _apiVersion, kind: _kind, status: _status, metadata: _metadata, ...content } = object;
  const { resourceVersion: _version, managedFields: _fields, ...metadata } = metadataOf(object);
  return hash('sha256', JSON.stringify([metadata, content]));
}

const memoOptionNames: OptionNames<ApplyMemoOptions> = { capacity: true };

/**
 * A memory for {@link applyIfChanged}. A no-op is one for the same configuration and the same version of the same object,
 * or a version whose status alone is another, if the object has a generation and no managedFields.
 *
 * @throws TypeError when `capacity` is not an integer ≥ 0
 */
export function createApplyMemo(options: ApplyMemoOptions = {}): ApplyMemo {
  requireOptionsObject('createApplyMemo', options);
  requireOptions('createApplyMemo', options, memoOptionNames);
  const { capacity = 10_000 } = options;
  const problem = numberProblem('capacity', capacity, { integer: true, orInfinity: true });
  if (problem !== undefined) throw new TypeError(`createApplyMemo: ${problem}`);
  const noops = new Map<string, Noop>();
  const idOf = (kind: Kind, actual: unknown): string =>
    `${kind.apiVersion}/${kind.kind}/${metadataOf(actual).uid ?? ''}`;
  return {
    isNoop: (kind, actual, configuration) => {
      const noted = noops.get(idOf(kind, actual));
      if (noted === undefined || !isSameJson(noted.configuration, configuration)) return false;
      return noted.version === metadataOf(actual).resourceVersion || isStatusChange(noted, actual);
    },
    noteNoop: (kind, actual, configuration) => {
      const id = idOf(kind, actual);
      noops.delete(id);
      noops.set(id, {
        version: metadataOf(actual).resourceVersion,
        content: contentOf(actual),
        configuration: mutableCopy(configuration),
      });
      for (const [oldest] of noops) {
        if (noops.size <= capacity) break;
        noops.delete(oldest);
      }
    },
  };
}
