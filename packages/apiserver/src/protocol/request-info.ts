import { badRequest } from './status.js';

/** Resource named by a path under /api or /apis. */
export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  /** '' for the whole cluster or a cluster-scoped resource. */
  readonly namespace: string;
  readonly resource: string;
  readonly name: string;
  readonly subresource: string;
  /** The legacy `/watch/` prefix. */
  readonly isWatchPath: boolean;
}

const namespaceSubresources = new Set(['status', 'finalize']);

/** Splits a request target. @throws StatusError 400 when the path is not validly encoded */
export function splitTarget(target: string): { readonly path: string; readonly query: URLSearchParams } {
  const mark = target.indexOf('?');
  return mark < 0
    ? { path: target, query: new URLSearchParams() }
    : { path: target.slice(0, mark), query: new URLSearchParams(target.slice(mark + 1)) };
}

/** A path without escapes. @throws StatusError 400 */
export function decodePath(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    throw badRequest(`invalid URL escape in path ${JSON.stringify(path)}`);
  }
}

/** The decoded segments of a path. @throws StatusError 400 */
export function pathSegments(path: string): string[] {
  const segments = path.split('/').filter((segment) => segment !== '');
  return path.includes('%') ? segments.map(decodePath) : segments;
}

/** Resource named by the segments; undefined if they do not name a resource. Mirrors `RequestInfoFactory`. */
export function parseResourcePath(segments: readonly string[]): ResourcePath | undefined {
  const [root, ...below] = segments;
  const [group, version, ...rest] = root === 'api' ? ['', ...below] : root === 'apis' ? below : [];
  if (group === undefined || version === undefined) return undefined;
  const isWatchPath = rest[0] === 'watch';
  const parts = isWatchPath ? rest.slice(1) : rest;
  const [first, second, third = ''] = parts;
  if (first === undefined) return undefined;
  const base = { group, version, isWatchPath };
  if (first === 'namespaces' && second !== undefined && third !== '' && !namespaceSubresources.has(third))
    return { ...base, namespace: second, resource: third, name: parts[3] ?? '', subresource: parts.slice(4).join('/') };
  return { ...base, namespace: '', resource: first, name: second ?? '', subresource: parts.slice(2).join('/') };
}
