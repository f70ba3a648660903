import { isSameJson } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import type { Kind } from '@kctl/apimachinery';
import { requireOptions, shownValue, textOption } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import type { ApplyConfiguration, ApplyFields } from './apply.js';
import type { ReadObject } from './client.js';
import { isWhole, keyedItems, memberField, memberNames, setValues } from './managed-fields.js';
import type { FieldSet } from './managed-fields.js';
import { isSet, managedFieldsOf, metadataOf } from './kube-object.js';
import { requireOptionsObject } from './checks/require-arguments.js';

/** An object that was read, and so has a name. */
export interface NamedObject {
  readonly metadata: { readonly name: string; readonly namespace?: string | undefined };
}

/** The fields that an owner has applied to an object of a type, with its identity. */
export type AppliedFieldsOf<T extends NamedObject> = ApplyFields<T> & {
  readonly metadata: Pick<T['metadata'], 'name' | 'namespace'>;
};

/** Options of {@link extractApplied}. */
export interface ExtractOptions {
  /** Of what was applied to this subresource, such as `status`. @default the object itself */
  readonly subresource?: string;
}

/**
 * Returns the fields that an owner has applied to an object, as a configuration to change and apply again, so that none
 * of its fields is lost and none of others is claimed. Mirrors client-go's `Extract…`. Without fields of the owner it
 * has the identity alone.
 *
 * @throws TypeError for an object without managedFields, as of a cache that strips them
 *
 * @example
 * ```ts
 * import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
 * import { apply, extractApplied } from '@kctl/client';
 *
 * const present = await client.get(Deployment, { namespace: 'shop', name: 'web' }, { live: true });
 * const mine = extractApplied(Deployment, present, 'shop-operator');
 * const wanted = { ...mine, spec: { ...mine.spec, replicas: 3 } };
 * await apply(client, Deployment, wanted, { fieldOwner: 'shop-operator' });
 * ```
 */
export function extractApplied<K extends Kind>(
  kind: K,
  object: ReadObject<K>,
  fieldOwner: string,
  options?: ExtractOptions,
): ApplyConfiguration<K>;
/** The same for an object whose type states its kind. */
export function extractApplied<T extends NamedObject>(
  object: T,
  fieldOwner: string,
  options?: ExtractOptions,
): AppliedFieldsOf<T>;
export function extractApplied(...given: readonly unknown[]): unknown {
  const [object, fieldOwner, options = {}] = isKind(given[0]) ? given.slice(1) : given;
  if (typeof fieldOwner !== 'string' || fieldOwner === '')
    throw new TypeError(
      `extractApplied: fieldOwner ${shownValue(fieldOwner)} is not valid: expected the name of a field owner`,
    );
  requireExtractOptions(options);
  return appliedBy(fieldOwner, object, options);
}

const optionNames: OptionNames<ExtractOptions> = { subresource: textOption };

function requireExtractOptions(options: unknown): asserts options is ExtractOptions {
  requireOptionsObject('extractApplied', options);
  requireOptions<ExtractOptions>('extractApplied', options as ExtractOptions, optionNames);
}

function isKind(value: unknown): boolean {
  return isJsonObject(value) && 'plural' in value && 'scope' in value;
}

function appliedBy(fieldOwner: string, object: unknown, { subresource = '' }: ExtractOptions): object {
  const { name, namespace } = metadataOf(object);
  const managedFields = managedFieldsOf(object);
  if (managedFields.length === 0)
    throw new TypeError(
      `extractApplied: the object ${JSON.stringify(name ?? '')} has no managedFields: read it live, or from a cache that keeps them`,
    );
  const own = managedFields.find(
    (entry) => entry.manager === fieldOwner && entry.operation === 'Apply' && (entry.subresource ?? '') === subresource,
  );
  const fields = !isJsonObject(own?.fieldsV1) ? {} : extract(own.fieldsV1, object);
  const rest: object = isJsonObject(fields) ? fields : {};
  const applied = 'metadata' in rest && isJsonObject(rest.metadata) ? rest.metadata : {};
  const identity = { ...(isSet(namespace) ? { namespace } : {}), name };
  return { ...rest, metadata: { ...applied, ...identity } };
}

/** The part of a value that a set of fields names. */
function extract(fields: FieldSet, value: unknown): unknown {
  const names = memberNames(fields);
  if (isJsonObject(value) && names.length > 0) {
    const members = names.flatMap((name): [string, unknown][] =>
      Object.hasOwn(value, name) ? [[name, extract(memberField(fields, name) ?? {}, value[name])]] : [],
    );
    return Object.fromEntries(members);
  }
  if (Array.isArray(value)) {
    const items = keyedItems(fields);
    if (items.length > 0) return value.flatMap((item: unknown): unknown[] => extractItem(items, item));
    const values = setValues(fields);
    if (values !== undefined) return value.filter((item) => values.some((owned) => isSameJson(owned, item)));
  }
  // A node with nothing below it owns the whole value; `.` alone owns that it is there.
  return isWhole(fields) ? value : Array.isArray(value) ? [] : isJsonObject(value) ? {} : value;
}

/** Returns an item of a list with its keys, if it is one of the owned items. */
function extractItem(items: ReturnType<typeof keyedItems>, item: unknown): unknown[] {
  if (!isJsonObject(item)) return [];
  const owned = items.find(({ keys }) => Object.entries(keys).every(([key, value]) => isSameJson(item[key], value)));
  if (owned === undefined) return [];
  const part = extract(owned.fields, item);
  return [{ ...(isJsonObject(part) ? part : {}), ...owned.keys }];
}
