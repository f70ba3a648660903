import { formatKey, keyOf } from '@kctl/apimachinery';
import type { DeepReadonly, KubeObject, ObjectKey } from '@kctl/apimachinery';

interface Memo {
  readonly uid: string | undefined;
  readonly value: unknown;
}

/** State per object, for as long as the object exists: one entry for each that asked for it. Each operation is O(1). */
export class ObjectMemos {
  readonly #memos = new Map<string, Memo>();

  get size(): number {
    return this.#memos.size;
  }

  /** The state of an object, made when it is asked for first; another object of the same name gets another. */
  of<T>(object: DeepReadonly<KubeObject>, create: () => T): T {
    const key = formatKey(keyOf(object));
    const { uid } = object.metadata;
    const known = this.#memos.get(key);
    // What was made for the object by this very call site.
    if (known !== undefined && known.uid === uid) return known.value as T;
    const value = create();
    this.#memos.set(key, { uid, value });
    return value;
  }

  drop(key: ObjectKey): void {
    this.#memos.delete(formatKey(key));
  }
}
