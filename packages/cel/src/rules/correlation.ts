import { isDeepStrictEqual } from 'node:util';
import type { StructuralSchema } from '../schema/structural.js';

type Json = Readonly<Record<string, unknown>>;

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function own(value: unknown, name: string): unknown {
  return isJson(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** The items of an old list by their keys: what corresponds to an item of the new one. */
export class KeyedItems {
  readonly #keys: readonly string[];
  readonly #items = new Map<string, unknown>();

  constructor(schema: StructuralSchema, old: unknown) {
    this.#keys = schema.listMapKeys ?? [];
    if (schema.listType !== 'map' || !Array.isArray(old)) return;
    for (const item of old) {
      const key = this.#keyOf(item);
      if (key !== undefined && !this.#items.has(key)) this.#items.set(key, item);
    }
  }

  #keyOf(item: unknown): string | undefined {
    if (!isJson(item)) return undefined;
    const values = this.#keys.map((key) => own(item, key) ?? null);
    return JSON.stringify(values, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
  }

  get(item: unknown): unknown {
    if (this.#items.size === 0) return undefined;
    const key = this.#keyOf(item);
    return key === undefined ? undefined : this.#items.get(key);
  }
}

/**
 * A value with the stored value that it corresponds to. An update is not refused for what it did not change: errors of a
 * node that equals its old value become warnings.
 */
export class Correlation {
  readonly #value: unknown;
  readonly #old: unknown;
  readonly #schema: StructuralSchema;
  #isEqual: boolean | undefined;
  #items: KeyedItems | undefined;

  constructor(value: unknown, old: unknown, schema: StructuralSchema) {
    this.#value = value;
    this.#old = old;
    this.#schema = schema;
  }

  /** Whether the value equals the old one; lists of type map in any order. */
  get isUnchanged(): boolean {
    this.#isEqual ??= this.#compare();
    return this.#isEqual;
  }

  #compare(): boolean {
    if (this.#schema.listType !== 'map' && !isJson(this.#value)) return isDeepStrictEqual(this.#value, this.#old);
    if (Array.isArray(this.#value)) {
      const { length } = this.#value;
      if (!Array.isArray(this.#old) || this.#old.length !== length) return false;
      return this.#value.every((_item, index) => this.item(index)?.isUnchanged === true);
    }
    if (!isJson(this.#value) || !isJson(this.#old)) return isDeepStrictEqual(this.#value, this.#old);
    const names = Object.keys(this.#value);
    if (names.length !== Object.keys(this.#old).length) return false;
    return names.every((name) => this.#isChildUnchanged(name));
  }

  #isChildUnchanged(name: string): boolean {
    const child = this.property(name);
    if (child !== undefined) return child.isUnchanged;
    // What has no schema is compared as data.
    return own(this.#old, name) !== undefined && isDeepStrictEqual(own(this.#value, name), own(this.#old, name));
  }

  property(name: string): Correlation | undefined {
    const schema = this.#schema.properties?.get(name) ?? this.#schema.additional;
    const value = own(this.#value, name);
    const old = own(this.#old, name);
    if (schema === undefined || value === undefined || old === undefined) return undefined;
    return new Correlation(value, old, schema);
  }

  item(index: number): Correlation | undefined {
    if (!Array.isArray(this.#value) || this.#schema.items === undefined) return undefined;
    this.#items ??= new KeyedItems(this.#schema, this.#old);
    const value: unknown = this.#value[index];
    const old = this.#items.get(value);
    return old === undefined ? undefined : new Correlation(value, old, this.#schema.items);
  }
}

/** Where a walk stands between new and old: at a correlated node, or below the nearest one. */
export interface Ratchet {
  readonly current: Correlation | undefined;
  readonly nearest: Correlation | undefined;
}

export function isRatcheted({ current, nearest }: Ratchet): boolean {
  return (current ?? nearest)?.isUnchanged === true;
}

export function ratchetProperty(ratchet: Ratchet, name: string): Ratchet {
  const { current, nearest } = ratchet;
  if (current === undefined) return ratchet;
  // Both versions of the root are converted to one type: a change of it is not seen.
  if (nearest === undefined && (name === 'apiVersion' || name === 'kind'))
    return { current: undefined, nearest: undefined };
  return { current: current.property(name), nearest: current };
}

export function ratchetItem(ratchet: Ratchet, index: number): Ratchet {
  const { current } = ratchet;
  return current === undefined ? ratchet : { current: current.item(index), nearest: current };
}
