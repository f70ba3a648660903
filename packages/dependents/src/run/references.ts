import type { Kind, ObjectKey } from '@kctl/apimachinery';
import { formatKey } from '@kctl/apimachinery';
import { formatGroupKind } from '@kctl/apimachinery/internal';

/** Names an object across kinds. */
export function referenceTo(kind: Kind, key: ObjectKey): string {
  return `${formatGroupKind(kind)} ${formatKey(key)}`;
}

/**
 * Which primaries look at which objects of others, by their last runs. After a restart the first run of each primary, which
 * the initial list leads to, fills it.
 */
export class References {
  readonly #byPrimary = new Map<string, ReadonlySet<string>>();
  readonly #byObject = new Map<string, Map<string, ObjectKey>>();

  /** Replaces what a primary looks at. */
  set(primary: ObjectKey, objects: ReadonlySet<string>): void {
    this.forget(primary);
    if (objects.size === 0) return;
    const name = formatKey(primary);
    this.#byPrimary.set(name, objects);
    for (const object of objects) {
      const primaries = this.#byObject.get(object) ?? new Map<string, ObjectKey>();
      this.#byObject.set(object, primaries.set(name, primary));
    }
  }

  of(object: string): readonly ObjectKey[] {
    return [...(this.#byObject.get(object)?.values() ?? [])];
  }

  forget(primary: ObjectKey): void {
    const name = formatKey(primary);
    for (const object of this.#byPrimary.get(name) ?? []) {
      const primaries = this.#byObject.get(object);
      primaries?.delete(name);
      if (primaries?.size === 0) this.#byObject.delete(object);
    }
    this.#byPrimary.delete(name);
  }
}
