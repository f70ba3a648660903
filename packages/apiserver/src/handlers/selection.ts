import { isSelectorError, parseFieldSelector, parseLabelSelector, type UntypedObject } from '@kctl/apimachinery';
import { fieldSyntaxProblem, labelSyntaxProblem, namedFields } from '../protocol/label-syntax.js';
import type { ResourceDefinition } from '../resource/resource.js';
import { badRequest } from '../protocol/status.js';
import type { WatchScope } from '../watch/hub.js';
import { storageKeyOf, type ResourceCall } from './call.js';
import type { listParameters, QueryOf } from './parameters.js';
import { checkNumbers } from './read-options.js';

/** Parses by apimachinery, complains in the words of upstream. */
function parsing<T>(parse: () => T, problem: string | undefined, prefix: string): T {
  if (problem !== undefined) throw badRequest(problem);
  try {
    return parse();
  } catch (error) {
    if (isSelectorError(error)) throw badRequest(`${prefix}${inUpstreamWords(error.message)}`);
    throw error;
  }
}

function inUpstreamWords(message: string): string {
  const key = /^("[^]*") is not a label key/.exec(message)?.[1];
  if (key === undefined) return message;
  return `<nil>: Invalid value: ${key}: a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`;
}

/**
 * Selects the objects of a list, a watch or a deletecollection, from its path and its selectors.
 *
 * @param check - checks the other parameters, as upstream, between the syntax of the selectors and the fields they name
 * @throws StatusError 400 for selectors that do not parse or name unknown fields
 */
export function selectionOf(
  call: Pick<ResourceCall, 'definition' | 'path' | 'query'>,
  check: (query: URLSearchParams) => void,
): WatchScope {
  const { definition, path, query } = call;
  const selectors: QueryOf<typeof listParameters> = query;
  const labelText = selectors.get('labelSelector') ?? '';
  const fieldText = selectors.get('fieldSelector') ?? '';
  checkNumbers(query);
  const labels = parsing(
    () => parseLabelSelector(labelText),
    labelSyntaxProblem(labelText),
    'unable to parse requirement: ',
  );
  const named = namedFields(fieldText);
  const fields = parsing(() => parseFieldSelector(named.text), fieldSyntaxProblem(fieldText), '');
  check(query);
  if (named.hasNameless) throw badRequest(definition.fieldLabelError(''));
  for (const { path: label } of fields.terms) checkField(definition, label);
  const name = fields.terms.find((term) => term.path === 'metadata.name' && term.operator === '=')?.value;
  const namespace = definition.namespaced
    ? path.namespace ||
      (fields.terms.find((term) => term.path === 'metadata.namespace' && term.operator === '=')?.value ?? '')
    : '';
  const key =
    name !== undefined && (!definition.namespaced || namespace !== '') ? storageKeyOf(namespace, name) : undefined;
  const matches = (object: UntypedObject): boolean =>
    labels.matches(object.metadata.labels) && (fields.isEmpty || fields.matches(definition.fieldsOf(object)));
  return {
    table: definition.storageKey,
    prefix: namespace === '' ? '' : `${namespace}/`,
    selector: `${labels.toString()}\n${fields.toString()}`,
    ...(key !== undefined && { key }),
    ...((!labels.isEmpty || !fields.isEmpty) && { matches }),
  };
}

function checkField(definition: ResourceDefinition, label: string): void {
  const isCommon = label === 'metadata.name' || (label === 'metadata.namespace' && definition.namespaced);
  if (!isCommon && !definition.selectableFields.includes(label)) throw badRequest(definition.fieldLabelError(label));
}
