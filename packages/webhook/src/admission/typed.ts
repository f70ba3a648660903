import {
  createJsonPatch,
  isStatusError,
  mutableCopy,
  type DeepReadonly,
  type Kind,
  type KubeObject,
  type ObjectOf,
} from '@kctl/apimachinery';
import {
  allowed,
  denied,
  errored,
  patched,
  withWarnings,
  type AdmissionRequest,
  type AdmissionResponse,
} from './review.js';
import { admissionWebhook } from './admission-webhook.js';
import type { WebhookHandler } from '../server/handler.js';

/** What a validator or defaulter is told besides the objects. */
export interface AdmissionContext {
  readonly request: AdmissionRequest;
  readonly signal: AbortSignal;
}

/** Warnings to show to the user; throwing refuses the request with the error's message. */
export type ValidationOutcome = readonly string[] | undefined | Promise<readonly string[] | undefined>;

/** Checks objects of one kind. Mirrors `admission.Validator[T]`: every member is optional and allows by default. */
export interface Validator<T> {
  validateCreate?(object: DeepReadonly<T>, context: AdmissionContext): ValidationOutcome;
  validateUpdate?(oldObject: DeepReadonly<T>, newObject: DeepReadonly<T>, context: AdmissionContext): ValidationOutcome;
  validateDelete?(object: DeepReadonly<T>, context: AdmissionContext): ValidationOutcome;
}

/** Fills defaults into a draft. Mirrors `admission.Defaulter[T]`. */
export type Defaulter<T> = (draft: T, context: AdmissionContext) => void | Promise<void>;

/** A validating webhook for one kind. A StatusError passes its code and reason on; any other error denies with 403. */
export function validatingWebhook<K extends Kind>(kind: K, validator: Validator<ObjectOf<K>>): WebhookHandler {
  return admissionWebhook(async (request, { signal }) => {
    const mismatch = wrongKind(kind, request);
    if (mismatch !== undefined) return mismatch;
    const context = { request, signal };
    try {
      const warnings = await judge(validator, request as AdmissionRequest<ObjectOf<K> & KubeObject>, context);
      return withWarnings(allowed(), ...(warnings ?? []));
    } catch (error) {
      if (isStatusError(error))
        return { allowed: false, result: { code: error.httpCode, reason: error.reason, message: error.message } };
      return denied(error instanceof Error ? error.message : String(error));
    }
  });
}

/** A mutating webhook for one kind; DELETE passes untouched. */
export function defaultingWebhook<K extends Kind>(kind: K, defaulter: Defaulter<ObjectOf<K>>): WebhookHandler {
  return admissionWebhook(async (request, { signal }) => {
    const mismatch = wrongKind(kind, request);
    if (mismatch !== undefined) return mismatch;
    const { object, operation } = request as AdmissionRequest<ObjectOf<K> & KubeObject>;
    if (operation === 'DELETE' || object === undefined || object === null) return allowed();
    const draft = mutableCopy(object) as ObjectOf<K>;
    await defaulter(draft, { request, signal });
    const patches = createJsonPatch(object, draft);
    return patches.length === 0 ? allowed() : patched(patches);
  });
}

function judge<T extends KubeObject>(
  validator: Validator<T>,
  request: AdmissionRequest<T>,
  context: AdmissionContext,
): ValidationOutcome {
  const { operation, object, oldObject } = request;
  switch (operation) {
    case 'CREATE':
      return object ? validator.validateCreate?.(object as DeepReadonly<T>, context) : undefined;
    case 'UPDATE':
      return object && oldObject
        ? validator.validateUpdate?.(oldObject as DeepReadonly<T>, object as DeepReadonly<T>, context)
        : undefined;
    case 'DELETE':
      return oldObject ? validator.validateDelete?.(oldObject as DeepReadonly<T>, context) : undefined;
    case 'CONNECT':
      return undefined;
  }
}

function wrongKind(kind: Kind, request: AdmissionRequest): AdmissionResponse | undefined {
  if (request.kind.group === kind.group && request.kind.kind === kind.kind) return undefined;
  return errored(
    400,
    `this webhook serves ${kind.kind} of group ${JSON.stringify(kind.group)}, not ${request.kind.kind} of ${JSON.stringify(request.kind.group)}`,
  );
}
