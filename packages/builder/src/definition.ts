import type { Kind } from '@kctl/apimachinery';
import { isSameKind } from '@kctl/apimachinery/internal';
import { isInjectable } from '@kctl/controller';
import type { Input } from './input.js';
import { describeKind, isKind } from './input.js';

/** The parts of an input that can be wrong. Its types hold only for programs that are type-checked. */
export interface CheckedInput extends Pick<Input<never>, 'what' | 'kind' | 'problems'> {
  readonly handler: unknown;
  readonly predicates: unknown;
}

/** The parts of a definition that can be wrong. */
export interface DefinitionParts {
  readonly name: string | undefined;
  readonly forKinds: readonly Kind[];
  readonly ownedKinds: readonly Kind[];
  readonly inputs: readonly CheckedInput[];
  /** The predicates of `withEventFilter`. */
  readonly filters: readonly unknown[];
  readonly rawSources: number;
  readonly reconciler: unknown;
}

/** Every mistake of a definition, in the order in which a reader meets them. */
export function findProblems(parts: DefinitionParts): string[] {
  const { forKinds, ownedKinds, inputs } = parts;
  return [
    ...inputs
      .filter(({ kind }) => !isKind(kind))
      .map(({ what }) => `${what}: that is not a kind: is its import right?`),
    ...checkFor(forKinds),
    ...checkName(parts),
    ...checkOwned(forKinds, ownedKinds),
    ...inputs.flatMap(({ what, problems }) => problems.map((problem) => `${what}: ${problem}`)),
    ...inputs.flatMap(checkFunctions),
    ...checkFilters(parts.filters),
    ...checkWatches(parts),
    ...checkReconciler(parts.reconciler),
  ];
}

function checkFor(kinds: readonly Kind[]): string[] {
  if (kinds.length <= 1) return [];
  return [
    `for(...) should only be called once, could not assign multiple objects for reconciliation: ${kinds.map(describeKind).join(', ')}`,
  ];
}

function checkName({ name, forKinds }: DefinitionParts): string[] {
  if (name === '') return ['named(""): the name must not be empty'];
  return name === undefined && forKinds.length === 0 ? ['using named() is required when for() is not used'] : [];
}

function checkOwned(forKinds: readonly Kind[], ownedKinds: readonly Kind[]): string[] {
  const [owner] = forKinds;
  if (owner === undefined) return ownedKinds.length === 0 ? [] : ['owns() can only be used together with for()'];
  const problems: string[] = [];
  ownedKinds.forEach((kind, index) => {
    if (!isKind(kind) || !isKind(owner)) return;
    if (owner.scope === 'Namespaced' && kind.scope === 'Cluster')
      problems.push(
        `owns(${describeKind(kind)}): a cluster-scoped object cannot be owned by a namespaced one (${describeKind(owner)}); use watches() with a map function`,
      );
    if (ownedKinds.findIndex((other) => isKind(other) && isSameKind(other, kind)) < index)
      problems.push(`owns(${describeKind(kind)}) is there twice`);
  });
  return problems;
}

function checkWatches({ inputs, rawSources }: DefinitionParts): string[] {
  if (inputs.length + rawSources > 0) return [];
  return [
    'there are no watches configured, controller will never get triggered. Use for(), owns(), watches() or watchesRawSource() to set them up',
  ];
}

function checkFunctions({ what, handler, predicates }: CheckedInput): string[] {
  const problems = typeof handler === 'function' ? [] : [`${what}: the handler is not a function`];
  if (!Array.isArray(predicates))
    problems.push(`${what}: predicates is not a list: expected { predicates: [predicate] }`);
  else if (!predicates.every((predicate) => typeof predicate === 'function'))
    problems.push(`${what}: one of its predicates is not a function`);
  return problems;
}

function checkFilters(filters: readonly unknown[]): string[] {
  const isValid = filters.every((filter) => typeof filter === 'function');
  return isValid ? [] : ['withEventFilter(...): one of the predicates is not a function'];
}

function checkReconciler(reconciler: unknown): string[] {
  const isFunction = typeof reconciler === 'function';
  const hasMethod = typeof reconciler === 'object' && reconciler !== null && 'reconcile' in reconciler;
  return isFunction || hasMethod || isInjectable(reconciler)
    ? []
    : ['must provide a non-nil Reconciler: a function or { reconcile }'];
}
