import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { certificateBundleProblem } from '@kctl/client/internal/connection';
import type { AccessNeed } from '@kctl/rbac';
import type { Logger, Metrics } from '@kctl/telemetry';
import { sleep } from '@kctl/wait';
import type { Clock } from '@kctl/wait';
import { createCertificateWatcher, type KeyPair } from './certificate-watcher.js';

/** Source of a server's certificate and its renewals. */
export interface CertificateSource {
  /**
   * The pair to begin with; `onChange` is called with each later one until the signal is aborted.
   *
   * @throws when there is no certificate; the server does not start then
   */
  load(onChange: (pair: KeyPair) => void, signal: AbortSignal): Promise<KeyPair>;
  /** Further conditions of the server's readiness, such as the trust of the API server. @throws if one is not met */
  check?(): void;
  /** The rights that it needs. @default none */
  accessNeeds?(): readonly AccessNeed[];
}

/** Dependencies of the sources in this file. */
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

/**
 * The pair that a callback returns for no name. It is called again every 10 s, because Node calls nothing in a
 * handshake without a name. If a later call fails, the last pair stays in use.
 */
export function callbackCertificates(
  getCertificate: () => Promise<KeyPair>,
  { clock, logger }: Pick<CertificateSourceParts, 'clock' | 'logger'>,
): CertificateSource {
  return {
    load: async (onChange, signal) => {
      const first = await getCertificate();
      let current = first;
      const ask = async (): Promise<void> => {
        const next = await getCertificate();
        if (signal.aborted || (next.cert.equals(current.cert) && next.key.equals(current.key))) return;
        onChange(next);
        current = next;
      };
      poll(ask, { clock, signal, onError: (error) => logger.error('getCertificate failed', { error }) });
      return first;
    },
  };
}

/**
 * How often the file of a client CA is read, and a callback is called for its certificate, in ms, as files of
 * certificates are.
 */
const pollMs = 10_000;

/** Repeats work every 10 s until the signal is aborted. */
function poll(
  work: () => Promise<void>,
  { clock, signal, onError }: { clock: Clock; signal: AbortSignal; onError: (error: unknown) => void },
): void {
  const turns = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await sleep(pollMs, { clock, signal, keepAlive: false });
      } catch {
        return; // it was aborted
      }
      await work().catch(onError);
    }
  };
  void turns();
}

/**
 * The CA of clients, read at the start and then every 10 s. One that cannot be read leaves the last one in use.
 *
 * @throws when it cannot be read at the start, or holds no certificate or a broken one
 */
export async function loadClientCa(
  file: string,
  onChange: (ca: Buffer) => void,
  { clock, logger, signal }: Omit<CertificateSourceParts, 'metrics'> & { readonly signal: AbortSignal },
): Promise<Buffer> {
  let current = await readCa(file);
  const check = async (): Promise<void> => {
    const next = await readCa(file);
    if (signal.aborted || next.equals(current)) return;
    onChange(next);
    current = next;
    logger.info('updated the client CA', { file });
  };
  poll(check, {
    clock,
    signal,
    onError: (error) => logger.error('cannot read the client CA; the last one stays in use', { error }),
  });
  return current;
}

async function readCa(file: string): Promise<Buffer> {
  const ca = await readFile(file).catch((error: unknown) => {
    throw new Error(`failed to read client CA cert: ${file}`, { cause: error });
  });
  const problem = certificateBundleProblem(ca);
  if (problem !== undefined) throw new Error(`failed to append client CA cert to CA pool: ${file} ${problem}`);
  return ca;
}
