import {
  invalidValue,
  notSupported,
  objectsOf,
  required,
  stringOf,
  stringsOf,
  type FieldError,
} from '@kctl/crd/internal/engine';

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const scopes = ['*', 'Cluster', 'Namespaced'];

function validateResources(resources: readonly string[], field: string): FieldError[] {
  if (resources.length === 0) return [required(field)];
  const errors: FieldError[] = [];
  const anySub = new Set<string>();
  const anyResource = new Set<string>();
  let hasPlain = false;
  for (const [index, given] of resources.entries()) {
    const at = `${field}[${index}]`;
    if (given === '') {
      errors.push(required(at));
      continue;
    }
    const slash = given.indexOf('/');
    if (slash < 0) {
      // As upstream, the last one decides.
      hasPlain = given !== '*';
      continue;
    }
    const [main, sub] = [given.slice(0, slash), given.slice(slash + 1)];
    if (anySub.has(main)) errors.push(invalidValue(at, given, `if '${main}/*' is present, must not specify ${given}`));
    if (anyResource.has(sub))
      errors.push(invalidValue(at, given, `if '*/${sub}' is present, must not specify ${given}`));
    if (sub === '*') anySub.add(main);
    if (main === '*') anyResource.add(sub);
  }
  if (resources.length > 1 && resources.includes('*/*'))
    errors.push(invalidValue(field, resources, "if '*/*' is present, must not specify other resources"));
  if (resources.includes('*') && hasPlain)
    errors.push(
      invalidValue(field, resources, "if '*' is present, must not specify other resources without subresources"),
    );
  return errors;
}

function validateList(items: readonly string[], field: string, what: string): FieldError[] {
  if (items.length === 0) return [required(field)];
  return items.length > 1 && items.includes('*')
    ? [invalidValue(field, items, `if '*' is present, must not specify other ${what}`)]
    : [];
}

/** Validates the rules of a webhook or of a policy. */
export function validateAdmissionRules(rules: unknown, field: string): FieldError[] {
  return objectsOf(rules).flatMap((rule, index) => {
    const at = `${field}[${index}]`;
    const given = stringsOf(rule['operations']);
    const versions = stringsOf(rule['apiVersions']);
    const scope = stringOf(rule['scope']);
    return [
      ...validateList(given, `${at}.operations`, 'operations'),
      ...given.flatMap((each, position) =>
        operations.includes(each) ? [] : [notSupported(`${at}.operations[${position}]`, each, operations)],
      ),
      ...validateList(stringsOf(rule['apiGroups']), `${at}.apiGroups`, 'API groups'),
      ...validateList(versions, `${at}.apiVersions`, 'API versions'),
      ...versions.flatMap((each, position) => (each === '' ? [required(`${at}.apiVersions[${position}]`)] : [])),
      ...validateResources(stringsOf(rule['resources']), `${at}.resources`),
      ...(scope === '' || scopes.includes(scope) ? [] : [notSupported(`${at}.scope`, scope, scopes)]),
    ];
  });
}
