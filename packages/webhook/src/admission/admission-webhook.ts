import { stringifyJson, type JsonObject } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import { type Logger } from '@kctl/telemetry';
import { guardLogger } from '@kctl/telemetry/internal';
import type { OptionNames } from '@kctl/options';
import { functionOption, requireOptions } from '@kctl/options';
import { isA, safeError, safeMessageOf } from '../handler/safe-error.js';
import type { WebhookAnswer, WebhookHandler, WebhookRequest } from '../handler/handler.js';
import { checkedResponse } from './checked-response.js';
import { requireFunction } from '../handler/require-parts.js';
import {
  errored,
  type AdmissionRequest,
  type AdmissionResponse,
  type Operation,
  type ReviewKind,
} from '../handler/review.js';
import { WarnedPanic } from './warned-panic.js';

/** As in controller-runtime, enough for the largest object plus its old version. */
const maxBodyBytes = 7 * 1024 * 1024;

const v1 = 'admission.k8s.io/v1';
const versions: readonly string[] = [v1, 'admission.k8s.io/v1beta1'];
const operations: readonly unknown[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] satisfies Operation[];

/** Context of a handler besides the request. */
export type AdmissionHandlerContext = Pick<WebhookRequest, 'signal' | 'logger' | 'http'>;

/** Decides on a request. */
export type AdmissionHandler = (
  request: AdmissionRequest,
  context: AdmissionHandlerContext,
) => AdmissionResponse | Promise<AdmissionResponse>;

/** Options of {@link admissionWebhook}. */
export interface AdmissionWebhookOptions {
  /**
   * Makes the logger of a request. Mirrors `LogConstructor`.
   *
   * @default adds object, namespace, name, resource, user and requestID
   */
  readonly logConstructor?: (base: Logger, request: AdmissionRequest) => Logger;
}

const optionNames: OptionNames<AdmissionWebhookOptions> = {
  logConstructor: functionOption,
};

/** Serves `admission.k8s.io` v1 and v1beta1 reviews, each answered in its version. Mirrors `admission.Webhook`. */
export function admissionWebhook(handler: AdmissionHandler, options: AdmissionWebhookOptions = {}): WebhookHandler {
  requireOptions('admissionWebhook', options, optionNames);
  requireFunction('admissionWebhook: the handler', handler);
  const { logConstructor = defaultLogConstructor } = options;
  return {
    type: 'admission',
    maxBodyBytes,
    reject: (message, code) => answer(v1, '', errored(code, message)),
    handle: async ({ body, signal, logger, http, onPanic }) => {
      const review = readReview(body);
      if ('problem' in review) {
        logger.warn('unable to decode the request', { error: review.problem });
        return answer(review.apiVersion, review.uid, errored(400, review.problem));
      }
      const { apiVersion, request } = review;
      const { uid } = request;
      const log = loggerOf(request, logger, logConstructor);
      log.trace('received request');
      const respond = (response: AdmissionResponse): WebhookAnswer => {
        const { code, reason, message } = response.result ?? {};
        log.trace('wrote response', { code, reason, message, requestID: uid, allowed: response.allowed });
        return answer(apiVersion, uid, response);
      };
      try {
        const response: unknown = await handler(request, {
          signal,
          logger: log,
          ...(http === undefined ? {} : { http }),
        });
        return respond(checkedResponse(response));
      } catch (thrown) {
        onPanic?.();
        const isWarned = isA(WarnedPanic, thrown); // what was thrown may throw in `instanceof`
        const error: unknown = isWarned ? thrown.cause : thrown;
        log.error('Observed a panic', { error: safeError(error) });
        const refused = errored(500, `panic: ${safeMessageOf(error)} [recovered]`);
        return respond(isWarned ? { ...refused, warnings: thrown.warnings } : refused);
      }
    },
  };
}

/** The fields of upstream's `DefaultLogConstructor`. */
export function defaultLogConstructor(base: Logger, request: AdmissionRequest): Logger {
  return base.child({ object: objectOf(request), ...requestFields(request) });
}

/** The fields of upstream's webhook builder, as in {@link defaultLogConstructor}, with the object under its kind. */
export function kindLogConstructor(kind: { readonly group: string; readonly kind: string }) {
  return (base: Logger, request: AdmissionRequest): Logger =>
    base.child({
      webhookGroup: kind.group,
      webhookKind: kind.kind,
      [kind.kind]: objectOf(request),
      ...requestFields(request),
    });
}

function objectOf({ namespace = '', name = '' }: AdmissionRequest): object {
  return namespace === '' ? { name } : { name, namespace };
}

function requestFields({
  namespace = '',
  name = '',
  resource,
  userInfo,
  uid,
}: AdmissionRequest): Record<string, unknown> {
  return { namespace, name, resource, user: userInfo.username ?? '', requestID: uid };
}

type Review =
  | { readonly apiVersion: string; readonly request: AdmissionRequest }
  | { readonly apiVersion: string; readonly uid: string; readonly problem: string };

/** A review as it is understood; what is not is named, with nothing of its contents. */
function readReview(body: unknown): Review {
  const problem = (text: string, apiVersion = v1, uid = ''): Review => ({ apiVersion, uid, problem: text });
  if (!isJsonObject(body)) return problem('unmarshalling request: the body is not an AdmissionReview');
  // As upstream, a review that does not state its type is one of v1.
  const { apiVersion = v1, kind = 'AdmissionReview', request } = body;
  if (kind !== 'AdmissionReview') return problem('unmarshalling request: the body is not an AdmissionReview');
  if (typeof apiVersion !== 'string' || !versions.includes(apiVersion))
    return problem(
      `no kind "AdmissionReview" is registered for version ${shownName(apiVersion)}: known are ${versions.join(' and ')}`,
    );
  if (!isJsonObject(request)) return problem('unmarshalling request: the AdmissionReview has no request', apiVersion);
  const uid = typeof request['uid'] === 'string' ? request['uid'] : '';
  const wrong = requestProblem(request);
  if (wrong !== undefined) return problem(`unmarshalling request: ${wrong}`, apiVersion, uid);
  if (!operations.includes(request['operation']))
    return problem(`unknown operation ${shownName(request['operation'])}`, apiVersion, uid);
  return { apiVersion, request: typedRequest(request, uid) };
}

const textFields = ['name', 'namespace', 'subResource', 'requestSubResource'] as const;
const kindFields = ['kind', 'requestKind', 'resource', 'requestResource'] as const;

function requestProblem(request: Readonly<JsonObject>): string | undefined {
  if (typeof request['uid'] !== 'string') return 'request.uid is not a string';
  for (const field of textFields)
    if (request[field] !== undefined && typeof request[field] !== 'string') return `request.${field} is not a string`;
  for (const field of kindFields) {
    const value = request[field] ?? undefined;
    const isFine = value === undefined || (isJsonObject(value) && Object.values(value).every(isText));
    if (!isFine) return `request.${field} is not an object of strings`;
  }
  for (const field of ['object', 'oldObject', 'options', 'userInfo'] as const) {
    const value = request[field] ?? undefined;
    if (value !== undefined && !isJsonObject(value)) return `request.${field} is not an object`;
  }
  const { dryRun } = request;
  if (dryRun !== undefined && dryRun !== null && typeof dryRun !== 'boolean') return 'request.dryRun is not a boolean';
  return undefined;
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

const noKind: ReviewKind = { group: '', version: '', kind: '' };

/** The checked request with the members that its type promises. */
function typedRequest(request: Readonly<JsonObject>, uid: string): AdmissionRequest {
  const whole = {
    userInfo: {},
    ...request,
    uid,
    kind: { ...noKind, ...(isJsonObject(request['kind']) ? request['kind'] : {}) },
    resource: {
      group: '',
      version: '',
      resource: '',
      ...(isJsonObject(request['resource']) ? request['resource'] : {}),
    },
  };
  if (!isJsonObject(request['userInfo'])) whole.userInfo = {};
  return whole as unknown as AdmissionRequest;
}

/** A name that may be shown. A string that does not look like one may be anything, and is not shown. */
export function shownName(value: unknown): string {
  if (typeof value === 'string' && /^[\w./:-]{0,80}$/.test(value)) return JSON.stringify(value);
  return typeof value === 'string' ? 'that is not a name' : `of type ${value === null ? 'null' : typeof value}`;
}

/** The logger of a request; a constructor that throws costs its fields, not the request. */
function loggerOf(
  request: AdmissionRequest,
  base: Logger,
  construct: (base: Logger, request: AdmissionRequest) => Logger,
): Logger {
  try {
    return guardLogger(construct(base, request));
  } catch (error) {
    base.error('logConstructor failed', { error: safeError(error) });
    return base;
  }
}

/** The review that answers, in the version of the question; a verdict without a code gets 200 or 403. */
function answer(apiVersion: string, uid: string, response: AdmissionResponse): WebhookAnswer {
  const { allowed, patches = [], warnings, auditAnnotations, result } = response;
  const patch =
    patches.length === 0 || !allowed
      ? {}
      : { patchType: 'JSONPatch', patch: Buffer.from(stringifyJson(patches)).toString('base64') };
  const code = result?.code === undefined || result.code === 0 ? (allowed ? 200 : 403) : result.code;
  return {
    body: {
      apiVersion,
      kind: 'AdmissionReview',
      response: {
        uid,
        allowed,
        ...patch,
        ...(warnings === undefined || warnings.length === 0 ? {} : { warnings }),
        ...(auditAnnotations === undefined ? {} : { auditAnnotations }),
        status: { metadata: {}, ...result, code },
      },
    },
  };
}
