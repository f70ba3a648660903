import { createHash } from 'node:crypto';
import { jsonText } from '@kctl/crd/engine';
import { parseAccept, negotiate } from '../codecs/negotiate.js';
import { commonHeaders, textReply } from '../handlers/reply.js';
import type { Registry } from '../registry/registry.js';
import type { KindRef, ResourceDefinition, Subresource } from '../registry/resource.js';
import type { Reply } from '../server/api-request.js';

/** What discovery needs to know. */
export interface DiscoveryContext {
  readonly registry: Registry;
  /** `host:port` that is returned to clients inside the cluster network. */
  readonly serverAddress: string;
  readonly accept: string | undefined;
}

const apiVersionOf = (group: string, version: string): string => (group === '' ? version : `${group}/${version}`);

function definitionsOf(registry: Registry, group: string, version: string): ResourceDefinition[] {
  return registry
    .list()
    .filter((definition) => definition.group === group && definition.version === version)
    .sort((a, b) => (a.plural < b.plural ? -1 : 1));
}

function kindOf(definition: ResourceDefinition, subresource: Subresource): KindRef {
  switch (subresource.type) {
    case 'self':
      return definition;
    case 'view':
      return subresource.view.kind;
    case 'action':
      return subresource.accepts;
    case 'connect':
      return subresource.kind;
  }
}

/** Kinds that kube-apiserver stores in another version than this server does. */
const upstreamStorage: Readonly<Record<string, string>> = {
  CustomResourceDefinition: 'apiextensions.k8s.io/v1beta1',
  MutatingAdmissionPolicy: 'admissionregistration.k8s.io/v1beta1',
  MutatingAdmissionPolicyBinding: 'admissionregistration.k8s.io/v1beta1',
};

/** What upstream shows of the version that objects have in storage: the start of a hash of group, version and kind. */
function storageVersionHash({ storageApiVersion, kind, isCustom }: ResourceDefinition): string {
  const apiVersion = (isCustom ? undefined : upstreamStorage[kind]) ?? storageApiVersion;
  const groupVersion = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  return createHash('sha256').update(`${groupVersion}/${kind}`).digest().subarray(0, 8).toString('base64');
}

function legacyResources(definition: ResourceDefinition): unknown[] {
  const { plural, singular, namespaced, kind, verbs, shortNames, categories } = definition;
  const resource = {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(definition.isStored && verbs.includes('create') && { storageVersionHash: storageVersionHash(definition) }),
  };
  const below = [...definition.subresources.values()].map((subresource) => {
    const own = kindOf(definition, subresource);
    const isForeign = own.group !== definition.group || own.version !== definition.version;
    return {
      name: `${plural}/${subresource.name}`,
      singularName: '',
      namespaced,
      ...(isForeign && { group: own.group, version: own.version }),
      kind: own.kind,
      verbs: subresource.verbs,
    };
  });
  return [resource, ...below];
}

/** Built-ins leave group and version empty where they are those of the list; custom resources spell them out. */
function responseKind(definition: ResourceDefinition, own: KindRef): KindRef {
  const isSame = own.group === definition.group && own.version === definition.version;
  const { group, version, kind } = own;
  return isSame && !definition.isCustom ? { group: '', version: '', kind } : { group, version, kind };
}

function aggregatedResource(definition: ResourceDefinition): unknown {
  const { plural, singular, namespaced, verbs, shortNames, categories } = definition;
  const subresources = [...definition.subresources.values()].map((subresource) => {
    return {
      subresource: subresource.name,
      responseKind: responseKind(definition, kindOf(definition, subresource)),
      verbs: subresource.verbs,
    };
  });
  return {
    resource: plural,
    responseKind: responseKind(definition, definition),
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(subresources.length > 0 && { subresources }),
  };
}

interface Aggregated {
  readonly contentType: string;
  readonly version: string;
}

/** The first clause that is satisfied decides: aggregated discovery, or the legacy documents. */
function wantsAggregated(accept: string | undefined): Aggregated | undefined {
  for (const { type, parameters } of parseAccept(accept ?? '')) {
    const isJson = type === 'application/json' || type === '*/*' || type === 'application/*';
    if (!isJson) continue;
    const { as, g, v } = parameters;
    if (as === undefined) return undefined;
    if (as !== 'APIGroupDiscoveryList' || g !== 'apidiscovery.k8s.io') continue;
    if (v === 'v2' || v === 'v2beta1')
      return { version: v, contentType: `application/json;g=apidiscovery.k8s.io;v=${v};as=APIGroupDiscoveryList` };
  }
  return undefined;
}

function aggregatedReply(context: DiscoveryContext, { contentType, version }: Aggregated, isCore: boolean): Reply {
  const { registry } = context;
  const items = registry
    .groups()
    .filter(({ name }) => (name === '') === isCore)
    .map(({ name, versions }) => ({
      metadata: { ...(name !== '' && { name }), creationTimestamp: null },
      versions: versions.map((served) => ({
        version: served,
        resources: definitionsOf(registry, name, served).map(aggregatedResource),
        freshness: 'Current',
      })),
    }));
  const body = jsonText({
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items,
  });
  return { status: 200, headers: { ...commonHeaders, 'content-type': contentType, vary: 'Accept' }, body };
}

function groupDocument({
  name,
  versions,
}: {
  readonly name: string;
  readonly versions: readonly string[];
}): Record<string, unknown> {
  const all = versions.map((version) => ({ groupVersion: apiVersionOf(name, version), version }));
  return { name, versions: all, preferredVersion: all[0] };
}

/**
 * Answers /api, /apis, /apis/<group> and the lists of a group version; undefined for all other paths.
 *
 * @throws StatusError 406
 */
export async function discover(context: DiscoveryContext, segments: readonly string[]): Promise<Reply | undefined> {
  const [root, first, second, more] = segments;
  if (more !== undefined || (root !== 'api' && root !== 'apis')) return undefined;
  const { accept } = context;
  if (first === undefined) {
    const aggregated = wantsAggregated(accept);
    if (aggregated !== undefined) return aggregatedReply(context, aggregated, root === 'api');
  }
  const document = legacyDocument(context, root, { first, second });
  if (document === undefined) return undefined;
  const { mediaType } = negotiate(withoutAggregated(accept));
  const reply = await textReply(200, jsonText(document), { mediaType });
  return { ...reply, headers: { ...reply.headers, vary: 'Accept' } };
}

/** An Accept header without its clauses for aggregated discovery; as it is where it has nothing else. */
function withoutAggregated(accept: string | undefined): string | undefined {
  const others = accept?.split(',').filter((clause) => !clause.includes('as=APIGroupDiscoveryList'));
  return others === undefined || others.length === 0 ? accept : others.join(',');
}

function legacyDocument(
  { registry, serverAddress }: DiscoveryContext,
  root: 'api' | 'apis',
  { first, second }: { readonly first: string | undefined; readonly second: string | undefined },
): unknown {
  if (root === 'api') {
    if (first === undefined)
      return {
        kind: 'APIVersions',
        versions: registry.groups().find(({ name }) => name === '')?.versions ?? [],
        serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
      };
    return second === undefined ? resourceList(registry, '', first) : undefined;
  }
  if (first === undefined) {
    const groups = registry.groups().filter(({ name }) => name !== '');
    return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupDocument) };
  }
  if (second !== undefined) return resourceList(registry, first, second);
  const group = registry.groups().find(({ name }) => name === first);
  return group === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...groupDocument(group) };
}

function resourceList(registry: Registry, group: string, version: string): unknown {
  if (!registry.hasGroupVersion(group, version)) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOf(group, version),
    resources: definitionsOf(registry, group, version).flatMap(legacyResources),
  };
}
