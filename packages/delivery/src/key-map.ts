/** From this many keys on they are divided. */
const mostInOne = 4096;
const parts = 256;

/**
 * A map with string keys that never holds the event loop. A JavaScript table grows by copying all its entries, which
 * takes 25 ms at 260,000 keys; this one is divided by a hash of the key, so that its tables grow one at a time. When
 * empty it is one table again, because 256 empty ones are 45 KB, and there is a map for each handler.
 */
export class KeyMap<V> {
  #only: Map<string, V> | undefined = new Map();
  #parts: Map<string, V>[] = [];
  #size = 0;

  get size(): number {
    return this.#only?.size ?? this.#size;
  }

  /** Number of keys of the largest table, which its growth has to copy. */
  get largestTable(): number {
    return this.#only?.size ?? Math.max(...this.#parts.map(({ size }) => size));
  }

  /** How many tables there are, empty ones included. */
  get tables(): number {
    return this.#only === undefined ? this.#parts.length : 1;
  }

  has(key: string): boolean {
    return this.#tableOf(key).has(key);
  }

  get(key: string): V | undefined {
    return this.#tableOf(key).get(key);
  }

  set(key: string, value: V): void {
    const table = this.#tableOf(key);
    const before = table.size;
    table.set(key, value);
    if (table !== this.#only) this.#size += table.size - before;
    else if (table.size > mostInOne) this.#divide(table);
  }

  delete(key: string): boolean {
    const table = this.#tableOf(key);
    const isDeleted = table.delete(key);
    if (isDeleted && table !== this.#only && --this.#size === 0) this.#unite();
    return isDeleted;
  }

  /** In no order. Keys added meanwhile may be left out. */
  *entries(): Generator<[string, V], undefined> {
    if (this.#only !== undefined) yield* this.#only;
    else for (const part of this.#parts) yield* part;
    return undefined;
  }

  #tableOf(key: string): Map<string, V> {
    return this.#only ?? (this.#parts[hashOf(key)] as Map<string, V>);
  }

  #divide(all: Map<string, V>): void {
    for (let part = 0; part < parts; part++) this.#parts.push(new Map());
    this.#only = undefined;
    for (const [key, value] of all) this.#tableOf(key).set(key, value);
    this.#size = all.size;
  }

  #unite(): void {
    this.#only = new Map();
    this.#parts = [];
  }
}

/** Which part a key is in. */
function hashOf(key: string): number {
  let hash = 0;
  for (let at = 0; at < key.length; at++) hash = (Math.imul(hash, 31) + key.charCodeAt(at)) | 0;
  return (hash ^ (hash >>> 8) ^ (hash >>> 16)) & (parts - 1);
}
