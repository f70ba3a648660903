import { requireOptionsObject } from '@kctl/client/internal';
import { requireFunction } from '../event/required.js';

const mark: unique symbol = Symbol.for('kctl.injectable') as never;

/**
 * A reconciler, handler, predicate, source or runnable that is created when it is added, from the dependencies
 * available then. Created by {@link inject}.
 */
export interface Injectable<D extends object, T> {
  readonly [mark]: true;
  /** Names of the dependencies. */
  readonly needs: readonly string[];
  readonly create: (dependencies: D) => T;
}

/** A thing, or what makes it from dependencies `D`. */
export type Provided<T, D extends object> = T | Injectable<D, T>;

/** A dependency is not there. */
export class MissingDependencyError extends Error {
  override readonly name = 'MissingDependencyError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_MISSING_DEPENDENCY' as const;
  /** Names of what is missing. */
  readonly missing: readonly string[];

  constructor(what: string, missing: readonly string[], available: readonly string[]) {
    super(
      `${what} needs ${missing.map((name) => JSON.stringify(name)).join(', ')}, which the manager does not have; it has ${available.join(', ')}`,
    );
    this.missing = missing;
  }
}

/** Whether an error is a {@link MissingDependencyError}. */
export function isMissingDependencyError(error: unknown): error is MissingDependencyError {
  return error instanceof Error && 'code' in error && error.code === 'KCTL_MISSING_DEPENDENCY';
}

/**
 * Declares the dependencies of something, and how it is created from them. The manager (or builder) that it is added to
 * provides the dependencies. A dependency missing from its type does not compile; one absent at run time fails at the
 * add, by name. `needs` is required because types are erased; it is checked to name exactly the properties of `D`.
 *
 * @example
 * ```ts
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import type { Client } from '@kctl/client';
 * import { inject } from '@kctl/controller';
 *
 * const reconciler = inject<{ client: Client }, { reconcile(key: { namespace: string; name: string }): Promise<void> }>(
 *   { client: true },
 *   ({ client }) => ({
 *     async reconcile(key) {
 *       await client.get(ConfigMap, key);
 *     },
 *   }),
 * );
 * ```
 */
export function inject<D extends object, T>(
  needs: { readonly [K in keyof D]-?: true },
  create: (dependencies: D) => T,
): Injectable<D, T> {
  requireOptionsObject('inject: needs', needs, 'the names of what is needed, each true');
  requireFunction('inject', 'create', create);
  return { [mark]: true, needs: Object.keys(needs), create };
}

/** Whether a value was made by {@link inject}, also by another copy of this package. */
export function isInjectable(value: unknown): value is Injectable<never, unknown> {
  return typeof value === 'object' && value !== null && mark in value;
}

/**
 * The thing itself. `what` names it in the error.
 *
 * @throws MissingDependencyError
 */
export function provide<T, D extends object>(value: Provided<T, D>, dependencies: D, what: string): T {
  if (!isInjectableOf(value)) return value;
  const present = new Map<string, unknown>(Object.entries(dependencies));
  const missing = value.needs.filter((name) => present.get(name) === undefined);
  if (missing.length > 0) {
    const available = [...present].filter(([, dependency]) => dependency !== undefined).map(([name]) => name);
    throw new MissingDependencyError(what, missing, available);
  }
  return value.create(dependencies);
}

function isInjectableOf<T, D extends object>(value: Provided<T, D>): value is Injectable<D, T> {
  return isInjectable(value);
}
