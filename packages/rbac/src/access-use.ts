import { shownType } from '@kctl/options';
import type { AccessVerb } from './access-need.js';

/** A request as a connection reports it: `Connection.observe` of @kctl/client gives these. */
export interface SentRequest {
  readonly method: string;
  /** Path with query, as it went onto the wire. */
  readonly path: string;
  /** Status of the response; undefined if there was none. */
  readonly status: number | undefined;
}

/** A right that a request used. */
export interface AccessUse {
  readonly verb: AccessVerb;
  readonly group: string;
  /** With the subresource after a slash. */
  readonly resource: string;
  /** Undefined if the request concerned every namespace, or an object without one. */
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

const verbs: Readonly<Record<string, AccessVerb>> = { POST: 'create', PUT: 'update', PATCH: 'patch' };

/**
 * The rights that the API server requires for a request, as its RequestInfo resolver and its handlers determine them.
 * None for paths that do not name resources, and also `create` if a write created the object.
 */
export function accessOf(request: SentRequest): AccessUse[] {
  requireRequest(request);
  const { method, path, status } = request;
  if (!URL.canParse(path, 'https://server')) return [];
  const url = new URL(path, 'https://server');
  const parts = decodedParts(url.pathname);
  const at = parts.findIndex((part) => part === 'api' || part === 'apis');
  if (at === -1) return [];
  const isCore = parts[at] === 'api';
  const group = isCore ? '' : (parts[at + 1] ?? '');
  const rest = parts.slice(at + (isCore ? 2 : 3));
  if (rest.length === 0) return [];
  const found = locate(rest);
  const verb = verbOf(method, url, found.name);
  if (verb === undefined) return [];
  const named = found.name ?? nameSelected(url);
  const use = { group, resource: found.resource, namespace: found.namespace, name: named };
  const isCreation = status === 201 && (verb === 'patch' || verb === 'update');
  // Authorization of a creation has no name in its path, whatever the write was.
  return isCreation
    ? [
        { ...use, verb },
        { ...use, verb: 'create', name: undefined },
      ]
    : [{ ...use, verb }];
}

function requireRequest(request: unknown): void {
  const isRequest =
    typeof request === 'object' &&
    request !== null &&
    typeof Reflect.get(request, 'method') === 'string' &&
    typeof Reflect.get(request, 'path') === 'string';
  if (!isRequest) throw new TypeError(`accessOf: the request is ${shownType(request)}: expected a method and a path`);
}

/**
 * The parts of a path. None if an escape is malformed, because the server refuses such a request before it checks
 * rights.
 */
function decodedParts(pathname: string): readonly string[] {
  try {
    return pathname
      .split('/')
      .filter((part) => part !== '')
      .map(decodeURIComponent);
  } catch {
    return [];
  }
}

interface Located {
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

/** Subresources of a Namespace itself. Everything else below a namespace's name is a resource in it. */
const namespaceParts: readonly string[] = ['status', 'finalize'];

function locate(rest: readonly string[]): Located {
  const [first = '', second, third] = rest;
  if (first !== 'namespaces' || third === undefined || namespaceParts.includes(third))
    return {
      resource: withPart(first, third),
      namespace: first === 'namespaces' ? second : undefined,
      name: second,
    };
  const [name, part] = rest.slice(3);
  return { resource: withPart(third, part), namespace: second, name };
}

function withPart(resource: string, part: string | undefined): string {
  return part === undefined ? resource : `${resource}/${part}`;
}

function verbOf(method: string, url: URL, name: string | undefined): AccessVerb | undefined {
  if (method === 'DELETE') return name === undefined ? 'deletecollection' : 'delete';
  if (method !== 'GET' && method !== 'HEAD') return verbs[method];
  const watch = url.searchParams.get('watch');
  if (watch === 'true' || watch === '1') return 'watch';
  return name === undefined ? 'list' : 'get';
}

/** The name that a list or watch is limited to, which authorization uses as the name of the request. */
function nameSelected(url: URL): string | undefined {
  return /^metadata\.name==?([^,]+)$/.exec(url.searchParams.get('fieldSelector') ?? '')?.[1];
}
