import { forbidden, type FieldError } from '@kctl/crd/internal/engine';
import type { Decision, Decisions } from '@kctl/options';
import type { NamedQuery } from '../protocol/named-query.js';

/** The ListOptions of meta/v1, which lists, watches and deletecollections have. */
type ListParameters = Readonly<
  Record<
    | 'labelSelector'
    | 'fieldSelector'
    | 'watch'
    | 'allowWatchBookmarks'
    | 'resourceVersion'
    | 'resourceVersionMatch'
    | 'timeoutSeconds'
    | 'limit'
    | 'continue'
    | 'sendInitialEvents',
    string
  >
>;

/** Parameters of a LIST or a deletecollection. */
export const listParameters = {
  labelSelector: 'answered',
  fieldSelector: 'answered',
  watch: 'answered',
  // As upstream, without a watch it has no effect.
  allowWatchBookmarks: 'answered',
  resourceVersion: 'answered',
  resourceVersionMatch: 'answered',
  timeoutSeconds: 'answered',
  limit: 'answered',
  continue: 'answered',
  sendInitialEvents: { refused: 'sendInitialEvents is forbidden for list' },
} as const;
listParameters satisfies Decisions<ListParameters>;

/** Parameters of a WATCH. */
export const watchParameters = {
  labelSelector: 'answered',
  fieldSelector: 'answered',
  watch: 'answered',
  allowWatchBookmarks: 'answered',
  resourceVersion: 'answered',
  resourceVersionMatch: 'answered',
  timeoutSeconds: 'answered',
  limit: 'answered',
  continue: 'answered',
  sendInitialEvents: 'answered',
} as const;
watchParameters satisfies Decisions<ListParameters>;

/** Parameters of a GET. */
export const getParameters = { resourceVersion: 'answered' } as const;
getParameters satisfies Decisions<Readonly<Record<'resourceVersion', string>>>;

/** The CreateOptions, UpdateOptions and PatchOptions of meta/v1. */
export const writeParameters = {
  dryRun: 'answered',
  fieldManager: 'answered',
  fieldValidation: 'answered',
  force: 'answered',
} as const;
writeParameters satisfies Decisions<Readonly<Record<'dryRun' | 'fieldManager' | 'fieldValidation' | 'force', string>>>;

/** The DeleteOptions of meta/v1, which are parameters if there is no body. */
export const deleteParameters = {
  gracePeriodSeconds: 'answered',
  orphanDependents: 'answered',
  propagationPolicy: 'answered',
  dryRun: 'answered',
  preconditions: 'answered',
  // As upstream without the feature gate, it has no effect.
  ignoreStoreReadErrorWithClusterBreakingPotential: 'answered',
} as const;
deleteParameters satisfies Decisions<
  Readonly<
    Record<
      | 'gracePeriodSeconds'
      | 'orphanDependents'
      | 'propagationPolicy'
      | 'dryRun'
      | 'preconditions'
      | 'ignoreStoreReadErrorWithClusterBreakingPotential',
      string
    >
  >
>;

/** A query of which only the parameters can be read that a table answers. */
export type QueryOf<T extends object> = NamedQuery<
  { [N in keyof T]: T[N] extends 'answered' ? N : never }[keyof T] & string
>;

/** The parameters of a query that a table refuses. */
export function refusedParameters(table: Readonly<Record<string, Decision>>, query: NamedQuery): FieldError[] {
  return Object.entries(table).flatMap(([name, decision]) =>
    typeof decision === 'object' && query.has(name) ? [forbidden(name, decision.refused)] : [],
  );
}
