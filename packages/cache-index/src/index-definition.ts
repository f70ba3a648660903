import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';
import type { ObjectHeader } from '@kctl/apimachinery/internal/wire';

/** The values under which an object is found. Called once per version; requires the object to be parsed. */
export type IndexFunction<T extends KubeObject> = (object: DeepReadonly<T>) => readonly string[];

interface IndexDefinitionBase {
  /**
   * Keeps the values per namespace too, so that a look-up within a namespace costs no more than its result. As
   * controller-runtime does for field indexes.
   *
   * @default false
   */
  readonly scoped?: boolean;
}

/** An index over a function of the object. */
export interface ObjectIndex<T extends KubeObject> extends IndexDefinitionBase {
  readonly object: IndexFunction<T>;
}

/** An index over a function of the header. Requires no parse. */
export interface HeaderIndex extends IndexDefinitionBase {
  readonly header: (header: ObjectHeader) => readonly string[];
}

/** An index over one scalar field, such as `spec.nodeName`: read from the bytes, nothing is parsed for it. */
export interface PathIndex extends IndexDefinitionBase {
  readonly path: string;
}

/** How an index finds the values of an object. */
export type IndexDefinition<T extends KubeObject> = IndexFunction<T> | ObjectIndex<T> | HeaderIndex | PathIndex;

/** The name under which informers index by namespace. Mirrors `cache.NamespaceIndex`. */
export const namespaceIndexName = 'namespace';

/** Indexes by namespace; cluster-scoped objects are under ''. Mirrors `cache.MetaNamespaceIndexFunc`. */
export const namespaceIndex: HeaderIndex = { header: (header) => [header.namespace] };

/** Indexes by the uid of each owner. */
export const ownerIndex: HeaderIndex = {
  header: (header) => header.ownerReferences.flatMap(({ uid }) => (typeof uid === 'string' ? [uid] : [])),
};

/** Indexes by the value of one label; objects without it are not in it. */
export function labelIndex(label: string): HeaderIndex {
  return {
    header: ({ labels }) => {
      const value = Object.hasOwn(labels, label) ? labels[label] : undefined;
      return value === undefined ? [] : [value];
    },
  };
}
