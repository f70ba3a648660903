/**
 * Children of an object, declared as a graph: created and deleted in order, pruned, explained, and planned before they are
 * applied.
 *
 * @packageDocumentation
 */
export { dependents } from './dependents.js';
export type {
  DependentKind,
  Dependents,
  Needed,
  NodeResults,
  NodeShape,
  ReconcilerOptions,
  ReconcilerParts,
} from './contract.js';
export { isNotYet, notYet } from './definition/not-yet.js';
export type { NotYet } from './definition/not-yet.js';
export type {
  ChildOptions,
  CommonChildOptions,
  DependentsOptions,
  DesiredFields,
  Edges,
  ReadyReport,
  RecreatePolicy,
  RefOptions,
  SetOptions,
} from './definition/options.js';
export {
  DependentsDefinitionError,
  DependentsError,
  isDependentsError,
} from './errors.js';
export type { NodeError } from './errors.js';
export type { Plan, PlannedChange, PlannedField, PlannedObstacle } from '@kctl/controller';
export { dependentsFinalizer } from './reconciler.js';
export type { AnyNodeResult, DependentsResult, NodeAction, NodeResult, NodeState } from './results.js';
export type { DependentsContext, DependentsEvents } from './run/run-context.js';
export type { RemainingObject, TeardownResult } from './run/teardown.js';
