import { requireKind, requireOptionsObject } from '@kctl/client/internal';
import {
  createJsonPatch,
  deepFreeze,
  mutableCopy,
  type DeepReadonly,
  type JsonPatchOperation,
  type Kind,
  type KubeObject,
  type ObjectOf,
} from '@kctl/apimachinery';
import type { Logger } from '@kctl/telemetry';
import { jsonProblem } from '../handler/read-json.js';
import { safeMessageOf } from '../handler/safe-error.js';
import { checkRegistration, type AdmissionTarget, type WebhookRegistration } from '../handler/registration.js';
import type { WebhookHandler, WebhookHttp } from '../handler/handler.js';
import {
  admissionWebhook,
  kindLogConstructor,
  type AdmissionHandlerContext,
  type AdmissionWebhookOptions,
} from './admission-webhook.js';
import {
  allowed,
  denied,
  errored,
  patched,
  withWarnings,
  type AdmissionRequest,
  type AdmissionResponse,
  type Operation,
} from '../handler/review.js';
import { requireFunction, requireValidator } from '../handler/require-parts.js';
import {
  decodeObject,
  DecodeError,
  isPanic,
  kindProblem,
  requireDraftChanged,
  statusOf,
  warningTexts,
} from './typed-request.js';
import { WarnedPanic } from './warned-panic.js';

/** Options of {@link validatingWebhook} and {@link defaultingWebhook}. */
export interface TypedWebhookOptions extends AdmissionWebhookOptions {
  /** How the API server is to call it, as written by `webhookConfigurations`. */
  readonly registration?: WebhookRegistration;
}

/** Context of a validator or defaulter besides the objects. */
export interface AdmissionContext {
  readonly request: AdmissionRequest;
  /** Aborted when the API server hangs up or its timeout has passed. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Whether nothing will be stored, in which case a handler must not have side effects either. */
  readonly isDryRun: boolean;
  /**
   * `status`, `scale` …; undefined for the object itself. Under the `subResources` of the registration the object is
   * the one that the API server sends, such as a Scale for `scale` or an Eviction for `eviction`.
   */
  readonly subResource: string | undefined;
  /** The HTTP side, with headers, the client's certificate and Node's request. */
  readonly http?: WebhookHttp;
  /** Adds a warning to the answer for any verdict, even if the validator throws afterwards. */
  warn(message: string): void;
}

/** Warnings to show to the user, or nothing; throwing refuses the request with the error's message. */
// eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- a validator that only throws returns nothing
export type ValidationOutcome = Warnings | void | Promise<Warnings | void>;

type Warnings = readonly string[] | undefined;

/**
 * Checks objects of one kind. Every member is optional and allows by default. A validator denies by throwing. A
 * StatusError (see `invalidError`) passes its code, reason and causes on; any other error denies with 403 and its
 * message. Objects are frozen, so a validator that tries to change one throws. Mirrors `admission.Validator[T]`.
 */
export interface Validator<T> {
  validateCreate?(object: DeepReadonly<T>, context: AdmissionContext): ValidationOutcome;
  validateUpdate?(oldObject: DeepReadonly<T>, newObject: DeepReadonly<T>, context: AdmissionContext): ValidationOutcome;
  validateDelete?(object: DeepReadonly<T>, context: AdmissionContext): ValidationOutcome;
}

/**
 * Fills defaults into a draft, and returns nothing, because another object in place of the draft is refused with 500.
 * Throwing refuses the request, as in a {@link Validator}. Mirrors `admission.Defaulter[T]`.
 */
export type Defaulter<T> = (draft: T, context: AdmissionContext) => unknown;

/**
 * Returns a validating webhook for one kind. It refuses requests that it does not understand; the README has the rules.
 *
 * @throws TypeError for a value that is not a validator, such as an object whose members have other names
 *
 * @example
 * ```ts
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { createWebhookServer, validatingWebhook } from '@kctl/webhook';
 *
 * const server = createWebhookServer();
 * server.register(
 *   '/validate-settings',
 *   validatingWebhook(ConfigMap, { validateDelete: ({ metadata }) => [`${metadata.name} is deleted`] }),
 * );
 * ```
 */
export function validatingWebhook<K extends Kind>(
  kind: K,
  validator: Validator<ObjectOf<K>>,
  options: TypedWebhookOptions = {},
): WebhookHandler {
  return typedWebhook(targetOf('validating', kind, operationsOf(validator)), options, async (request, context) => {
    const outcome: unknown = await judge(validator, { request, context });
    return withWarnings(allowed(), ...warningTexts(outcome));
  });
}

/** A mutating webhook for one kind; DELETE passes untouched. The answer is a minimal JSON patch, none for no change. */
export function defaultingWebhook<K extends Kind>(
  kind: K,
  defaulter: Defaulter<ObjectOf<K>>,
  options: TypedWebhookOptions = {},
): WebhookHandler {
  requireFunction('defaultingWebhook: the defaulter', defaulter);
  return typedWebhook(targetOf('mutating', kind, ['CREATE', 'UPDATE']), options, async (request, context) => {
    if (request.operation === 'DELETE') return allowed();
    const object = decodeObject(request, 'object');
    const draft = mutableCopy(object) as ObjectOf<K>;
    requireDraftChanged(draft, await defaulter(draft, context));
    const patches = patchesOf(object, draft);
    if (typeof patches === 'string') return errored(500, patches);
    return patches.length === 0 ? allowed() : patched(patches);
  });
}

/** The changes of a defaulter; a string if its result is not JSON. */
function patchesOf(object: KubeObject, draft: unknown): readonly JsonPatchOperation[] | string {
  try {
    return createJsonPatch(object, draft);
  } catch (error) {
    // A cycle, or what is nested too deep for the stack, ends in a RangeError.
    const problem = jsonProblem(draft) ?? safeMessageOf(error);
    return `the defaulter made an object that cannot be written as JSON: ${problem}`;
  }
}

function typedWebhook(
  served: AdmissionTarget,
  given: TypedWebhookOptions,
  decide: (request: AdmissionRequest, context: AdmissionContext) => Promise<AdmissionResponse>,
): WebhookHandler {
  const { kind } = served;
  requireKind(`${served.type} webhook`, kind);
  requireOptionsObject(`${served.type} webhook of ${kind.kind}`, given);
  const { registration = {}, ...options } = given;
  requireOptionsObject(`${served.type} webhook of ${kind.kind}: registration`, registration);
  const target = { ...served, registration, operations: registration.operations ?? served.operations };
  // Without a registration there is no sign yet that an API server will call it.
  if (Object.keys(registration).length > 0) checkRegistration(target);
  const handler = admissionWebhook(
    async (request, { signal, logger, http }: AdmissionHandlerContext) => {
      const mismatch = kindProblem(target, request);
      if (mismatch !== undefined) return errored(400, mismatch);
      const warnings: string[] = [];
      const context: AdmissionContext = {
        request,
        signal,
        logger,
        isDryRun: request.dryRun === true,
        subResource: request.subResource === '' ? undefined : request.subResource,
        ...(http === undefined ? {} : { http }),
        warn: (message) => void warnings.push(message),
      };
      try {
        const response = await decide(request, context);
        return { ...response, ...warningsOf([...warnings, ...(response.warnings ?? [])]) };
      } catch (error) {
        const refused = refusal(error);
        if (refused === undefined) throw warnings.length === 0 ? error : new WarnedPanic(error, warnings);
        return { ...refused, ...warningsOf(warnings) };
      }
    },
    { logConstructor: kindLogConstructor(kind), ...options },
  );
  return { ...handler, target };
}

function targetOf(type: AdmissionTarget['type'], kind: Kind, operations: readonly Operation[]): AdmissionTarget {
  return { type, kind, operations, registration: {} };
}

/** The verbs that a validator has a member for. The API server need not send others. */
function operationsOf(validator: Validator<never>): readonly Operation[] {
  requireValidator('validatingWebhook: validator', validator);
  return [
    ...(validator.validateCreate === undefined ? [] : (['CREATE'] as const)),
    ...(validator.validateUpdate === undefined ? [] : (['UPDATE'] as const)),
    ...(validator.validateDelete === undefined ? [] : (['DELETE'] as const)),
  ];
}

function warningsOf(warnings: readonly string[]): { readonly warnings?: readonly string[] } {
  return warnings.length === 0 ? {} : { warnings };
}

/** The denial for a thrown error; undefined if it is a mistake in the program. */
function refusal(error: unknown): AdmissionResponse | undefined {
  if (error instanceof DecodeError) return errored(400, error);
  const status = statusOf(error);
  if (status !== undefined) return { allowed: false, result: status };
  if (isPanic(error)) return undefined;
  return denied(safeMessageOf(error));
}

async function judge<K extends Kind>(
  validator: Validator<ObjectOf<K>>,
  { request, context }: { readonly request: AdmissionRequest; readonly context: AdmissionContext },
): Promise<unknown> {
  switch (request.operation) {
    // Decoded first, because an object that does not decode is refused, even if the validator has no member for the
    // operation.
    case 'CREATE': {
      const object = deepFreeze(decodeObject(request, 'object')) as DeepReadonly<ObjectOf<K>>;
      return await validator.validateCreate?.(object, context);
    }
    case 'UPDATE': {
      const object = deepFreeze(decodeObject(request, 'object')) as DeepReadonly<ObjectOf<K>>;
      const oldObject = deepFreeze(decodeObject(request, 'oldObject')) as DeepReadonly<ObjectOf<K>>;
      return await validator.validateUpdate?.(oldObject, object, context);
    }
    case 'DELETE': {
      const object = deepFreeze(decodeObject(request, 'oldObject')) as DeepReadonly<ObjectOf<K>>;
      return await validator.validateDelete?.(object, context);
    }
    case 'CONNECT':
      return undefined; // as upstream; see the README
    default:
      throw new DecodeError('unknown operation');
  }
}
