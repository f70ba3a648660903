import { createHash, timingSafeEqual } from 'node:crypto';
import { anonymousUser } from '../authentication/user-names.js';
import { unauthorized } from '../registry/status.js';
import type { ApiRequest, User } from './api-request.js';

/** The users of the server. */
export interface Authenticator {
  /** Who makes a request; only a token of a service account has to be waited for. @throws StatusError 401 */
  authenticate(request: ApiRequest): User | Promise<User>;
  /** Lets a bearer token in. */
  addToken(token: string, user: User): void;
  /** The user of a token. */
  userOf(token: string): User | undefined;
}

/** Options of {@link createAuthenticator}. */
export interface AuthenticatorOptions {
  /** Whether a request without credentials is let in, as `system:anonymous`. @default false */
  readonly anonymous?: boolean;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** A user as requests carry it: every authenticated user is also in `system:authenticated`. */
export function asAuthenticated(user: User): User {
  const group = 'system:authenticated';
  return user.groups.includes(group) ? user : { ...user, groups: [...user.groups, group] };
}

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  /** Digests, so that comparing takes the same time whatever the token is. */
  const tokens = new Map<string, { readonly digest: Buffer; readonly user: User }>();

  const userOf = (token: string): User | undefined => {
    const given = digest(token);
    const known = tokens.get(given.toString('hex'));
    return known !== undefined && timingSafeEqual(known.digest, given) ? known.user : undefined;
  };

  return {
    addToken(token, user) {
      const key = digest(token);
      tokens.set(key.toString('hex'), { digest: key, user: asAuthenticated(user) });
    },
    userOf,
    authenticate(request) {
      const authorization = request.header('authorization');
      const token = authorization === undefined ? undefined : /^bearer\s+(.+)$/i.exec(authorization)?.[1]?.trim();
      if (request.peer !== undefined && token === undefined) return asAuthenticated(request.peer);
      if (token !== undefined) {
        const user = userOf(token);
        if (user !== undefined) return user;
        throw unauthorized();
      }
      if (options.anonymous === true && authorization === undefined) return anonymousUser;
      throw unauthorized();
    },
  };
}
