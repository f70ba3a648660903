import { nextTurn, throwIfAborted } from '@kctl/wait/internal';
import { isSameJson, parseApiVersion, type KubeObject, type ObjectMeta } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import { requireFunction } from '../handler/require-parts.js';
import { isPanic } from '../admission/typed-request.js';
import { safeError, safeMessageOf } from '../handler/safe-error.js';
import { shownName } from '../admission/admission-webhook.js';
import { jsonProblem } from '../handler/read-json.js';
import type { WebhookAnswer, WebhookHandler } from '../handler/handler.js';
import type { ConversionContext, Converter } from '../handler/converter.js';

const maxBodyBytes = 64 * 1024 * 1024;
const v1 = 'apiextensions.k8s.io/v1';
const versions: readonly string[] = [v1, 'apiextensions.k8s.io/v1beta1'];

/** After how many objects other work gets its turn. */
const sliceLength = 64;

/**
 * Serves ConversionReviews of a CRD with several versions, v1 and v1beta1, each answered in its version. Objects that
 * are in the desired version already pass untouched; all others must come back in it, of the same kind, with everything
 * of their metadata but labels and annotations unchanged, as the API server demands. Parts of objects are converted as
 * well, without `spec` or fields that a schema requires, because an API server sends them while it prunes in a
 * server-side apply; an object without metadata is passed on with an empty one. One failing object fails the review,
 * naming it. Mirrors `conversion.NewWebhookHandler`.
 */
export function conversionWebhook(convert: Converter): WebhookHandler {
  requireFunction('conversionWebhook: the converter', convert);
  return {
    type: 'conversion',
    converter: convert,
    maxBodyBytes,
    // As upstream, with HTTP 400: it is no review that could be answered.
    reject: (message, code) => ({ ...failed(v1, '', message), code }),
    handle: async ({ body, logger, signal, onPanic }) => {
      const review = readReview(body);
      if (typeof review === 'string') {
        logger.warn('failed to read conversion request', { error: review });
        return { ...failed(v1, '', review), code: 400 };
      }
      const { apiVersion, uid, desired, objects } = review;
      const context: ConversionContext = { signal, logger };
      const convertedObjects: KubeObject[] = [];
      try {
        for (const object of objects) {
          if (convertedObjects.length % sliceLength === sliceLength - 1) await nextTurn();
          throwIfAborted(signal);
          convertedObjects.push(await convertOne(object, desired, { convert, context, onPanic }));
        }
        return answer(apiVersion, { uid, convertedObjects, result: { status: 'Success' } });
      } catch (error) {
        logger.error('failed to convert', {
          error: safeError(error),
          request: uid,
          desiredAPIVersion: shownName(desired),
        });
        return failed(apiVersion, uid, safeMessageOf(error));
      }
    },
  };
}

function answer(apiVersion: string, response: object): WebhookAnswer {
  return { body: { apiVersion, kind: 'ConversionReview', response } };
}

function failed(apiVersion: string, uid: string, message: string): WebhookAnswer {
  return answer(apiVersion, { uid, convertedObjects: [], result: { status: 'Failure', message } });
}

interface Review {
  readonly apiVersion: string;
  readonly uid: string;
  readonly desired: string;
  readonly objects: readonly unknown[];
}

function readReview(body: unknown): Review | string {
  if (!isJsonObject(body)) return 'the body is not a ConversionReview with a request';
  const { apiVersion = v1, kind = 'ConversionReview', request } = body;
  if (kind !== 'ConversionReview' || !isJsonObject(request)) return 'the body is not a ConversionReview with a request';
  if (typeof apiVersion !== 'string' || !versions.includes(apiVersion))
    return `no kind "ConversionReview" is registered for version ${shownName(apiVersion)}: known are ${versions.join(' and ')}`;
  const { uid, desiredAPIVersion: desired, objects } = request;
  if (typeof uid !== 'string' || typeof desired !== 'string' || desired === '' || !Array.isArray(objects))
    return 'request.uid, request.desiredAPIVersion and request.objects must be set';
  return { apiVersion, uid, desired, objects };
}

interface ConversionParts {
  readonly convert: Converter;
  readonly context: ConversionContext;
  readonly onPanic: (() => void) | undefined;
}

async function convertOne(object: unknown, desired: string, parts: ConversionParts): Promise<KubeObject> {
  const problem = requestProblem(object);
  if (problem !== undefined) throw new TypeError(`request.objects has ${problem}`);
  // While it prunes, an API server sends objects without metadata; in an answer it demands one, though an empty one.
  return await convertWhole({ metadata: {}, ...(object as Partial<KubeObject>) }, desired, parts);
}

async function convertWhole(
  object: KubeObject,
  desired: string,
  { convert, context, onPanic }: ConversionParts,
): Promise<KubeObject> {
  if (object.apiVersion === desired) return object;
  const where = nameOf(object);
  const [from, to] = [parseApiVersion(object.apiVersion ?? ''), parseApiVersion(desired)];
  if (from.group !== to.group)
    throw new TypeError(
      `${where}: ${shownName(object.apiVersion)} and ${shownName(desired)} do not belong to the same API group`,
    );
  let converted: unknown;
  try {
    converted = await convert(structuredClone(object), desired, context);
  } catch (error) {
    onPanic?.();
    // As upstream, a mistake in the program reveals nothing to its caller.
    const message = isPanic(error) ? 'internal error occurred during conversion' : safeMessageOf(error);
    throw new Error(`${where}: ${message}`, { cause: error });
  }
  const result = readable(object, desired, converted);
  if (typeof result === 'string') throw new TypeError(`${where}: the converter ${result}`);
  return result;
}

/** The converter's result, or {@link resultProblem}, even for a result whose getters throw. */
function readable(object: KubeObject, desired: string, converted: unknown): KubeObject | string {
  try {
    // A custom converter may keep an object without metadata as it is.
    const hadNone = Object.keys(object.metadata).length === 0;
    const whole: unknown =
      hadNone && isJsonObject(converted) && converted['metadata'] === undefined
        ? { ...converted, metadata: {} }
        : converted;
    return resultProblem(object, desired, whole) ?? (whole as KubeObject);
  } catch {
    return 'returned an object that cannot be read';
  }
}

/** Why the API server would refuse what the converter returned; undefined if it would not. */
function resultProblem(object: KubeObject, desired: string, converted: unknown): string | undefined {
  if (!isJsonObject(converted)) return 'returned no object';
  const { apiVersion, kind, metadata } = converted;
  if (apiVersion !== desired) return `returned apiVersion ${plainName(apiVersion)} instead of ${desired}`;
  if (kind !== object.kind) return `returned kind ${plainName(kind)} instead of ${plainName(object.kind)}`;
  if (!isJsonObject(metadata)) return 'returned no metadata';
  const unwritable = jsonProblem(converted);
  if (unwritable !== undefined) return `returned what cannot be written as JSON: ${unwritable}`;
  if (!isSameJson(fixedMeta(object.metadata), fixedMeta(metadata)))
    return 'changed metadata other than labels and annotations';
  return undefined;
}

function nameOf({ kind, metadata: { namespace, name } }: KubeObject): string {
  const where = namespace === undefined || namespace === '' ? '' : `${plainName(namespace)}/`;
  return `${plainName(kind)} ${where}${plainName(name)}`;
}

/** A name as it is; what does not look like one is not shown. */
function plainName(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'none';
  return typeof value === 'string' && /^[\w./:-]{1,253}$/.test(value) ? value : '?';
}

function fixedMeta({ labels: _labels, annotations: _annotations, ...fixed }: ObjectMeta): object {
  return fixed;
}

/** Why a member of a review cannot be converted; undefined if it can. */
function requestProblem(value: unknown): string | undefined {
  if (!isJsonObject(value) || typeof value['apiVersion'] !== 'string' || typeof value['kind'] !== 'string')
    return 'something that is not an object with metadata, apiVersion and kind';
  return value['metadata'] === undefined || isJsonObject(value['metadata'])
    ? undefined
    : 'an object whose metadata is not an object';
}
