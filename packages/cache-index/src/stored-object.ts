import type { DeepReadonly, KubeObject, OwnerReference } from '@kctl/apimachinery';
import type { FieldPaths, ObjectHeader } from '@kctl/apimachinery/internal/wire';
import { fieldAt, headerValues, splitPath } from '@kctl/apimachinery/internal/wire';
import { deepFreeze, shareFreeze } from './freeze.js';
import { requireOptions } from '@kctl/options';
import type { OptionNames } from '@kctl/options';

/**
 * One version of an object, as a store holds it. The header is available; the object itself may be parsed at first
 * read. It never changes; a new version is a new StoredObject.
 */
export interface StoredObject<T extends KubeObject> extends ObjectHeader {
  /**
   * The object, the same one at each read.
   *
   * @throws if the object is kept in a form that cannot be read; then at each read
   */
  readonly object: DeepReadonly<T>;
  /** Whether reading {@link object} costs nothing. */
  readonly isParsed: boolean;
  /** Values of the paths, in their order; undefined if the object has none. */
  fields(paths: FieldPaths): readonly (string | undefined)[];
}

/** Options of {@link storeObject}. */
export interface StoreObjectOptions<T extends KubeObject> {
  /** Freezes the object at every depth. @default true */
  readonly freeze?: boolean;
  /** The previous version; equal sub-trees become identical. Only used when freezing. */
  readonly previous?: DeepReadonly<T> | undefined;
}

const optionNames: OptionNames<StoreObjectOptions<never>> = { freeze: true, previous: true };

/** A parsed object as a {@link StoredObject}. The object belongs to the store from now on. */
export function storeObject<T extends KubeObject>(
  object: T | DeepReadonly<T>,
  options: StoreObjectOptions<T> = {},
): StoredObject<T> {
  requireObject(object);
  requireOptions<StoreObjectOptions<T>>('storeObject', options, optionNames);
  const { freeze = true, previous } = options;
  if (!freeze) return new ParsedObject<T>(object as DeepReadonly<T>);
  if (previous !== undefined && previous === object) return new ParsedObject<T>(previous);
  return new ParsedObject<T>(
    previous === undefined ? (deepFreeze(object) as DeepReadonly<T>) : shareFreeze(object as T, previous),
  );
}

function requireObject(object: unknown): void {
  const metadata: unknown = typeof object === 'object' && object !== null ? Reflect.get(object, 'metadata') : undefined;
  if (typeof metadata !== 'object' || metadata === null)
    throw new TypeError('the object has no metadata: expected a Kubernetes object');
}

class ParsedObject<T extends KubeObject> implements StoredObject<T> {
  readonly object: DeepReadonly<T>;
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;

  constructor(object: DeepReadonly<T>) {
    const { namespace, name, resourceVersion } = metadataOf(object);
    if (headerValues.text(name) === '')
      throw new TypeError('metadata.name is not set: an object without a name has no place in a store');
    this.object = object;
    this.namespace = headerValues.text(namespace);
    this.name = headerValues.text(name);
    this.resourceVersion = headerValues.text(resourceVersion);
  }

  get isParsed(): boolean {
    return true;
  }

  get uid(): string {
    return headerValues.text(metadataOf(this.object).uid);
  }

  get generation(): number | undefined {
    return headerValues.generation(metadataOf(this.object).generation);
  }

  get deletionTimestamp(): string | undefined {
    return headerValues.timestamp(metadataOf(this.object).deletionTimestamp);
  }

  get labels(): Readonly<Record<string, string>> {
    return headerValues.labels(metadataOf(this.object).labels);
  }

  get ownerReferences(): readonly Readonly<OwnerReference>[] {
    return headerValues.owners(metadataOf(this.object).ownerReferences);
  }

  fields(paths: FieldPaths): readonly (string | undefined)[] {
    return paths.paths.map((path) => fieldAt(this.object, splitPath(path)));
  }
}

/** `DeepReadonly` of a type parameter is opaque to the compiler; every object has metadata. */
function metadataOf(object: unknown): DeepReadonly<KubeObject['metadata']> {
  return (object as DeepReadonly<KubeObject>).metadata;
}
