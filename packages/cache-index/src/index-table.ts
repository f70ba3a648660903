import type { KubeObject } from '@kctl/apimachinery';
import { shownType } from '@kctl/options';
import type { IndexDefinition } from './index-definition.js';
import { namespaceIndex } from './index-definition.js';
import type { Entry, IndexValues } from './sorted-entries.js';
import { SortedEntries } from './sorted-entries.js';
import type { StoredObject } from './stored-object.js';

/** An index definition with the choices made. */
export interface CompiledIndex<T extends KubeObject> {
  readonly name: string;
  readonly scoped: boolean;
  /** Which of the store's field paths it reads; −1 for a function. */
  readonly field: number;
  readonly compute: (stored: StoredObject<T>) => readonly string[];
  /** Whether its value is the namespace, which is the same for all versions. */
  readonly isNamespace: boolean;
}

/**
 * Makes a definition ready for use. `fieldOf` gives a path its place among the field paths of the store.
 *
 * @throws TypeError when the definition is empty
 */
export function compileIndex<T extends KubeObject>(
  name: string,
  definition: IndexDefinition<T>,
  fieldOf: (path: string) => number,
): CompiledIndex<T> {
  if (!isDefinition(definition))
    throw new TypeError(`index ${name} is not valid: expected a function, { path }, { header } or { object }`);
  const common = { name, field: -1, isNamespace: false };
  if (typeof definition === 'function')
    return { ...common, scoped: false, compute: (stored) => asValues(definition(stored.object)) };
  const scoped = definition.scoped ?? false;
  if ('path' in definition) return { ...common, scoped, field: fieldOf(definition.path), compute: () => [] };
  if ('header' in definition) {
    const isNamespace = definition.header === namespaceIndex.header;
    return { ...common, scoped, isNamespace, compute: (stored) => asValues(definition.header(stored)) };
  }
  return { ...common, scoped, compute: (stored) => asValues(definition.object(stored.object)) };
}

/** The checked result of an index function. A string is one value, not its characters, and undefined means no value. */
function asValues(returned: unknown): readonly string[] {
  if (typeof returned === 'string') return [returned];
  if (returned === undefined || returned === null) return [];
  if (!Array.isArray(returned)) throw new TypeError(`it returned ${shownType(returned)}: expected an array of strings`);
  for (const value of returned)
    if (typeof value !== 'string')
      throw new TypeError(`it returned an array with ${shownType(value)}: expected strings only`);
  return returned as readonly string[];
}

function isDefinition(definition: unknown): boolean {
  if (typeof definition !== 'object' || definition === null) return typeof definition === 'function';
  if ('path' in definition) return typeof definition.path === 'string';
  if ('header' in definition) return typeof definition.header === 'function';
  return 'object' in definition && typeof definition.object === 'function';
}

/**
 * The result of an index in the form that an entry keeps, without duplicates, and without an array if there is one
 * value.
 */
export function compactValues(values: readonly string[]): IndexValues {
  if (values.length === 0) return undefined;
  if (values.length === 1) return values[0];
  const distinct = [...new Set(values)];
  return distinct.length === 1 ? distinct[0] : distinct;
}

/** The values as an array. */
export function valuesOf(values: IndexValues): readonly string[] {
  if (values === undefined) return [];
  return typeof values === 'string' ? [values] : values;
}

/** The read interface of an index. */
export interface ReadableIndex<T extends KubeObject> {
  readonly index: CompiledIndex<T>;
  /** The entries under a value, in order; of one namespace if given. */
  read(value: string, namespace: string | undefined): readonly Entry<T>[];
  /** All values that have entries, in order. */
  values(): string[];
}

type Buckets<T extends KubeObject> = Map<string, SortedEntries<T>>;

/** One index, a map of value → entries, and the same per namespace if it is scoped. Empty buckets are removed. */
export class IndexTable<T extends KubeObject> implements ReadableIndex<T> {
  readonly index: CompiledIndex<T>;
  readonly #all: Buckets<T> = new Map();
  readonly #byNamespace = new Map<string, Buckets<T>>();

  constructor(index: CompiledIndex<T>) {
    this.index = index;
  }

  /**
   * Moves an entry to the buckets of its values. @returns the values to keep; a single value is the same string
   * instance for all entries under it, because a string for each would take more memory than the rest of an entry
   */
  update(entry: Entry<T>, before: IndexValues, after: IndexValues): IndexValues {
    if (before === after) return before;
    if (typeof before === 'object' && typeof after === 'object' && isSame(before, after)) return before;
    if (before === undefined && typeof after === 'string') return this.#add(entry, after);
    const wanted = valuesOf(after);
    const present = valuesOf(before);
    for (const value of present) if (!wanted.includes(value)) this.#remove(entry, value);
    for (const value of wanted) if (!present.includes(value)) this.#add(entry, value);
    return after;
  }

  /** The entries under a value. */
  bucket(value: string): SortedEntries<T> | undefined {
    return this.#all.get(value);
  }

  read(value: string, namespace: string | undefined): readonly Entry<T>[] {
    if (namespace === undefined) return this.#all.get(value)?.read() ?? [];
    if (this.index.scoped) return this.#byNamespace.get(namespace)?.get(value)?.read() ?? [];
    return (this.#all.get(value)?.read() ?? []).filter((entry) => entry.stored.namespace === namespace);
  }

  values(): string[] {
    return [...this.#all.keys()].sort();
  }

  #add(entry: Entry<T>, value: string): string {
    const shared = addTo(this.#all, entry, value);
    if (!this.index.scoped) return shared;
    const { namespace } = entry.stored;
    let buckets = this.#byNamespace.get(namespace);
    if (buckets === undefined) {
      buckets = new Map<string, SortedEntries<T>>();
      this.#byNamespace.set(namespace, buckets);
    }
    addTo(buckets, entry, shared);
    return shared;
  }

  #remove(entry: Entry<T>, value: string): void {
    removeFrom(this.#all, entry, value);
    if (!this.index.scoped) return;
    const { namespace } = entry.stored;
    const buckets = this.#byNamespace.get(namespace);
    if (buckets === undefined) return;
    removeFrom(buckets, entry, value);
    if (buckets.size === 0) this.#byNamespace.delete(namespace);
  }
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}

/** @returns the string used as the bucket's key */
function addTo<T extends KubeObject>(buckets: Buckets<T>, entry: Entry<T>, value: string): string {
  let bucket = buckets.get(value);
  if (bucket === undefined) buckets.set(value, (bucket = new SortedEntries(value)));
  bucket.add(entry);
  return bucket.value;
}

function removeFrom<T extends KubeObject>(buckets: Buckets<T>, entry: Entry<T>, value: string): void {
  const bucket = buckets.get(value);
  if (bucket === undefined) return;
  bucket.delete(entry);
  if (bucket.size === 0) buckets.delete(value);
}
