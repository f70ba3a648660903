import { isThenable } from '@kctl/options';

/** A value that is computed when it is needed, and again once it is out of date. Mirrors `synctrack.Lazy`. */
export interface Lazy<T> {
  /** The value; computed where it was not since the last `notify`. What the computation throws is not kept. */
  get(): T;
  /** Something that the value follows from has changed. */
  notify(): void;
}

/**
 * Makes a value of a computation, e.g. of a list of objects that handlers say has changed. Where that returns a promise,
 * all calls get the same one until it rejects or `notify` is called.
 *
 * @example
 * ```ts
 * import type { Pod } from '@kctl/apimachinery/kinds/core/v1';
 * import { createLazy, type SharedInformer } from '@kctl/informer';
 *
 * declare const informer: SharedInformer<Pod>;
 * const total = createLazy(() => informer.indexer.list().length);
 * informer.addEventHandler({ onEvent: () => total.notify() });
 * console.log(total.get());
 * ```
 */
export function createLazy<T>(evaluate: () => T): Lazy<T> {
  if (typeof evaluate !== 'function') throw new TypeError('createLazy: evaluate is not a function');
  let known: { readonly value: T } | undefined;
  let changes = 0;
  return {
    get: () => {
      if (known !== undefined) return known.value;
      const before = changes;
      const mine = { value: evaluate() };
      // What changed while it was computed may not be in it.
      if (before === changes) known = mine;
      if (isThenable(mine.value))
        mine.value.then(undefined, () => {
          if (known === mine) known = undefined;
        });
      return mine.value;
    },
    notify: () => {
      changes++;
      known = undefined;
    },
  };
}
