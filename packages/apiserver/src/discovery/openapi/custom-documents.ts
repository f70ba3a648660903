/** The documents of custom resources, made of their definitions when a client asks for them. */
import type { UntypedObject } from '@kctl/apimachinery';
import { at, crdVersions, isObject, jsonText, objectOf, type JsonObject } from '@kctl/crd/engine';
import type { ResourceDefinition } from '../../registry/resource.js';
import { customPathsV2, customPathsV3, sharedNames } from './custom-paths.js';
import { customSchemas, type CustomKind } from './custom-schema.js';
import { encodeOpenApiV2 } from './protobuf-v2.js';

/** What one version of a custom resource adds to a document: members of its paths and of its schemas, as JSON text. */
export interface Fragment {
  readonly paths: string;
  readonly schemas: string;
  /** Names of the shared schemas that it refers to. */
  readonly shared: ReadonlySet<string>;
}

/** What one version of a custom resource adds to the v2 document. */
export interface FragmentV2 {
  readonly paths: string;
  readonly definitions: string;
  readonly protobuf: Uint8Array;
}

function members(object: JsonObject): string {
  return jsonText(object).slice(1, -1);
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
export function fragmentV3(definition: ResourceDefinition, crd: UntypedObject): Fragment {
  const paths = members(customPathsV3(definition));
  const schemas = members(customSchemas(kindOf(definition, crd), 'v3'));
  const { scale, ...others } = sharedNames;
  return {
    paths,
    schemas,
    shared: new Set([...Object.values(others), ...(definition.subresources.has('scale') ? [scale] : [])]),
  };
}

/** The part of one version of a custom resource in the OpenAPI v2 document. */
export function fragmentV2(definition: ResourceDefinition, crd: UntypedObject): FragmentV2 {
  const paths = customPathsV2(definition);
  const definitions = customSchemas(kindOf(definition, crd), 'v2');
  return {
    paths: members(paths),
    definitions: members(definitions),
    protobuf: encodeOpenApiV2({ paths, definitions }),
  };
}

/** The names, and those that their schemas refer to. */
function withReferences(names: ReadonlySet<string>, schemas: JsonObject): ReadonlySet<string> {
  const found = new Set<string>(names);
  for (const name of found)
    for (const [, other = ''] of jsonText(schemas[name] ?? {}).matchAll(/"#\/components\/schemas\/([^"]+)"/g))
      found.add(other);
  return found;
}

/** The OpenAPI v3 document of a group version that only custom resources have. */
export function customDocument(fragments: readonly Fragment[], shared: JsonObject): string {
  const needed = withReferences(new Set(fragments.flatMap((fragment) => [...fragment.shared])), shared);
  const own = Object.fromEntries(Object.entries(objectOf(shared)).filter(([name]) => needed.has(name)));
  const schemas = [members(own), ...fragments.map((fragment) => fragment.schemas)].join(',');
  const paths = fragments.map((fragment) => fragment.paths).join(',');
  const info = '{"title":"Kubernetes CRD Swagger","version":"v0.1.0"}';
  return `{"openapi":"3.0.0","info":${info},"paths":{${paths}},"components":{"schemas":{${schemas}}}}`;
}
