import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { issueAuthority, issueServing, skewMs, type PemPair } from './issue.js';

/** State shared by the replicas, which is the content of the Secret. */
export interface CertificateState {
  /** The authorities that the API server is to trust, newest first, of which the first one issues. */
  readonly authorities: readonly string[];
  /** Key of the first authority. */
  readonly authorityKey: string;
  readonly serving: PemPair;
  /** When the first authority took over from another, in ms of wall-clock time; 0 if it is the first. */
  readonly rotatedAt: number;
}

/** Settings of {@link nextState}. Durations in ms. */
export interface StatePolicy {
  readonly name: string;
  readonly dnsNames: readonly string[];
  readonly authorityValidityMs: number;
  readonly servingValidityMs: number;
  /** How long old and new are trusted side by side before the next step. */
  readonly overlapMs: number;
}

/** A state and, if it has changed, why. */
export interface Transition {
  readonly state: CertificateState;
  /** Undefined if nothing changes. */
  readonly reason: string | undefined;
}

/**
 * The state that follows at `now`. Certificates are renewed when a third of their life is left. A new authority comes
 * in three steps, `overlapMs` apart, so that every replica's certificate is trusted at every moment, even by an API
 * server that is behind. First it is trusted beside the old one, then it issues, then the old one is removed.
 */
export async function nextState(
  current: CertificateState | undefined,
  policy: StatePolicy,
  now: number,
): Promise<Transition> {
  const { name, overlapMs, authorityValidityMs: validityMs } = policy;
  const problem = authorityProblem(current, now);
  if (current === undefined || problem !== undefined) {
    const authority = await issueAuthority(name, { now, validityMs });
    const serving = await serve(authority, policy, now);
    const state = { authorities: [authority.cert], authorityKey: authority.key, serving, rotatedAt: 0 };
    return { state, reason: problem ?? 'there is no certificate yet' };
  }
  const { authorities, authorityKey, serving, rotatedAt } = current;
  const [newest = ''] = authorities;
  if (authorities.length === 1 && isOld(newest, now)) {
    const next = await issueAuthority(name, { now, validityMs });
    const state = { ...current, authorities: [next.cert, newest], authorityKey: next.key, rotatedAt: now };
    return { state, reason: 'the certificate authority is about to expire: a new one is trusted beside it' };
  }
  const mayIssue = authorities.length === 1 || now >= rotatedAt + overlapMs;
  const isNext = mayIssue && !isIssuedBy(serving.cert, newest);
  // A working certificate is kept until everyone trusts the authority that is to issue.
  const renewal = servingFault(current, now) ?? (mayIssue ? servingAge(current, policy, now) : undefined);
  if (renewal !== undefined || isNext) {
    const issued = await serve({ cert: newest, key: authorityKey }, policy, now);
    const reason = renewal ?? 'the new certificate authority issues from now on';
    return { state: { ...current, serving: issued }, reason };
  }
  if (authorities.length > 1 && isIssuedBy(serving.cert, newest) && now >= issuedAt(serving.cert) + overlapMs)
    return {
      state: { ...current, authorities: [newest] },
      reason: 'the old certificate authority is no longer trusted',
    };
  return { state: current, reason: undefined };
}

/** When a certificate ends, in ms of wall-clock time; undefined if it cannot be read. */
export function expiryOf(pem: string | Buffer): number | undefined {
  return parse(pem)?.validToDate.getTime();
}

/** The reason why a key and certificates do not fit together; undefined if they do. For the content of a Secret. */
export function stateProblem(state: CertificateState): string | undefined {
  const [newest = ''] = state.authorities;
  if (state.authorities.some((pem) => parse(pem) === undefined)) return 'a certificate authority cannot be read';
  if (!fits(newest, state.authorityKey)) return 'the key of the certificate authority does not fit it';
  if (!fits(state.serving.cert, state.serving.key)) return 'the key of the certificate does not fit it';
  return undefined;
}

function serve(authority: PemPair, { dnsNames, servingValidityMs }: StatePolicy, now: number): Promise<PemPair> {
  return issueServing(authority, { dnsNames, now, validityMs: servingValidityMs });
}

function authorityProblem(state: CertificateState | undefined, now: number): string | undefined {
  if (state === undefined) return undefined;
  const expiry = expiryOf(state.authorities[0] ?? '');
  if (expiry === undefined) return 'the certificate authority cannot be read';
  return expiry <= now ? 'the certificate authority has expired' : undefined;
}

/** Why a certificate does not work, at once. */
function servingFault({ authorities, serving }: CertificateState, now: number): string | undefined {
  const certificate = parse(serving.cert);
  if (certificate === undefined) return 'the certificate cannot be read';
  if (certificate.validToDate.getTime() <= now) return 'the certificate has expired';
  const isTrusted = authorities.some((authority) => isIssuedBy(serving.cert, authority));
  return isTrusted ? undefined : 'no authority vouches for the certificate';
}

/** Why a certificate is to be renewed soon. */
function servingAge({ serving }: CertificateState, { dnsNames }: StatePolicy, now: number): string | undefined {
  if (isOld(serving.cert, now)) return 'the certificate is about to expire';
  const certificate = parse(serving.cert);
  const missing = dnsNames.find((name) => {
    // An address is in a certificate without its zone.
    const found = isIP(name) === 0 ? certificate?.checkHost(name) : certificate?.checkIP(name.replace(/%.*/, ''));
    return found === undefined;
  });
  return missing === undefined ? undefined : `the certificate is not for ${missing}`;
}

/** Whether less than a third of its life is left. */
function isOld(pem: string, now: number): boolean {
  const certificate = parse(pem);
  if (certificate === undefined) return true;
  const [from, to] = [issuedAt(pem), certificate.validToDate.getTime()];
  return to - now < (to - from) / 3;
}

function isIssuedBy(pem: string, authority: string): boolean {
  const [certificate, issuer] = [parse(pem), parse(authority)];
  return (
    certificate !== undefined &&
    issuer !== undefined &&
    certificate.checkIssued(issuer) &&
    certificate.verify(issuer.publicKey)
  );
}

function issuedAt(pem: string): number {
  return (parse(pem)?.validFromDate.getTime() ?? 0) + skewMs;
}

function fits(pem: string, key: string): boolean {
  try {
    return parse(pem)?.checkPrivateKey(createPrivateKey(key)) === true;
  } catch {
    return false;
  }
}

function parse(pem: string | Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}
