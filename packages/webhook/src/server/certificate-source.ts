import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AccessNeed } from '@kctl/rbac';
import type { Logger, Metrics } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import { createCertificateWatcher, type KeyPair } from './certificate-watcher.js';

/** Where a server gets its certificate and the next one from. */
export interface CertificateSource {
  /**
   * The pair to begin with; `onChange` is called with each later one until the signal is aborted.
   *
   * @throws when there is none; the server does not start then
   */
  load(onChange: (pair: KeyPair) => void, signal: AbortSignal): Promise<KeyPair>;
  /** What else has to be so for the server to be ready, as that the API server trusts it. @throws where it is not */
  check?(): void;
  /** The rights that it needs. @default none */
  accessNeeds?(): readonly AccessNeed[];
}

/** What the sources of this file work with. */
export interface CertificateSourceParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** The pair in two files, read again when they change. */
export function fileCertificates(
  { certDir, certName, keyName }: { readonly certDir: string; readonly certName: string; readonly keyName: string },
  parts: CertificateSourceParts,
): CertificateSource {
  return {
    load: async (onChange, signal) => {
      const certFile = join(certDir, certName);
      const watcher = createCertificateWatcher({ certFile, keyFile: join(certDir, keyName), ...parts, onChange });
      signal.addEventListener('abort', () => watcher[Symbol.dispose](), { once: true });
      if (signal.aborted) watcher[Symbol.dispose]();
      return await watcher.load();
    },
  };
}

/** How often the file of a client CA is read, in ms, as those of certificates are. */
const pollMs = 10_000;

/**
 * The CA of clients: read at the start and then every 10 s; one that cannot be read leaves the last one in use.
 *
 * @throws when it cannot be read at the start, or holds no certificate
 */
export async function loadClientCa(
  file: string,
  onChange: (ca: Buffer) => void,
  { clock, logger, signal }: Omit<CertificateSourceParts, 'metrics'> & { readonly signal: AbortSignal },
): Promise<Buffer> {
  let current = await readCa(file);
  const poll = (): void => {
    if (signal.aborted) return;
    const timer = clock.setTimer(() => void check(), pollMs, { keepAlive: false });
    signal.addEventListener('abort', () => timer.cancel(), { once: true });
  };
  const check = async (): Promise<void> => {
    try {
      const next = await readCa(file);
      if (!signal.aborted && !next.equals(current)) {
        current = next;
        onChange(next);
        logger.info('updated the client CA', { file });
      }
    } catch (error) {
      logger.error('cannot read the client CA; the last one stays in use', { error });
    }
    poll();
  };
  poll();
  return current;
}

async function readCa(file: string): Promise<Buffer> {
  const ca = await readFile(file).catch((error: unknown) => {
    throw new Error(`failed to read client CA cert: ${file}`, { cause: error });
  });
  if (!ca.includes('-----BEGIN CERTIFICATE-----'))
    throw new Error(`failed to append client CA cert to CA pool: ${file} holds no PEM certificate`);
  return ca;
}
