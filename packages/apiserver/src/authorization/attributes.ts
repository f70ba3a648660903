import { goQuoted } from '@kctl/crd/internal/engine';
import { isSelectorError, parseFieldSelector, parseLabelSelector, type StatusError } from '@kctl/apimachinery';
import { fieldSyntaxProblem, labelSyntaxProblem, namedFields } from '../protocol/label-syntax.js';
import { forbiddenObject } from '../protocol/status.js';
import type { User } from '../protocol/api-request.js';
import type { ResourcePath } from '../protocol/request-info.js';

/** Input of an authorizer's decision, with the user, the verb, and the resource or path. */
export interface Attributes {
  readonly user: User;
  /** `get`, `list`, `create`, …; of a path that is not a resource the HTTP method in lower case. */
  readonly verb: string;
  readonly isResource: boolean;
  /** Of a request that is not about a resource. */
  readonly path: string;
  readonly group: string;
  /** '*': all of them. */
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

const nothing = {
  path: '',
  group: '',
  version: '',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
};

/** Attributes of {@link resourceAttributes} that are left out are ''. */
export function resourceAttributes(
  user: User,
  verb: string,
  resource: Partial<Pick<Attributes, 'group' | 'version' | 'resource' | 'subresource' | 'namespace' | 'name'>>,
): Attributes {
  return { ...nothing, ...resource, user, verb, isResource: true };
}

/** A request for a path that is not a resource. */
export function pathAttributes(user: User, verb: string, path: string): Attributes {
  return { ...nothing, user, verb, path, isResource: false };
}

/** A request as HTTP carries it. */
export interface AuthorizedRequest {
  readonly user: User;
  readonly method: string;
  /** The path, decoded, without its query. */
  readonly decodedPath: string;
  readonly path: ResourcePath | undefined;
  readonly verb: string | undefined;
  readonly query: URLSearchParams;
}

/** Attributes of a request, as `RequestInfoFactory` reads them. */
export function requestAttributes(request: AuthorizedRequest): Attributes {
  const { user, method, decodedPath, path, verb = '', query } = request;
  if (path === undefined) return pathAttributes(user, method.toLowerCase(), decodedPath);
  const { group, version, resource, name } = path;
  const isNamespace = group === '' && resource === 'namespaces';
  const isRead = verb === 'list' || verb === 'watch';
  const [subresource = ''] = path.subresource.split('/');
  return resourceAttributes(user, verb, {
    group,
    version,
    resource,
    subresource,
    namespace: isNamespace ? name : path.namespace,
    name: isRead && name === '' ? nameSelectedBy(query) : name,
  });
}

/**
 * The one object that a field selector on its name selects. Permission for that name is enough to list or watch it. As
 * upstream, it counts only if all parameters of the list can be read.
 */
function nameSelectedBy(query: URLSearchParams): string {
  const fieldText = query.get('fieldSelector') ?? '';
  if (fieldText === '') return '';
  const labelText = query.get('labelSelector') ?? '';
  if (labelSyntaxProblem(labelText) !== undefined || fieldSyntaxProblem(fieldText) !== undefined) return '';
  if (['limit', 'timeoutSeconds'].some((name) => !/^[+-]?\d*$/.test(query.get(name) ?? ''))) return '';
  try {
    parseLabelSelector(labelText);
    const { terms } = parseFieldSelector(namedFields(fieldText).text);
    const name = terms.find(({ path, operator }) => path === 'metadata.name' && operator === '=')?.value ?? '';
    return name === '.' || name === '..' || /[/%]/.test(name) ? '' : name;
  } catch (error) {
    if (isSelectorError(error)) return '';
    throw error;
  }
}

/** 403 as the API server words it. */
export function forbiddenRequest(attributes: Attributes, reason = ''): StatusError {
  const { group, resource, name } = attributes;
  const message = escaped(describe(attributes));
  return forbiddenObject({ group, plural: resource }, name, reason === '' ? message : `${message}: ${reason}`);
}

function describe({ user, verb, isResource, path, group, resource, subresource, namespace }: Attributes): string {
  const who = `User ${goQuoted(user.name)} cannot ${verb}`;
  if (!isResource) return `${who} path ${goQuoted(path)}`;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuoted(namespace)}`;
  return `${who} resource ${goQuoted(what)} in API group ${goQuoted(group)} ${where}`;
}

/** Messages may end up in a browser. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
