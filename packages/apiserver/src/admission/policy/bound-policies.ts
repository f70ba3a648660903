/** Common parts of mutating and validating policies. */
import type { UntypedObject } from '@kctl/apimachinery';
import { objectOf, objectsOf, stringOf, type JsonObject } from '@kctl/crd/internal/engine';
import { isExempt, type MatchBackend } from '../webhook/invocation.js';
import type { WriteFacts } from '../write.js';
import { policyEnvironment, type CompiledExpression, type PolicyEnvironment } from '../../expressions/environment.js';
import { mayMatch, readMatchResources, type MatchResources } from './match-resources.js';
import { createPolicySource, type BoundPolicy } from './policy-source.js';

/** A policy of either kind, compiled. */
export interface Policy {
  readonly name: string;
  readonly object: UntypedObject;
  readonly match: MatchResources;
  readonly paramKind: unknown;
  readonly ignoresFailures: boolean;
  readonly variables: ReadonlyMap<string, CompiledExpression>;
  readonly conditions: readonly CompiledExpression[];
}

/** How one kind of policy is read: `readOwn` adds what only this kind has. */
export function policyReader<P extends Policy>(
  isMutating: boolean,
  readOwn: (spec: JsonObject, environment: PolicyEnvironment) => Omit<P, keyof Policy>,
): (object: UntypedObject) => Policy & Omit<P, keyof Policy> {
  return (object) => {
    const spec = objectOf(object['spec']);
    const environment = policyEnvironment(spec, isMutating);
    return {
      name: object.metadata.name ?? '',
      object,
      match: readMatchResources(spec['matchConstraints']),
      paramKind: spec['paramKind'],
      ignoresFailures: spec['failurePolicy'] === 'Ignore',
      variables: environment.variables,
      conditions: objectsOf(spec['matchConditions']).map(({ expression }) =>
        environment.compile(stringOf(expression), 'bool'),
      ),
      ...readOwn(spec, environment),
    };
  };
}

/** The policies of one kind that have bindings, and which writes they may concern. */
export class BoundPolicies<P extends Policy> {
  readonly #backend: MatchBackend;
  readonly #policies: () => readonly BoundPolicy<P>[];

  constructor(backend: MatchBackend, type: 'mutating' | 'validating', read: (object: UntypedObject) => P) {
    this.#backend = backend;
    const plurals = { policies: `${type}admissionpolicies`, bindings: `${type}admissionpolicybindings` };
    this.#policies = createPolicySource(backend.store, plurals, read);
  }

  all(): readonly BoundPolicy<P>[] {
    return this.#policies();
  }

  isIdle(): boolean {
    return this.all().length === 0;
  }

  handles(facts: WriteFacts): boolean {
    const policies = this.all();
    return (
      policies.length > 0 &&
      !isExempt(facts) &&
      policies.some(({ policy }) => mayMatch(this.#backend, policy.match, facts))
    );
  }
}
