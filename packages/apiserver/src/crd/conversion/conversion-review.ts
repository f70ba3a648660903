import type { UntypedObject } from '@kctl/apimachinery';
import { isObject, jsonText, objectOf, stringOf, type JsonObject, goQuoted } from '@kctl/crd/internal/engine';
import { identityProblem, restoreMetadata } from './converted-metadata.js';

const group = 'apiextensions.k8s.io';
const kind = 'ConversionReview';

/** A request for a conversion, and what its answer is compared with. */
export interface ConversionQuestion {
  /** The review's version, v1 or v1beta1. */
  readonly reviewVersion: string;
  readonly uid: string;
  readonly desiredApiVersion: string;
  readonly objects: readonly JsonObject[];
}

/** The first review version that the API server handles; undefined if it handles none of them. */
export function reviewVersionOf(versions: readonly string[]): string | undefined {
  return versions.find((version) => version === 'v1' || version === 'v1beta1');
}

/** The ConversionReview that is sent. */
export function reviewOf({ reviewVersion, uid, desiredApiVersion, objects }: ConversionQuestion): JsonObject {
  return {
    kind,
    apiVersion: `${group}/${reviewVersion}`,
    request: { uid, desiredAPIVersion: desiredApiVersion, objects },
  };
}

/** Go's print of a GroupVersionKind. */
function describe(apiVersion: string, name: string): string {
  return `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${name}`;
}

/**
 * The objects of an answer, in the order of those sent, with the metadata of the originals.
 *
 * @throws Error in the words of upstream's webhook converter
 */
export function readConverted(question: ConversionQuestion, answer: unknown): UntypedObject[] {
  const { objects } = question;
  const what = `conversion webhook for ${whatOf(question)}`;
  const problem = answerProblem(question, answer);
  if (problem !== undefined) throw new Error(`${what} failed: ${problem}`);
  const given = objectOf(objectOf(answer)['response'])['convertedObjects'];
  const converted: readonly unknown[] = Array.isArray(given) ? given : [];
  if (converted.length !== objects.length)
    throw new Error(`${what} returned ${converted.length} objects, expected ${objects.length}`);
  return objects.map((original, index) => checked(question, original, { value: converted[index], index, what }));
}

/** The kind of what is converted, as errors name it. */
export function whatOf({ objects }: ConversionQuestion): string {
  const [first] = objects;
  return describe(stringOf(first?.['apiVersion']), stringOf(first?.['kind']));
}

function answerProblem({ reviewVersion, uid }: ConversionQuestion, answer: unknown): string | undefined {
  const review = objectOf(answer);
  const isV1 = reviewVersion === 'v1';
  const expected = `${group}/${reviewVersion}, Kind=${kind}`;
  const got = describe(stringOf(review['apiVersion']), stringOf(review['kind']));
  if (isV1 && got !== expected) return `expected webhook response of ${expected}, got ${got}`;
  const { response } = review;
  if (!isObject(response)) return 'no response provided';
  const answered = stringOf(response['uid']);
  if (isV1 && answered !== uid) return `expected response.uid=${goQuoted(uid)}, got ${goQuoted(answered)}`;
  const result = objectOf(response['result']);
  const status = stringOf(result['status']);
  if (status === 'Success') return undefined;
  const message = stringOf(result['message']);
  return message === '' ? `response.result.status was '${status}', not 'Success'` : message;
}

interface ConvertedItem {
  readonly value: unknown;
  readonly index: number;
  readonly what: string;
}

function checked(
  { desiredApiVersion }: ConversionQuestion,
  original: JsonObject,
  { value, index, what }: ConvertedItem,
): UntypedObject {
  if (!isObject(value)) throw new Error('unexpected end of JSON input');
  const name = stringOf(value['kind']);
  if (name === '') throw new Error(`Object 'Kind' is missing in '${jsonText(value)}'`);
  const apiVersion = stringOf(value['apiVersion']);
  const fail = (problem: string): Error => new Error(`${what} returned invalid ${problem}`);
  if (apiVersion !== desiredApiVersion)
    throw fail(
      `object at index ${index}: invalid groupVersion (expected ${desiredApiVersion}, received ${apiVersion})`,
    );
  if (name !== original['kind'])
    throw fail(`object at index ${index}: invalid kind (expected ${stringOf(original['kind'])}, received ${name})`);
  const other = identityProblem(original, value);
  if (other !== undefined) throw fail(`object: ${other}`);
  const problem = restoreMetadata(original, value);
  if (problem !== undefined) throw fail(`metadata: ${problem}`);
  return { ...value, metadata: objectOf(value['metadata']) };
}
