import type { DeepReadonly, KubeObject, Selector } from '@kctl/apimachinery';
import type { IndexReader } from './index-reader.js';

/** Lists and gets from a store, by selector and name. Mirrors the generated listers of client-go. */
export interface Lister<T extends KubeObject> {
  list(selector?: Pick<Selector, 'matches'>): DeepReadonly<T>[];
  /** A cluster-scoped object; namespaced objects are read through {@link namespace}. */
  get(name: string): DeepReadonly<T> | undefined;
  /** '': all namespaces, for lists. */
  namespace(namespace: string): NamespaceLister<T>;
}

/** A {@link Lister} for one namespace. */
export interface NamespaceLister<T extends KubeObject> {
  list(selector?: Pick<Selector, 'matches'>): DeepReadonly<T>[];
  get(name: string): DeepReadonly<T> | undefined;
}

/** A lister over a store. */
export function createLister<T extends KubeObject>(reader: Pick<IndexReader<T>, 'get' | 'list'>): Lister<T> {
  const select = (selector?: Pick<Selector, 'matches'>): { selector?: Pick<Selector, 'matches'> } =>
    selector === undefined ? {} : { selector };
  return {
    list: (selector) => reader.list(select(selector)),
    get: (name) => reader.get({ name }),
    namespace: (namespace) => ({
      list: (selector) => reader.list(namespace === '' ? select(selector) : { namespace, ...select(selector) }),
      get: (name) => reader.get({ namespace, name }),
    }),
  };
}
