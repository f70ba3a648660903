import { isJsonObject, stringifyJson } from '@kctl/apimachinery';
import type { WebhookAnswer, WebhookHandler, WebhookRequest } from '../server/handler.js';
import { errored, type AdmissionRequest, type AdmissionResponse } from './review.js';

/** As controller-runtime: enough for the largest object plus its old version. */
const maxBodyBytes = 7 * 1024 * 1024;

/** Decides on a request. */
export type AdmissionHandler = (
  request: AdmissionRequest,
  context: Pick<WebhookRequest, 'signal' | 'logger'>,
) => AdmissionResponse | Promise<AdmissionResponse>;

/** Serves `admission.k8s.io` v1 and v1beta1 reviews. Mirrors `admission.Webhook`. */
export function admissionWebhook(handler: AdmissionHandler): WebhookHandler {
  return {
    maxBodyBytes,
    reject: (message, code) => answer('admission.k8s.io/v1', '', errored(code, message)),
    handle: async ({ body, signal, logger }) => {
      const review = readReview(body);
      if (typeof review === 'string') return answer('admission.k8s.io/v1', '', errored(400, review));
      const { apiVersion, request } = review;
      const { namespace = '', name = '', resource, userInfo, uid } = request;
      const log = logger.child({ namespace, name, resource, user: userInfo.username ?? '', requestID: uid });
      try {
        const response = await handler(request, { signal, logger: log });
        log.trace('wrote response', {
          code: response.result?.code,
          reason: response.result?.reason,
          allowed: response.allowed,
        });
        return answer(apiVersion, uid, response);
      } catch (error) {
        log.error('admission handler failed', { error });
        return answer(apiVersion, uid, errored(500, error));
      }
    },
  };
}

function readReview(body: unknown): { apiVersion: string; request: AdmissionRequest } | string {
  if (!isJsonObject(body) || body['kind'] !== 'AdmissionReview')
    return 'unmarshalling request: the body is not an AdmissionReview';
  const { apiVersion, request } = body;
  if (apiVersion !== 'admission.k8s.io/v1' && apiVersion !== 'admission.k8s.io/v1beta1')
    return `unmarshalling request: apiVersion ${JSON.stringify(apiVersion)} is not known`;
  if (!isJsonObject(request) || typeof request['uid'] !== 'string' || typeof request['operation'] !== 'string')
    return 'unmarshalling request: the AdmissionReview has no request';
  return { apiVersion, request: { userInfo: {}, ...request } as unknown as AdmissionRequest };
}

/** The review that answers, in the version of the question; a verdict without a code gets 200 or 403. */
function answer(apiVersion: string, uid: string, response: AdmissionResponse): WebhookAnswer {
  const { allowed, patches = [], warnings, auditAnnotations, result } = response;
  const patch =
    patches.length === 0
      ? {}
      : { patchType: 'JSONPatch', patch: Buffer.from(stringifyJson(patches)).toString('base64') };
  const status = { code: allowed ? 200 : 403, ...result };
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
        status: { ...status, metadata: {} },
      },
    },
  };
}
