import {
  isObject,
  objectOf,
  stringMapOf,
  stringOf,
  stringsOf,
  type JsonObject,
  goQuoted,
} from '@kctl/crd/internal/engine';
import { reviewApiVersion, type ReviewVersion } from './admission-review.js';

/** Decision of a webhook. */
export interface AdmissionAnswer {
  readonly allowed: boolean;
  /** The JSON patch, as a string; '' if there is no patch. */
  readonly patch: string;
  readonly patchType: string;
  /** The Status with the reason, as received. */
  readonly result: JsonObject | undefined;
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

/** An answer is not an AdmissionReview, or not one to the request that was sent. The message is Go's. */
export class ReviewError extends Error {
  override readonly name = 'ReviewError';
  /** Whether the answer could not be decoded at all, which upstream reports as a failed call. */
  readonly isUndecodable: boolean;

  constructor(message: string, { isUndecodable = false }: { readonly isUndecodable?: boolean } = {}) {
    super(message);
    this.isUndecodable = isUndecodable;
  }
}

/** Requirements for an answer. */
export interface ExpectedAnswer {
  readonly uid: string;
  readonly version: ReviewVersion;
  readonly isMutating: boolean;
}

function goKind(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'bigint' ? 'number' : typeof value;
}

function requireType(value: unknown, field: string, type: string): void {
  const isRight =
    value === undefined || value === null || (type === 'bool' ? typeof value === 'boolean' : typeof value === 'string');
  if (isRight) return;
  throw new ReviewError(`json: cannot unmarshal ${goKind(value)} into Go struct field ${field} of type ${type}`, {
    isUndecodable: true,
  });
}

function requireContainer(value: unknown, field: string, { type, isList }: { type: string; isList: boolean }): void {
  if (value === undefined || value === null || (isList ? Array.isArray(value) : isObject(value))) return;
  throw new ReviewError(`json: cannot unmarshal ${goKind(value)} into Go struct field ${field} of type ${type}`, {
    isUndecodable: true,
  });
}

function requireNumber(value: unknown, field: string): void {
  if (value === undefined || value === null || Number.isInteger(value)) return;
  throw new ReviewError(`json: cannot unmarshal ${goKind(value)} into Go struct field ${field} of type int32`, {
    isUndecodable: true,
  });
}

/** Go reads base64 strictly, padding included. */
function requireBase64(value: unknown): void {
  requireType(value, 'AdmissionResponse.response.patch', '[]uint8');
  const encoded = stringOf(value).replaceAll(/[\r\n]/g, '');
  const bare = encoded.replace(/={0,2}$/, '');
  const wrong = bare.search(/[^A-Za-z0-9+/]/);
  if (wrong < 0 && encoded.length % 4 === 0) return;
  throw new ReviewError(`illegal base64 data at input byte ${wrong < 0 ? encoded.length : wrong}`, {
    isUndecodable: true,
  });
}

/** Go's print of a group, version and kind. */
function printKind(apiVersion: string, kind: string): string {
  return `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
}

/** Checks by its kind whether Go's decoder accepts an answer at all. @throws ReviewError */
function checkDecodable(review: JsonObject, version: ReviewVersion): void {
  const kind = stringOf(review['kind']) || 'AdmissionReview';
  const apiVersion = stringOf(review['apiVersion']) || reviewApiVersion(version);
  const isKnown = /^admission\.k8s\.io\/(v1|v1beta1)$/.test(apiVersion) && kind === 'AdmissionReview';
  const fail = (message: string): Error => new ReviewError(message, { isUndecodable: true });
  if (apiVersion === 'v1' && kind === 'Status')
    throw fail(`converting (v1.Status) to (${version}.AdmissionReview): unknown conversion`);
  if (!isKnown)
    throw fail(
      `no kind ${goQuoted(kind)} is registered for version ${goQuoted(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
    );
  if (apiVersion !== reviewApiVersion(version)) {
    const given = apiVersion.slice(apiVersion.indexOf('/') + 1);
    throw fail(`converting (${given}.AdmissionReview) to (${version}.AdmissionReview): unknown conversion`);
  }
}

function readPatch(
  response: JsonObject,
  { version, isMutating }: ExpectedAnswer,
): { patch: string; patchType: string } {
  const { patch, patchType } = response;
  const encoded = stringOf(patch);
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  if (version === 'v1beta1') return isMutating && text !== '' ? { patch: text, patchType: 'JSONPatch' } : noPatch;
  const hasType = typeof patchType === 'string';
  if (!isMutating) {
    if (text !== '') throw new ReviewError('validating webhook may not return response.patch');
    if (hasType) throw new ReviewError('validating webhook may not return response.patchType');
    return noPatch;
  }
  if (text !== '' && !hasType) throw new ReviewError('webhook returned response.patch but not response.patchType');
  if (text === '' && hasType) throw new ReviewError('webhook returned response.patchType but not response.patch');
  if (hasType && patchType === '') throw new ReviewError('webhook returned invalid response.patchType of ""');
  return { patch: text, patchType: stringOf(patchType) };
}

const noPatch = { patch: '', patchType: '' };

/** Reads the answer of a webhook. @throws ReviewError */
export function readAdmissionAnswer(review: JsonObject, expected: ExpectedAnswer): AdmissionAnswer {
  const { uid, version } = expected;
  checkDecodable(review, version);
  const { response } = review;
  requireContainer(response, 'AdmissionReview.response', { type: `${version}.AdmissionResponse`, isList: false });
  if (!isObject(response)) throw new ReviewError('webhook response was absent');
  requireType(response['uid'], 'AdmissionResponse.response.uid', 'string');
  requireType(response['allowed'], 'AdmissionResponse.response.allowed', 'bool');
  requireContainer(response['status'], 'AdmissionResponse.response.status', { type: 'v1.Status', isList: false });
  const status = objectOf(response['status']);
  requireNumber(status['code'], 'Status.response.status.code');
  for (const name of ['message', 'reason', 'status'])
    requireType(status[name], `Status.response.status.${name}`, 'string');
  requireBase64(response['patch']);
  requireType(response['patchType'], 'AdmissionResponse.response.patchType', 'string');
  const annotations = { type: 'map[string]string', isList: false };
  requireContainer(response['auditAnnotations'], 'AdmissionResponse.response.auditAnnotations', annotations);
  requireContainer(response['warnings'], 'AdmissionResponse.response.warnings', { type: '[]string', isList: true });
  if (version === 'v1') {
    if (stringOf(response['uid']) !== uid)
      throw new ReviewError(`expected response.uid=${goQuoted(uid)}, got ${goQuoted(stringOf(response['uid']))}`);
    const given = printKind(stringOf(review['apiVersion']), stringOf(review['kind']));
    const wanted = printKind(reviewApiVersion(version), 'AdmissionReview');
    if (given !== wanted) throw new ReviewError(`expected webhook response of ${wanted}, got ${given}`);
  }
  return {
    allowed: response['allowed'] === true,
    ...readPatch(response, expected),
    result: isObject(response['status']) ? response['status'] : undefined,
    warnings: stringsOf(response['warnings']),
    auditAnnotations: stringMapOf(response['auditAnnotations']),
  };
}
