import { isJsonObject, isSameJson, type KubeObject, type ObjectMeta } from '@kctl/apimachinery';
import type { WebhookAnswer, WebhookHandler } from '../server/handler.js';

const maxBodyBytes = 64 * 1024 * 1024;

/** Converts one object to another served version of its kind: returns a new object with `apiVersion` set. */
export type Converter = (object: KubeObject, desiredApiVersion: string) => KubeObject | Promise<KubeObject>;

/**
 * Serves ConversionReviews of a CRD with several versions. Objects that are in the desired version already pass
 * untouched; all others must come back with everything of their metadata but labels and annotations unchanged, as the
 * API server demands. One failing object fails the review, naming it.
 */
export function conversionWebhook(convert: Converter): WebhookHandler {
  const answer = (apiVersion: string, response: object): WebhookAnswer => ({
    body: { apiVersion, kind: 'ConversionReview', response },
  });
  const failed = (apiVersion: string, uid: string, message: string): WebhookAnswer =>
    answer(apiVersion, { uid, convertedObjects: [], result: { status: 'Failure', message } });
  const v1 = 'apiextensions.k8s.io/v1';
  return {
    maxBodyBytes,
    reject: (message) => failed(v1, '', message),
    handle: async ({ body, logger }) => {
      if (!isJsonObject(body) || body['kind'] !== 'ConversionReview' || !isJsonObject(body['request']))
        return failed(v1, '', 'the body is not a ConversionReview with a request');
      const { uid, desiredAPIVersion, objects } = body['request'];
      if (typeof uid !== 'string' || typeof desiredAPIVersion !== 'string' || !Array.isArray(objects))
        return failed(v1, '', 'request.uid, request.desiredAPIVersion and request.objects must be set');
      try {
        const convertedObjects: KubeObject[] = [];
        for (const object of objects) convertedObjects.push(await convertOne(object, desiredAPIVersion, convert));
        return answer(v1, { uid, convertedObjects, result: { status: 'Success' } });
      } catch (error) {
        logger.error('conversion failed', { error, desiredAPIVersion });
        return failed(v1, uid, error instanceof Error ? error.message : String(error));
      }
    },
  };
}

async function convertOne(object: unknown, desired: string, convert: Converter): Promise<KubeObject> {
  if (!isKubeObject(object)) throw new TypeError('request.objects has something that is not an object with metadata');
  if (object.apiVersion === desired) return object;
  const { namespace = '', name = '' } = object.metadata;
  const where = `${object.kind ?? 'object'} ${namespace}/${name}`;
  const converted = await convert(structuredClone(object), desired);
  if (converted.apiVersion !== desired)
    throw new TypeError(
      `${where}: the converter returned apiVersion ${converted.apiVersion ?? 'none'} instead of ${desired}`,
    );
  if (!isSameJson(fixedMeta(object.metadata), fixedMeta(converted.metadata)))
    throw new TypeError(`${where}: the converter changed metadata other than labels and annotations`);
  return converted;
}

function fixedMeta({ labels: _labels, annotations: _annotations, ...fixed }: ObjectMeta): object {
  return fixed;
}

function isKubeObject(value: unknown): value is KubeObject {
  return isJsonObject(value) && isJsonObject(value['metadata']);
}
