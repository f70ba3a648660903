import { createHash } from 'node:crypto';
import { commonHeaders } from '../handlers/reply.js';
import type { Registry } from '../registry/registry.js';
import type { ResourceDefinition } from '../registry/resource.js';
import type { Reply } from '../server/api-request.js';
import { jsonText } from '../storage/json-text.js';

/** What `kubectl explain` prints of a kind. */
const explanation =
  'The embedded API server does not describe fields: it serves OpenAPI v3 as far as clients need it to find out which parameters a kind takes. Ask a real API server for the documentation of fields.';

const queryParameters = ['dryRun', 'fieldManager', 'fieldValidation', 'force', 'pretty'];

/**
 * Answers `/openapi/v3` and its documents: every path with the parameters of its `patch`, by which kubectl learns that
 * the server validates fields itself. Schemas name their kind and no fields. Undefined for all other paths.
 */
export function openApi(registry: Registry, segments: readonly string[]): Reply | undefined {
  const [root, version, first, second, third, more] = segments;
  if (root !== 'openapi' || version !== 'v3') return undefined;
  if (first === undefined) return json(index(registry));
  const isCore = first === 'api' && second !== undefined && third === undefined;
  const isGroup = first === 'apis' && third !== undefined && more === undefined;
  if (isCore) return document(registry, '', second);
  return isGroup ? document(registry, second ?? '', third) : undefined;
}

function index(registry: Registry): unknown {
  const paths: Record<string, unknown> = {};
  for (const { name, versions } of registry.groups()) {
    for (const version of versions) {
      const path = pathOf(name, version);
      const hash = createHash('sha256')
        .update(jsonText(describe(registry, name, version)))
        .digest('hex')
        .slice(0, 32);
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` };
    }
  }
  return { paths };
}

function document(registry: Registry, group: string, version: string): Reply | undefined {
  return registry.hasGroupVersion(group, version) ? json(describe(registry, group, version)) : undefined;
}

function describe(registry: Registry, group: string, version: string): unknown {
  const definitions = registry
    .list()
    .filter((definition) => definition.group === group && definition.version === version);
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'unversioned' },
    paths: Object.fromEntries(definitions.map((definition) => pathItem(definition))),
    components: { schemas: Object.fromEntries(definitions.map((definition) => schema(definition))) },
  };
}

function pathItem(definition: ResourceDefinition): [string, unknown] {
  const { group, version, plural, namespaced, verbs } = definition;
  const path = `/${pathOf(group, version)}/${namespaced ? 'namespaces/{namespace}/' : ''}${plural}/{name}`;
  const operation = (action: string): unknown => ({
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': kindOf(definition),
    parameters:
      action === 'get' ? [] : queryParameters.map((name) => ({ name, in: 'query', schema: { type: 'string' } })),
    responses: { '200': { description: 'OK' } },
  });
  return [
    path,
    {
      ...(verbs.includes('get') && { get: operation('get') }),
      ...(verbs.includes('patch') && { patch: operation('patch') }),
      ...(verbs.includes('update') && { put: operation('put') }),
    },
  ];
}

function schema(definition: ResourceDefinition): [string, unknown] {
  const { group, version, kind } = definition;
  const name = `${(group === '' ? 'core' : group).split('.').toReversed().join('.')}.${version}.${kind}`;
  return [name, { type: 'object', description: explanation, 'x-kubernetes-group-version-kind': [kindOf(definition)] }];
}

function kindOf({ group, version, kind }: ResourceDefinition): unknown {
  return { group, version, kind };
}

function pathOf(group: string, version: string): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}

function json(body: unknown): Reply {
  return { status: 200, headers: { ...commonHeaders, 'content-type': 'application/json' }, body: jsonText(body) };
}
