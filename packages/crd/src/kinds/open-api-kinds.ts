import { formatApiVersion, type KindScope } from '@kctl/apimachinery';
import { compareText, isObject, objectOf, objectsOf, stringOf, type JsonObject } from '../engine/values/json.js';
import { checkedFacts, type KindFacts } from './kind-facts.js';

/** A resource as discovery names it: `resources()` of a `RestMapper` returns such. */
export interface ServedResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: KindScope;
  readonly verbs: readonly string[];
}

/** Verbs by `x-kubernetes-action` of an operation. */
const verbOfAction: Readonly<Record<string, string>> = {
  delete: 'delete',
  deletecollection: 'deletecollection',
  get: 'get',
  list: 'list',
  patch: 'patch',
  post: 'create',
  put: 'update',
  watch: 'watch',
  watchlist: 'watch',
};

/** Verbs by method, for a document that does not name actions, one set for the collection and one for an object. */
const verbOfMethod: Readonly<Record<'collection' | 'object', Readonly<Record<string, string>>>> = {
  collection: { get: 'list', post: 'create', delete: 'deletecollection' },
  object: { get: 'get', put: 'update', patch: 'patch', delete: 'delete' },
};

/** Verbs of every custom resource. */
export const allVerbs: readonly string[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

interface FoundResource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  kind: string;
  scope: KindScope;
  readonly verbs: Set<string>;
}

const resourcePath =
  /^\/(?:api|apis\/([^/{}]+))\/([^/{}]+)(\/watch)?(\/namespaces\/\{namespace\})?\/([a-z0-9-]+)(\/\{name\})?\/?$/;

/** The resources of a document, by its paths. Subresources and what is not a resource are left out. */
function resourcesOf(document: JsonObject): FoundResource[] {
  const found = new Map<string, FoundResource>();
  for (const [path, item] of Object.entries(objectOf(document['paths']))) {
    const match = resourcePath.exec(path);
    if (match === null || !isObject(item)) continue;
    const [, group = '', version = '', watching, namespace, plural = '', name] = match;
    const key = `${group}/${version}/${plural}`;
    const resource = found.get(key) ?? { group, version, plural, kind: '', scope: 'Cluster', verbs: new Set<string>() };
    // `/namespaces/{namespace}/pods` is namespaced; `/pods` beside it is the list of all namespaces.
    if (namespace !== undefined) resource.scope = 'Namespaced';
    const byMethod = verbOfMethod[name === undefined ? 'collection' : 'object'];
    for (const [method, operation] of Object.entries(item)) {
      const known = isObject(operation) ? operation : undefined;
      const kind = stringOf(objectOf(known?.['x-kubernetes-group-version-kind'])['kind']);
      if (known === undefined || !['get', 'put', 'post', 'patch', 'delete'].includes(method)) continue;
      if (kind !== '' && (resource.kind === '' || method !== 'delete')) resource.kind = kind;
      const action = stringOf(known['x-kubernetes-action']);
      const verb = watching === undefined ? (verbOfAction[action] ?? byMethod[method]) : 'watch';
      if (verb !== undefined) resource.verbs.add(verb);
      if (verb === 'list' && /\bwatch\b/.test(stringOf(known['description']))) resource.verbs.add('watch');
    }
    found.set(key, resource);
  }
  for (const { verbs } of found.values()) {
    // The documents of custom resources do not name the watch, which all of them have.
    if (allVerbs.every((verb) => verb === 'watch' || verbs.has(verb))) verbs.add('watch');
  }
  return [...found.values()].filter(({ kind, verbs }) => kind !== '' && verbs.size > 0);
}

/** Schemas by the kind that they are of: `group/version/kind`. Options, that many groups share, are left out. */
function schemasByKind(models: JsonObject): Map<string, JsonObject> {
  const found = new Map<string, JsonObject>();
  for (const name of Object.keys(models).sort(compareText)) {
    const schema = objectOf(models[name]);
    for (const each of objectsOf(schema['x-kubernetes-group-version-kind'])) {
      const key = `${stringOf(each['group'])}/${stringOf(each['version'])}/${stringOf(each['kind'])}`;
      if (!found.has(key)) found.set(key, { $ref: `#/components/schemas/${name}` });
    }
  }
  return found;
}

/** Whether a value is an OpenAPI v3 document. */
export function isOpenApiDocument(source: JsonObject): boolean {
  return stringOf(source['openapi']).startsWith('3.') || isObject(objectOf(source['components'])['schemas']);
}

/**
 * The kinds of an OpenAPI v3 document as an API server serves it for a group version. `served` is the discovery of the
 * same group version; without it, plural, scope and verbs come from the paths of the document.
 */
export function factsOfDocument(document: JsonObject, served: readonly ServedResource[]): KindFacts[] {
  const models = objectOf(objectOf(document['components'])['schemas']);
  const schemas = schemasByKind(models);
  const paths = resourcesOf(document);
  const versions = new Set(paths.map(({ group, version }) => formatApiVersion(group, version)));
  const discovered = served.filter(({ group, version }) => versions.has(formatApiVersion(group, version)));
  const known = new Set(discovered.map(({ group, version }) => formatApiVersion(group, version)));
  const all: ServedResource[] = [
    ...discovered.filter(({ plural }) => !plural.includes('/')),
    ...paths
      .filter(({ group, version }) => !known.has(formatApiVersion(group, version)))
      .map(({ verbs, ...resource }) => ({ ...resource, verbs: [...verbs] })),
  ];
  const byKind = new Map<string, KindFacts>();
  for (const resource of all.sort((a, b) => compareText(a.plural, b.plural))) {
    const { group, version, kind, plural, scope } = resource;
    const key = `${group}/${version}/${kind}`;
    const schema = schemas.get(key) ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const verbs = [...new Set(resource.verbs)].sort(compareText);
    // One token per kind. A second resource of it, such as a review that is also served elsewhere, has fewer verbs.
    if (verbs.length <= (byKind.get(key)?.verbs?.length ?? 0)) continue;
    byKind.set(
      key,
      checkedFacts({ group, version, kind, plural, scope, listKind: `${kind}List`, verbs, schema, models }),
    );
  }
  return [...byKind.values()];
}
