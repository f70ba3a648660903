import { inspect } from 'node:util';
import type { Connection, ExecPlugin, OidcRefresh, UserConnection } from './connection.js';
import { redact } from './redact.js';

const hidden = '[redacted]';
const userSecrets: readonly (keyof UserConnection)[] = ['token', 'password', 'key'];
const oidcSecrets: readonly (keyof OidcRefresh)[] = ['clientSecret', 'idToken', 'refreshToken'];

/**
 * The same connection, whose secrets stay out of logs: `inspect`, `console.log` and `JSON.stringify` show
 * `[redacted]` for tokens, passwords, private keys, what an exec plugin gets in its environment, and user information
 * in URLs. Each object hides its own, so that `{ ...connection, namespace }` keeps the user hidden. The fields
 * themselves are as they were.
 */
export function hideSecrets(connection: Connection): Connection {
  const { user } = connection;
  const copy: Connection = user === undefined ? { ...connection } : { ...connection, user: hideUser(user) };
  return shownAs(copy, () => ({
    ...copy,
    server: redact(copy.server),
    ...(copy.proxyUrl === undefined ? {} : { proxyUrl: redact(copy.proxyUrl) }),
  }));
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
  const { env } = exec;
  if (env === undefined || env === null) return exec;
  return { ...exec, env: env.map((variable) => withoutFields({ ...variable }, ['value'])) };
}

function withoutFields<T extends object>(fields: T, secret: readonly (keyof T)[]): T {
  const copy = { ...fields };
  return shownAs(copy, () => ({
    ...copy,
    ...Object.fromEntries(secret.filter((field) => copy[field] !== undefined).map((field) => [field, hidden])),
  }));
}

/** Not enumerable: a copy by spread, a comparison or a structured clone sees the fields alone. */
function shownAs<T extends object>(value: T, view: () => object): T {
  return Object.defineProperties(value, {
    toJSON: { value: view, enumerable: false },
    [inspect.custom]: { value: view, enumerable: false },
  });
}
