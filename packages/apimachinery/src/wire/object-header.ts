import type { KubeObject, OwnerReference } from '../object.js';

/**
 * What routing needs to know of an object, available without parsing it: enough for keys, owner mapping, selectors
 * and the predicates on generation, labels and deletion. A property may be decoded at its first read.
 */
export interface ObjectHeader {
  /** '' for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  /** '' where the server set none. */
  readonly uid: string;
  /** '' where the server set none. */
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

/** The header of an object that has been parsed: a copy of references, taken at once. */
export function headerOf(object: HeaderSource): ObjectHeader {
  const { metadata } = object;
  return {
    namespace: text(metadata.namespace) ?? '',
    name: text(metadata.name) ?? '',
    uid: text(metadata.uid) ?? '',
    resourceVersion: text(metadata.resourceVersion) ?? '',
    generation: typeof metadata.generation === 'number' ? metadata.generation : undefined,
    deletionTimestamp: text(metadata.deletionTimestamp),
    labels: metadata.labels ?? noLabels,
    ownerReferences: metadata.ownerReferences ?? noOwners,
  };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
