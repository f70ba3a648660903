import { messageOf } from '@kctl/telemetry/internal';
import { shownType } from '@kctl/options';
import { withDeadline } from '@kctl/wait';
import type { Clock } from '@kctl/wait';
import { CredentialsError } from '../errors.js';
import { redact } from '@kctl/client/internal/connection';
import type { AuthProvider } from '@kctl/client/internal/connection';
import type { Credential, CredentialSource } from './credential-source.js';

/** A provider that hangs must not hang every request with it. */
const timeoutMs = 60_000;

/** Credentials of a provider that caches and refreshes by itself, called once for all waiting requests. */
export function providerCredential(provider: AuthProvider, clock: Clock): CredentialSource {
  let credential: Credential = {};
  let running: Promise<Credential> | undefined;
  const load = async (): Promise<Credential> => {
    try {
      const authorization: unknown = await withDeadline(() => provider.authorization(), {
        timeoutMs,
        message: `no answer within ${timeoutMs / 1000} s`,
        clock,
      });
      if (authorization !== undefined && typeof authorization !== 'string')
        throw new TypeError(
          `authorization() returned ${shownType(authorization)}: expected the value of the header, or undefined for none`,
        );
      if (authorization !== credential.authorization) credential = authorization === undefined ? {} : { authorization };
      return credential;
    } catch (error) {
      const reason = messageOf(error);
      // Without the cause, because printing it would print everything that it quotes.
      throw new CredentialsError(`the auth provider gave no credentials: ${redact(reason)}`);
    }
  };
  const get = (): Promise<Credential> => {
    running ??= load().finally(() => {
      running = undefined;
    });
    return running;
  };
  return { get, refresh: async (used) => (await get()).authorization !== used.authorization };
}
