import { StatusError, type UntypedObject } from '@kctl/apimachinery';
import { messageOf } from '@kctl/telemetry/internal';
import { isObject, objectsOf, stringOf, stringsOf, type JsonObject } from '@kctl/crd/internal/engine';
import { goJson } from '../../json/go-json.js';
import { forbiddenObject } from '../../protocol/status.js';
import { evaluateHereOrThere } from '../expressions/evaluate-here-or-there.js';
import type { AdmissionPlugin } from '../plugin.js';
import type { ReviewedWrite } from '../review/admission-review.js';
import { isExempt, VersionedObjects, type MatchBackend } from '../webhook/invocation.js';
import { nameInRefusal, type AdmissionWrite, type WriteFacts } from '../write.js';
import { BoundPolicies, policyReader, type Policy } from './bound-policies.js';
import type { CompiledExpression } from '../../expressions/environment.js';
import {
  conditionBudget,
  evaluateConditions,
  Evaluation,
  OutOfBudget,
  policyBudget,
  factsOf,
  type EvaluationContext,
} from '../expressions/evaluation.js';
import { matchResources, namespaceOf } from './match-resources.js';
import { collectParams } from './params.js';
import type { Decision, Verdict } from '../../offload/verdict.js';
import type { PolicyBinding } from './policy-source.js';

const maxMessage = 5 * 1024;
const maxAnnotation = 10 * 1024;
const codes: ReadonlyMap<string, number> = new Map([
  ['Forbidden', 403],
  ['Unauthorized', 401],
  ['RequestEntityTooLarge', 413],
]);

interface Validation {
  readonly expression: CompiledExpression;
  readonly messageExpression: CompiledExpression | undefined;
  readonly message: string;
  readonly reason: string;
}

interface ValidatingPolicy extends Policy {
  readonly validations: readonly Validation[];
  readonly annotations: readonly { readonly key: string; readonly expression: CompiledExpression }[];
}

const readPolicy: (object: UntypedObject) => ValidatingPolicy = policyReader<ValidatingPolicy>(
  false,
  (spec, environment) => {
    const validation = (source: JsonObject): Validation => {
      const messageExpression = stringOf(source['messageExpression']);
      return {
        expression: environment.compile(stringOf(source['expression']), 'bool'),
        messageExpression: messageExpression === '' ? undefined : environment.compileText(messageExpression, 'string'),
        message: stringOf(source['message']),
        reason: stringOf(source['reason']),
      };
    };
    return {
      validations: objectsOf(spec['validations']).map(validation),
      annotations: objectsOf(spec['auditAnnotations']).map((annotation) => ({
        key: stringOf(annotation['key']),
        expression: environment.compileText(stringOf(annotation['valueExpression']), ['string', 'null']),
      })),
    };
  },
);

/** A decision with who made it. */
interface Refusal extends Pick<Decision, 'message' | 'reason'> {
  readonly policy: string;
  readonly binding: string | undefined;
}

function firstMessage({ messageExpression, message, expression }: Validation, evaluation: Evaluation): string {
  const result = messageExpression === undefined ? undefined : evaluation.evaluate(messageExpression);
  const own = result !== undefined && 'value' in result && typeof result.value === 'string' ? result.value.trim() : '';
  const isUsable = own !== '' && !own.includes('\n') && new TextEncoder().encode(own).length <= maxMessage;
  if (isUsable) return own;
  return message === '' ? `failed expression: ${expression.text.trim()}` : message.trim();
}

/** Evaluates the validations of a policy for one write and one parameter. */
function evaluateValidations(policy: ValidatingPolicy, input: EvaluationContext): Verdict {
  const failed = (message: string, index = 0): Decision[] =>
    policy.ignoresFailures ? [] : [{ message, reason: '', index }];
  const conditions = new Evaluation(input, policy.variables, conditionBudget);
  const verdict = evaluateConditions(policy.conditions, conditions);
  if (verdict.problem !== undefined) return { decisions: failed(verdict.problem), annotations: [] };
  if (!verdict.matches) return { decisions: [], annotations: [] };
  const evaluation = new Evaluation(input, policy.variables, policyBudget);
  try {
    const results = policy.validations.map((validation) => evaluation.evaluate(validation.expression));
    const decisions = results.flatMap((result, index): Decision[] => {
      const validation = policy.validations[index];
      if (validation === undefined || ('value' in result && result.value === true)) return [];
      if ('problem' in result) return failed(result.problem, index);
      return [{ message: firstMessage(validation, evaluation), reason: validation.reason, index }];
    });
    return {
      decisions,
      annotations: evaluateAnnotations(policy, new Evaluation(input, policy.variables, policyBudget)),
    };
  } catch (error) {
    if (error instanceof OutOfBudget) return { decisions: failed(error.message), annotations: [] };
    throw error;
  }
}

function evaluateAnnotations(policy: ValidatingPolicy, evaluation: Evaluation): Verdict['annotations'] {
  return policy.annotations.flatMap(({ key, expression }): Verdict['annotations'] => {
    const result = evaluation.evaluate(expression);
    if ('problem' in result) return policy.ignoresFailures ? [] : [{ problem: result.problem }];
    const value = typeof result.value === 'string' ? result.value.trim() : '';
    return value === '' ? [] : [{ key, value: value.slice(0, maxAnnotation) }];
  });
}

/** Compiles a policy and evaluates its validations, for another thread. */
export function judgePolicy(policy: UntypedObject, context: EvaluationContext): Verdict {
  return evaluateValidations(readPolicy(policy), context);
}

class ValidatingPolicies implements AdmissionPlugin {
  readonly name = 'ValidatingAdmissionPolicy';
  readonly #backend: MatchBackend;
  readonly #policies: BoundPolicies<ValidatingPolicy>;

  constructor(backend: MatchBackend) {
    this.#backend = backend;
    this.#policies = new BoundPolicies(backend, 'validating', readPolicy);
  }

  isIdle(): boolean {
    return this.#policies.isIdle();
  }

  handles(facts: WriteFacts): boolean {
    return this.#policies.handles(facts);
  }

  async validate(write: AdmissionWrite): Promise<void> {
    if (isExempt(write)) return;
    const versions = new VersionedObjects(write);
    const refusals: Refusal[] = [];
    for (const { policy, bindings } of this.#policies.all()) {
      await this.#apply(policy, bindings, { write, versions, refusals });
    }
    const [first] = refusals;
    if (first !== undefined) throw refusal(write, first);
  }

  async #apply(
    policy: ValidatingPolicy,
    bindings: readonly PolicyBinding[],
    { write, versions, refusals }: { write: AdmissionWrite; versions: VersionedObjects; refusals: Refusal[] },
  ): Promise<void> {
    const refuse = (message: string, binding: string | undefined): void => {
      if (!policy.ignoresFailures) refusals.push({ policy: policy.name, binding, message, reason: '' });
    };
    let reviewed: ReviewedWrite | undefined;
    try {
      const matched = matchResources(this.#backend, policy.match, write);
      if (matched === undefined) return;
      reviewed = await versions.in(matched);
    } catch (error) {
      refuse(`failed to configure policy: ${messageOf(error)}`, undefined);
      return;
    }
    const annotations = new Map<string, Set<string>>();
    for (const binding of bindings) {
      try {
        if (matchResources(this.#backend, binding.match, write) === undefined) continue;
        const references = { paramKind: policy.paramKind, paramRef: binding.paramRef };
        for (const params of collectParams(this.#backend, references, write.namespace)) {
          const facts = factsOf({ reviewed, params, namespace: namespaceOf(this.#backend, write) });
          const verdict = await evaluateHereOrThere(
            { offload: this.#backend.offload, facts, write },
            (context) => evaluateValidations(policy, context),
            (answers) => ({ type: 'validations', policy: policy.object, facts, answers }),
          );
          this.#report(policy, binding, verdict, { write, refusals, annotations });
        }
      } catch (error) {
        refuse(`failed to configure binding: ${messageOf(error)}`, binding.name);
      }
    }
    for (const [key, values] of annotations) write.annotate(`${policy.name}/${key}`, [...values].join(', '));
  }

  #report(
    policy: ValidatingPolicy,
    binding: PolicyBinding,
    verdict: Verdict,
    {
      write,
      refusals,
      annotations,
    }: { write: AdmissionWrite; refusals: Refusal[]; annotations: Map<string, Set<string>> },
  ): void {
    const actions = stringsOf(binding.spec['validationActions']);
    const who = { policy: policy.name, binding: binding.name };
    for (const { message, reason, index } of verdict.decisions) {
      if (actions.includes('Deny')) refusals.push({ ...who, message, reason });
      if (actions.includes('Warn')) {
        write.warn(
          `Validation failed for ValidatingAdmissionPolicy '${who.policy}' with binding '${who.binding}': ${message}`,
        );
      }
      if (actions.includes('Audit')) {
        const failure = { message, ...who, expressionIndex: index, validationActions: actions };
        write.annotate('validation.policy.admission.k8s.io/validation_failure', goJson([failure]));
      }
    }
    for (const annotation of verdict.annotations) {
      if ('problem' in annotation) refusals.push({ ...who, message: annotation.problem, reason: '' });
      else annotations.set(annotation.key, (annotations.get(annotation.key) ?? new Set()).add(annotation.value));
    }
  }
}

function refusal(write: AdmissionWrite, { policy, binding, message, reason }: Refusal): StatusError {
  const bound = binding === undefined ? '' : ` with binding '${binding}'`;
  const text = `ValidatingAdmissionPolicy '${policy}'${bound} denied request: ${message}`;
  const { status } = forbiddenObject(
    { group: write.resource.group, plural: write.resource.resource },
    nameInRefusal(write),
    text,
  );
  return new StatusError({
    ...status,
    reason: reason === '' ? 'Invalid' : reason,
    code: codes.get(reason) ?? 422,
    details: { ...(isObject(status.details) ? status.details : {}), causes: [{ message: text }] },
  });
}

/** Evaluates ValidatingAdmissionPolicies with their bindings. Mirrors upstream's plugin of this name. */
export function createValidatingPolicies(backend: MatchBackend): AdmissionPlugin {
  return new ValidatingPolicies(backend);
}
