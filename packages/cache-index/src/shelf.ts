import type { KubeObject } from '@kctl/apimachinery';
import type { Entry, EntrySource } from './sorted-entries.js';
import { SortedView } from './sorted-entries.js';

/** The entries of one namespace, by name. */
export class Shelf<T extends KubeObject> implements EntrySource<T> {
  readonly #byName = new Map<string, Entry<T>>();
  #view: SortedView<T> | undefined;

  get size(): number {
    return this.#byName.size;
  }

  entries(): Iterable<Entry<T>> {
    return this.#byName.values();
  }

  has(entry: Entry<T>): boolean {
    return !entry.isGone && this.#byName.get(entry.stored.name) === entry;
  }

  get(name: string): Entry<T> | undefined {
    return this.#byName.get(name);
  }

  add(entry: Entry<T>): void {
    this.#byName.set(entry.stored.name, entry);
    this.#view?.added(entry);
  }

  delete(entry: Entry<T>): void {
    this.#byName.delete(entry.stored.name);
    this.#view?.removed(entry);
  }

  /** The entries by name. */
  read(): readonly Entry<T>[] {
    this.#view ??= new SortedView(this);
    return this.#view.read();
  }
}
