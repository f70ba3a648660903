import type { ObjectMeta, UntypedObject } from '@kctl/apimachinery';
import { decodeStruct, isObject, objectMetaStruct, setOwn, type JsonObject } from '@kctl/crd/internal/engine';

const struct = objectMetaStruct();

const isFilled = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

/** Whether a map is a nonempty one of strings. */
function isFilledMap(value: unknown): boolean {
  if (!isObject(value)) return false;
  let isEmpty = true;
  for (const name in value) {
    if (typeof value[name] !== 'string') return false;
    isEmpty = false;
  }
  return !isEmpty;
}

/** Metadata whose fields may be anything. */
type MaybeMalformed = Readonly<Partial<Record<'labels' | 'annotations' | 'finalizers' | 'ownerReferences', unknown>>>;

/**
 * Whether reading drops a field of the metadata because it is empty or malformed, or has an unknown name. Other fields
 * are not checked, because the managedFields of a long object are a separate string, which takes long to read.
 */
function isUnread(metadata: MaybeMalformed, name: string): boolean {
  switch (name) {
    case 'labels':
    case 'annotations':
      return !isFilledMap(metadata[name]);
    case 'finalizers':
    case 'ownerReferences':
      return !isFilled(metadata[name]);
    default:
      return !struct.fields.has(name);
  }
}

/**
 * Whether metadata have fields that reading drops. As upstream, what a plugin or an apply makes of the metadata of a
 * custom resource is stored as it is, for the next write to drop.
 */
export function hasUnread({ metadata }: UntypedObject): boolean {
  return Object.keys(metadata).some((name) => isUnread(metadata, name));
}

/** Metadata as made by a plugin, typed, with the fields that reading drops left as they are. */
export function admittedMetadata(given: JsonObject): ObjectMeta {
  const metadata = readMetadata(given);
  for (const [name, value] of Object.entries(given))
    if (isUnread(given, name) || (isList(name) && !Object.hasOwn(metadata, name))) setOwn(metadata, name, value);
  return metadata;
}

const listNames = ['finalizers', 'ownerReferences'] as const;
const isList = (name: string): boolean => listNames.some((each) => each === name);

/**
 * Replaces malformed finalizers and owners of an object that is to be stored by empty ones, in place, because
 * controllers read them there.
 */
export function keepLists({ metadata }: UntypedObject): void {
  const read = listNames.some((name) => metadata[name] !== undefined) ? readMetadata({ ...metadata }) : metadata;
  for (const name of listNames) if (metadata[name] !== undefined && read[name] === undefined) metadata[name] = [];
}

/** The labels by which selectors choose an object; empty if they are malformed. */
export function selectedLabels({ metadata }: UntypedObject): unknown {
  return isFilledMap(metadata.labels) ? metadata.labels : {};
}

/** Metadata as upstream reads them from its storage, without malformed fields. */
export function readMetadata(given: JsonObject): ObjectMeta {
  try {
    return withoutEmpty(decodeStruct(given, struct, [], 'metadata'));
  } catch {
    const metadata: JsonObject = {};
    for (const [name, value] of Object.entries(given)) {
      try {
        Object.assign(metadata, decodeStruct({ [name]: value }, struct, [], 'metadata'));
      } catch {
        // Upstream goes on with the next one.
      }
    }
    return withoutEmpty(metadata);
  }
}

function withoutEmpty(metadata: JsonObject): ObjectMeta {
  for (const name of Object.keys(metadata)) if (isUnread(metadata, name)) delete metadata[name];
  return metadata;
}

/** A stored object as it is read; itself if it has nothing to drop. */
export function withoutUnread<T extends UntypedObject>(object: T): T {
  return hasUnread(object) ? { ...object, metadata: readMetadata({ ...object.metadata }) } : object;
}

/** Drops what reading drops, in place. */
export function dropUnread(object: UntypedObject): void {
  if (hasUnread(object)) object.metadata = readMetadata({ ...object.metadata });
}

/**
 * Decodes in place the metadata of a custom resource that is converted to be stored. They must be valid.
 *
 * @throws GoDecodeError
 */
export function requireReadable(object: UntypedObject): void {
  if (hasUnread(object)) object.metadata = withoutEmpty(decodeStruct({ ...object.metadata }, struct, [], 'metadata'));
}
