import type { FunctionEntry } from '../check/functions.js';
import { structType, type CelType } from '../types/type.js';
import { Failure, LibraryValue, noSuchOverload, type Value } from '../values/value.js';

/** An authorization check by an expression, for the user of the request or for a service account. */
export interface AuthorizationQuestion {
  readonly verb: string;
  /** Set for a request outside of resources, `/healthz`. */
  readonly path?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** The service account to check instead of the user of the request. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
}

/** The authorizer's answer. */
export interface AuthorizationAnswer {
  readonly allowed: boolean;
  readonly reason?: string;
  /** The error if the authorizer could not decide. */
  readonly error?: string;
}

const prefix = 'kubernetes.authorization.';
const authorizer = `${prefix}Authorizer`;
const pathCheck = `${prefix}PathCheck`;
const groupCheck = `${prefix}GroupCheck`;
const resourceCheck = `${prefix}ResourceCheck`;
const decision = `${prefix}Decision`;

type Ask = (question: AuthorizationQuestion) => AuthorizationAnswer;
type Partly = Omit<AuthorizationQuestion, 'verb'>;

/** A question under construction. */
class CheckValue extends LibraryValue {
  override readonly type: CelType;
  readonly ask: Ask;
  readonly question: Partly;

  constructor(type: string, ask: Ask, question: Partly) {
    super();
    this.type = structType(type);
    this.ask = ask;
    this.question = question;
  }

  override equals(other: Value): boolean {
    return other === this;
  }

  with(type: string, more: Partly): CheckValue {
    return new CheckValue(type, this.ask, { ...this.question, ...more });
  }
}

class DecisionValue extends LibraryValue {
  override readonly type: CelType = structType(decision);
  readonly answer: AuthorizationAnswer;

  constructor(answer: AuthorizationAnswer) {
    super();
    this.answer = answer;
  }

  override equals(other: Value): boolean {
    return other === this;
  }
}

/**
 * The value of the variable `authorizer`, which passes checks of expressions to `ask`. With an initial resource, the
 * value of `authorizer.requestResource`.
 */
export function authorizerValue(
  ask: (question: AuthorizationQuestion) => AuthorizationAnswer,
  question: Omit<AuthorizationQuestion, 'verb'> = {},
): LibraryValue {
  return new CheckValue(question.resource === undefined ? authorizer : resourceCheck, ask, question);
}

function step(
  name: string,
  id: string,
  [from, to]: readonly [from: string, to: string],
  more: (text: string) => Partly,
): FunctionEntry {
  return {
    name,
    id,
    type: `${from}.(string): ${to}`,
    call: ([check, text]) =>
      check instanceof CheckValue && typeof text === 'string' ? check.with(to, more(text)) : noSuchOverload,
  };
}

const label = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

function serviceAccount([check, namespace, name]: readonly Value[]): Value | Failure {
  if (!(check instanceof CheckValue) || typeof namespace !== 'string' || typeof name !== 'string')
    return noSuchOverload;
  if (name.length > 253 || !name.split('.').every((part) => label.test(part)))
    return new Failure('Invalid service account name');
  if (namespace.length > 63 || !label.test(namespace)) return new Failure('Invalid service account namespace');
  return check.with(authorizer, { serviceAccount: { namespace, name } });
}

function ask([check, verb]: readonly Value[]): Value | Failure {
  if (!(check instanceof CheckValue) || typeof verb !== 'string') return noSuchOverload;
  return new DecisionValue(check.ask({ ...check.question, verb }));
}

function read(name: string, type: string, get: (answer: AuthorizationAnswer) => Value): FunctionEntry {
  return {
    name,
    id: `decision_${name}`,
    type: `${decision}.(): ${type}`,
    call: ([value]) => (value instanceof DecisionValue ? get(value.answer) : noSuchOverload),
  };
}

/** Kubernetes' authorizer. */
export const authorizerLibrary: readonly FunctionEntry[] = [
  step('path', 'authorizer_path', [authorizer, pathCheck], (path) => ({ path })),
  step('group', 'authorizer_group', [authorizer, groupCheck], (group) => ({ group })),
  {
    name: 'serviceAccount',
    id: 'authorizer_serviceaccount',
    type: `${authorizer}.(string, string): ${authorizer}`,
    call: serviceAccount,
  },
  step('resource', 'groupcheck_resource', [groupCheck, resourceCheck], (resource) => ({ resource })),
  step('subresource', 'resourcecheck_subresource', [resourceCheck, resourceCheck], (subresource) => ({ subresource })),
  step('namespace', 'resourcecheck_namespace', [resourceCheck, resourceCheck], (namespace) => ({ namespace })),
  step('name', 'resourcecheck_name', [resourceCheck, resourceCheck], (name) => ({ name })),
  { name: 'check', id: 'pathcheck_check', type: `${pathCheck}.(string): ${decision}`, call: ask },
  { name: 'check', id: 'resourcecheck_check', type: `${resourceCheck}.(string): ${decision}`, call: ask },
  read('errored', 'bool', ({ error }) => error !== undefined),
  read('error', 'string', ({ error }) => error ?? ''),
  read('allowed', 'bool', ({ allowed, error }) => allowed && error === undefined),
  read('reason', 'string', ({ reason }) => reason ?? ''),
];

/** The authorizer's selectors, which came later. */
export const authorizerSelectors: readonly FunctionEntry[] = [
  step('fieldSelector', 'authorizer_fieldselector', [resourceCheck, resourceCheck], (fieldSelector) => ({
    fieldSelector,
  })),
  step('labelSelector', 'authorizer_labelselector', [resourceCheck, resourceCheck], (labelSelector) => ({
    labelSelector,
  })),
];

/** Further functions for a mutating policy's JSON patches. */
export const jsonPatchLibrary: readonly FunctionEntry[] = [
  {
    name: 'jsonpatch.escapeKey',
    id: 'string_jsonpatch_escapeKey_string',
    type: '(string): string',
    call: ([text]) => (typeof text === 'string' ? text.replaceAll('~', '~0').replaceAll('/', '~1') : noSuchOverload),
  },
];
