import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger, Metrics } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import { createCertificateWatcher, createSelfSignedCertificate } from '@kctl/webhook';

/** Options for the certificate of a server. */
export interface CertificateFiles {
  /** Folder of the files. @default `<tmp>/k8s-metrics-server/serving-certs` */
  readonly certDir?: string;
  /** @default 'tls.crt' */
  readonly certName?: string;
  /** @default 'tls.key' */
  readonly keyName?: string;
}

/** A certificate with its key, as PEM. */
export interface ServingPair {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** A certificate that may change while a server runs. */
export interface ServingCertificate extends Disposable {
  /** The pair to begin with; `onChange` is called with each later one. @throws when the files are there and not usable */
  load(onChange: (pair: ServingPair) => void): Promise<ServingPair>;
}

/** Dependencies of {@link createServingCertificate}. */
export interface ServingCertificateParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * The pair in the files, read again when they change; if one of them is missing, a self-signed pair. The choice is made
 * once, when the server starts.
 */
export function createServingCertificate(
  files: CertificateFiles,
  { clock, logger, metrics }: ServingCertificateParts,
): ServingCertificate {
  const { certDir = defaultCertDir, certName = 'tls.crt', keyName = 'tls.key' } = files;
  const [certFile, keyFile] = [join(certDir, certName), join(certDir, keyName)];
  let watcher: Disposable | undefined;
  return {
    async load(onChange) {
      if (!existsSync(certFile) || !existsSync(keyFile)) {
        logger.info('no certificate found: serving with a self-signed one', { certFile, keyFile });
        return await createSelfSignedCertificate({ clock });
      }
      const found = createCertificateWatcher({ certFile, keyFile, clock, logger, metrics, onChange });
      watcher = found;
      return await found.load();
    },
    [Symbol.dispose]() {
      watcher?.[Symbol.dispose]();
    },
  };
}

/** As in controller-runtime. */
export const defaultCertDir: string = join(tmpdir(), 'k8s-metrics-server', 'serving-certs');
