import { createHash } from 'node:crypto';
import { jsonText } from '@kctl/crd/internal/engine';
import { negotiate } from '../codecs/negotiate.js';
import { textReply } from '../handlers/reply.js';
import type { Registry } from '../registry/registry.js';
import type { ResourceDefinition } from '../resource/resource.js';
import type { Reply } from '../protocol/api-request.js';
import { aggregatedReply, wantsAggregated } from './aggregated.js';
import { definitionsOf, kindOf } from './resources.js';

/** Server state that discovery needs. */
export interface DiscoveryContext {
  readonly registry: Registry;
  /** `host:port` that is returned to clients inside the cluster network. */
  readonly serverAddress: string;
  readonly accept: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

const apiVersionOf = (group: string, version: string): string => (group === '' ? version : `${group}/${version}`);

/** Kinds that kube-apiserver stores in another version than this server does. */
const upstreamStorage: Readonly<Record<string, string>> = {
  CustomResourceDefinition: 'apiextensions.k8s.io/v1beta1',
  MutatingAdmissionPolicy: 'admissionregistration.k8s.io/v1beta1',
  MutatingAdmissionPolicyBinding: 'admissionregistration.k8s.io/v1beta1',
};

/** Storage version hash as upstream shows it, the start of a hash of group, version and kind. */
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
    const mediaType = wantsAggregated(accept);
    if (mediaType !== undefined) return aggregatedReply(context, mediaType, root === 'api');
  }
  const document = legacyDocument(context, root, { first, second });
  if (document === undefined) return undefined;
  const { mediaType } = negotiate(withoutAggregated(accept));
  const reply = await textReply(200, jsonText(document), { mediaType });
  return { ...reply, headers: { ...reply.headers, vary: 'Accept' } };
}

/** An Accept header without its clauses for aggregated discovery; unchanged if it has nothing else. */
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
