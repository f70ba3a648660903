import { requireKind, requireOptionsObject } from '@kctl/client/internal';
import type { DeepReadonly, Kind, KubeObject, ObjectOf } from '@kctl/apimachinery';
import { optionProblems } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { WebhookServerError } from '../errors.js';
import type { WebhookHandler } from '../handler/handler.js';
import { compileFilter, type AdmissionFilter, type CompiledFilter } from './admission-filter.js';
import { requireFunction } from '../handler/require-parts.js';
import type { Operation } from '../handler/review.js';
import { decodeObject } from './typed-request.js';
import { defaultingWebhook, validatingWebhook } from './typed.js';
import type { AdmissionContext, TypedWebhookOptions, ValidationOutcome, Validator } from './typed.js';

/** Context of a rule besides the object. */
export interface RuleContext<T> extends AdmissionContext {
  readonly operation: Operation;
  /** The object as it is stored; undefined for a create. */
  readonly oldObject: DeepReadonly<T> | undefined;
}

/**
 * Checks an object as it would be stored, or as it is stored for a delete. Throwing refuses the request, see
 * {@link Validator}; returned strings are warnings.
 */
export type ValidationRule<T> = (object: DeepReadonly<T>, context: RuleContext<T>) => ValidationOutcome;

/** Changes a draft of the object as it would be stored. Throwing refuses the request. */
export type MutationRule<T> = (draft: T, context: RuleContext<T>) => unknown;

const filterNames: OptionNames<AdmissionFilter> = { on: true, namespaces: true, labels: true };

/**
 * Returns a validating webhook that receives the requests its filter chooses. Operations, namespaces and labels become
 * rules and selectors of the webhook configuration, and a request that does not match is allowed without calling the
 * rule.
 *
 * @throws WebhookServerError naming every field of the filter that is not valid
 *
 * @example
 * ```ts
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { createWebhookServer, validationRule } from '@kctl/webhook';
 *
 * const server = createWebhookServer();
 * const filter = { on: ['create'], namespaces: ['demo'], labels: { team: '*' } } as const;
 * server.register(
 *   '/validate-colour',
 *   validationRule(ConfigMap, filter, ({ data }) => {
 *     if (data?.['colour'] === 'red') throw new Error('red is taken');
 *   }),
 * );
 * ```
 */
export function validationRule<K extends Kind>(
  kind: K,
  filter: AdmissionFilter,
  ...[rule, options = {}]: [ValidationRule<ObjectOf<K>>, TypedWebhookOptions?]
): WebhookHandler {
  const compiled = compile(kind, filter, options);
  requireFunction('validationRule: the rule', rule);
  const check = async (
    object: DeepReadonly<ObjectOf<K>>,
    oldObject: DeepReadonly<ObjectOf<K>> | undefined,
    context: AdmissionContext,
  ): Promise<readonly string[] | undefined> => {
    if (!compiled.matches(context.request)) return undefined;
    return (await rule(object, ruleContext(context, oldObject))) ?? undefined;
  };
  const validator: Validator<ObjectOf<K>> = {
    validateCreate: (object, context) => check(object, undefined, context),
    validateUpdate: (oldObject, object, context) => check(object, oldObject, context),
    validateDelete: (object, context) => check(object, object, context),
  };
  return validatingWebhook(kind, validator, { ...options, registration: compiled.registration });
}

/**
 * Returns a mutating webhook that receives the requests its filter chooses, as {@link validationRule} does. It is not
 * called for deletes.
 *
 * @throws WebhookServerError naming every field of the filter that is not valid
 */
export function mutationRule<K extends Kind>(
  kind: K,
  filter: AdmissionFilter,
  ...[rule, options = {}]: [MutationRule<ObjectOf<K>>, TypedWebhookOptions?]
): WebhookHandler {
  const compiled = compile(kind, filter, options);
  if (compiled.operations.includes('DELETE'))
    throw new WebhookServerError(
      `rule for ${kind.kind} ${kind.apiVersion}: on: a delete cannot be mutated: leave it out, or validate it`,
    );
  requireFunction('mutationRule: the rule', rule);
  const mutate = async (draft: ObjectOf<K>, context: AdmissionContext): Promise<void> => {
    if (!compiled.matches(context.request)) return;
    const { request } = context;
    const old = request.operation === 'UPDATE' ? decodeObject(request, 'oldObject') : undefined;
    await rule(draft, ruleContext(context, old as DeepReadonly<ObjectOf<K>> | undefined));
  };
  return defaultingWebhook(kind, mutate, { ...options, registration: compiled.registration });
}

function compile(kind: Kind, filter: AdmissionFilter, options: TypedWebhookOptions): CompiledFilter {
  requireKind('rule', kind);
  requireOptionsObject(`rule for ${kind.kind} ${kind.apiVersion}`, options);
  const { registration = {} } = options;
  const problems = optionProblems(filter, filterNames);
  if (problems.length > 0)
    throw new WebhookServerError(`rule for ${kind.kind} ${kind.apiVersion}: ${problems.join('; ')}`);
  return compileFilter(kind, filter, registration);
}

function ruleContext<T extends KubeObject>(
  context: AdmissionContext,
  oldObject: DeepReadonly<T> | undefined,
): RuleContext<T> {
  return { ...context, operation: context.request.operation, oldObject };
}
