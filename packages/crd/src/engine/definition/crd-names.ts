import type { UntypedObject } from '@kctl/apimachinery';
import { at, objectOf, objectsOf, stringOf, stringsOf, type JsonObject } from '../values/json.js';

/** Names of a CRD, spec or accepted. */
export interface CrdNames {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

/** Reads names from `spec.names` or `status.acceptedNames`. */
export function readNames(value: unknown): CrdNames {
  const names = objectOf(value);
  return {
    plural: stringOf(names['plural']),
    singular: stringOf(names['singular']),
    kind: stringOf(names['kind']),
    listKind: stringOf(names['listKind']),
    shortNames: stringsOf(names['shortNames']),
    categories: stringsOf(names['categories']),
  };
}

/** The group of a CRD. */
export function crdGroup(crd: UntypedObject): string {
  return stringOf(at(crd, 'spec', 'group'));
}

/** Identity of the storage of a CRD's instances. */
export function crdStorageKey(crd: UntypedObject): string {
  return `${crdGroup(crd)}/${stringOf(at(crd, 'spec', 'names', 'plural'))}`;
}

/** The versions of a CRD. */
export function crdVersions(crd: UntypedObject): JsonObject[] {
  return objectsOf(at(crd, 'spec', 'versions'));
}

/** Name of the version that instances are stored in. */
export function crdStorageVersion(crd: UntypedObject): string {
  return stringOf(crdVersions(crd).find((version) => version['storage'] === true)?.['name']);
}

/** A condition of a CRD's status. */
export function crdCondition(crd: UntypedObject, type: string): JsonObject | undefined {
  return objectsOf(at(crd, 'status', 'conditions')).find((condition) => condition['type'] === type);
}

/** Whether a condition is True. */
export function hasCrdCondition(crd: UntypedObject, type: string): boolean {
  return crdCondition(crd, type)?.['status'] === 'True';
}
