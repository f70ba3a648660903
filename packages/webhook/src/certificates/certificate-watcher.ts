import { X509Certificate } from 'node:crypto';
import { certificateBundleProblem } from '@kctl/client/internal/connection';
import { guardSinks, loggerOption, metricsOption } from '@kctl/telemetry/internal';
import { watch, type FSWatcher } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Counter, Gauge, Logger, Metrics } from '@kctl/telemetry';
import type { OptionNames } from '@kctl/options';
import type { Clock, ClockTimer } from '@kctl/wait';
import { startTimer } from '@kctl/wait/internal';
import { clockOption, functionOption, requireOptions, textOption } from '@kctl/options';

/** How often the files are read even if the file system reports nothing, in ms. As in controller-runtime. */
const pollMs = 10_000;

/** A key pair as PEM. */
export interface KeyPair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Options of {@link createCertificateWatcher}. */
export interface CertificateWatcherOptions {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Called with each new pair that is usable; a pair that does not load is reported and the old one stays. */
  readonly onChange: (pair: KeyPair) => void;
}

const optionNames: OptionNames<CertificateWatcherOptions> = {
  certFile: textOption,
  keyFile: textOption,
  clock: clockOption,
  logger: loggerOption,
  metrics: metricsOption,
  onChange: functionOption,
};

/** Watches a certificate and its key, as cert-manager and the kubelet replace them. Mirrors `certwatcher`. */
export interface CertificateWatcher extends Disposable {
  /** The pair that was loaded first. @throws when the files cannot be read or do not fit together */
  load(): Promise<KeyPair>;
}

export function createCertificateWatcher(options: CertificateWatcherOptions): CertificateWatcher {
  requireOptions('createCertificateWatcher', options, optionNames);
  const given: unknown = options.metrics;
  if (typeof given !== 'object' || given === null)
    throw new TypeError(
      'createCertificateWatcher: metrics is missing: expected a metrics factory, such as noopMetrics',
    );
  return new FileCertificateWatcher(options);
}

class FileCertificateWatcher implements CertificateWatcher {
  readonly #options: CertificateWatcherOptions;
  readonly #reads: Counter;
  readonly #failures: Counter;
  readonly #expiry: Gauge;
  readonly #watchers: FSWatcher[] = [];
  #timer: ClockTimer | undefined;
  #current: KeyPair | undefined;
  #checking = false;
  /** The files changed while they were being read, so the content may be the first half of a replacement. */
  #changedMeanwhile = false;
  #disposed = false;

  constructor(options: CertificateWatcherOptions) {
    const { logger, metrics } = guardSinks(options); // a sink that fails must not end the watch
    this.#options = { ...options, logger, metrics };
    this.#reads = metrics
      .counter({ name: 'certwatcher_read_certificate_total', help: 'Total number of certificate reads.' })
      .with({});
    this.#failures = metrics
      .counter({ name: 'certwatcher_read_certificate_errors_total', help: 'Total number of failed certificate reads.' })
      .with({});
    this.#expiry = metrics
      .gauge({
        name: 'certwatcher_certificate_expiration_timestamp_seconds',
        help: 'When the certificate in use expires, in seconds since the epoch.',
        labelNames: ['certificate'],
      })
      .with({ certificate: options.certFile });
  }

  async load(): Promise<KeyPair> {
    const pair = await this.#read();
    this.#adopt(pair);
    if (this.#disposed) return pair;
    this.#watch();
    this.#poll();
    return pair;
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#timer?.cancel();
    for (const watcher of this.#watchers) watcher.close();
  }

  /** The folders, not the files, because a mounted secret is replaced by renaming a link beside them. */
  #watch(): void {
    const { certFile, keyFile, logger } = this.#options;
    for (const folder of new Set([dirname(certFile), dirname(keyFile)])) {
      try {
        const watcher = watch(folder, { persistent: false }, () => void this.#check());
        watcher.on('error', (error) =>
          logger.warn('cannot watch the certificate folder; it is polled', { folder, error }),
        );
        this.#watchers.push(watcher);
      } catch (error) {
        logger.warn('cannot watch the certificate folder; it is polled', { folder, error });
      }
    }
  }

  #poll(): void {
    if (this.#disposed) return;
    this.#timer = startTimer(this.#options.clock, () => void this.#check().finally(() => this.#poll()), pollMs, {
      keepAlive: false,
    });
  }

  async #check(): Promise<void> {
    this.#changedMeanwhile = true;
    if (this.#checking) return;
    this.#checking = true;
    while (this.#changedMeanwhile && !this.#disposed) {
      this.#changedMeanwhile = false;
      await this.#checkOnce();
    }
    this.#checking = false;
  }

  async #checkOnce(): Promise<void> {
    try {
      const pair = await this.#read();
      const isNew =
        this.#current === undefined || !pair.cert.equals(this.#current.cert) || !pair.key.equals(this.#current.key);
      if (!isNew || this.#disposed) return;
      // First of all, because if it throws, the old pair stays in use, and the next check tries again.
      this.#options.onChange(pair);
      this.#adopt(pair);
      this.#options.logger.info('updated current TLS certificate');
    } catch (error) {
      this.#options.logger.error('cannot read the new certificate; the old one stays in use', { error });
    }
  }

  #adopt(pair: KeyPair): void {
    this.#current = pair;
    this.#expiry.set(new X509Certificate(pair.cert).validToDate.getTime() / 1000);
  }

  async #read(): Promise<KeyPair> {
    const { certFile, keyFile } = this.#options;
    this.#reads.inc();
    try {
      const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
      const problem = certificateBundleProblem(cert);
      if (problem !== undefined) throw new Error(`${certFile} ${problem}`);
      createSecureContext({ cert, key }); // throws when they do not fit together, e.g. in the middle of a replacement
      return { cert, key };
    } catch (error) {
      this.#failures.inc();
      throw error;
    }
  }
}
