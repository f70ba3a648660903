import type { AdmissionHandler } from './admission-webhook.js';
import { checkedResponse } from './checked-response.js';
import { requireFunction, requireValidator } from '../handler/require-parts.js';
import { allowed, type AdmissionResponse } from '../handler/review.js';
import { requireDraftChanged, warningTexts } from './typed-request.js';
import type { AdmissionContext, Defaulter, ValidationOutcome, Validator } from './typed.js';

/**
 * Combines several raw mutating handlers, called in order with the same request. Their patches are joined, so they must
 * not touch the same fields. The first denial ends it. Warnings and audit annotations add up, even with a denial.
 * Mirrors `admission.MultiMutatingHandler`.
 */
export function multiMutatingHandler(...handlers: readonly AdmissionHandler[]): AdmissionHandler {
  return inTurn(handlers, (response) => response);
}

/**
 * Combines several raw validating handlers, called in order, until the first denial. Warnings and audit annotations add
 * up, even with a denial; patches are dropped. Mirrors `admission.MultiValidatingHandler`.
 */
export function multiValidatingHandler(...handlers: readonly AdmissionHandler[]): AdmissionHandler {
  return inTurn(handlers, ({ patches: _patches, ...response }) => response);
}

/**
 * Combines several defaulters, called in order on one draft, so that each sees the fields that those before it have
 * filled in.
 */
export function chainDefaulters<T>(...defaulters: readonly Defaulter<T>[]): Defaulter<T> {
  defaulters.forEach((one, index) => requireFunction(`chainDefaulters: defaulter ${index + 1}`, one));
  return async (draft, context) => {
    for (const defaulter of defaulters) requireDraftChanged(draft, await defaulter(draft, context));
  };
}

/** Combines several validators, called in order, until the first denial; warnings add up. */
export function chainValidators<T>(...validators: readonly Validator<T>[]): Validator<T> {
  for (const validator of validators) requireValidator('chainValidators: validator', validator);
  const has = (member: keyof Validator<T>): boolean => validators.some((one) => one[member] !== undefined);
  const inOrder = async (
    call: (one: Validator<T>) => ValidationOutcome,
    context: AdmissionContext,
  ): Promise<undefined> => {
    for (const one of validators) for (const text of warningTexts(await call(one))) context.warn(text);
    return undefined;
  };
  // Only the members that one of them has, because they are the verbs that the API server is to call for.
  return {
    ...(has('validateCreate') && {
      validateCreate: async (object, context) => await inOrder((one) => one.validateCreate?.(object, context), context),
    }),
    ...(has('validateUpdate') && {
      validateUpdate: async (old, object, context) =>
        await inOrder((one) => one.validateUpdate?.(old, object, context), context),
    }),
    ...(has('validateDelete') && {
      validateDelete: async (object, context) => await inOrder((one) => one.validateDelete?.(object, context), context),
    }),
  };
}

function inTurn(
  handlers: readonly AdmissionHandler[],
  keep: (response: AdmissionResponse) => AdmissionResponse,
): AdmissionHandler {
  handlers.forEach((one, index) => requireFunction(`handler ${index + 1} of several`, one));
  return async (request, context) => {
    let joined: AdmissionResponse = allowed();
    for (const handler of handlers) {
      const {
        warnings = [],
        auditAnnotations = {},
        patches = [],
        ...rest
      } = keep(checkedResponse(await handler(request, context)));
      const annotations = { ...joined.auditAnnotations, ...auditAnnotations };
      joined = {
        ...(rest.allowed ? joined : rest),
        ...(rest.allowed ? { patches: [...(joined.patches ?? []), ...patches] } : {}),
        warnings: [...(joined.warnings ?? []), ...warnings],
        ...(Object.keys(annotations).length === 0 ? {} : { auditAnnotations: annotations }),
      };
      if (!rest.allowed) return joined;
    }
    return joined;
  };
}
