import type { Logger } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import type { Connection, Impersonation } from '@kctl/client/internal/connection';
import { providerCredential } from './auth-provider.js';
import { staticCredential } from './credential-source.js';
import type { CredentialSource } from './credential-source.js';
import { execCredential } from './exec-plugin.js';
import { oidcCredential } from './oidc.js';
import { tokenFileCredential } from './token-file.js';
import { hasAuthorization, splitUrlUser } from '@kctl/client/internal/connection';

/** External dependencies of credential sources. */
export interface CredentialContext {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Programs that may run as exec plugins. Any if undefined. */
  readonly execAllowlist: readonly string[] | undefined;
}

/** Returns the source for a connection's credentials, in client-go's order. */
export function credentialsOf(connection: Connection, context: CredentialContext): CredentialSource {
  const user = connection.user ?? {};
  const token = user.token === undefined ? undefined : { authorization: `Bearer ${user.token.trim()}` };
  if (user.tokenFile !== undefined) return tokenFileCredential(user.tokenFile, { ...context, fallback: token });
  if (token !== undefined) return staticCredential(token);
  if (user.username !== undefined) return basicCredential(user.username, user.password ?? '');
  const { user: fromUrl } = splitUrlUser(connection.server);
  if (fromUrl !== undefined && !hasAuthorization(user)) return basicCredential(fromUrl.name, fromUrl.password);
  if (user.exec !== undefined)
    return execCredential(user.exec, { ...context, allowlist: context.execAllowlist, connection });
  if (user.oidc !== undefined) return oidcCredential(user.oidc, context.clock);
  if (user.provider !== undefined) return providerCredential(user.provider, context.clock);
  return staticCredential({});
}

function basicCredential(name: string, password: string): CredentialSource {
  return staticCredential({ authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` });
}

/** The headers of impersonation. */
export function impersonationHeaders(impersonation: Impersonation | undefined): Record<string, string | string[]> {
  if (impersonation === undefined) return {};
  const { userName, uid, groups = [], extra = {} } = impersonation;
  const headers: Record<string, string | string[]> = { 'impersonate-user': inBytes(userName) };
  if (uid !== undefined) headers['impersonate-uid'] = inBytes(uid);
  if (groups.length > 0) headers['impersonate-group'] = groups.map(inBytes);
  for (const [key, values] of Object.entries(extra)) {
    headers[`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`] = values.map(inBytes);
  }
  return headers;
}

/** Header values are bytes, of which each is one character here: UTF-8, as client-go sends names. */
function inBytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}
