import { compareQuantities, isQuantity, isSameJson } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import type { Kind } from '@kctl/apimachinery';
import { isWhole, keyedItems, memberField, memberNames, setValues } from './managed-fields.js';
import type { FieldSet, KeyedItem } from './managed-fields.js';

/** Why a field would change. */
export type DifferenceReason = 'changed' | 'notOwned' | 'noLongerDesired' | 'missing';

/** A field that applying would change. */
export interface FieldDifference {
  /** e.g. `spec.template.spec.containers[name=app].image` */
  readonly path: string;
  readonly reason: DifferenceReason;
  readonly desired?: unknown;
  readonly actual?: unknown;
}

/**
 * Compares two values that are at the same path and differ as JSON; true if the server writes the one for the other.
 */
export type FieldEquality = (path: string, desired: unknown, actual: unknown) => boolean;

/**
 * Returns the changes that applying `desired` would make in `actual`, according to the fields that the owner holds. A
 * field that is held and no longer desired counts, a field that others set does not. An empty result means that
 * applying is a no-op.
 *
 * Known rewrites by the server do not count, such as equal quantities (`1000m`, `1`), null for a missing value, an
 * empty value of an environment variable, defaults in keys of list items (`protocol: TCP`) and in the
 * volumeClaimTemplates of a StatefulSet. Durations need no rule, because no built-in kind has a field of that type, and
 * custom resources are stored as they are sent.
 */
export function differences(
  fields: FieldSet,
  desired: Readonly<Record<string, unknown>>,
  actual: unknown,
  isEqual: FieldEquality,
): FieldDifference[] {
  const found: FieldDifference[] = [];
  // A configuration whose metadata is only its identity may still hold labels from before, which are reported one by
  // one.
  const wanted = memberField(fields, 'metadata') === undefined ? desired : { metadata: {}, ...desired };
  new Comparison(found, isEqual).compare('', fields, { desired: wanted, actual });
  return found;
}

interface Pair {
  readonly desired: unknown;
  readonly actual: unknown;
}

class Comparison {
  readonly #found: FieldDifference[];
  readonly #isEqual: FieldEquality;

  constructor(found: FieldDifference[], isEqual: FieldEquality) {
    this.#found = found;
    this.#isEqual = isEqual;
  }

  compare(path: string, fields: FieldSet, { desired, actual }: Pair): void {
    if (isAbsent(desired)) {
      this.#report(path, 'noLongerDesired', { desired, actual });
    } else if (isAbsent(actual)) {
      // The server records the fields that were sent as held, even if it does not store them.
      if (!this.#isEqual(path, desired, actual)) this.#report(path, 'missing', { desired, actual });
    } else if (isWhole(fields)) {
      if (!this.#isSame(path, desired, actual)) this.#report(path, 'changed', { desired, actual });
    } else if (Array.isArray(desired) && Array.isArray(actual)) {
      this.#compareLists(path, fields, desired, actual);
    } else if (isJsonObject(desired) && isJsonObject(actual)) {
      for (const name of memberNames(fields))
        this.compare(join(path, name), memberField(fields, name) ?? {}, {
          desired: desired[name],
          actual: actual[name],
        });
      for (const name of Object.keys(desired))
        if (memberField(fields, name) === undefined)
          this.#unowned(join(path, name), { desired: desired[name], actual: actual[name] });
    } else if (!this.#isSame(path, desired, actual)) {
      this.#report(path, 'changed', { desired, actual });
    }
  }

  #compareLists(path: string, fields: FieldSet, desired: readonly unknown[], present: readonly unknown[]): void {
    const values = setValues(fields);
    if (values !== undefined) {
      this.#compareSets(path, values, { desired, actual: present });
      return;
    }
    const left = [...desired];
    for (const item of keyedItems(fields)) {
      const index = left.findIndex((candidate) => hasKeys(candidate, item, 'lenient'));
      const wanted = index < 0 ? undefined : left.splice(index, 1)[0];
      const found = present.find((candidate) => hasKeys(candidate, item, 'exact'));
      this.compare(`${path}[${describe(item)}]`, item.fields, { desired: wanted, actual: found });
    }
    for (const item of left) this.#report(`${path}[]`, 'notOwned', { desired: item, actual: undefined });
  }

  #compareSets(
    path: string,
    owned: readonly unknown[],
    { desired, actual }: { desired: readonly unknown[]; actual: readonly unknown[] },
  ): void {
    const has = (list: readonly unknown[], value: unknown): boolean => list.some((other) => isSameJson(other, value));
    for (const value of owned)
      if (!has(desired, value)) this.#report(path, 'noLongerDesired', { desired: undefined, actual: value });
    for (const value of desired)
      if (!has(owned, value) || !has(actual, value))
        this.#report(path, 'notOwned', { desired: value, actual: undefined });
  }

  /** A desired field that is not held. A null, and a value that the server does not store, do not differ. */
  #unowned(path: string, { desired, actual }: Pair): void {
    if (isAbsent(desired)) return;
    if (isAbsent(actual) && this.#isEqual(path, desired, actual)) return;
    this.#report(path, 'notOwned', { desired, actual });
  }

  #isSame(path: string, desired: unknown, actual: unknown): boolean {
    if (isSameJson(desired, actual) || (isAbsent(desired) && isAbsent(actual))) return true;
    if (this.#isEqual(path, desired, actual)) return true;
    if (Array.isArray(desired) && Array.isArray(actual))
      return (
        desired.length === actual.length &&
        desired.every((item, index) => this.#isSame(`${path}[${index}]`, item, actual[index]))
      );
    if (!isJsonObject(desired) || !isJsonObject(actual)) return false;
    const names = new Set([...Object.keys(desired), ...Object.keys(actual)]);
    return [...names].every((name) => this.#isSame(join(path, name), desired[name], actual[name]));
  }

  #report(path: string, reason: DifferenceReason, { desired, actual }: Pair): void {
    this.#found.push({ path, reason, desired, actual });
  }
}

const isAbsent = (value: unknown): value is null | undefined => value === null || value === undefined;
const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);
const describe = ({ keys }: KeyedItem): string =>
  Object.entries(keys)
    .map(([key, value]) => `${key}=${String(value)}`)
    .join(',');

/** Lenient, because a key that the item omits has been filled in by a default. */
function hasKeys(item: unknown, { keys }: KeyedItem, mode: 'exact' | 'lenient'): boolean {
  if (!isJsonObject(item)) return false;
  return Object.entries(keys).every(([key, value]) => {
    const own = item[key];
    return isAbsent(own) ? mode === 'lenient' : isSameJson(own, value);
  });
}

const quantityMaps =
  /(?:^|\.)(?:limits|requests|capacity|allocatable|hard|overhead|podFixed|default|defaultRequest|max|min|maxLimitRequestRatio)(?:\.[^.[]+|\[[^\]]*\])?$/;
const quantityFields =
  /(?:^|\.)(?:averageValue|targetAverageValue|targetValue|divisor|sizeLimit|tolerance|target\.value)$/;
const environmentValue = /(?:^|\.)env\[name=[^\]]*\]\.value$/;
const claimDefault =
  /^spec\.volumeClaimTemplates\[\d+\](?:\.status|\.apiVersion|\.kind|\.spec\.volumeMode|\.metadata\.creationTimestamp)$/;

/** Known rewrites by API servers of values that were sent, for a kind. */
export function knownEqualities(kind: Kind): FieldEquality {
  return (path, desired, actual) => {
    if (isAbsent(actual)) return environmentValue.test(path) && desired === '';
    if (isAbsent(desired)) return kind.kind === 'StatefulSet' && claimDefault.test(path);
    if (!quantityMaps.test(path) && !quantityFields.test(path)) return false;
    return isQuantity(desired) && isQuantity(actual) && compareQuantities(desired, actual) === 0;
  };
}
