import type { KindScope } from '@kctl/apimachinery';
import { sendChecked } from '../transport/send-checked.js';
import { collect, collectPrefix } from '../bytes/byte-stream.js';
import { decodeJson, refuseHtml } from '../bytes/codec.js';
import { StatusError } from '@kctl/apimachinery';
import { statusErrorOf } from '../transport/failure-status.js';
import type { Transport } from '../transport/transport.js';
import type { DiscoveryCache, DiscoveryDocument } from './discovery-cache.js';

/** One resource that the server serves. */
export interface ApiResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** The lower-case plural of the URL. */
  readonly plural: string;
  readonly singular: string;
  readonly scope: KindScope;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
}

/** One version of a group. `resources` is absent if it must be requested separately (no aggregated discovery). */
export interface ApiVersion {
  readonly version: string;
  readonly resources?: readonly ApiResource[];
  /** The server could not reach the API server of this version, so the information may be out of date. */
  readonly isStale: boolean;
}

/** One group, its versions in the server's order of preference. The core group is ''. */
export interface ApiGroup {
  readonly name: string;
  readonly versions: readonly ApiVersion[];
}

const acceptAggregated = [
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList',
  'application/json',
].join(',');

/**
 * All groups in two requests. A server with aggregated discovery answers with their resources as well; an older one
 * only names the versions, whose resources {@link fetchVersion} requests.
 *
 * @throws the error of the first request, when both failed
 */
export async function fetchGroups(transport: Transport, cache?: ReadableCache): Promise<DiscoveredGroups> {
  const roots = ['/api', '/apis'] as const;
  const answers = await Promise.allSettled(roots.map((root) => fetchRoot(transport, root, cache)));
  const unavailable = answers.flatMap((answer, index) =>
    answer.status === 'rejected' ? [{ groupVersion: roots[index] ?? '', error: answer.reason as unknown }] : [],
  );
  const [first] = unavailable;
  if (first !== undefined && unavailable.length === roots.length) throw first.error;
  return { groups: answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : [])), unavailable };
}

/** All groups, but for those behind a root that did not answer. */
export interface DiscoveredGroups {
  readonly groups: readonly ApiGroup[];
  readonly unavailable: readonly { readonly groupVersion: string; readonly error: unknown }[];
}

/** The resources of one group version, by the request that every server answers. Undefined if it is not served. */
export async function fetchVersion(
  transport: Transport,
  { group, version }: { readonly group: string; readonly version: string },
  { signal, cache }: { readonly signal?: AbortSignal | undefined; readonly cache?: ReadableCache | undefined } = {},
): Promise<readonly ApiResource[] | undefined> {
  const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const answer = await fetchJson(transport, { path, accept: 'application/json', signal, cache });
  return answer === undefined ? undefined : legacyResources(answer, group, version);
}

async function fetchRoot(
  transport: Transport,
  path: '/api' | '/apis',
  cache: ReadableCache | undefined,
): Promise<readonly ApiGroup[]> {
  const answer = await fetchJson(transport, { path, accept: acceptAggregated, signal: undefined, cache });
  if (answer === undefined) {
    if (path === '/api') return [];
    throw new StatusError({
      status: 'Failure',
      code: 404,
      reason: 'NotFound',
      message: `${transport.server} has no /apis: is it a Kubernetes API server?`,
    });
  }
  switch (answer['kind']) {
    case 'APIGroupDiscoveryList':
      return records(answer['items']).map(aggregatedGroup);
    case 'APIVersions':
      return [{ name: '', versions: texts(answer['versions']).map((version) => ({ version, isStale: false })) }];
    default:
      return records(answer['groups']).map(legacyGroup);
  }
}

/** The part of an unsuccessful answer that is read, in bytes. */
const maxErrorBytes = 1024 * 1024;

interface JsonRequest {
  readonly path: string;
  readonly accept: string;
  readonly signal: AbortSignal | undefined;
  readonly cache: ReadableCache | undefined;
}

/** Documents of an earlier run, and the store for those of this run. */
export interface ReadableCache {
  readonly documents: DiscoveryCache;
  /** Whether documents of an earlier run count. */
  readonly mayRead: boolean;
  /** Called with why a document could not be read or written. */
  readonly onError: (error: unknown) => void;
}

/**
 * Returns a document, of an earlier run if available. A document that the server marks as out of date is not stored.
 */
async function fetchJson(transport: Transport, request: JsonRequest): Promise<Fields | undefined> {
  const { path, cache } = request;
  const document = { server: transport.server, path };
  const kept = cache?.mayRead === true ? await keptDocument(cache, document) : undefined;
  if (kept !== undefined) return kept;
  const text = await fetchText(transport, request);
  if (text === undefined) return undefined;
  const fields = fieldsOf(decodeJson(text, `discovery: GET ${path}`));
  if (cache !== undefined && !text.includes('"Stale"'))
    await cache.documents.write(document, text).catch((error: unknown) => cache.onError(error));
  return fields;
}

/** A document that is not JSON is as one that is not there. */
async function keptDocument(cache: ReadableCache, document: DiscoveryDocument): Promise<Fields | undefined> {
  try {
    const text = await cache.documents.read(document);
    const value: unknown = text === undefined ? undefined : JSON.parse(text);
    return typeof value === 'object' && value !== null && 'kind' in value ? fieldsOf(value) : undefined;
  } catch (error) {
    cache.onError(error);
    return undefined;
  }
}

async function fetchText(transport: Transport, { path, accept, signal }: JsonRequest): Promise<string | undefined> {
  const response = await sendChecked(transport, { method: 'GET', path, accept, signal });
  if (response.status !== 200) {
    const text = (await collectPrefix(response.body, maxErrorBytes)).bytes.toString();
    if (response.status === 404) return undefined;
    const { status } = response;
    throw statusErrorOf({ status, text }, `discovery: GET ${path} at ${transport.server} answered ${status}`);
  }
  refuseHtml(response, `discovery: GET ${path}`);
  return (await collect(response.body)).toString();
}

type Fields = Readonly<Record<string, unknown>>;

function aggregatedGroup(group: Fields): ApiGroup {
  const name = textOf(fieldsOf(group['metadata'])['name']);
  return {
    name,
    versions: records(group['versions']).map((entry) => {
      const version = textOf(entry['version']);
      return {
        version,
        isStale: entry['freshness'] === 'Stale',
        resources: records(entry['resources']).flatMap((resource) => aggregatedResource(resource, name, version)),
      };
    }),
  };
}

function aggregatedResource(resource: Fields, group: string, version: string): ApiResource[] {
  const kind = textOf(fieldsOf(resource['responseKind'])['kind']);
  if (kind === '') return [];
  return [
    {
      group,
      version,
      kind,
      plural: textOf(resource['resource']),
      singular: textOf(resource['singularResource']) || kind.toLowerCase(),
      scope: resource['scope'] === 'Cluster' ? 'Cluster' : 'Namespaced',
      shortNames: texts(resource['shortNames']),
      categories: texts(resource['categories']),
      verbs: texts(resource['verbs']),
      subresources: records(resource['subresources']).map((sub) => textOf(sub['subresource'])),
    },
  ];
}

function legacyGroup(group: Fields): ApiGroup {
  const versions = records(group['versions']).map((entry) => textOf(entry['version']));
  const preferred = textOf(fieldsOf(group['preferredVersion'])['version']);
  const ordered = versions.includes(preferred)
    ? [preferred, ...versions.filter((version) => version !== preferred)]
    : versions;
  return { name: textOf(group['name']), versions: ordered.map((version) => ({ version, isStale: false })) };
}

function legacyResources(answer: Fields, group: string, version: string): readonly ApiResource[] {
  const entries = records(answer['resources']);
  const names = entries.map((entry) => textOf(entry['name']));
  return entries.flatMap((entry) => {
    const plural = textOf(entry['name']);
    if (plural.includes('/')) return [];
    const kind = textOf(entry['kind']);
    return [
      {
        group,
        version,
        kind,
        plural,
        singular: textOf(entry['singularName']) || kind.toLowerCase(),
        scope: entry['namespaced'] === true ? ('Namespaced' as const) : ('Cluster' as const),
        shortNames: texts(entry['shortNames']),
        categories: texts(entry['categories']),
        verbs: texts(entry['verbs']),
        subresources: names
          .filter((name) => name.startsWith(`${plural}/`))
          .map((name) => name.slice(plural.length + 1)),
      },
    ];
  });
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function records(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
