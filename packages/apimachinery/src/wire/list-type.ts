import type { Kind } from '../kind.js';

/** A list answer, apart from its items. */
export interface ListType {
  /** As they were sent, without any guarantee. */
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  /** How many items it has, and how many of them do not state their own type. */
  readonly items: number;
  readonly untyped: () => number;
}

const metaVersion = /^meta\.k8s\.io\/v1(beta1)?$/;

/**
 * Describes a list answer that is not a list of this kind; undefined if it is one, or does not state what it is. Items
 * without a type take that of their list, so a list under another name (`v1 List`, or the `listKind` of a
 * CustomResourceDefinition) counts only if each item states its kind.
 */
export function otherListType(kind: Kind, { apiVersion, kind: name, items, untyped }: ListType): string | undefined {
  const version = apiVersion ?? undefined;
  const isOwnVersion = version === undefined || version === kind.apiVersion;
  const came = `a ${shown(version)} ${shown(name)}`.replace('a undefined ', 'a ').replace(' undefined', ' list');
  if ((name ?? undefined) === undefined) return isOwnVersion ? undefined : came;
  if (typeof name !== 'string' || (version !== undefined && typeof version !== 'string')) return came;
  if (name === `${kind.kind}List` && isOwnVersion) return undefined;
  if (name === 'PartialObjectMetadataList' && metaVersion.test(version ?? 'meta.k8s.io/v1'))
    return kind.shape === 'metadata' ? undefined : came;
  const isGeneric = name === 'List' && (isOwnVersion || version === 'v1');
  if (!isGeneric && !(isOwnVersion && mayBeList(kind, { name, items }))) return came;
  const count = untyped();
  return count === 0 ? undefined : `${came} with ${count} items that do not state their type`;
}

/** Whether a name may be the `listKind` of a kind. A list without items under the name of another kind may not. */
function mayBeList(kind: Kind, { name, items }: { readonly name: string; readonly items: number }): boolean {
  const lower = name.toLowerCase();
  if (lower === `${kind.kind.toLowerCase()}list` || lower === `${kind.plural}list`) return true;
  if (metaVersion.test(kind.apiVersion) || name === 'Status' || name === 'Table') return false;
  return items > 0 || !/^[A-Z]\w*List$/.test(name);
}

/** A type is shown if it is a word; it may be anything. */
function shown(part: unknown): string {
  if (part === undefined || part === null) return 'undefined';
  return typeof part === 'string' && /^[\w./-]{1,100}$/.test(part) ? part : '?';
}
