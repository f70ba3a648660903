import { randomUUID } from 'node:crypto';
import type { UntypedObject } from '@kctl/apimachinery';
import {
  at,
  invalidValue,
  isObject,
  numberOf,
  pathSegment,
  stringOf,
  stringsOf,
  type JsonObject,
  goQuoted,
} from '@kctl/crd/internal/engine';
import { formatTime } from '../protocol/go-text.js';
import { decodeBodyKind } from '../resource/body-kind.js';
import type { Decoded, DecodeInput } from '../resource/resource.js';
import { badRequest, conflict, invalid, notFound } from '../protocol/status.js';
import type { Store } from '../storage/store.js';
import type { TokenSubject } from './service-account-claims.js';
import type { ServiceAccountTokens } from './service-account-tokens.js';

const group = 'authentication.k8s.io';
const kind = 'TokenRequest';
const expected = { group, version: 'v1', kind, apiVersion: `${group}/v1` };
const defaultSeconds = 3600;
const minSeconds = 600;
/** A request for this many seconds gets a token that causes warnings after an hour and stays valid for a year. */
const warnOnlySeconds = 3607;
const extendedSeconds = 365 * 86_400;

/** Decodes a TokenRequest. @throws StatusError 400 */
export function decodeTokenRequest(input: DecodeInput): Decoded {
  const decoded = decodeBodyKind(input, expected);
  const spec = isObject(decoded.object['spec']) ? decoded.object['spec'] : {};
  spec['audiences'] ??= null;
  spec['expirationSeconds'] ??= defaultSeconds;
  spec['boundObjectRef'] ??= null;
  decoded.object['spec'] = spec;
  return decoded;
}

/** A request for a token of a service account. */
export interface PendingToken {
  readonly request: UntypedObject;
  /** The service account of the URL. */
  readonly namespace: string;
  readonly name: string;
}

/** Server state that a token request needs. */
export interface TokenContext {
  readonly store: Store;
  readonly tokens: ServiceAccountTokens;
  /** Longest life of a token, in seconds. */
  readonly maxSeconds: number | undefined;
  readonly nowMs: number;
  readonly warn: (text: string) => void;
}

/**
 * Completes and checks a request, as admission then sees it. Changes the request.
 *
 * @throws StatusError 404, 409, 422
 */
export function prepareTokenRequest({ store, tokens, nowMs }: TokenContext, pending: PendingToken): UntypedObject {
  const { request, namespace, name } = pending;
  const { metadata } = request;
  const mismatch = (field: 'name' | 'namespace', value: string): Error =>
    invalid({ group, kind }, name, [
      invalidValue(`metadata.${field}`, value, `must match the service account ${field} if specified`),
    ]);
  if ((metadata.name ?? '') !== '' && metadata.name !== name) throw mismatch('name', metadata.name ?? '');
  if ((metadata.namespace ?? '') !== '' && metadata.namespace !== namespace)
    throw mismatch('namespace', metadata.namespace ?? '');
  const account = accountOf(store, namespace, name);
  const { uid = '' } = account.metadata;
  const asked = metadata.uid ?? '';
  if (asked !== '' && asked !== uid)
    throw conflict(
      { group, plural: kind },
      name,
      `the UID in the token request (${asked}) does not match the UID of the service account (${uid})`,
    );
  const spec = specOf(request);
  if (stringsOf(spec['audiences']).length === 0) spec['audiences'] = [...tokens.audiences];
  request.metadata = { ...metadata, name, namespace, uid, creationTimestamp: formatTime(nowMs) };
  request['status'] = { expirationTimestamp: null, token: '' };
  const seconds = numberOf(spec['expirationSeconds']) ?? defaultSeconds;
  const problem =
    seconds < minSeconds
      ? 'may not specify a duration less than 10 minutes'
      : seconds > 2 ** 32
        ? 'may not specify a duration larger than 2^32 seconds'
        : undefined;
  if (problem !== undefined)
    throw invalid({ group, kind }, '', [invalidValue('spec.expirationSeconds', seconds, problem)]);
  return request;
}

/** Signs the token of a request that has been prepared. @throws StatusError 400, 404, 409 */
export async function issueToken(context: TokenContext, pending: PendingToken): Promise<UntypedObject> {
  const { store, tokens, maxSeconds, nowMs, warn } = context;
  const { request, namespace, name } = pending;
  const account = accountOf(store, namespace, name);
  const spec = specOf(request);
  const subject = bind(store, account, spec['boundObjectRef']);
  let seconds = numberOf(spec['expirationSeconds']) ?? defaultSeconds;
  if (maxSeconds !== undefined && seconds > maxSeconds) {
    warn(`requested expiration of ${seconds} seconds shortened to ${maxSeconds} seconds`);
    seconds = spec['expirationSeconds'] = maxSeconds;
  }
  const audiences = stringsOf(spec['audiences']);
  const isForUs = audiences.every((audience) => tokens.audiences.includes(audience));
  const isExtended = subject.pod !== undefined && seconds === warnOnlySeconds && isForUs;
  const issuedAt = Math.floor(nowMs / 1000);
  const token = await tokens.sign(subject, {
    id: randomUUID(),
    issuedAt,
    expiresAt: issuedAt + (isExtended ? extendedSeconds : seconds),
    ...(isExtended && { warnAfter: issuedAt + seconds }),
    audiences,
  });
  return { ...request, spec, status: { token, expirationTimestamp: formatTime(nowMs + seconds * 1000) } };
}

function accountOf(store: Store, namespace: string, name: string): UntypedObject {
  const account = store.table('/serviceaccounts').get(`${namespace}/${name}`);
  if (account === undefined) throw notFound({ group: '', plural: 'serviceaccounts' }, name);
  return account.object;
}

function specOf(request: UntypedObject): JsonObject {
  return isObject(request['spec']) ? request['spec'] : {};
}

/** @throws StatusError 400 if a name cannot be that of a stored object */
function requireName(name: string): void {
  if (name === '') throw badRequest('Name parameter required.');
  const problems = pathSegment(name);
  if (problems.length > 0) throw badRequest(`Name parameter invalid: ${goQuoted(name)}: ${problems.join(';')}`);
}

/** Finds what a token is to be bound to. */
function bind(store: Store, account: UntypedObject, ref: unknown): TokenSubject {
  if (!isObject(ref)) return { account };
  const { namespace = '', name: accountName = '' } = account.metadata;
  const [apiVersion, boundKind, name] = ['apiVersion', 'kind', 'name'].map((field) => stringOf(ref[field]));
  const plural = { Pod: 'pods', Node: 'nodes', Secret: 'secrets' }[boundKind ?? ''];
  const [version = '', ...rest] = (apiVersion ?? '').split('/').reverse();
  const boundGroup = rest.join('/');
  if (plural === undefined || boundGroup !== '')
    throw badRequest(`cannot bind token to object of type ${boundGroup}/${version}, Kind=${boundKind ?? ''}`);
  requireName(name ?? '');
  const key = plural === 'nodes' ? (name ?? '') : `${namespace}/${name ?? ''}`;
  const found = store.table(`/${plural}`).get(key)?.object;
  if (found === undefined) throw notFound({ group: '', plural }, name ?? '');
  const podAccount = stringOf(at(found, 'spec', 'serviceAccountName'));
  if (plural === 'pods' && podAccount !== accountName)
    throw badRequest(
      `cannot bind token for serviceaccount ${goQuoted(accountName)} to pod running with different serviceaccount name.`,
    );
  const { uid = '' } = found.metadata;
  const askedUid = stringOf(ref['uid']);
  if (askedUid !== '' && askedUid !== uid)
    throw conflict(
      { group: '', plural: boundKind ?? '' },
      name ?? '',
      `the UID in the bound object reference (${askedUid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  const bound = { name: name ?? '', uid };
  if (plural === 'secrets') return { account, secret: bound };
  if (plural === 'nodes') return { account, node: bound };
  const node = stringOf(at(found, 'spec', 'nodeName'));
  if (node === '') return { account, pod: bound };
  const nodeUid = store.table('/nodes').get(node)?.object.metadata.uid;
  return { account, pod: bound, node: { name: node, ...(nodeUid !== undefined && { uid: nodeUid }) } };
}
