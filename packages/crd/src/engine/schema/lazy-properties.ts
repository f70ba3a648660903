import { compareText, isObject, type JsonObject } from '../values/json.js';
import type { Schema } from './schema.js';

/**
 * Named properties of a schema, sorted by name. Each is compiled on first use, because an object uses few of the
 * thousands that a definition of 1 MB has.
 */
export class LazyProperties implements ReadonlyMap<string, Schema> {
  readonly #source: JsonObject;
  readonly #compile: (source: JsonObject) => Schema;
  readonly #compiled = new Map<string, Schema>();
  #names: readonly string[] | undefined;

  constructor(source: JsonObject, compile: (source: JsonObject) => Schema) {
    this.#source = source;
    this.#compile = compile;
  }

  get size(): number {
    return this.#sorted().length;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#source, name);
  }

  get(name: string): Schema | undefined {
    const known = this.#compiled.get(name);
    if (known !== undefined || !this.has(name)) return known;
    const property = this.#source[name];
    const schema = this.#compile(isObject(property) ? property : {});
    this.#compiled.set(name, schema);
    return schema;
  }

  keys(): MapIterator<string> {
    return this.#sorted().values();
  }

  *entries(): MapIterator<[string, Schema]> {
    for (const name of this.#sorted()) {
      const schema = this.get(name);
      if (schema !== undefined) yield [name, schema];
    }
  }

  *values(): MapIterator<Schema> {
    for (const [, schema] of this.entries()) yield schema;
  }

  forEach(callback: (schema: Schema, name: string, map: ReadonlyMap<string, Schema>) => void): void {
    for (const [name, schema] of this.entries()) callback(schema, name, this);
  }

  [Symbol.iterator](): MapIterator<[string, Schema]> {
    return this.entries();
  }

  #sorted(): readonly string[] {
    this.#names ??= Object.keys(this.#source).sort(compareText);
    return this.#names;
  }
}
