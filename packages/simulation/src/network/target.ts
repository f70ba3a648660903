/** Target of a request, by its path. */
export interface Target {
  /** As Kubernetes names it for authorization; `raw` for paths that are about no resource. */
  readonly verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection' | 'raw';
  readonly group: string;
  readonly version: string;
  /** The plural; '' for `raw`. */
  readonly resource: string;
  readonly namespace: string;
  /** '' for a collection. */
  readonly name: string;
  readonly subresource: string;
  /** The part after the question mark; undefined if absent. */
  readonly search: string | undefined;
}

/** A parameter of the query; '' if not set. */
export function parameterOf({ search }: Target, name: string): string {
  return search === undefined ? '' : (new URLSearchParams(search).get(name) ?? '');
}

const verbs: Readonly<Record<string, readonly [one: Target['verb'], all: Target['verb']]>> = {
  GET: ['get', 'list'],
  POST: ['create', 'create'],
  PUT: ['update', 'update'],
  PATCH: ['patch', 'patch'],
  DELETE: ['delete', 'deletecollection'],
};

/** Most requests are for a few objects. */
const known = new Map<string, Map<string, Target>>();
const mostKnown = 1000;

/** Reads a request line. */
export function parseTarget(method: string, path: string): Target {
  const ofMethod = known.get(method) ?? new Map<string, Target>();
  const before = ofMethod.get(path);
  if (before !== undefined) return before;
  const target = readTarget(method, path);
  if (ofMethod.size >= mostKnown) ofMethod.clear();
  known.set(method, ofMethod.set(path, target));
  return target;
}

function readTarget(method: string, path: string): Target {
  const [pathname = '', search] = path.split('?', 2);
  const segments = pathname.split('/');
  segments.shift(); // before the first slash
  const isCore = segments[0] === 'api';
  const [group = '', version = '', ...rest] = isCore ? ['', ...segments.slice(1)] : segments.slice(1);
  const inNamespace = rest[0] === 'namespaces' && rest.length > 2;
  const namespace = inNamespace ? (rest[1] ?? '') : '';
  const [resource = '', name = '', subresource = ''] = inNamespace ? rest.slice(2) : rest;
  if (resource === '' || (!isCore && segments[0] !== 'apis'))
    return { verb: 'raw', group: '', version: '', resource: '', namespace: '', name: '', subresource: '', search };
  const isWatch = method === 'GET' && search !== undefined && /(?:^|&)watch=(?:true|1)(?:&|$)/.test(search);
  const [one, all] = verbs[method] ?? ['raw', 'raw'];
  const verb = isWatch ? 'watch' : name === '' ? all : one;
  return { verb, group, version, resource, namespace, name: decodeURIComponent(name), subresource, search };
}

/** `create configmaps demo/a`, for people. */
export function describeTarget(target: Target, path: string): string {
  if (target.verb === 'raw') return path.split('?', 1)[0] ?? path;
  const resource = target.subresource === '' ? target.resource : `${target.resource}/${target.subresource}`;
  const place = [target.namespace, target.name].filter((part) => part !== '').join('/');
  return `${target.verb} ${resource} ${place}`.trim();
}

/** Whether the request changes what the server stores. */
export function isWrite({ verb }: Target): boolean {
  return verb !== 'get' && verb !== 'list' && verb !== 'watch' && verb !== 'raw';
}
