/** The requests that a custom resource takes, as the paths of OpenAPI documents. */
import type { JsonObject } from '@kctl/crd/engine';
import type { ResourceDefinition } from '../../registry/resource.js';
import { deleteParameters, listParameters, operationDescription, parameterOf, writeParameters } from './parameters.js';

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

const texts = ['application/json', 'application/yaml'];
const patches = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'];
const reasons: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted', 401: 'Unauthorized' };

/** `stable.example.com` as a part of an operation's name: `StableExampleCom`. */
function identifier(text: string, isCapital: boolean): string {
  const joined = text.replace(/[^\p{L}\p{Nd}_]+(.?)/gu, (_, letter: string) => letter.toUpperCase());
  return isCapital ? joined.charAt(0).toUpperCase() + joined.slice(1) : joined;
}

function groupOf({ group }: ResourceDefinition): string {
  return group.replace(/\.k8s\.io$/, '');
}

/** The definition's name in OpenAPI documents: the group reversed, version and kind. */
export function modelName({ group, version }: ResourceDefinition, kind: string): string {
  return `${group.split('.').toReversed().join('.')}.${version}.${kind}`;
}

function pathsOf(definition: ResourceDefinition): Path[] {
  const { group, version, plural, namespaced, kind, listKind, subresources } = definition;
  const base = `${identifier(groupOf(definition), true)}${identifier(version, true)}`;
  const scope = namespaced ? 'Namespaced' : '';
  const model = modelName(definition, kind);
  const listModel = modelName(definition, listKind);
  const place = namespaced ? ['namespace'] : [];
  const collection = `/apis/${group}/${version}/${namespaced ? 'namespaces/{namespace}/' : ''}${plural}`;
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
      description: operationDescription(action, kind, subresource),
      parameters: [],
      consumes: texts,
      codes: [200],
      ...rest,
    };
  };
  const body = (schema: string): Body => ({ schema, consumes: texts, isRequired: true });
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
  const list = operation('get', 'list', { verb: 'list', schema: listModel, parameters: listParameters });
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
          body: { schema: sharedNames.deleteOptions, consumes: texts, isRequired: false },
        }),
        patchOf(model),
      ],
    },
  ];
  if (namespaced)
    paths.push({
      path: `/apis/${group}/${version}/${plural}`,
      parameters: ['pretty', ...listParameters],
      operations: [{ ...list, id: `list${base}${kind}ForAllNamespaces`, parameters: [] }],
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

function parameterV3(name: string): JsonObject {
  const { in: place, type, description } = parameterOf(name);
  const schema = { type, uniqueItems: true };
  return { description, in: place, name, ...(place === 'path' && { required: true }), schema };
}

function parameterV2(name: string): JsonObject {
  const { in: place, type, description } = parameterOf(name);
  return { description, in: place, name, ...(place === 'path' && { required: true }), type, uniqueItems: true };
}

function common({ id, action, description }: Operation, definition: ResourceDefinition): JsonObject {
  const { group, version, kind } = definition;
  return {
    description,
    operationId: id,
    tags: [`${identifier(groupOf(definition), false)}_${identifier(version, false)}`],
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group, kind, version },
  };
}

function contents(types: readonly string[], model: string): JsonObject {
  const schema = reference(model, 'components/schemas');
  return Object.fromEntries(types.map((type) => [type, { schema }]));
}

function responses({ codes }: Operation, more: JsonObject): JsonObject {
  const answers = codes.map((code): [string, JsonObject] => [String(code), { ...more, description: reasons[code] }]);
  return { ...Object.fromEntries<JsonObject>(answers), 401: { description: reasons[401] } };
}

function sorted(names: readonly string[]): readonly string[] {
  return names.toSorted();
}

/** The paths of a custom resource in OpenAPI v3. */
export function customPathsV3(definition: ResourceDefinition): JsonObject {
  const item = ({ parameters, operations }: Path): JsonObject => ({
    parameters: sorted(parameters).map(parameterV3),
    ...Object.fromEntries(
      operations.map((operation) => [
        operation.method,
        {
          ...common(operation, definition),
          ...(operation.parameters.length > 0 && { parameters: sorted(operation.parameters).map(parameterV3) }),
          ...(operation.body !== undefined && {
            requestBody: {
              content: contents(operation.body.consumes, operation.body.schema),
              ...(operation.body.isRequired && { required: true }),
            },
          }),
          responses: responses(operation, { content: contents(texts, operation.schema) }),
        },
      ]),
    ),
  });
  return Object.fromEntries(pathsOf(definition).map((path) => [path.path, item(path)]));
}

/** The paths of a custom resource in OpenAPI v2. */
export function customPathsV2(definition: ResourceDefinition): JsonObject {
  const bodyParameter = ({ schema, isRequired }: Body): JsonObject => ({
    in: 'body',
    name: 'body',
    ...(isRequired && { required: true }),
    schema: reference(schema, 'definitions'),
  });
  const item = ({ parameters, operations }: Path): JsonObject => ({
    parameters: sorted(parameters).map(parameterV2),
    ...Object.fromEntries(
      operations.map((operation) => [
        operation.method,
        {
          ...common(operation, definition),
          consumes: operation.consumes,
          produces: texts,
          schemes: ['https'],
          ...((operation.parameters.length > 0 || operation.body !== undefined) && {
            parameters: [
              ...(operation.body === undefined ? [] : [bodyParameter(operation.body)]),
              ...sorted(operation.parameters).map(parameterV2),
            ],
          }),
          responses: responses(operation, { schema: reference(operation.schema, 'definitions') }),
        },
      ]),
    ),
  });
  return Object.fromEntries(pathsOf(definition).map((path) => [path.path, item(path)]));
}
