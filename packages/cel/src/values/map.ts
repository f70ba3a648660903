import { formatDouble } from './go-format.js';
import { Failure, MapValue, Uint, type Value } from './value.js';

/** A key as something that JavaScript maps by value. */
export type MapKey = string | bigint | boolean | number;

/**
 * The key of a value. Ints, uints and whole doubles are one key, as in CEL. NaN has no key, because it is not equal to
 * itself.
 */
export function keyOf(key: Value): MapKey | undefined {
  if (typeof key === 'string' || typeof key === 'bigint' || typeof key === 'boolean') return key;
  if (key instanceof Uint) return key.magnitude;
  if (typeof key !== 'number' || Number.isNaN(key)) return undefined;
  // If an int64 or a uint64 has the same value.
  return Number.isInteger(key) && key >= -(2 ** 63) && key < 2 ** 64 ? BigInt(key) : key;
}

/** A map made by an expression. */
export class EntryMap extends MapValue {
  readonly #entries: ReadonlyMap<MapKey, readonly [Value, Value]>;

  constructor(entries: ReadonlyMap<MapKey, readonly [Value, Value]>) {
    super();
    this.#entries = entries;
  }

  override get size(): number {
    return this.#entries.size;
  }

  override get(key: Value): Value | Failure | undefined {
    const own = keyOf(key);
    return own === undefined ? undefined : this.#entries.get(own)?.[1];
  }

  override *keys(): Iterable<Value> {
    for (const [key] of this.#entries.values()) yield key;
  }

  get entries(): ReadonlyMap<MapKey, readonly [Value, Value]> {
    return this.#entries;
  }
}

/**
 * The map that a fold grows by one entry at a time. Like {@link ArrayList}, the newest map over its entries grows in
 * place; older ones see only what was there when they were made.
 */
export class GrowingMap extends MapValue {
  readonly #entries: Map<MapKey, readonly [Value, Value]>;
  readonly #size: number;

  constructor(entries: Map<MapKey, readonly [Value, Value]> = new Map()) {
    super();
    this.#entries = entries;
    this.#size = entries.size;
  }

  override get size(): number {
    return this.#size;
  }

  override get(key: Value): Value | Failure | undefined {
    const own = keyOf(key);
    if (own === undefined) return undefined;
    if (this.#entries.size === this.#size) return this.#entries.get(own)?.[1];
    return this.#current().get(own)?.[1];
  }

  override *keys(): Iterable<Value> {
    for (const [key] of this.#current().values()) yield key;
  }

  #current(): Map<MapKey, readonly [Value, Value]> {
    if (this.#entries.size === this.#size) return this.#entries;
    return new Map([...this.#entries].slice(0, this.#size));
  }

  /** The map with one more entry; a failure when the key is there already. */
  insert(key: Value, value: Value): GrowingMap | Failure {
    const own = keyOf(key);
    if (own === undefined) return new Failure(`unsupported key type`);
    const entries = this.#current();
    if (entries.has(own)) return new Failure(`insert failed: key ${formatKey(key)} already exists`);
    entries.set(own, [key, value]);
    return new GrowingMap(entries);
  }
}

export function formatKey(key: Value): string {
  if (key instanceof Uint) return String(key.magnitude);
  if (typeof key === 'number') return formatDouble(key);
  return typeof key === 'string' || typeof key === 'bigint' || typeof key === 'boolean' ? String(key) : '?';
}
