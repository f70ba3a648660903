import { formatGroupKind } from '@kctl/apimachinery/internal';
import type { Kind } from '@kctl/apimachinery';

/** The kinds that a cache holds, by group and kind, one for each version. Created again after {@link clear}. */
export class KindVersions {
  readonly #kinds: () => Iterable<Kind>;
  readonly #known = new Map<string, readonly Kind[]>();

  constructor(kinds: () => Iterable<Kind>) {
    this.#kinds = kinds;
  }

  of(kind: Kind): readonly Kind[] {
    const name = formatGroupKind(kind);
    let versions = this.#known.get(name);
    if (versions === undefined) {
      const own = [...this.#kinds()].filter((other) => formatGroupKind(other) === name);
      this.#known.set(name, (versions = [...new Map(own.map((other) => [other.version, other])).values()]));
    }
    return versions;
  }

  clear(): void {
    this.#known.clear();
  }
}
