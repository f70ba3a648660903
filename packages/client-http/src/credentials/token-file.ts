import { messageOf } from '@kctl/telemetry/internal';
import type { Logger } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import { CredentialsError } from '../errors.js';
import { createFileSource } from './file-source.js';
import type { Credential, CredentialSource } from './credential-source.js';

/** As in client-go, valid for a minute, with ten seconds of leeway. */
const maxAgeMs = 50_000;

/**
 * A bearer token from a file that is rotated, as service account tokens are. Re-read after 50 s and on a 401. While a
 * re-read fails, the old token stays in use. Until a first read succeeds, the fallback is used, if set.
 */
export function tokenFileCredential(
  path: string,
  options: { readonly clock: Clock; readonly logger: Logger; readonly fallback?: Credential | undefined },
): CredentialSource {
  const { clock, logger, fallback } = options;
  const file = createFileSource(path, {
    clock,
    maxAgeMs,
    check: (content) => {
      if (content.toString().trim() === '') throw new Error('the file is empty');
    },
    onStale: (error) => logger.warn('cannot read the token file again; keeping the old token', { path, error }),
  });
  let from: Buffer | undefined;
  let credential: Credential = {};
  const credentialOf = (content: Buffer): Credential => {
    if (content !== from) {
      credential = { authorization: `Bearer ${content.toString().trim()}` };
      from = content;
    }
    return credential;
  };
  const orExplain = (error: unknown): Credential => {
    if (fallback !== undefined) return fallback;
    const reason = messageOf(error);
    throw new CredentialsError(`cannot read the token file ${path}: ${reason}`, { cause: error });
  };
  return {
    get: () => {
      const content = file.read();
      return content instanceof Promise ? content.then(credentialOf, orExplain) : credentialOf(content);
    },
    refresh: async (used) => (await file.reread().then(credentialOf, orExplain)).authorization !== used.authorization,
  };
}
