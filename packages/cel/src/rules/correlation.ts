import { isDeepStrictEqual } from 'node:util';

/** Fields of a structural schema that determine which stored value corresponds to a new one. */
export interface CorrelatedSchema {
  readonly properties?: { readonly get: (name: string) => CorrelatedSchema | undefined };
  /** `true`: any value is fine, and none corresponds to another. */
  readonly additional?: CorrelatedSchema | true;
  readonly items?: CorrelatedSchema;
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function own(value: unknown, name: string): unknown {
  return isJson(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** The items of an old list by their keys, to find the one that corresponds to a new item. */
export class KeyedItems {
  readonly #keys: readonly string[];
  readonly #items = new Map<string, unknown>();

  constructor(schema: CorrelatedSchema, old: unknown) {
    this.#keys = schema.listMapKeys ?? [];
    if (schema.listType !== 'map' || !Array.isArray(old)) return;
    for (const item of old) {
      const key = this.#keyOf(item);
      if (key !== undefined && !this.#items.has(key)) this.#items.set(key, item);
    }
  }

  #keyOf(item: unknown): string | undefined {
    if (!isJson(item)) return undefined;
    const values = this.#keys.map((key) => own(item, key));
    // As upstream, an item that lacks a key has no identity.
    if (values.some((value) => value === null || value === undefined || typeof value === 'object')) return undefined;
    return JSON.stringify(values, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
  }

  get(item: unknown): unknown {
    if (this.#items.size === 0) return undefined;
    const key = this.#keyOf(item);
    return key === undefined ? undefined : this.#items.get(key);
  }
}

/**
 * A value with the stored value that corresponds to it. An update is not rejected for what it did not change, so errors
 * of a node that equals its old value become warnings.
 */
export class Correlation {
  readonly #value: unknown;
  readonly #old: unknown;
  readonly #schema: CorrelatedSchema;
  #isEqual: boolean | undefined;
  #items: KeyedItems | undefined;

  constructor(value: unknown, old: unknown, schema: CorrelatedSchema) {
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
    // Upstream finds no stored value for a field without a schema, so an object that holds such a field never counts as
    // unchanged.
    return names.every((name) => this.property(name)?.isUnchanged === true);
  }

  property(name: string): Correlation | undefined {
    const value = own(this.#value, name);
    const old = own(this.#old, name);
    if (value === undefined || old === undefined) return undefined;
    const schema = this.#schema.properties?.get(name) ?? this.#schema.additional;
    if (schema === undefined || schema === true) return undefined;
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

/** Position of a walk between new and old, either at a correlated node or below the nearest one. */
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
  // Both versions of the root are converted to one type, so a change of it is not seen.
  if (nearest === undefined && (name === 'apiVersion' || name === 'kind'))
    return { current: undefined, nearest: undefined };
  return { current: current.property(name), nearest: current };
}

export function ratchetItem(ratchet: Ratchet, index: number): Ratchet {
  const { current } = ratchet;
  return current === undefined ? ratchet : { current: current.item(index), nearest: current };
}
