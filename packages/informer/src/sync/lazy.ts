import { isThenable } from '@kctl/options';

/** A value that is computed when it is needed, and again once it is out of date. Mirrors `synctrack.Lazy`. */
export interface Lazy<T> {
  /** The value; computed if it was not since the last `notify`. Errors of the computation are not kept. */
  get(): T;
  /** Something that the value follows from has changed. */
  notify(): void;
}

/**
 * Turns a computation into a value, e.g. of a list of objects whose change handlers report. If the computation returns
 * a promise, all calls get the same one until it rejects or `notify` is called.
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
      // Changes during the computation may not be included.
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
