import { createHash, timingSafeEqual } from 'node:crypto';
import type { ServiceAccountTokens } from './service-account-tokens.js';
import { allAuthenticated, anonymousUser } from './user-names.js';
import { unauthorized } from '../protocol/status.js';
import type { ApiRequest, User } from '../protocol/api-request.js';

/**
 * Result of a token review, either a user and the audiences that the token is valid for, or the reason for its refusal.
 */
export type ReviewedToken =
  | { readonly user: User; readonly audiences: readonly string[] }
  | { readonly problem: string };

/** The users of the server. */
export interface Authenticator {
  /** Who makes a request; only a token of a service account has to be waited for. @throws StatusError 401 */
  authenticate(request: ApiRequest): User | Promise<User>;
  /** Lets a bearer token in. */
  addToken(token: string, user: User): void;
  /** Returns the user of a token, for any of these audiences; if empty, for those of the server. */
  review(token: string, audiences: readonly string[]): Promise<ReviewedToken>;
}

/** Options of {@link createAuthenticator}. */
export interface AuthenticatorOptions {
  /** Whether a request without credentials is let in, as `system:anonymous`. @default false */
  readonly anonymous?: boolean;
  readonly serviceAccounts: ServiceAccountTokens;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** The user as requests carry it. Every authenticated user is also in `system:authenticated`. */
export function asAuthenticated(user: User): User {
  return user.groups.includes(allAuthenticated) ? user : { ...user, groups: [...user.groups, allAuthenticated] };
}

const invalidToken = 'invalid bearer token';

/** The token of an `Authorization` header, as upstream cuts it; undefined if there is no token. */
function bearerTokenOf(authorization: string): string | undefined {
  const [scheme = '', token = ''] = authorization.trim().split(' ');
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined;
}

export function createAuthenticator({ anonymous = false, serviceAccounts }: AuthenticatorOptions): Authenticator {
  /** Digests, so that comparing takes the same time whatever the token is. */
  const tokens = new Map<string, { readonly digest: Buffer; readonly user: User }>();

  const userOf = (token: string): User | undefined => {
    const given = digest(token);
    const known = tokens.get(given.toString('hex'));
    return known !== undefined && timingSafeEqual(known.digest, given) ? known.user : undefined;
  };

  const userOfAccount = (token: string): User | Promise<User> => {
    const result = serviceAccounts.verify(token, serviceAccounts.audiences);
    const judge = (found: Awaited<typeof result>): User => {
      if (found === undefined || 'problem' in found) throw unauthorized();
      return asAuthenticated(found.user);
    };
    return result instanceof Promise ? result.then(judge) : judge(result);
  };

  return {
    addToken(token, user) {
      const key = digest(token);
      tokens.set(key.toString('hex'), { digest: key, user: asAuthenticated(user) });
    },
    async review(text, asked) {
      const wanted = asked.length === 0 ? serviceAccounts.audiences : asked;
      // The review covers a header with the token in it.
      const token = bearerTokenOf(`Bearer ${text}`);
      if (token === undefined) return anonymous ? { user: anonymousUser, audiences: wanted } : { problem: '' };
      const user = userOf(token);
      // A token that names no audience is good for those of the server.
      const audiences = serviceAccounts.audiences.filter((audience) => wanted.includes(audience));
      if (user !== undefined && audiences.length > 0) return { user, audiences };
      const found = user === undefined ? await serviceAccounts.verify(token, wanted) : undefined;
      if (found === undefined) return { problem: invalidToken };
      if ('problem' in found) return { problem: `[${invalidToken}, ${found.problem}]` };
      return { user: asAuthenticated(found.user), audiences: found.audiences };
    },
    authenticate(request) {
      const authorization = request.header('authorization');
      const token = authorization === undefined ? undefined : bearerTokenOf(authorization);
      // A certificate comes first, whatever token is sent with it.
      if (request.peer !== undefined) return asAuthenticated(request.peer);
      if (token !== undefined) return userOf(token) ?? userOfAccount(token);
      if (anonymous) return anonymousUser;
      throw unauthorized();
    },
  };
}
