import { escapeField } from '@kctl/cel/internal';
import { booleanOption, oneOfOption, requireOptions, textOption, type OptionNames } from '@kctl/options';
import { libraryOnlyKey } from '../source/zod-inspection.js';

/**
 * A fragment of JSON Schema that a schema library cannot express. It is set for a field either in the library (zod:
 * `.meta(listMap('name'))`) or by path, in `fields` of a version.
 */
export type Marker = Readonly<Record<string, unknown>>;

/** A rule of `x-kubernetes-validations`, besides its expression and message. */
export interface CelOptions {
  readonly message?: string;
  /** A CEL expression that gives the message; goes before `message`. */
  readonly messageExpression?: string;
  /** @default 'FieldValueInvalid' */
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate';
  /** The field that errors name, below the one that has the rule: `.spec.size`. */
  readonly fieldPath?: string;
  /** Whether the rule runs on create, too: `oldSelf` is an optional then. */
  readonly optionalOldSelf?: boolean;
}

const celOptions: OptionNames<CelOptions> = {
  message: textOption,
  messageExpression: textOption,
  reason: oneOfOption('FieldValueInvalid', 'FieldValueForbidden', 'FieldValueRequired', 'FieldValueDuplicate'),
  fieldPath: textOption,
  optionalOldSelf: booleanOption,
};

const rulesKey = 'x-kubernetes-validations';

/** A CEL rule for the value here: `self` is the value, `oldSelf` what was stored before. */
export function cel(rule: string, options: string | CelOptions = {}): Marker {
  if (typeof options !== 'string') requireOptions('cel', options, celOptions);
  return { [rulesKey]: [{ rule, ...(typeof options === 'string' ? { message: options } : options) }] };
}

/** Marks an immutable field in a JSON Schema, so that the object around an optional one gets a rule, too. */
export const immutableKey = 'x-kctl-immutable';

/**
 * The value cannot change once it is set. An optional field can still be added, and cannot be removed, because the
 * object that it belongs to gets a rule for that.
 */
export function immutable(message = 'field is immutable'): Marker {
  return { ...cel('self == oldSelf', message), [immutableKey]: true };
}

/** The rule of an object for an optional field that is immutable. */
export function keptOnceSet(field: string): Marker {
  const name = nameInCel(field);
  return cel(`!has(oldSelf.${name}) || has(self.${name})`, `field ${field} is immutable once set`);
}

function nameInCel(field: string): string {
  const name = escapeField(field);
  if (name !== undefined) return name;
  throw new TypeError(
    `field ${JSON.stringify(field)} has no name in CEL: expected letters, digits, "_", "-", "." and "/"`,
  );
}

function setOf(field: string): string {
  return `has(self.${nameInCel(field)})`;
}

function countOf(fields: readonly string[]): string {
  return fields.map((field) => `(${setOf(field)}?1:0)`).join('+');
}

/** Exactly one of the fields of an object is set. */
export function exactlyOneOf(...fields: readonly string[]): Marker {
  return cel(`${countOf(fields)} == 1`, `exactly one of the fields in [${fields.join(' ')}] must be set`);
}

/** At most one of the fields of an object is set. */
export function atMostOneOf(...fields: readonly string[]): Marker {
  return cel(`${countOf(fields)} <= 1`, `at most one of the fields in [${fields.join(' ')}] may be set`);
}

/** At least one of the fields of an object is set. */
export function atLeastOneOf(...fields: readonly string[]): Marker {
  return cel(fields.map(setOf).join('||'), `at least one of the fields in [${fields.join(' ')}] must be set`);
}

/** A list whose items are identified by these fields. Server-side apply merges it by item. */
export function listMap(...keys: readonly string[]): Marker {
  return { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [...keys] };
}

/** A list of scalars without duplicates. Server-side apply merges it by value. */
export function listSet(): Marker {
  return { 'x-kubernetes-list-type': 'set' };
}

/** A list that has one owner as a whole, which is the default of server-side apply. */
export function listAtomic(): Marker {
  return { 'x-kubernetes-list-type': 'atomic' };
}

/** An object or map that has one owner as a whole. */
export function mapAtomic(): Marker {
  return { 'x-kubernetes-map-type': 'atomic' };
}

/** An object or map with separate owners for each field, which is the default. */
export function mapGranular(): Marker {
  return { 'x-kubernetes-map-type': 'granular' };
}

/** Fields that are not in the schema are kept. */
export function preserveUnknownFields(): Marker {
  return { 'x-kubernetes-preserve-unknown-fields': true };
}

/** The value is a whole Kubernetes object with `apiVersion`, `kind` and `metadata`. */
export function embeddedResource(): Marker {
  return { 'x-kubernetes-embedded-resource': true };
}

/** An int or a string, as ports and percentages are. */
export function intOrString(): Marker {
  return { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] };
}

/** Kubernetes' grammar of quantities, as controller-gen writes it. */
export const quantityPattern: string =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$';

/** A quantity: `500m`, `1Gi`, `2`. */
export function quantity(): Marker {
  return { ...intOrString(), pattern: quantityPattern };
}

/** A duration as Go writes it: `1h30m`. The API server checks it, and CEL sees a duration. */
export function duration(): Marker {
  return { type: 'string', format: 'duration' };
}

/** A point in time as Kubernetes writes it, RFC 3339: `2026-11-22T14:30:00Z`. */
export function timestamp(): Marker {
  return { type: 'string', format: 'date-time' };
}

/** A format of OpenAPI: `int32`, `int64`, `ipv4`, `cidr`, `uri`, `byte`, … */
export function format(name: string): Marker {
  return { format: name };
}

/** A link to documentation. */
export function externalDocs(url: string, description?: string): Marker {
  return { externalDocs: description === undefined ? { url } : { description, url } };
}

/** Null is a separate value here, distinct from an absent field. */
export function nullable(): Marker {
  return { nullable: true };
}

/** The value that the API server fills in for an absent field. */
export function defaultTo(value: unknown): Marker {
  return { default: value };
}

/**
 * Marks a check of the schema library that the definition does not have, so it is accepted that the API server does not
 * make it.
 */
export function libraryOnly(): Marker {
  return { [libraryOnlyKey]: true };
}

/** Several markers as one. Rules accumulate; for any other keyword the last marker wins. */
export function markers(...all: readonly Marker[]): Marker {
  return all.reduce<Marker>((whole, each) => {
    const rules = [...rulesOf(whole), ...rulesOf(each)];
    return { ...whole, ...each, ...(rules.length > 0 && { [rulesKey]: rules }) };
  }, {});
}

/** The rules that a marker has. */
export function rulesOf(marker: Marker): readonly unknown[] {
  const rules = marker[rulesKey];
  return Array.isArray(rules) ? rules : [];
}
