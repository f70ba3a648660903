/**
 * `controllerManagedBy(mgr).for(A).owns(B).complete(r)`: a controller in one expression.
 *
 * @packageDocumentation
 */
export type {
  BuilderOptions,
  ControllerBuilder,
  ControllerHost,
  DeclaredChildren,
  ForOptions,
  InputOptions,
  OwnedKind,
  OwnsOptions,
  ReconciledKind,
  RequestFor,
  RequestState,
  SelectedKinds,
  SelectOptions,
  ShapedInputOptions,
  Watched,
} from './controller-builder.js';
export { controllerManagedBy } from './controller-managed-by.js';
export { DefinitionError, isDefinitionError } from './errors.js';
export { webhookManagedBy } from './webhook-managed-by.js';
export type {
  RuleFilter,
  WebhookBuilder,
  WebhookBuilderStart,
  WebhookHost,
  WebhookOptions,
} from './webhook-managed-by.js';
