import type { Kind, ObjectKey } from '@kctl/apimachinery';
import type { OwnWrite } from '../writes/own-write.js';

/** The recorded write of one key. */
export interface Note {
  readonly write: OwnWrite;
  readonly kind: Kind;
  /** Stores that have caught up; the record is dropped when all have. */
  readonly doneFor: Set<string>;
  /** Whether the stores are being looked into. */
  isLookedAt?: boolean;
}

/**
 * The recorded writes of one group and kind, by namespace and name, and in the order in which they were checked.
 * Retains the records that it contains; all operations are O(1), and {@link within} is O(size of its result).
 */
export class KindNotes {
  readonly #byNamespace = new Map<string, Map<string, Note>>();
  readonly #order = new Set<Note>();

  get size(): number {
    return this.#order.size;
  }

  get({ namespace = '', name }: ObjectKey): Note | undefined {
    return this.#byNamespace.get(namespace)?.get(name);
  }

  /** @returns the record that it replaces */
  put(note: Note): Note | undefined {
    const { namespace = '', name } = note.write.key;
    let notes = this.#byNamespace.get(namespace);
    if (notes === undefined) this.#byNamespace.set(namespace, (notes = new Map<string, Note>()));
    const earlier = notes.get(name);
    if (earlier !== undefined) this.#order.delete(earlier);
    notes.set(name, note);
    this.#order.add(note);
    return earlier;
  }

  /** @returns whether it was there */
  delete(note: Note): boolean {
    const { namespace = '', name } = note.write.key;
    const notes = this.#byNamespace.get(namespace);
    if (notes?.get(name) !== note) return false;
    notes.delete(name);
    if (notes.size === 0) this.#byNamespace.delete(namespace);
    return this.#order.delete(note);
  }

  /** The records of a namespace, all if undefined or ''. */
  within(namespace: string | undefined): Iterable<Note> {
    if (namespace === undefined || namespace === '') return this.#order;
    return this.#byNamespace.get(namespace)?.values() ?? [];
  }

  /** Those that were not looked at for longest. */
  oldest(count: number): readonly Note[] {
    const found: Note[] = [];
    for (const note of this.#order) {
      if (found.length === count) break;
      found.push(note);
    }
    return found;
  }

  /** Marks it as checked. */
  touch(note: Note): void {
    if (this.#order.delete(note)) this.#order.add(note);
  }
}
