/** Aggregated discovery, with all groups, versions and resources in one document. */
import { createHash } from 'node:crypto';
import { jsonText, type JsonObject } from '@kctl/crd/internal/engine';
import { mediaTypesOf, parseAccept, type MediaType } from '../codecs/negotiate.js';
import { textReply } from '../handlers/reply.js';
import { commonHeaders } from '../protocol/plain-reply.js';
import type { Registry } from '../registry/registry.js';
import type { KindRef, ResourceDefinition } from '../resource/resource.js';
import type { Reply } from '../protocol/api-request.js';
import { definitionsOf, kindOf } from './resources.js';

const documentKind = 'APIGroupDiscoveryList';
const documentGroup = 'apidiscovery.k8s.io';
/** The only version since 1.36. */
const documentVersion = 'v2';

/** Built-ins leave group and version empty if they are those of the list; custom resources spell them out. */
function responseKind(definition: ResourceDefinition, own: KindRef): KindRef {
  const isSame = own.group === definition.group && own.version === definition.version;
  const { group, version, kind } = own;
  return isSame && !definition.isCustom ? { group: '', version: '', kind } : { group, version, kind };
}

function resourceOf(definition: ResourceDefinition): JsonObject {
  const { plural, singular, namespaced, verbs, shortNames, categories } = definition;
  const subresources = [...definition.subresources.values()].map((subresource) => ({
    subresource: subresource.name,
    responseKind: responseKind(definition, kindOf(definition, subresource)),
    verbs: subresource.verbs,
  }));
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

/** The media type of the document; undefined if the first clause that is served requests the legacy documents. */
export function wantsAggregated(accept: string | undefined): MediaType | undefined {
  for (const { type, parameters } of parseAccept(accept ?? '')) {
    const [mediaType] = mediaTypesOf(type);
    if (mediaType === undefined) continue;
    const { as, g, v } = parameters;
    if (as === undefined && g === undefined && v === undefined) return undefined;
    if (as === documentKind && g === documentGroup && v === documentVersion) return mediaType;
  }
  return undefined;
}

/** Sources of the document, and the entity tag that the client has. */
interface AggregatedContext {
  readonly registry: Registry;
  readonly ifNoneMatch: string | undefined;
}

/** The document of the core group, or of all others. Its entity tag is that of Go's JSON, in every media type. */
export async function aggregatedReply(
  { registry, ifNoneMatch }: AggregatedContext,
  mediaType: MediaType,
  isCore: boolean,
): Promise<Reply> {
  const items = registry
    .groups()
    .filter(({ name }) => (name === '') === isCore)
    .map(({ name, versions }) => ({
      metadata: { ...(name !== '' && { name }) },
      versions: versions.map((version) => ({
        version,
        resources: definitionsOf(registry, name, version).map(resourceOf),
        freshness: 'Current',
      })),
    }));
  const content = { metadata: {}, items };
  const etag = `"${createHash('sha512').update(jsonText(content)).digest('hex').toUpperCase()}"`;
  const caching = { etag, vary: 'Accept', 'cache-control': 'public' };
  if (ifNoneMatch === etag) return { status: 304, headers: { ...commonHeaders, ...caching }, body: '' };
  const document = { kind: documentKind, apiVersion: `${documentGroup}/${documentVersion}`, ...content };
  const reply = await textReply(200, jsonText(document), { mediaType });
  const contentType = `${mediaType};g=${documentGroup};v=${documentVersion};as=${documentKind}`;
  return { ...reply, headers: { ...reply.headers, ...caching, 'content-type': contentType } };
}
