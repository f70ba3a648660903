import { isJsonObject } from '../json-object.js';
import type { KubeObject, OwnerReference } from '../object.js';

/**
 * The fields of an object that routing needs, available without parsing it. They are enough for keys, owner mapping,
 * selectors and the predicates on generation, labels and deletion. A property may be decoded at its first read.
 */
export interface ObjectHeader {
  /** '' for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  /** '' if the server set none. */
  readonly uid: string;
  /** '' if the server set none. */
  readonly resourceVersion: string;
  /** undefined for kinds that have none. */
  readonly generation: number | undefined;
  /** RFC 3339; undefined while the object is not being deleted. */
  readonly deletionTimestamp: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly ownerReferences: readonly Readonly<OwnerReference>[];
}

/** The parts of an object that {@link headerOf} reads. */
export interface HeaderSource {
  readonly metadata: {
    readonly [K in keyof KubeObject['metadata']]: K extends 'labels'
      ? Readonly<Record<string, string>> | undefined
      : K extends 'ownerReferences'
        ? readonly Readonly<OwnerReference>[] | undefined
        : unknown;
  };
}

const noLabels: Readonly<Record<string, string>> = Object.freeze({});
const noOwners: readonly OwnerReference[] = Object.freeze([]);

/** Returns the header of a parsed object, a copy of references taken at once. */
export function headerOf(object: HeaderSource): ObjectHeader {
  const { metadata } = object;
  return {
    namespace: headerValues.text(metadata.namespace),
    name: headerValues.text(metadata.name),
    uid: headerValues.text(metadata.uid),
    resourceVersion: headerValues.text(metadata.resourceVersion),
    generation: headerValues.generation(metadata.generation),
    deletionTimestamp: headerValues.timestamp(metadata.deletionTimestamp),
    labels: headerValues.labels(metadata.labels),
    ownerReferences: headerValues.owners(metadata.ownerReferences),
  };
}

/** The header's view of the members of `metadata`, of any type. The single place that decides it. */
export const headerValues = {
  /** Of a name, namespace, uid or resourceVersion: '' for anything but a string. */
  text: (value: unknown): string => (typeof value === 'string' ? value : ''),
  /** An integer beyond 2^53 is rounded, because a header compares generations and does not write them. */
  generation: (value: unknown): number | undefined =>
    typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : undefined,
  timestamp: (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined),
  labels: (value: unknown): Readonly<Record<string, string>> =>
    isJsonObject(value) ? (value as Readonly<Record<string, string>>) : noLabels,
  /** Values that are not objects are left out, because readers access the members of each. */
  owners: (value: unknown): readonly Readonly<OwnerReference>[] => {
    if (!Array.isArray(value)) return noOwners;
    const references = value as readonly Readonly<OwnerReference>[];
    return references.every(isJsonObject) ? references : references.filter(isJsonObject);
  },
} as const;
