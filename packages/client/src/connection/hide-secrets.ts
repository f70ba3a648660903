import { inspect } from 'node:util';
import type { Connection, ExecPlugin, OidcRefresh, UserConnection } from './connection.js';
import { splitUrlUser } from './url-user.js';
import type { UrlUser } from './url-user.js';

const hidden = '[redacted]';
const userSecrets: readonly (keyof UserConnection)[] = ['token', 'password', 'key'];
const oidcSecrets: readonly (keyof OidcRefresh)[] = ['clientSecret', 'idToken', 'refreshToken'];

/**
 * Returns the same connection with its secrets hidden from logs. `inspect`, `console.log` and `JSON.stringify` show
 * `[redacted]` for tokens, passwords, private keys, and for arguments and environment of an exec plugin. Each object
 * hides its secrets, so that a copy such as `{ ...connection, namespace }` hides as much, and user and password are
 * moved from a URL into `user` and `proxyUser`. The fields themselves are unchanged, so a copy of `user` itself,
 * `{ ...connection.user }`, shows its token.
 */
export function hideSecrets(connection: Connection): Connection {
  const server = splitUrlUser(connection.server);
  const proxy = connection.proxyUrl === undefined ? undefined : splitUrlUser(connection.proxyUrl);
  const user = withServerUser(connection.user, server.user);
  const proxyUser = connection.proxyUser ?? proxy?.user;
  return {
    ...connection,
    server: server.url,
    ...(proxy === undefined ? {} : { proxyUrl: proxy.url }),
    ...(proxyUser === undefined ? {} : { proxyUser: withoutFields(proxyUser, ['password']) }),
    ...(user === undefined ? {} : { user: hideUser(user) }),
  };
}

/** As in Go, the user information of the URL counts if there is no other authentication. */
function withServerUser(user: UserConnection | undefined, fromUrl: UrlUser | undefined): UserConnection | undefined {
  if (fromUrl === undefined || hasAuthorization(user)) return user;
  return { ...user, username: fromUrl.name, password: fromUrl.password };
}

/** Whether a user has something to put into the header `Authorization`. */
export function hasAuthorization(user: UserConnection = {}): boolean {
  const { token, tokenFile, username, exec, oidc, provider } = user;
  return [token, tokenFile, username, exec, oidc, provider].some((way) => way !== undefined);
}

function hideUser(user: UserConnection): UserConnection {
  const { oidc, exec } = user;
  const copy: UserConnection = {
    ...user,
    ...(oidc === undefined ? {} : { oidc: withoutFields(oidc, oidcSecrets) }),
    ...(exec === undefined ? {} : { exec: hideExec(exec) }),
  };
  return withoutFields(copy, userSecrets);
}

function hideExec(exec: ExecPlugin): ExecPlugin {
  const { env, args } = exec;
  return {
    ...exec,
    ...(args === undefined || args === null ? {} : { args: hideItems(args) }),
    ...(env === undefined || env === null ? {} : { env: env.map((entry) => withoutFields({ ...entry }, ['value'])) }),
  };
}

/** Arguments may be secrets; only how many there are is shown. */
function hideItems(items: readonly string[]): readonly string[] {
  return shownAs([...items], () => items.map(() => hidden));
}

function withoutFields<T extends object>(fields: T, secret: readonly (keyof T)[]): T {
  const copy = { ...fields };
  return shownAs(copy, () => ({
    ...copy,
    ...Object.fromEntries(secret.filter((field) => copy[field] !== undefined).map((field) => [field, hidden])),
  }));
}

/** Not enumerable, so that a copy by spread, a comparison or a structured clone only sees the fields. */
function shownAs<T extends object>(value: T, view: () => object): T {
  return Object.defineProperties(value, {
    toJSON: { value: view, enumerable: false },
    [inspect.custom]: { value: view, enumerable: false },
  });
}
