import { createHash } from 'node:crypto';
import { isObject, stringOf, stringsOf, type JsonObject, goQuoted } from '@kctl/crd/internal/engine';
import type { User } from '../protocol/api-request.js';
import type { Store } from '../storage/store.js';
import { claimsOf, judgeClaims, type TokenFrame, type TokenSubject } from './service-account-claims.js';
import type { TokenKeys, VerificationKey } from './service-account-keys.js';

/**
 * Result for a token, either a user and its valid audiences, or the reason for refusal; undefined for a token of
 * another kind.
 */
export type TokenResult =
  | { readonly user: User; readonly audiences: readonly string[] }
  | { readonly problem: string }
  | undefined;

/** Signs and verifies the tokens of service accounts. */
export interface ServiceAccountTokens {
  /** The first is that of new tokens. */
  readonly issuers: readonly string[];
  /** Audiences for a token without audiences, and for a request without audiences. */
  readonly audiences: readonly string[];
  readonly keys: readonly VerificationKey[];
  sign(subject: TokenSubject, frame: Omit<TokenFrame, 'issuer'>): Promise<string>;
  /** Only the first use of a token has to be waited for, because its signature is verified once. */
  verify(token: string, audiences: readonly string[]): TokenResult | Promise<TokenResult>;
}

/** Options of {@link createServiceAccountTokens}. */
export interface ServiceAccountTokensOptions {
  readonly store: Store;
  /** Known once the server has started. */
  readonly keys: () => TokenKeys;
  readonly issuers: readonly string[];
  readonly audiences: readonly string[];
  readonly now: () => number;
}

/** Tokens whose signatures are remembered. */
const maxKnown = 1000;
const maxTokenLength = 16 * 1024;
/** Three parts in base64url without padding. Node would decode other strings, too. */
const compactToken = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** Claims, or why the signature does not hold. */
type Signed = { readonly claims: JsonObject } | { readonly problem: string };

class JwtTokens implements ServiceAccountTokens {
  readonly #options: ServiceAccountTokensOptions;
  /** By digest, oldest first; no token is kept. */
  readonly #known = new Map<string, JsonObject>();

  constructor(options: ServiceAccountTokensOptions) {
    this.#options = options;
  }

  get issuers(): readonly string[] {
    return this.#options.issuers;
  }

  get audiences(): readonly string[] {
    return this.#options.audiences;
  }

  get keys(): readonly VerificationKey[] {
    return this.#options.keys().verification;
  }

  async sign(subject: TokenSubject, frame: Omit<TokenFrame, 'issuer'>): Promise<string> {
    const { signing } = this.#options.keys();
    const [issuer = ''] = this.issuers;
    if (signing === undefined) throw new Error('this server has no key to sign tokens with');
    const { CompactSign } = await import('jose');
    const payload = Buffer.from(JSON.stringify(claimsOf(subject, { ...frame, issuer })));
    const { algorithm: alg, id: kid, key } = signing;
    return new CompactSign(payload).setProtectedHeader({ alg, kid }).sign(key);
  }

  verify(given: string, audiences: readonly string[]): TokenResult | Promise<TokenResult> {
    const token = given.replaceAll(/\s/g, '');
    if (!this.#isOurs(token)) return undefined;
    const digest = createHash('sha256').update(token).digest('base64');
    const known = this.#known.get(digest);
    if (known !== undefined) return this.#judge(known, audiences);
    return this.#signed(token).then((signed) => {
      if ('problem' in signed) return signed;
      this.#remember(digest, signed.claims);
      return this.#judge(signed.claims, audiences);
    });
  }

  /** Whether the token names our issuer. All others are left to other authenticators. */
  #isOurs(token: string): boolean {
    if (token.length > maxTokenLength || !compactToken.test(token)) return false;
    const [, payload = ''] = token.split('.');
    const claims = claimsIn(Buffer.from(payload, 'base64url'));
    return claims !== undefined && this.issuers.includes(stringOf(claims['iss']));
  }

  async #signed(token: string): Promise<Signed> {
    const { compactVerify, decodeProtectedHeader } = await import('jose');
    let kid: unknown;
    try {
      ({ kid } = decodeProtectedHeader(token));
    } catch {
      return { problem: 'invalid bearer token' };
    }
    const keys = this.keys.filter(({ id }) => kid === undefined || kid === '' || id === kid);
    if (keys.length === 0) return { problem: 'invalid signature, no keys found' };
    for (const { key, algorithm } of keys) {
      try {
        // The algorithm is that of the key, never one that the token chooses.
        const { payload } = await compactVerify(token, key, { algorithms: [algorithm] });
        const claims = claimsIn(payload);
        if (claims !== undefined) return { claims };
      } catch {
        // Another key may fit.
      }
    }
    return { problem: 'go-jose/go-jose: error in cryptographic primitive' };
  }

  #judge(claims: JsonObject, asked: readonly string[]): TokenResult {
    const given = claims['aud'];
    const named = typeof given === 'string' ? [given] : stringsOf(given);
    const own = named.length === 0 ? this.audiences : named;
    const audiences = own.filter((audience) => asked.includes(audience));
    if (audiences.length === 0) {
      const print = (values: readonly string[]): string => `[${values.map((value) => goQuoted(value)).join(' ')}]`;
      return { problem: `token audiences ${print(own)} is invalid for the target audiences ${print(asked)}` };
    }
    const verdict = judgeClaims(this.#options.store, claims, this.#options.now());
    return 'problem' in verdict ? verdict : { ...verdict, audiences };
  }

  #remember(digest: string, claims: JsonObject): void {
    const [oldest] = this.#known.keys();
    if (this.#known.size >= maxKnown && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(digest, claims);
  }
}

function claimsIn(payload: Uint8Array): JsonObject | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload).toString());
    return isObject(claims) ? claims : undefined;
  } catch {
    return undefined;
  }
}

export function createServiceAccountTokens(options: ServiceAccountTokensOptions): ServiceAccountTokens {
  return new JwtTokens(options);
}
