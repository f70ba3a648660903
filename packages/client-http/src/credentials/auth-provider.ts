import { CredentialsError } from '../errors.js';
import { redact } from '../redact.js';
import type { AuthProvider } from '../connection.js';
import type { Credential, CredentialSource } from './credential-source.js';

/** Credentials of a provider that caches and refreshes by itself, asked once for all requests that wait. */
export function providerCredential(provider: AuthProvider): CredentialSource {
  let credential: Credential = {};
  let running: Promise<Credential> | undefined;
  const load = async (): Promise<Credential> => {
    try {
      const authorization = await provider.authorization();
      if (authorization !== credential.authorization) credential = authorization === undefined ? {} : { authorization };
      return credential;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new CredentialsError(`the auth provider gave no credentials: ${redact(reason)}`, { cause: error });
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
