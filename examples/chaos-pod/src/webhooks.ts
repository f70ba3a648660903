import { webhookManagedBy, type Defaulter, type RuntimeManager, type Validator } from '@kctl/runtime';
import { ChaosPod } from './chaos-pod.js';

/** What the first webhook sets and the second demands. */
export const annotation = 'example-mutating-admission-webhook';

/** Annotates every ChaosPod. After controller-runtime's `examples/builtins/mutatingwebhook.go`. */
export const annotate: Defaulter<ChaosPod> = (draft, { logger }) => {
  draft.metadata.annotations = { ...draft.metadata.annotations, [annotation]: 'foo' };
  logger.info('Annotated ChaosPod');
};

/** Requires the annotation. After controller-runtime's `examples/builtins/validatingwebhook.go`. */
function requireAnnotation({
  metadata: { annotations },
}: {
  readonly metadata: { readonly annotations?: object };
}): undefined {
  const value: unknown = Reflect.get(annotations ?? {}, annotation);
  if (value === undefined) throw new Error(`missing annotation ${annotation}`);
  if (value !== 'foo') throw new Error(`annotation ${annotation} did not have value "foo"`);
}

export const annotated: Validator<ChaosPod> = {
  validateCreate: (object) => requireAnnotation(object),
  validateUpdate: (_old, object) => requireAnnotation(object),
  validateDelete: (object) => requireAnnotation(object),
};

/** Serves both; they stay out of the way of everything but ChaosPods. */
export function registerWebhooks(manager: RuntimeManager): readonly string[] {
  return webhookManagedBy(manager).for(ChaosPod).withDefaulter(annotate).withValidator(annotated).complete();
}
