import { requireKind, requireOptionsObject } from '@kctl/client/internal';
import type { Kind, LabelSelector } from '@kctl/apimachinery';
import { labelSelectorFrom } from '@kctl/apimachinery';
import type { MatchCondition } from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { messageOf } from '@kctl/telemetry/internal';
import type { OptionNames } from '@kctl/options';
import { numberProblem, optionProblems, shownValue } from '@kctl/options';
import type { Operation } from './review.js';
import { WebhookServerError } from '../errors.js';

/** Dangers that a registration may confirm, although they can bring a cluster to a stop. */
export type Confirmation = 'core-kinds' | 'own-namespace';

/** How the API server is to call a webhook, with the fields of a webhook configuration and their defaults. */
export interface WebhookRegistration {
  /**
   * Name of the webhook, a domain with three parts at least. @default `m<kind>-<version>.<group>`, `v…` for validators
   */
  readonly name?: string;
  /** The policy when the webhook cannot be called. @default 'Fail' */
  readonly failurePolicy?: 'Fail' | 'Ignore';
  /** Whether objects of other versions are converted and sent, too. @default 'Equivalent' */
  readonly matchPolicy?: 'Exact' | 'Equivalent';
  /** 1 to 30. @default 10 */
  readonly timeoutSeconds?: number;
  /** Whether the handler does anything beside its answer. Other than `None` it has to heed dry-run. @default 'None' */
  readonly sideEffects?: 'None' | 'NoneOnDryRun';
  /** Whether a mutating webhook is called again after others have changed the object. @default 'Never' */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded';
  /** Which namespaces; of no effect on cluster-scoped kinds other than Namespace. @default every one but the operator's own */
  readonly namespaceSelector?: LabelSelector;
  /** Which objects, by their labels. @default every one */
  readonly objectSelector?: LabelSelector;
  /** CEL expressions that must hold for a request to be sent. */
  readonly matchConditions?: readonly MatchCondition[];
  /** @default CREATE and UPDATE for a defaulter, what a validator has members for otherwise */
  readonly operations?: readonly Operation[];
  /**
   * Subresources beside the object itself: `status`, `scale`, …, or `*`. A validator or defaulter then gets what the API
   * server sends for one, which may be of another kind (`scale`: a Scale); see `subResource` of its context.
   *
   * @default none
   */
  readonly subResources?: readonly string[];
  /**
   * Registrations that are refused otherwise. `core-kinds` fails closed on a kind of Kubernetes itself and has no
   * selector, so that an operator that is down stops that kind in the whole cluster. `own-namespace` fails closed on
   * the operator's namespace, so that an operator that is down may not be able to come back.
   */
  readonly confirm?: readonly Confirmation[];
}

const registrationNames: OptionNames<WebhookRegistration> = {
  name: true,
  failurePolicy: true,
  matchPolicy: true,
  timeoutSeconds: true,
  sideEffects: true,
  reinvocationPolicy: true,
  namespaceSelector: true,
  objectSelector: true,
  matchConditions: true,
  operations: true,
  subResources: true,
  confirm: true,
};

/** The targets of a handler, as far as a webhook configuration states them. */
export interface AdmissionTarget {
  readonly type: 'mutating' | 'validating';
  readonly kind: Kind;
  readonly operations: readonly Operation[];
  readonly registration: WebhookRegistration;
}

/** @throws WebhookServerError naming every field of a registration that cannot be, or that is dangerous and not confirmed */
export function checkRegistration(target: AdmissionTarget, operatorNamespace?: string): void {
  const problem = registrationProblem(target, operatorNamespace);
  if (problem !== undefined) throw new WebhookServerError(problem);
}

/**
 * Returns why `webhookConfigurations` refuses a webhook, in one sentence, because of fields of its registration that
 * are not valid, or a danger that is not confirmed; undefined when it does not.
 *
 * @param target the target of a typed webhook, `handler.target`
 * @param operatorNamespace namespace that the operator runs in @default not known
 */
export function registrationProblem(target: AdmissionTarget, operatorNamespace?: string): string | undefined {
  requireOptionsObject('registrationProblem', target, 'the target of a typed webhook, handler.target');
  requireKind('registrationProblem', target.kind);
  const problems = [
    ...optionProblems(target.registration, registrationNames),
    ...fieldProblems(target),
    ...dangers(target, operatorNamespace),
  ];
  if (problems.length === 0) return undefined;
  const { kind } = target;
  return `${target.type} webhook of ${kind.kind} ${kind.apiVersion}: ${problems.join('; ')}`;
}

/** Whether it is a kind of Kubernetes itself. */
export function isCoreKind({ group }: Pick<Kind, 'group'>): boolean {
  return group === '' || !group.includes('.') || group.endsWith('.k8s.io');
}

/** The values that fields may have. */
const fieldValues = {
  failurePolicy: ['Fail', 'Ignore'],
  matchPolicy: ['Exact', 'Equivalent'],
  sideEffects: ['None', 'NoneOnDryRun'],
  reinvocationPolicy: ['Never', 'IfNeeded'],
  operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
  confirm: ['core-kinds', 'own-namespace'],
} as const satisfies Partial<{
  readonly [F in keyof WebhookRegistration]-?: readonly (WebhookRegistration[F] extends readonly (infer T)[] | undefined
    ? T
    : WebhookRegistration[F])[];
}>;

/** Values that no field of an API has, which the API server would refuse or interpret differently. */
function valueProblems(registration: WebhookRegistration): string[] {
  return Object.entries(fieldValues).flatMap(([field, values]: readonly [string, readonly unknown[]]) => {
    const given: unknown = registration[field as keyof typeof fieldValues];
    const all: readonly unknown[] = given === undefined ? [] : Array.isArray(given) ? given : [given];
    return all
      .filter((value) => !values.includes(value))
      .map((value) => `${field} ${JSON.stringify(value)} is not valid: expected ${values.join(' or ')}`);
  });
}

const lists = ['operations', 'subResources', 'matchConditions', 'confirm'] as const;

/**
 * A string has letters instead of list items, so `operations: 'CREATE'` would be six operations that no API server has.
 */
function listProblems(registration: WebhookRegistration): string[] {
  const problems = lists
    .filter((field) => registration[field] !== undefined && !Array.isArray(registration[field]))
    .map((field) => `${field} ${shownValue(registration[field])} is not valid: expected a list`);
  const { subResources } = registration;
  const names: readonly unknown[] = Array.isArray(subResources) ? subResources : [];
  const wrong = names.filter((name) => typeof name !== 'string' || !/^(?:[a-z][a-z0-9-]*|\*)$/.test(name));
  return [
    ...problems,
    ...wrong.map((name) => `subResources: ${shownValue(name)} is not valid: expected a name such as "status", or "*"`),
  ];
}

/**
 * Reports whether a namespaceSelector applies to a kind, because it looks at the namespace of an object, or at a
 * Namespace.
 */
export function isInNamespaces({ scope, group, kind }: Kind): boolean {
  return scope !== 'Cluster' || (group === '' && kind === 'Namespace');
}

function fieldProblems({ type, operations, registration }: AdmissionTarget): string[] {
  const { name, timeoutSeconds = 10, reinvocationPolicy, namespaceSelector, objectSelector } = registration;
  const problems = [...valueProblems(registration), ...listProblems(registration)];
  const timeout = numberProblem('timeoutSeconds', timeoutSeconds, { least: 1, most: 30, integer: true });
  if (timeout !== undefined) problems.push(timeout);
  if (name !== undefined && !/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?){2,}$/.test(name))
    problems.push(
      `name ${JSON.stringify(name)} is not valid: expected a domain with three parts at least, as "v1.widgets.example.com"`,
    );
  if (reinvocationPolicy !== undefined && type === 'validating')
    problems.push('reinvocationPolicy is for mutating webhooks: leave it out');
  if (operations.length === 0) problems.push('there is no operation: give the validator a member, or name operations');
  for (const [field, selector] of Object.entries({ namespaceSelector, objectSelector })) {
    try {
      if (selector !== undefined) labelSelectorFrom(selector);
    } catch (error) {
      problems.push(`${field}: ${messageOf(error)}`);
    }
  }
  return problems;
}

function dangers({ kind, registration }: AdmissionTarget, operatorNamespace: string | undefined): string[] {
  const {
    failurePolicy = 'Fail',
    namespaceSelector,
    objectSelector,
    matchConditions = [],
    confirm = [],
  } = registration;
  if (failurePolicy === 'Ignore') return [];
  const found: string[] = [];
  const hasNamespaces = isInNamespaces(kind);
  const selects =
    (hasNamespaces && isRestrictive(namespaceSelector)) || isRestrictive(objectSelector) || matchConditions.length > 0;
  if (isCoreKind(kind) && !selects && !confirm.includes('core-kinds'))
    found.push(
      `failurePolicy Fail on ${kind.kind} without a selector stops that kind in the whole cluster while the operator is down: give ${hasNamespaces ? 'namespaceSelector, ' : ''}objectSelector or matchConditions, set failurePolicy: 'Ignore', or confirm: ['core-kinds']`,
    );
  const isCaught =
    operatorNamespace !== undefined &&
    hasNamespaces &&
    namespaceSelector !== undefined &&
    matchesNamespace(namespaceSelector, operatorNamespace);
  if (isCaught && !confirm.includes('own-namespace'))
    found.push(
      `namespaceSelector catches the operator's own namespace ${JSON.stringify(operatorNamespace)} with failurePolicy Fail, so that an operator that is down may not be able to come back: exclude it by kubernetes.io/metadata.name, leave namespaceSelector out, or confirm: ['own-namespace']`,
    );
  return found;
}

function isRestrictive(selector: LabelSelector | undefined): boolean {
  if (selector === undefined) return false;
  return Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions?.length ?? 0) > 0;
}

/**
 * Reports whether a selector may match a namespace of which only the name is known; one that requires other labels may.
 */
function matchesNamespace({ matchLabels = {}, matchExpressions = [] }: LabelSelector, namespace: string): boolean {
  const byName = {
    matchLabels: Object.fromEntries(Object.entries(matchLabels).filter(([key]) => key === nameLabel)),
    matchExpressions: matchExpressions.filter(({ key }) => key === nameLabel),
  };
  return labelSelectorFrom(byName).matches({ [nameLabel]: namespace });
}

/** The label that every namespace has, with its name. */
export const nameLabel = 'kubernetes.io/metadata.name';
