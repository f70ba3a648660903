import { formatGroupVersionKind } from '@kctl/apimachinery';
import type { Kind, ObjectKey } from '@kctl/apimachinery';
import type { QueryValue } from './option-parts.js';

/** The path of a collection, in one namespace or, without one, in all. @throws TypeError for a bad namespace */
export function collectionPath(kind: Kind, namespace: string | undefined): string {
  const base = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  if (namespace === undefined || namespace === '' || kind.scope === 'Cluster') return `${base}/${kind.plural}`;
  return `${base}/namespaces/${segment(kind, 'namespace', namespace)}/${kind.plural}`;
}

/** The path of one object or of a subresource of it. @throws TypeError when namespace or name are missing or bad */
export function objectPath(kind: Kind, key: ObjectKey, subresource?: string): string {
  const { namespace, name } = key;
  if (kind.scope === 'Namespaced' && (namespace === undefined || namespace === ''))
    throw new TypeError(
      `${formatGroupVersionKind(kind)} ${JSON.stringify(name)}: namespace is not set: ${kind.plural} live in a namespace: pass { namespace, name }`,
    );
  const path = `${collectionPath(kind, namespace)}/${segment(kind, 'name', name)}`;
  return subresource === undefined ? path : `${path}/${segment(kind, 'subresource', subresource)}`;
}

/** A name must not reach beyond its place in the path (client-go: `rest.IsValidPathSegmentName`). */
function segment(kind: Kind, field: string, value: unknown): string {
  if (
    typeof value !== 'string' ||
    !value.isWellFormed() ||
    value === '' ||
    value === '.' ||
    value === '..' ||
    value.includes('/') ||
    value.includes('%')
  )
    throw new TypeError(
      `${formatGroupVersionKind(kind)}: ${field} ${JSON.stringify(value)} is not valid: expected a string (well-formed Unicode) without "/" and "%", not empty, "." or ".."`,
    );
  return encodeURIComponent(value);
}

function encodeQuery(name: string, value: string): string {
  if (value.isWellFormed()) return encodeURIComponent(value);
  throw new TypeError(`${name} ${JSON.stringify(value)} is not valid: expected well-formed Unicode`);
}

/** Joins path and query, leaving out what is unset. */
export function withQuery(path: string, query: Readonly<Record<string, QueryValue>>): string {
  let text = path;
  let mark = '?';
  for (const name of Object.keys(query)) {
    const value = query[name];
    if (value === undefined || value === '' || value === false) continue;
    text += `${mark}${name}=${encodeQuery(name, String(value))}`;
    mark = '&';
  }
  return text;
}
