import {
  dns1035Label,
  dns1123Subdomain,
  duplicate,
  forbidden,
  invalidValue,
  isObject,
  labelKey,
  notSupported,
  objectOf,
  objectsOf,
  pathSegment,
  required,
  stringOf,
  stringsOf,
  tooMany,
  type FieldError,
  type JsonObject,
} from '@kctl/crd/internal/engine';
import { PolicyEnvironment, type CompiledExpression } from '../../expressions/environment.js';
import { validateLabelSelector } from '../../resource/label-selector.js';
import { validateAdmissionRules } from './admission-rules.js';

/** New expressions get the libraries of the minor before the server's, so that they still compile after a rollback. */
const version = '1.35';
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const actions = ['Audit', 'Deny', 'Warn'];
const mutatingOperations = ['*', 'CONNECT', 'CREATE', 'UPDATE'];
const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const reserved = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(
    ' ',
  ),
);
const maxConditions = 64;
const maxAnnotations = 20;

function oneOf(value: string, supported: readonly string[], field: string): FieldError[] {
  if (value === '') return [required(field)];
  return supported.includes(value) ? [] : [notSupported(field, value, supported)];
}

function problemOf(compiled: CompiledExpression, given: string, field: string): FieldError[] {
  return compiled.problem === undefined ? [] : [invalidValue(field, given, compiled.problem)];
}

function validateParamKind(paramKind: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const apiVersion = stringOf(paramKind['apiVersion']);
  const kind = stringOf(paramKind['kind']);
  if (apiVersion === '') errors.push(required(`${field}.apiVersion`));
  else {
    const slash = apiVersion.indexOf('/');
    const group = slash < 0 ? '' : apiVersion.slice(0, slash);
    const messages = group === '' ? [] : dns1123Subdomain(group);
    if (messages.length > 0) errors.push(invalidValue(`${field}.apiVersion`, group, messages.join(',')));
    const own = apiVersion.slice(slash + 1);
    const why = dns1035Label(own);
    if (own === '') errors.push(invalidValue(`${field}.apiVersion`, apiVersion, 'version must be specified'));
    else if (why.length > 0) errors.push(invalidValue(`${field}.apiVersion`, own, why.join(',')));
  }
  const why = dns1035Label(kind.toLowerCase());
  if (kind === '') errors.push(required(`${field}.kind`));
  else if (why.length > 0) {
    const text = `may have mixed case, but should otherwise match: ${why.join(',')}`;
    errors.push(invalidValue(`${field}.kind`, kind, text));
  }
  return errors;
}

function validateMatch(match: unknown, field: string): FieldError[] {
  if (!isObject(match)) return [];
  const policy = stringOf(match['matchPolicy']);
  return [
    ...oneOf(policy, ['Equivalent', 'Exact'], `${field}.matchPolicy`),
    ...validateLabelSelector(match['namespaceSelector'], `${field}.namespaceSelector`),
    ...validateLabelSelector(match['objectSelector'], `${field}.objectSelector`),
    ...validateAdmissionRules(match['resourceRules'], `${field}.resourceRules`),
    ...validateAdmissionRules(match['excludeResourceRules'], `${field}.excludeResourceRules`),
  ];
}

function validateOperations(match: unknown, field: string): FieldError[] {
  return objectsOf(objectOf(match)['resourceRules']).flatMap((rule) =>
    stringsOf(rule['operations'])
      .filter((operation) => !mutatingOperations.includes(operation))
      .map((operation) => notSupported(`${field}.resourceRules.operations`, operation, mutatingOperations)),
  );
}

function validateConditions(
  conditions: readonly JsonObject[],
  environment: PolicyEnvironment,
  field: string,
): FieldError[] {
  const errors = conditions.length > maxConditions ? [tooMany(field, conditions.length, maxConditions)] : [];
  const seen = new Set<string>();
  for (const [index, condition] of conditions.entries()) {
    const at = `${field}[${index}]`;
    const name = stringOf(condition['name']);
    const expression = stringOf(condition['expression']).trim();
    if (expression === '') errors.push(required(`${at}.expression`));
    else errors.push(...problemOf(environment.compile(expression, 'bool'), expression, `${at}.expression`));
    if (name === '') errors.push(required(`${at}.name`));
    else errors.push(...labelKey(name).map((why) => invalidValue(`${at}.name`, name, why)));
    if (name !== '' && seen.has(name)) errors.push(duplicate(`${at}.name`, name));
    seen.add(name);
  }
  return errors;
}

function validateVariables(
  variables: readonly JsonObject[],
  environment: PolicyEnvironment,
  field: string,
): FieldError[] {
  return variables.flatMap((variable, index) => {
    const at = `${field}[${index}]`;
    const name = stringOf(variable['name']);
    const expression = stringOf(variable['expression']);
    const errors: FieldError[] = [];
    if (name.trim() === '') errors.push(required(`${at}.name`, 'name is not specified'));
    else if (!identifier.test(name) || reserved.has(name)) {
      errors.push(invalidValue(`${at}.name`, name, 'must be a valid CEL identifier'));
    }
    if (expression.trim() === '') return [...errors, required(`${at}.expression`, 'expression is not specified')];
    environment.declare([variable]);
    const compiled = environment.variables.get(name);
    return compiled === undefined ? errors : [...errors, ...problemOf(compiled, expression, `${at}.expression`)];
  });
}

function validateValidation(validation: JsonObject, environment: PolicyEnvironment, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const expression = stringOf(validation['expression']);
  const message = stringOf(validation['message']);
  const messageExpression = stringOf(validation['messageExpression']);
  const reason = stringOf(validation['reason']);
  if (expression.trim() === '') errors.push(required(`${field}.expression`, 'expression is not specified'));
  else errors.push(...problemOf(environment.compile(expression, 'bool'), expression, `${field}.expression`));
  const at = `${field}.messageExpression`;
  if (messageExpression !== '' && messageExpression.trim() === '') {
    errors.push(invalidValue(at, messageExpression, 'must be non-empty if specified'));
  } else if (messageExpression !== '') {
    errors.push(...problemOf(environment.compileText(messageExpression, 'string'), messageExpression, at));
  }
  if (message !== '' && message.trim() === '') {
    errors.push(invalidValue(`${field}.message`, message, 'must be non-empty if specified'));
  } else if (/[\n\r]/.test(message.trim())) {
    errors.push(invalidValue(`${field}.message`, message, 'must not contain line breaks'));
  }
  if (reason !== '' && !reasons.includes(reason)) errors.push(notSupported(`${field}.reason`, reason, reasons));
  return errors;
}

function validateAnnotations(spec: JsonObject, policy: string, environment: PolicyEnvironment): FieldError[] {
  const field = 'spec.auditAnnotations';
  const annotations = objectsOf(spec['auditAnnotations']);
  const errors: FieldError[] = [];
  if (annotations.length > maxAnnotations) {
    errors.push(invalidValue(field, annotations, `must not have more than ${maxAnnotations} auditAnnotations`));
  }
  const seen = new Set<string>();
  for (const [index, annotation] of annotations.entries()) {
    const at = `${field}[${index}]`;
    const key = stringOf(annotation['key']);
    const expression = stringOf(annotation['valueExpression']);
    errors.push(...labelKey(`${policy}/${key}`).map((why) => invalidValue(`${at}.key`, `${policy}/${key}`, why)));
    if (expression.trim() === '') {
      errors.push(required(`${at}.valueExpression`, 'valueExpression is not specified'));
    } else {
      const compiled = environment.compile(expression.trim(), ['string', 'null']);
      errors.push(...problemOf(compiled, expression, `${at}.valueExpression`));
    }
    if (seen.has(key)) errors.push(duplicate(`${at}.key`, key));
    seen.add(key);
  }
  return errors;
}

function validateMutation(mutation: JsonObject, environment: PolicyEnvironment, field: string): FieldError[] {
  const type = stringOf(mutation['patchType']);
  if (type !== 'JSONPatch' && type !== 'ApplyConfiguration') {
    return oneOf(type, ['ApplyConfiguration', 'JSONPatch'], `${field}.patchType`);
  }
  const [own, other] = type === 'JSONPatch' ? ['jsonPatch', 'applyConfiguration'] : ['applyConfiguration', 'jsonPatch'];
  const given = mutation[own];
  const errors: FieldError[] = [];
  if (!isObject(given)) errors.push(required(`${field}.${own}`, `must be specified when patchType is ${type}`));
  else {
    const expression = stringOf(given['expression']).trim();
    const resultType = type === 'JSONPatch' ? 'list(JSONPatch)' : 'Object';
    const at = `${field}.${own}.expression`;
    if (expression === '') errors.push(required(at));
    else errors.push(...problemOf(environment.compile(expression, resultType), expression, at));
  }
  if (isObject(mutation[other])) {
    errors.push(invalidValue(`${field}.${other}`, `{${other}}`, `must not be specified when patchType is ${type}`));
  }
  return errors;
}

function environmentOf(spec: JsonObject, canPatch: boolean): PolicyEnvironment {
  return new PolicyEnvironment({ hasParams: isObject(spec['paramKind']), hasAuthorizer: true, canPatch, version });
}

/** Common parts of both kinds of policies. */
function validatePolicy(spec: JsonObject, environment: PolicyEnvironment, isMutating: boolean): FieldError[] {
  const match = spec['matchConstraints'];
  const field = 'spec.matchConstraints';
  return [
    ...oneOf(stringOf(spec['failurePolicy']), ['Fail', 'Ignore'], 'spec.failurePolicy'),
    ...(isObject(spec['paramKind']) ? validateParamKind(spec['paramKind'], 'spec.paramKind') : []),
    ...(isObject(match) ? validateMatch(match, field) : [required(field)]),
    ...(isObject(match) && objectsOf(match['resourceRules']).length === 0 ? [required(`${field}.resourceRules`)] : []),
    ...(isMutating ? validateOperations(match, field) : []),
    ...validateConditions(objectsOf(spec['matchConditions']), environment, 'spec.matchConditions'),
    ...validateVariables(objectsOf(spec['variables']), environment, 'spec.variables'),
  ];
}

/** Validates a ValidatingAdmissionPolicy. */
export function validateValidatingPolicy(object: JsonObject): FieldError[] {
  const spec = objectOf(object['spec']);
  const environment = environmentOf(spec, false);
  const errors = validatePolicy(spec, environment, false);
  const validations = objectsOf(spec['validations']);
  if (validations.length === 0 && objectsOf(spec['auditAnnotations']).length === 0) {
    const text = 'validations or auditAnnotations must contain at least one item';
    return [...errors, required('spec.validations', text), required('spec.auditAnnotations', text)];
  }
  return [
    ...errors,
    ...validations.flatMap((each, index) => validateValidation(each, environment, `spec.validations[${index}]`)),
    ...validateAnnotations(spec, stringOf(objectOf(object['metadata'])['name']), environment),
  ];
}

/** Validates a MutatingAdmissionPolicy. */
export function validateMutatingPolicy(object: JsonObject): FieldError[] {
  const spec = objectOf(object['spec']);
  const environment = environmentOf(spec, true);
  const mutations = objectsOf(spec['mutations']);
  return [
    ...validatePolicy(spec, environment, true),
    ...(mutations.length === 0 ? [required('spec.mutations', 'mutations must contain at least one item')] : []),
    ...mutations.flatMap((each, index) => validateMutation(each, environment, `spec.mutations[${index}]`)),
    ...oneOf(stringOf(spec['reinvocationPolicy']), ['IfNeeded', 'Never'], 'spec.reinvocationPolicy'),
  ];
}

function validateParamRef(paramRef: unknown, field: string): FieldError[] {
  if (!isObject(paramRef)) return [];
  const errors: FieldError[] = [];
  const name = stringOf(paramRef['name']);
  const hasSelector = isObject(paramRef['selector']);
  const exclusive = 'name and selector are mutually exclusive';
  if (name !== '') {
    errors.push(...pathSegment(name).map((why) => invalidValue(`${field}.name`, name, why)));
    if (hasSelector) errors.push(forbidden(`${field}.name`, exclusive));
  }
  if (hasSelector) {
    errors.push(...validateLabelSelector(paramRef['selector'], `${field}.selector`));
    if (name !== '') errors.push(forbidden(`${field}.selector`, exclusive));
  }
  if (name === '' && !hasSelector) errors.push(required(field, 'one of name or selector must be specified'));
  const action = stringOf(paramRef['parameterNotFoundAction']);
  return [...errors, ...oneOf(action, ['Deny', 'Allow'], `${field}.parameterNotFoundAction`)];
}

function validateActions(given: readonly string[]): FieldError[] {
  const field = 'spec.validationActions';
  const errors = given.flatMap((action, index) => [
    ...(actions.includes(action) ? [] : [notSupported(`${field}[${index}]`, action, actions)]),
    ...(given.indexOf(action) < index ? [duplicate(`${field}[${index}]`, action)] : []),
  ]);
  if (given.includes('Deny') && given.includes('Warn')) {
    const text =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
    errors.push(invalidValue(field, given, text));
  }
  return given.length > 0 ? errors : [required(field, 'at least one validation action is required')];
}

/** Validates a binding of either kind of policy. */
export function validatePolicyBinding(object: JsonObject, isMutating: boolean): FieldError[] {
  const spec = objectOf(object['spec']);
  const name = stringOf(spec['policyName']);
  const match = spec['matchResources'];
  return [
    ...(name === ''
      ? [required('spec.policyName')]
      : dns1123Subdomain(name).map((why) => invalidValue('spec.policyName', name, why))),
    ...validateParamRef(spec['paramRef'], 'spec.paramRef'),
    ...validateMatch(match, 'spec.matchResources'),
    ...(isMutating
      ? validateOperations(match, 'spec.matchResources')
      : validateActions(stringsOf(spec['validationActions']))),
  ];
}
