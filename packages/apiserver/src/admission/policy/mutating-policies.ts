import { isStatusError, StatusError, type UntypedObject } from '@kctl/apimachinery';
import { messageOf } from '@kctl/telemetry/internal';
import {
  cloneJson,
  equalJson,
  equalSemantic,
  isObject,
  objectOf,
  objectsOf,
  stringOf,
  type JsonObject,
  goQuoted,
} from '@kctl/crd/internal/engine';
import { liveTypeErrors, printErrors, typeErrors } from '../../managed-fields/check.js';
import { mergeObjects } from '../../managed-fields/merge.js';
import { applyOperations, JsonPatchError } from '../../patch/json-patch-operations.js';
import type { KindRef } from '../../resource/resource.js';
import { forbiddenObject } from '../../protocol/status.js';
import { evaluateHereOrThere, type EvaluationPlace } from '../expressions/evaluate-here-or-there.js';
import { decodeAdmitted } from '../decode.js';
import type { MatchedResource } from '../matching/equivalents.js';
import type { AdmissionPlugin } from '../plugin.js';
import { Reinvocations } from '../reinvocations.js';
import { typedObject } from '../review/admission-review.js';
import { isExempt, VersionedObjects, type MatchBackend } from '../webhook/invocation.js';
import { nameInRefusal, type AdmissionWrite, type WriteFacts } from '../write.js';
import { atomicPaths } from './atomic-paths.js';
import { BoundPolicies, policyReader, type Policy } from './bound-policies.js';
import type { CompiledExpression } from '../../expressions/environment.js';
import {
  conditionBudget,
  evaluateConditions,
  Evaluation,
  factsOf,
  OutOfBudget,
  policyBudget,
  type EvaluationContext,
  type EvaluationInput,
} from '../expressions/evaluation.js';
import { matchResources, namespaceOf } from './match-resources.js';
import { collectParams } from './params.js';
import { configurationOf, operationsOf, PatchProblem } from './patch-values.js';
import type { ConditionVerdict, MutationVerdict } from '../../offload/verdict.js';
import type { PolicyBinding } from './policy-source.js';

const pluginName = 'MutatingAdmissionPolicy';

interface Mutation {
  readonly type: 'ApplyConfiguration' | 'JSONPatch';
  readonly expression: CompiledExpression;
}

interface MutatingPolicy extends Policy {
  readonly isReinvoked: boolean;
  readonly mutations: readonly Mutation[];
}

const readPolicy: (object: UntypedObject) => MutatingPolicy = policyReader<MutatingPolicy>(
  true,
  (spec, environment) => {
    const mutation = (source: JsonObject): Mutation =>
      source['patchType'] === 'JSONPatch'
        ? {
            type: 'JSONPatch',
            expression: environment.compile(stringOf(objectOf(source['jsonPatch'])['expression']), 'list(JSONPatch)'),
          }
        : {
            type: 'ApplyConfiguration',
            expression: environment.compile(stringOf(objectOf(source['applyConfiguration'])['expression']), 'Object'),
          };
    return {
      isReinvoked: spec['reinvocationPolicy'] === 'IfNeeded',
      mutations: objectsOf(spec['mutations']).map(mutation),
    };
  },
);

/** Why a policy refuses a write. */
interface Refusal {
  readonly policy: string;
  readonly binding: string | undefined;
  readonly message: string;
  readonly reason: string | undefined;
}

/** One invocation of a policy, with one binding and one parameter. */
interface Invocation {
  readonly policy: MutatingPolicy;
  readonly binding: PolicyBinding;
  readonly matched: MatchedResource;
  readonly params: UntypedObject | undefined;
}

/** State shared by the invocations of one round. */
interface Round {
  readonly write: AdmissionWrite;
  readonly versions: VersionedObjects;
  readonly reinvocations: Reinvocations;
  readonly refusals: Refusal[];
  /** Kinds as which the object was mutated, and the one of the last policy. */
  readonly mutatedKinds: Set<string>;
  lastKind?: string;
}

function keyOf({ policy, binding, params }: Invocation): string {
  return JSON.stringify([policy.name, binding.name, params?.metadata.namespace ?? '', params?.metadata.name ?? '']);
}

function groupVersion({ group, version }: Pick<KindRef, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

/** Whether the written object is shown as another kind than it is stored as, such as a Scale. */
function isView({ definition, kind }: MatchedResource): boolean {
  return kind.kind !== definition.kind;
}

/** The object with a configuration merged into it. @throws PatchProblem */
function applyConfiguration(object: UntypedObject, configuration: JsonObject, matched: MatchedResource): JsonObject {
  const { definition, kind } = matched;
  const { atom } = definition.fieldTyping;
  const fail = (why: string): Error => new PatchProblem(`error applying patch: ${why}`);
  const requireTyped = (what: string, problems: readonly string[]): void => {
    if (problems.length > 0) throw fail(`failed to convert ${what} object to typed object: ${printErrors(problems)}`);
  };
  const apiVersion = groupVersion(kind);
  // As upstream, the types of a Scale and of options are not found.
  if (isView(matched))
    requireTyped('patch', [`no corresponding type for ${kind.group}/${kind.version}, Kind=${kind.kind}`]);
  requireTyped('patch', typeErrors(configuration, atom));
  const paths = atomicPaths(configuration, atom);
  if (paths.length > 0)
    throw fail(`invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${paths.join(', ')}`);
  const original = { ...object, kind: kind.kind, apiVersion };
  requireTyped('original', liveTypeErrors(original, atom));
  const merged = mergeObjects(original, configuration, atom);
  return isObject(merged) ? merged : {};
}

/** The object with operations applied; undefined if a test operation fails. @throws PatchProblem */
function applyPatch(
  object: UntypedObject,
  operations: readonly JsonObject[],
  matched: MatchedResource,
): JsonObject | undefined {
  const { kind, definition } = matched;
  try {
    const patched = applyOperations(typedObject(object, kind), [...operations]);
    // As upstream, which cannot convert the Scale of a custom resource that it has decoded anew.
    if (definition.isCustom && isView(matched))
      throw new PatchProblem(`request to convert CR to an invalid group/version: ${groupVersion(kind)}`);
    return isObject(patched) ? patched : {};
  } catch (error) {
    if (!(error instanceof JsonPatchError)) throw error;
    if (error.message.includes('test failed')) return undefined;
    throw new PatchProblem(`JSON Patch: ${error.message}`);
  }
}

class MutatingPolicies implements AdmissionPlugin {
  readonly name = pluginName;
  readonly #backend: MatchBackend;
  readonly #policies: BoundPolicies<MutatingPolicy>;

  constructor(backend: MatchBackend) {
    this.#backend = backend;
    this.#policies = new BoundPolicies(backend, 'mutating', readPolicy);
  }

  isIdle(): boolean {
    return this.#policies.isIdle();
  }

  handles(facts: WriteFacts): boolean {
    // A deletion has no object to mutate.
    return facts.operation !== 'DELETE' && this.#policies.handles(facts);
  }

  async admit(write: AdmissionWrite): Promise<void> {
    if (isExempt(write) || write.operation === 'DELETE') return;
    const refusals: Refusal[] = [];
    const invocations = this.#invocations(write, refusals);
    const reinvocations = Reinvocations.of(write, pluginName);
    reinvocations.begin();
    const round: Round = {
      write,
      versions: new VersionedObjects(write),
      reinvocations,
      refusals,
      mutatedKinds: new Set(),
    };
    try {
      for (const invocation of invocations) await this.#invoke(invocation, round);
      await round.versions.settle();
      // As upstream, whether or not that changed anything. Even a policy that alone mutated is called again.
      if (round.lastKind !== undefined && round.mutatedKinds.has(round.lastKind)) reinvocations.requireAll();
    } finally {
      reinvocations.end();
    }
    if (refusals.length > 0) throw refusal(write, refusals);
  }

  #invocations(write: AdmissionWrite, refusals: Refusal[]): Invocation[] {
    const invocations: Invocation[] = [];
    for (const { policy, bindings } of this.#policies.all()) {
      const refuse = (message: string, binding?: string): void => {
        if (!policy.ignoresFailures) refusals.push({ policy: policy.name, binding, message, reason: undefined });
      };
      let matched: MatchedResource | undefined;
      try {
        matched = matchResources(this.#backend, policy.match, write);
      } catch (error) {
        refuse(`failed to configure policy: ${messageOf(error)}`);
      }
      if (matched === undefined) continue;
      for (const binding of bindings) {
        try {
          if (matchResources(this.#backend, binding.match, write) === undefined) continue;
          const references = { paramKind: policy.paramKind, paramRef: binding.paramRef };
          for (const params of collectParams(this.#backend, references, write.namespace)) {
            invocations.push({ policy, binding, matched, params });
          }
        } catch (error) {
          refuse(`failed to configure binding: ${messageOf(error)}`, binding.name);
        }
      }
    }
    return invocations;
  }

  async #invoke(invocation: Invocation, round: Round): Promise<void> {
    const { write, versions, reinvocations, refusals } = round;
    const { policy, binding, matched, params } = invocation;
    const refuse = (message: string): void => {
      if (!policy.ignoresFailures)
        refusals.push({ policy: policy.name, binding: binding.name, message, reason: 'Invalid' });
    };
    const input: EvaluationInput = {
      reviewed: await versions.in(matched),
      params,
      namespace: namespaceOf(this.#backend, write),
    };
    const place = (given: EvaluationInput): EvaluationPlace => ({
      offload: this.#backend.offload,
      facts: factsOf(given),
      write,
    });
    const conditions = place(input);
    const verdict = await evaluateHereOrThere(
      conditions,
      (context) => conditionsOf(policy, context),
      (answers) => ({ type: 'mutationConditions', policy: policy.object, facts: conditions.facts, answers }),
    );
    if (verdict.problem !== undefined) {
      refuse(verdict.problem);
      return;
    }
    const key = keyOf(invocation);
    if (!verdict.matches || !reinvocations.isDue(key)) return;
    const before = input.reviewed.object;
    const shownAs = `${groupVersion(matched.kind)} ${matched.kind.kind}`;
    for (const [index, mutation] of policy.mutations.entries()) {
      round.lastKind = shownAs;
      const reviewed = await versions.in(matched);
      if (reviewed.object === undefined) continue;
      try {
        const mutating = place({ ...input, reviewed });
        const wanted = await evaluateHereOrThere(
          mutating,
          (context) => evaluateMutation(policy, mutation, context),
          (answers) => ({ type: 'mutation', policy: policy.object, index, facts: mutating.facts, answers }),
        );
        const { object } = reviewed;
        const changed = mutate(object, wanted, matched);
        const value = cloneJson(changed ?? typedObject(object, matched.kind));
        const decoded = decodeAdmitted(matched.definition, write.subresource, { value });
        // Parts left alone keep the original object, except for its type and defaults.
        versions.replace(changed === undefined && equalJson(decoded, object) ? object : decoded, matched);
        round.mutatedKinds.add(shownAs);
      } catch (error) {
        if (isStatusError(error)) throw error;
        refuse(messageOf(error));
      }
    }
    const isChanged = !equalSemantic(before, (await versions.in(matched)).object);
    reinvocations.note(key, { isChanged, isReinvoked: policy.isReinvoked });
  }
}

function conditionsOf(policy: MutatingPolicy, context: EvaluationContext): ConditionVerdict {
  return evaluateConditions(policy.conditions, new Evaluation(context, policy.variables, conditionBudget));
}

/** Returns the changes that an expression requests, as plain data. */
function evaluateMutation(policy: MutatingPolicy, mutation: Mutation, context: EvaluationContext): MutationVerdict {
  try {
    const result = new Evaluation(context, policy.variables, policyBudget).evaluate(mutation.expression);
    if ('problem' in result) return result;
    if (mutation.type === 'JSONPatch') return { operations: operationsOf(result.value) };
    return { configuration: configurationOf(result.value) };
  } catch (error) {
    if (error instanceof PatchProblem || error instanceof OutOfBudget) return { problem: error.message };
    throw error;
  }
}

/** Compiles a policy and evaluates its match conditions, for another thread. */
export function judgeMutationConditions(policy: UntypedObject, context: EvaluationContext): ConditionVerdict {
  return conditionsOf(readPolicy(policy), context);
}

/** Compiles a policy and evaluates one of its mutations, for another thread. */
export function judgeMutation(policy: UntypedObject, index: number, context: EvaluationContext): MutationVerdict {
  const compiled = readPolicy(policy);
  const mutation = compiled.mutations[index];
  if (mutation === undefined) throw new RangeError(`the policy has no mutation ${index}`);
  return evaluateMutation(compiled, mutation, context);
}

/** Returns the object that a mutation produces; undefined if it changes nothing. @throws PatchProblem */
function mutate(object: UntypedObject, wanted: MutationVerdict, matched: MatchedResource): JsonObject | undefined {
  if ('problem' in wanted) throw new PatchProblem(wanted.problem);
  return 'operations' in wanted
    ? applyPatch(object, wanted.operations, matched)
    : applyConfiguration(object, wanted.configuration, matched);
}

function refusal(write: AdmissionWrite, refusals: readonly Refusal[]): StatusError {
  const messages = refusals.map(({ policy, binding, message }) =>
    binding === undefined
      ? `policy ${goQuoted(policy)} denied request: ${message}`
      : `policy '${policy}' with binding '${binding}' denied request: ${message}`,
  );
  const resource = { group: write.resource.group, plural: write.resource.resource };
  const { status } = forbiddenObject(resource, nameInRefusal(write), 'admission request denied by policy');
  const reason = refusals[0]?.reason ?? status.reason;
  return new StatusError({
    ...status,
    message: messages[0] ?? '',
    ...(reason !== undefined && { reason }),
    details: { ...(isObject(status.details) ? status.details : {}), causes: messages.map((message) => ({ message })) },
  });
}

/** Applies MutatingAdmissionPolicies with their bindings, one after the other. Mirrors upstream's plugin of this name. */
export function createMutatingPolicies(backend: MatchBackend): AdmissionPlugin {
  return new MutatingPolicies(backend);
}
