import type { UntypedObject } from '@kctl/apimachinery';
import { at, isObject, numberOf, stringOf, type JsonObject, goQuoted } from '@kctl/crd/internal/engine';
import type { User } from '../protocol/api-request.js';
import type { Store } from '../storage/store.js';
import { extraKeys, serviceAccountGroups, serviceAccountUser } from './user-names.js';

/** Clocks of issuer and server may differ by this much, in seconds. */
const leewaySeconds = 60;

/** An object that a token is bound to. */
export interface BoundObject {
  readonly name: string;
  readonly uid?: string;
}

/** Subject of a service account token. */
export interface TokenSubject {
  readonly account: UntypedObject;
  readonly pod?: BoundObject;
  readonly secret?: BoundObject;
  readonly node?: BoundObject;
}

/** Times and identity of a token, in seconds since the epoch. */
export interface TokenFrame {
  readonly id: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** Time from which using the token is a warning, for the token of a pod that was made to live longer. */
  readonly warnAfter?: number;
  readonly issuer: string;
  readonly audiences: readonly string[];
}

function refOf({ name, uid = '' }: BoundObject): JsonObject {
  return { name, ...(uid !== '' && { uid }) };
}

/** The claims of a token. */
export function claimsOf(subject: TokenSubject, frame: TokenFrame): JsonObject {
  const { account, pod, secret, node } = subject;
  const { namespace = '', name = '', uid = '' } = account.metadata;
  const { warnAfter } = frame;
  return {
    aud: frame.audiences,
    exp: frame.expiresAt,
    iat: frame.issuedAt,
    iss: frame.issuer,
    jti: frame.id,
    'kubernetes.io': {
      namespace,
      ...(node !== undefined && { node: refOf(node) }),
      ...(pod !== undefined && { pod: refOf(pod) }),
      ...(secret !== undefined && { secret: refOf(secret) }),
      serviceaccount: refOf({ name, uid }),
      ...(warnAfter !== undefined && { warnafter: warnAfter }),
    },
    nbf: frame.issuedAt,
    sub: serviceAccountUser({ namespace, name }),
  };
}

/** A user, or why a token does not name one. */
export type TokenVerdict = { readonly user: User } | { readonly problem: string };

/**
 * Checks the claims of a token whose signature is valid. The claims are its times and the objects that it names, which
 * must still exist.
 */
export function judgeClaims(store: Store, claims: JsonObject, nowMs: number): TokenVerdict {
  const late = timeProblem(claims, nowMs / 1000);
  if (late !== undefined) return { problem: late };
  const facts = claims['kubernetes.io'];
  const namespace = stringOf(at(facts, 'namespace'));
  const name = stringOf(at(facts, 'serviceaccount', 'name'));
  const uid = stringOf(at(facts, 'serviceaccount', 'uid'));
  const account = store.table('/serviceaccounts').get(`${namespace}/${name}`)?.object;
  if (account === undefined) return { problem: `serviceaccounts ${goQuoted(name)} not found` };
  if (account.metadata.uid !== uid)
    return { problem: `service account UID (${account.metadata.uid ?? ''}) does not match claim (${uid})` };
  if (isLongGone(account, nowMs)) return { problem: `service account ${namespace}/${name} has been deleted` };
  const problem =
    boundProblem(at(facts, 'secret'), { noun: 'secret', nowMs }, (bound) =>
      store.table('/secrets').get(`${namespace}/${bound}`),
    ) ??
    boundProblem(at(facts, 'pod'), { noun: 'pod', nowMs }, (bound) =>
      store.table('/pods').get(`${namespace}/${bound}`),
    ) ??
    // A pod's token names the node that the pod runs on; only a token bound to a node ends with its node.
    (at(facts, 'pod') === undefined
      ? boundProblem(at(facts, 'node'), { noun: 'node', nowMs }, (bound) => store.table('/nodes').get(bound))
      : undefined);
  if (problem !== undefined) return { problem };
  return {
    user: {
      name: serviceAccountUser({ namespace, name }),
      uid,
      groups: serviceAccountGroups(namespace),
      ...extraOf(claims),
    },
  };
}

function timeProblem(claims: JsonObject, now: number): string | undefined {
  const time = (name: string): number | undefined => numberOf(claims[name]);
  const expires = time('exp');
  if (expires !== undefined && now - leewaySeconds > expires) return 'service account token has expired';
  if ((time('nbf') ?? 0) > now + leewaySeconds) return 'service account token is not valid yet';
  return (time('iat') ?? 0) > now + leewaySeconds ? 'service account token is issued in the future' : undefined;
}

function isLongGone({ metadata }: UntypedObject, nowMs: number): boolean {
  const { deletionTimestamp } = metadata;
  return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) < nowMs - leewaySeconds * 1000;
}

function boundProblem(
  ref: unknown,
  { noun, nowMs }: { readonly noun: string; readonly nowMs: number },
  find: (name: string) => { readonly object: UntypedObject } | undefined,
): string | undefined {
  if (!isObject(ref)) return undefined;
  const found = find(stringOf(ref['name']))?.object;
  if (found === undefined || isLongGone(found, nowMs)) return 'service account token has been invalidated';
  const { uid = '' } = found.metadata;
  const claimed = stringOf(ref['uid']);
  return uid === claimed
    ? undefined
    : `${noun} UID (${uid}) does not match service account ${noun} ref claim (${claimed})`;
}

function extraOf(claims: JsonObject): Pick<User, 'extra'> {
  const extra: Record<string, readonly string[]> = {};
  const facts = claims['kubernetes.io'];
  const put = (key: string, value: unknown): void => {
    if (typeof value === 'string' && value !== '') extra[key] = [value];
  };
  const id = stringOf(claims['jti']);
  put(extraKeys.podName, at(facts, 'pod', 'name'));
  put(extraKeys.podUid, at(facts, 'pod', 'uid'));
  if (id !== '') put(extraKeys.credentialId, `JTI=${id}`);
  put(extraKeys.nodeName, at(facts, 'node', 'name'));
  put(extraKeys.nodeUid, at(facts, 'node', 'uid'));
  return Object.keys(extra).length === 0 ? {} : { extra };
}
