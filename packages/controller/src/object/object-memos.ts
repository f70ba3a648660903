import { formatKey, keyOf } from '@kctl/apimachinery';
import type { DeepReadonly, KubeObject, ObjectKey } from '@kctl/apimachinery';

interface Memo {
  readonly uid: string | undefined;
  readonly value: unknown;
}

/** State per object, for as long as the object exists, with one entry for each call site. Each operation is O(1). */
export class ObjectMemos {
  readonly #memos = new Map<string, Memo>();

  get size(): number {
    return this.#memos.size;
  }

  /** The state of an object, created on first access; another object of the same name gets another. */
  of<T>(object: DeepReadonly<KubeObject>, create: () => T): T {
    const key = formatKey(keyOf(object));
    const { uid } = object.metadata;
    const known = this.#memos.get(key);
    // The state created for the object by this call site.
    if (known !== undefined && known.uid === uid) return known.value as T;
    const value = create();
    this.#memos.set(key, { uid, value });
    return value;
  }

  drop(key: ObjectKey): void {
    this.#memos.delete(formatKey(key));
  }
}
