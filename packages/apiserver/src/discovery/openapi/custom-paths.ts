/** The requests that a custom resource takes, as the paths of OpenAPI documents. */
import type { JsonObject } from '@kctl/crd/internal/engine';
import type { ResourceDefinition } from '../../resource/resource.js';
import type { CustomTexts } from './custom-texts.js';
import { sortedByName } from './go-order.js';

/** Names of the definitions that custom resources share with built-in ones. */
export const sharedNames = {
  status: 'io.k8s.apimachinery.pkg.apis.meta.v1.Status',
  patch: 'io.k8s.apimachinery.pkg.apis.meta.v1.Patch',
  deleteOptions: 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions',
  scale: 'io.k8s.api.autoscaling.v1.Scale',
  objectMeta: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
  listMeta: 'io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta',
} as const;

interface Body {
  readonly schema: string;
  readonly consumes: readonly string[];
  readonly isRequired: boolean;
}

interface Operation {
  readonly method: string;
  readonly id: string;
  readonly action: string;
  readonly description: string;
  readonly parameters: readonly string[];
  readonly consumes: readonly string[];
  readonly body?: Body;
  readonly codes: readonly number[];
  readonly schema: string;
}

interface Path {
  readonly path: string;
  /** Parameters of all its operations. */
  readonly parameters: readonly string[];
  readonly operations: readonly Operation[];
}

/** Parameters of lists. */
const listParameters = [
  ...['allowWatchBookmarks', 'continue', 'fieldSelector', 'labelSelector', 'limit', 'resourceVersion'],
  ...['resourceVersionMatch', 'sendInitialEvents', 'shardSelector', 'timeoutSeconds', 'watch'],
];
const writeParameters = ['dryRun', 'fieldManager', 'fieldValidation'];
const deleteParameters = [
  ...['dryRun', 'gracePeriodSeconds', 'ignoreStoreReadErrorWithClusterBreakingPotential'],
  ...['orphanDependents', 'propagationPolicy'],
];

const textTypes = ['application/json', 'application/yaml'];
const patches = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'];
const reasons: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted', 401: 'Unauthorized' };

/** Words that end in a plain `s` have no article. */
function withArticle(noun: string): string {
  if (noun.endsWith('s') && !noun.endsWith('ss')) return noun;
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`;
}

/** Description of an operation, in upstream's words, such as `replace status of the specified Widget`. */
function descriptionOf(verb: string, kind: string, subresource: string): string {
  const part = subresource === '' ? '' : ` ${subresource} of`;
  switch (verb) {
    case 'list':
      return `list${part} objects of kind ${kind}`;
    case 'patch':
      return `partially update${part} the specified ${kind}`;
    case 'deletecollection':
      return `delete collection of ${kind}`;
    case 'create':
    case 'delete':
      return `${verb}${part} ${withArticle(kind)}`;
    default:
      return `${verb}${part} the specified ${kind}`;
  }
}

/** `stable.example.com` as a part of an operation's name: `StableExampleCom`. */
function identifier(text: string, isCapital: boolean): string {
  const joined = text.replace(/[^\p{L}\p{Nd}_]+(.?)/gu, (_, letter: string) => letter.toUpperCase());
  return isCapital ? joined.charAt(0).toUpperCase() + joined.slice(1) : joined;
}

function groupOf({ group }: ResourceDefinition): string {
  return group.replace(/\.k8s\.io$/, '');
}

/** The definition's name in OpenAPI documents, made of the reversed group, version and kind. */
export function modelName({ group, version }: ResourceDefinition, kind: string): string {
  return `${group.split('.').toReversed().join('.')}.${version}.${kind}`;
}

/** `StableExampleComV1`, with which the names of operations are made. */
function baseOf(definition: ResourceDefinition): string {
  return `${identifier(groupOf(definition), true)}${identifier(definition.version, true)}`;
}

/** Makes the operations of a custom resource. */
function operationsOf(definition: ResourceDefinition) {
  const { kind, namespaced } = definition;
  const base = baseOf(definition);
  const scope = namespaced ? 'Namespaced' : '';
  const operation = (
    method: string,
    action: string,
    more: Partial<Operation> & { readonly verb: string; readonly subresource?: string; readonly schema: string },
  ): Operation => {
    const { verb, subresource = '', ...rest } = more;
    const suffix = subresource === '' ? '' : subresource.charAt(0).toUpperCase() + subresource.slice(1);
    return {
      method,
      action,
      id: `${verb.replace('deletecollection', 'delete')}${base}${verb === 'deletecollection' ? 'Collection' : ''}${scope}${kind}${suffix}`,
      description: descriptionOf(verb, kind, subresource),
      parameters: [],
      consumes: textTypes,
      codes: [200],
      ...rest,
    };
  };
  const body = (schema: string): Body => ({ schema, consumes: textTypes, isRequired: true });
  const patch = { schema: sharedNames.patch, consumes: patches, isRequired: true };
  const patchOf = (schema: string, subresource = ''): Operation =>
    operation('patch', 'patch', {
      verb: 'patch',
      subresource,
      schema,
      body: patch,
      consumes: patches,
      parameters: [...writeParameters, 'force'],
    });
  const replaceOf = (schema: string, subresource = ''): Operation =>
    operation('put', 'put', {
      verb: 'replace',
      subresource,
      schema,
      body: body(schema),
      codes: [200, 201],
      parameters: writeParameters,
    });
  const readOf = (schema: string, subresource = ''): Operation =>
    operation('get', 'get', { verb: 'read', subresource, schema, parameters: ['resourceVersion'] });
  return { operation, body, patchOf, replaceOf, readOf };
}

function pathsOf(definition: ResourceDefinition): Path[] {
  const { group, version, plural, namespaced, kind, listKind, subresources } = definition;
  const { operation, body, patchOf, replaceOf, readOf } = operationsOf(definition);
  const model = modelName(definition, kind);
  const place = namespaced ? ['namespace'] : [];
  const collection = `/apis/${group}/${version}/${namespaced ? 'namespaces/{namespace}/' : ''}${plural}`;
  const listSchema = modelName(definition, listKind);
  const list = operation('get', 'list', { verb: 'list', schema: listSchema, parameters: listParameters });
  const paths: Path[] = [
    {
      path: collection,
      parameters: ['pretty', ...place],
      operations: [
        list,
        operation('post', 'post', {
          verb: 'create',
          schema: model,
          body: body(model),
          codes: [200, 201, 202],
          parameters: writeParameters,
        }),
        operation('delete', 'deletecollection', {
          verb: 'deletecollection',
          schema: sharedNames.status,
          parameters: listParameters,
        }),
      ],
    },
    {
      path: `${collection}/{name}`,
      parameters: ['pretty', 'name', ...place],
      operations: [
        readOf(model),
        replaceOf(model),
        operation('delete', 'delete', {
          verb: 'delete',
          schema: sharedNames.status,
          codes: [200, 202],
          parameters: deleteParameters,
          body: { schema: sharedNames.deleteOptions, consumes: textTypes, isRequired: false },
        }),
        patchOf(model),
      ],
    },
  ];
  if (namespaced)
    paths.push({
      path: `/apis/${group}/${version}/${plural}`,
      parameters: ['pretty', ...listParameters],
      operations: [{ ...list, id: `list${baseOf(definition)}${kind}ForAllNamespaces`, parameters: [] }],
    });
  for (const name of ['status', 'scale']) {
    if (!subresources.has(name)) continue;
    const schema = name === 'scale' ? sharedNames.scale : model;
    paths.push({
      path: `${collection}/{name}/${name}`,
      parameters: ['pretty', 'name', ...place],
      operations: [readOf(schema, name), replaceOf(schema, name), patchOf(schema, name)],
    });
  }
  return paths;
}

function reference(model: string, prefix: string): JsonObject {
  return { $ref: `#/${prefix}/${model}` };
}

interface Words {
  readonly texts: CustomTexts;
  readonly kind: string;
  /** Of the operation; empty for parameters of all operations. */
  readonly method: string;
}

function parameterV3(name: string, { texts, ...request }: Words): JsonObject {
  const { in: place, type, description } = texts.parameter(name, request);
  const schema = { type, uniqueItems: true };
  return { name, in: place, description, ...(place === 'path' && { required: true }), schema };
}

function parameterV2(name: string, { texts, ...request }: Words): JsonObject {
  const { in: place, type, description } = texts.parameter(name, request);
  return { uniqueItems: true, type, description, name, in: place, ...(place === 'path' && { required: true }) };
}

function tagOf(definition: ResourceDefinition): string {
  return `${identifier(groupOf(definition), false)}_${identifier(definition.version, false)}`;
}

function extensionsOf({ action }: Operation, { group, version, kind }: ResourceDefinition): JsonObject {
  return { 'x-kubernetes-action': action, 'x-kubernetes-group-version-kind': { group, version, kind } };
}

function contents(types: readonly string[], model: string): JsonObject {
  const schema = reference(model, 'components/schemas');
  return Object.fromEntries(types.toSorted().map((type) => [type, { schema }]));
}

function responses({ codes }: Operation, more: JsonObject): JsonObject {
  const answers = codes.map((code): [string, JsonObject] => [String(code), { description: reasons[code], ...more }]);
  return { ...Object.fromEntries<JsonObject>(answers), 401: { description: reasons[401] } };
}

/** How the operations and the parameters of one version of OpenAPI are written. */
interface Form {
  readonly operation: (operation: Operation) => JsonObject;
  readonly parameters: (names: readonly string[]) => JsonObject[];
}

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];

function writePaths(definition: ResourceDefinition, { operation, parameters }: Form): JsonObject {
  const item = ({ operations, parameters: names }: Path): JsonObject => ({
    ...Object.fromEntries(
      operations
        .toSorted((a, b) => methods.indexOf(a.method) - methods.indexOf(b.method))
        .map((each) => [each.method, operation(each)]),
    ),
    parameters: parameters(names),
  });
  return sortedByName(Object.fromEntries(pathsOf(definition).map((path) => [path.path, item(path)])));
}

/** The paths of a custom resource in OpenAPI v3. */
export function customPathsV3(definition: ResourceDefinition, texts: CustomTexts): JsonObject {
  const parameters = (names: readonly string[], method = ''): JsonObject[] =>
    names.toSorted().map((name) => parameterV3(name, { texts, kind: definition.kind, method }));
  const operation = (each: Operation): JsonObject => ({
    tags: [tagOf(definition)],
    description: each.description,
    operationId: each.id,
    ...(each.parameters.length > 0 && { parameters: parameters(each.parameters, each.method) }),
    ...(each.body !== undefined && {
      requestBody: {
        content: contents(each.body.consumes, each.body.schema),
        ...(each.body.isRequired && { required: true }),
      },
    }),
    responses: responses(each, { content: contents(textTypes, each.schema) }),
    ...extensionsOf(each, definition),
  });
  return writePaths(definition, { operation, parameters });
}

/** The paths of a custom resource in OpenAPI v2. */
export function customPathsV2(definition: ResourceDefinition, texts: CustomTexts): JsonObject {
  const parameters = (names: readonly string[], method = ''): JsonObject[] =>
    names.toSorted().map((name) => parameterV2(name, { texts, kind: definition.kind, method }));
  const bodyParameter = ({ schema, isRequired }: Body): JsonObject => ({
    name: 'body',
    in: 'body',
    ...(isRequired && { required: true }),
    schema: reference(schema, 'definitions'),
  });
  const operation = (each: Operation): JsonObject => ({
    description: each.description,
    consumes: each.consumes,
    produces: textTypes,
    schemes: ['https'],
    tags: [tagOf(definition)],
    operationId: each.id,
    ...((each.parameters.length > 0 || each.body !== undefined) && {
      parameters: [
        ...(each.body === undefined ? [] : [bodyParameter(each.body)]),
        ...parameters(each.parameters, each.method),
      ],
    }),
    responses: responses(each, { schema: reference(each.schema, 'definitions') }),
    ...extensionsOf(each, definition),
  });
  return writePaths(definition, { operation, parameters });
}
