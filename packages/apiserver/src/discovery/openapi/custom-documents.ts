/** The documents of custom resources, made from their definitions when a client requests them. */
import type { UntypedObject } from '@kctl/apimachinery';
import { at, crdVersions, isObject, type JsonObject } from '@kctl/crd/internal/engine';
import type { ResourceDefinition } from '../../resource/resource.js';
import { customPathsV2, customPathsV3, sharedNames } from './custom-paths.js';
import { customSchemas, type CustomKind } from './custom-schema.js';
import type { CustomTexts } from './custom-texts.js';
import { goJson } from '../../json/go-json.js';
import type { Fragment, FragmentV2, Member } from '../../offload/fragment.js';
import { encodePartsV2 } from './protobuf-v2.js';

function membersOf(object: JsonObject): Member[] {
  return Object.entries(object).map(([name, value]) => [name, goJson(value)]);
}

function joinMembers(members: readonly Member[]): string {
  return members.map(([name, json]) => `${goJson(name)}:${json}`).join(',');
}

function inOrder(members: readonly Member[]): string[] {
  return members
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, json], index) => `${index === 0 ? '' : ','}${goJson(name)}:${json}`);
}

/** A version as OpenAPI needs it, out of the object that defines it. */
function kindOf(definition: ResourceDefinition, crd: UntypedObject): CustomKind {
  const version = crdVersions(crd).find(({ name }) => name === definition.version);
  const schema = at(version, 'schema', 'openAPIV3Schema');
  return {
    definition,
    schema: isObject(schema) ? schema : undefined,
    keepsUnknown: at(crd, 'spec', 'preserveUnknownFields') === true,
  };
}

/** The part of one version of a custom resource in an OpenAPI v3 document. */
export function fragmentV3(definition: ResourceDefinition, crd: UntypedObject, texts: CustomTexts): Fragment {
  const { scale, ...others } = sharedNames;
  return {
    paths: membersOf(customPathsV3(definition, texts)),
    schemas: membersOf(customSchemas(kindOf(definition, crd), { version: 'v3', texts })),
    shared: new Set([...Object.values(others), ...(definition.subresources.has('scale') ? [scale] : [])]),
  };
}

/** The part of one version of a custom resource in the OpenAPI v2 document. */
export async function fragmentV2(
  definition: ResourceDefinition,
  crd: UntypedObject,
  texts: CustomTexts,
): Promise<FragmentV2> {
  const paths = customPathsV2(definition, texts);
  const definitions = customSchemas(kindOf(definition, crd), { version: 'v2', texts });
  return {
    paths: joinMembers(membersOf(paths)),
    definitions: joinMembers(membersOf(definitions)),
    protobuf: await encodePartsV2({ paths, definitions }),
  };
}

/** The names, and those that their schemas refer to. */
function withReferences(names: ReadonlySet<string>, schemas: JsonObject): ReadonlySet<string> {
  const found = new Set<string>(names);
  for (const name of found)
    for (const [, other = ''] of goJson(schemas[name] ?? {}).matchAll(/"#\/components\/schemas\/([^"]+)"/g))
      found.add(other);
  return found;
}

/** The OpenAPI v3 document of a group version that only custom resources have, in pieces. */
export function customDocument(fragments: readonly Fragment[], { schemas }: CustomTexts): string[] {
  const needed = withReferences(new Set(fragments.flatMap((fragment) => [...fragment.shared])), schemas);
  const shared = membersOf(schemas).filter(([name]) => needed.has(name));
  const all = [...shared, ...fragments.flatMap((fragment) => fragment.schemas)];
  const paths = fragments.flatMap((fragment) => fragment.paths);
  const info = '{"title":"Kubernetes CRD Swagger","version":"v0.1.0"}';
  const start = `{"openapi":"3.0.0","info":${info},"paths":{`;
  return [start, ...inOrder(paths), '},"components":{"schemas":{', ...inOrder(all), '}}}'];
}
