import { goQuoted } from '@kctl/crd/internal/engine';
import { CelCostExceededError, CelEvaluationError } from '@kctl/cel';
import {
  authorizerValue,
  CelInlineCostError,
  defaultCostLimit,
  Failure,
  MapValue,
  type AuthorizationAnswer,
  type AuthorizationQuestion,
  type Value,
} from '@kctl/cel/internal';
import type { UntypedObject } from '@kctl/apimachinery';
import type { JsonObject } from '@kctl/crd/internal/engine';
import { serviceAccountGroups, serviceAccountUser } from '../../authentication/user-names.js';
import { pathAttributes, resourceAttributes, type Attributes } from '../../authorization/attributes.js';
import type { User } from '../../protocol/api-request.js';
import type { AdmissionWrite } from '../write.js';
import { admissionRequest, type ReviewedWrite } from '../review/admission-review.js';
import type { CompiledExpression } from '../../expressions/environment.js';
import type { ConditionVerdict, EvaluationFacts } from '../../offload/verdict.js';

/** Cost limits per write, for all expressions of a policy and for its match conditions. */
export const policyBudget = 10_000_000;
export const conditionBudget = 2_500_000;

/** Thrown when the budget is spent; no further expression is evaluated. */
export class OutOfBudget extends Error {
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

/** Result of one expression. */
export type Evaluated = { readonly value: Value } | { readonly problem: string };

/** Values that expressions read, before they are made plain. */
export interface EvaluationInput {
  readonly reviewed: ReviewedWrite;
  readonly params: UntypedObject | undefined;
  readonly namespace: UntypedObject | undefined;
}

/** Answers an expression's query to the authorizer. */
export type Ask = (question: AuthorizationQuestion) => AuthorizationAnswer;

/** Context of an evaluation. */
export interface EvaluationContext {
  readonly facts: EvaluationFacts;
  readonly ask: Ask;
  /** Cost at which an evaluation ends with CelInlineCostError, to restart in another thread. @default never */
  readonly inlineCost?: number;
}

function namespaceFacts({ metadata, spec, status }: UntypedObject & { spec?: unknown; status?: unknown }): JsonObject {
  const { uid, managedFields: _fields, ownerReferences: _owners, ...rest } = metadata;
  return { metadata: { ...rest, ...(uid !== undefined && { UID: uid }) }, spec: spec ?? {}, status: status ?? {} };
}

/** The facts of an input. */
export function factsOf({ reviewed, params, namespace }: EvaluationInput): EvaluationFacts {
  return {
    request: admissionRequest('', reviewed),
    params,
    namespace: namespace === undefined ? null : namespaceFacts(namespace),
    requestResource: {
      group: reviewed.resource.group,
      resource: reviewed.resource.resource,
      subresource: reviewed.write.subresource,
      namespace: reviewed.write.namespace,
      name: reviewed.write.name,
    },
  };
}

/** The authorizer as seen by expressions, for the user of the request or for a service account. */
export function askOf({ authorizer, user }: AdmissionWrite): Ask {
  return (question) => authorizer.authorize(askedBy(user, question));
}

function askedBy(user: User, question: AuthorizationQuestion): Attributes {
  const { verb, path, serviceAccount } = question;
  const subject: User =
    serviceAccount === undefined
      ? user
      : { name: serviceAccountUser(serviceAccount), groups: serviceAccountGroups(serviceAccount.namespace) };
  if (path !== undefined) return pathAttributes(subject, verb, path);
  const { group = '', resource = '', subresource = '', namespace = '', name = '' } = question;
  return resourceAttributes(subject, verb, { group, version: '*', resource, subresource, namespace, name });
}

/** The variables of a policy, each evaluated when it is first read. */
class LazyVariables extends MapValue {
  readonly #evaluation: Evaluation;
  readonly #expressions: ReadonlyMap<string, CompiledExpression>;
  readonly #values = new Map<string, Value | Failure>();

  constructor(evaluation: Evaluation, expressions: ReadonlyMap<string, CompiledExpression>) {
    super();
    this.#evaluation = evaluation;
    this.#expressions = expressions;
  }

  override get size(): number {
    return this.#expressions.size;
  }

  override keys(): Iterable<Value> {
    return this.#expressions.keys();
  }

  override get(key: Value): Value | Failure | undefined {
    if (typeof key !== 'string') return undefined;
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const expression = this.#expressions.get(key);
    if (expression === undefined) return undefined;
    const value = this.#read(key, expression);
    this.#values.set(key, value);
    return value;
  }

  #read(name: string, expression: CompiledExpression): Value | Failure {
    const quoted = goQuoted(name);
    if (expression.program === undefined) {
      return new Failure(`composited variable ${quoted} fails to compile: ${expression.problem ?? ''}`);
    }
    const result = this.#evaluation.raw(expression);
    return 'problem' in result
      ? new Failure(`composited variable ${quoted} fails to evaluate: ${result.problem}`)
      : result.value;
  }
}

/** Evaluates the expressions of one policy for one write; all share a budget. */
export class Evaluation {
  readonly #activation: Record<string, unknown>;
  #budget: number;
  #inline: number;

  constructor(context: EvaluationContext, variables: ReadonlyMap<string, CompiledExpression>, budget: number) {
    const { facts, ask, inlineCost = Infinity } = context;
    const { object, oldObject, ...request } = facts.request;
    this.#budget = budget;
    this.#inline = inlineCost;
    this.#activation = {
      object,
      oldObject,
      request,
      params: facts.params ?? null,
      namespaceObject: facts.namespace,
      variables: new LazyVariables(this, variables),
      authorizer: authorizerValue(ask),
      'authorizer.requestResource': authorizerValue(ask, facts.requestResource),
    };
  }

  /** Evaluates without the words around an error. @throws OutOfBudget, CelInlineCostError */
  raw({ program, problem }: CompiledExpression): Evaluated {
    if (program === undefined) return { problem: `compilation error: ${problem ?? ''}` };
    const costLimit = Math.min(defaultCostLimit, this.#inline);
    try {
      const { value, cost } = program.evaluate(this.#activation, { costLimit });
      this.#spend(cost);
      return { value };
    } catch (error) {
      if (!(error instanceof CelEvaluationError)) throw error;
      if (error instanceof CelCostExceededError && costLimit < defaultCostLimit) throw new CelInlineCostError();
      this.#spend(error.cost);
      return { problem: error.message };
    }
  }

  /** @throws OutOfBudget */
  evaluate(expression: CompiledExpression): Evaluated {
    const result = this.raw(expression);
    if (!('problem' in result) || expression.program === undefined) return result;
    return { problem: `expression '${expression.text}' resulted in error: ${result.problem}` };
  }

  #spend(cost: number): void {
    this.#budget -= cost;
    this.#inline -= cost;
    if (this.#budget < 0) throw new OutOfBudget();
  }
}

/** Whether all conditions hold. One that does not decides, whatever the others do. */
export function evaluateConditions(
  conditions: readonly CompiledExpression[],
  evaluation: Evaluation,
): ConditionVerdict {
  const problems: string[] = [];
  try {
    for (const condition of conditions) {
      const result = evaluation.evaluate(condition);
      if ('problem' in result) problems.push(result.problem);
      else if (result.value === false) return { matches: false };
    }
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error;
    return { matches: false, problem: error.message };
  }
  if (problems.length === 0) return { matches: true };
  const unique = [...new Set(problems)];
  return { matches: false, problem: unique.length === 1 ? (unique[0] ?? '') : `[${unique.join(', ')}]` };
}
