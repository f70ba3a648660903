import type { DeepReadonly, Kind, KubeObject } from '@kctl/apimachinery';
import type { CacheView } from './cache-view.js';
import { storeName } from '../writes/own-write.js';
import type { OwnWrite } from '../writes/own-write.js';
import { projected } from './projected.js';

interface View {
  /** The scopes of the store when the view was made. */
  readonly scopes: unknown;
  readonly object: DeepReadonly<KubeObject> | undefined;
}

/**
 * The objects that stores would hold after a write, frozen and made once for each store. Retained for as long as the
 * write is.
 */
export class HeldViews {
  readonly #cache: CacheView;
  readonly #views = new WeakMap<OwnWrite, Map<string, View>>();

  constructor(cache: CacheView) {
    this.#cache = cache;
  }

  /** Undefined if the store would hold nothing. */
  of(kind: Kind, write: OwnWrite): DeepReadonly<KubeObject> | undefined {
    if (write.outcome.type !== 'present') return undefined;
    const scopes = this.#cache.scopesOf?.(kind);
    let views = this.#views.get(write);
    if (views === undefined) this.#views.set(write, (views = new Map<string, View>()));
    const name = storeName(kind);
    let view = views.get(name);
    if (view === undefined || view.scopes !== scopes)
      views.set(name, (view = { scopes, object: projected(this.#cache, kind, write.outcome.object) }));
    return view.object;
  }
}
