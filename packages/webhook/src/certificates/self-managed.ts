import { isJsonObject } from '@kctl/apimachinery/internal';
import type { Reader, Writer } from '@kctl/client';
import { type Family, type Gauge, type Logger, type MetricOptions, type Metrics } from '@kctl/telemetry';
import { guardSinks, loggerOption, messageOf, metricsOption } from '@kctl/telemetry/internal';
import type { AccessNeed } from '@kctl/rbac';
import {
  clockOption,
  listOption,
  numberOption,
  numberProblem,
  objectOption,
  optionWithMethods,
  requireOptions,
  shownType,
  textOption,
} from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { retry, sleep, systemClock } from '@kctl/wait';
import type { Clock } from '@kctl/wait';
import { wallTime } from '@kctl/wait/internal';
import { WebhookServerError } from '../errors.js';
import type { CertificateSource } from './certificate-source.js';
import type { KeyPair } from './certificate-watcher.js';
import { certificateNeeds } from './certificate-needs.js';
import { CertificateSecret, isLostRace } from './certificate-secret.js';
import { expiryOf, nextState, type CertificateState, type StatePolicy } from './certificate-state.js';
import { injectionTargets, type InjectionTargets } from './inject-ca.js';

const dayMs = 86_400_000;
/**
 * How often one check reads and writes the Secret, because a missing namespace gives the same answer as a lost race.
 */
const maxAttempts = 5;

/** Options of {@link createSelfManagedCertificates}. Durations in ms. */
export interface SelfManagedCertificatesOptions {
  /** Reads and writes the Secret and the configurations. Reads are `live`, so that no cache of Secrets is made. */
  readonly client: Reader & Writer;
  /** The Secret that the replicas share. It is created if it is missing. */
  readonly secret: { readonly name: string; readonly namespace: string };
  /** The Service that the API server calls. Its names are those of the certificate. */
  readonly service?: { readonly name: string; readonly namespace: string };
  /**
   * Further names of the certificate, and IP addresses, for an operator outside the cluster, which is called by URL.
   */
  readonly dnsNames?: readonly string[];
  /** The objects to which the CA is written. @default none, and the caller writes `caBundle` */
  readonly inject?: InjectionTargets;
  /** How long a certificate authority is valid. @default 63072000000, two years */
  readonly authorityValidityMs?: number;
  /** How long a certificate is valid. @default 7776000000, 90 days */
  readonly servingValidityMs?: number;
  /** How long an old authority and a new one are trusted side by side before the next step. @default 3600000 */
  readonly overlapMs?: number;
  /** How often the Secret and the configurations are looked at. @default 10000 */
  readonly checkIntervalMs?: number;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  /** @default systemClock */
  readonly clock?: Clock;
}

const optionNames: OptionNames<SelfManagedCertificatesOptions> = {
  client: optionWithMethods(
    ['get', 'create', 'update'],
    'a client, such as createHttpClient({ … }) of @kctl/client-http',
  ),
  secret: objectOption('{ name, namespace }'),
  service: objectOption('{ name, namespace }'),
  dnsNames: listOption('a list of DNS names', textOption),
  inject: objectOption('names of configurations, such as { validating: ["shop"] }'),
  authorityValidityMs: numberOption({ above: 0 }),
  servingValidityMs: numberOption({ above: 0 }),
  overlapMs: numberOption({ above: 0 }),
  checkIntervalMs: numberOption({ above: 0 }),
  logger: loggerOption,
  metrics: metricsOption,
  clock: clockOption,
};

/** A certificate source that needs no cert-manager. */
export interface SelfManagedCertificates extends CertificateSource {
  /** The authorities to trust, as PEM; undefined before the first load. */
  readonly caBundle: string | undefined;
  /** For readiness. @throws WebhookServerError while the Secret was not read, or the CA is not in every configuration */
  check(): void;
}

/**
 * Manages a certificate authority and a serving certificate, kept in a Secret that all replicas share. Of several
 * writers one succeeds, and the others take its content. Certificates are renewed when a third of their life is left,
 * authorities with an overlap in which old and new are trusted. A Secret that was deleted or broken is restored. Give
 * it to `createWebhookServer({ certificate })`; the server's readiness then includes
 * {@link SelfManagedCertificates.check}.
 *
 * @throws TypeError when a duration is not valid, or the certificate would have no name
 */
export function createSelfManagedCertificates(options: SelfManagedCertificatesOptions): SelfManagedCertificates {
  requireOptions('createSelfManagedCertificates', options, optionNames);
  const durations = {
    authorityValidityMs: options.authorityValidityMs ?? 730 * dayMs,
    servingValidityMs: options.servingValidityMs ?? 90 * dayMs,
    overlapMs: options.overlapMs ?? 3_600_000,
    checkIntervalMs: options.checkIntervalMs ?? 10_000,
  };
  const missing =
    placeProblem('secret', options.secret) ?? (options.service && placeProblem('service', options.service));
  if (missing !== undefined) throw new TypeError(`createSelfManagedCertificates: ${missing}`);
  const dnsNames = dnsNamesOf(options);
  const problems = Object.entries(durations).map(([field, value]) => numberProblem(field, value, { above: 0 }));
  const { overlapMs, servingValidityMs, authorityValidityMs } = durations;
  // Three steps, each an overlap long, have to fit into the third in which certificates are renewed.
  if (overlapMs * 9 > Math.min(servingValidityMs, authorityValidityMs))
    problems.push(
      `overlapMs ${overlapMs} is not valid: expected at most a ninth of servingValidityMs and authorityValidityMs`,
    );
  if (dnsNames.length === 0) problems.push('there is no name for the certificate: give service or dnsNames');
  const problem = problems.find((one) => one !== undefined);
  if (problem !== undefined) throw new TypeError(`createSelfManagedCertificates: ${problem}`);
  return new SecretCertificates(options, { name: options.secret.name, dnsNames, ...durations });
}

function placeProblem(field: string, given: unknown): string | undefined {
  const { name, namespace }: Readonly<Record<string, unknown>> = isJsonObject(given) ? given : {};
  if ([name, namespace].every((text) => typeof text === 'string' && text !== '')) return undefined;
  return `${field} is ${shownType(given)} without a name or a namespace: expected { name, namespace }, strings that are not empty`;
}

function dnsNamesOf({ service, dnsNames = [] }: SelfManagedCertificatesOptions): readonly string[] {
  if (service === undefined) return dnsNames;
  const { name, namespace } = service;
  return [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`, `${name}.${namespace}`, ...dnsNames];
}

class SecretCertificates implements SelfManagedCertificates {
  readonly #options: SelfManagedCertificatesOptions;
  readonly #policy: StatePolicy & { readonly checkIntervalMs: number };
  readonly #secret: CertificateSecret;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #expiry: Family<Gauge>;
  #state: CertificateState | undefined;
  #notInjected: string | undefined = 'the certificates have not been loaded yet';

  constructor(options: SelfManagedCertificatesOptions, policy: StatePolicy & { readonly checkIntervalMs: number }) {
    this.#options = options;
    this.#policy = policy;
    this.#secret = new CertificateSecret(options.client, options.secret);
    this.#clock = options.clock ?? systemClock;
    const { logger, metrics } = guardSinks(options);
    this.#logger = logger;
    this.#expiry = metrics.gauge(expiryMetric);
  }

  get caBundle(): string | undefined {
    return this.#state?.authorities.join('');
  }

  accessNeeds(): readonly AccessNeed[] {
    return certificateNeeds(this.#options);
  }

  check(): void {
    if (this.#notInjected !== undefined) throw new WebhookServerError(`webhook certificates: ${this.#notInjected}`);
  }

  async load(onChange: (pair: KeyPair) => void, signal: AbortSignal): Promise<KeyPair> {
    await this.#untilRead(signal);
    let current = this.#pair();
    void this.#keep(signal, () => {
      const next = this.#pair();
      if (next.cert.equals(current.cert)) return;
      onChange(next); // where it throws, the next look tries again
      current = next;
    });
    return current;
  }

  /** @throws the abort's reason */
  async #untilRead(signal: AbortSignal): Promise<void> {
    // Even if they are known from an earlier load, because since then they may have expired, or another replica renewed
    // them.
    for (;;) {
      await this.#checkOnce(signal, () => undefined);
      // A server without configurations is useful, because it starts and is not ready.
      if (this.#state !== undefined) return;
      await sleep(this.#policy.checkIntervalMs, { clock: this.#clock, signal });
    }
  }

  /** Looks at everything again and again until the signal is aborted. Never rejects. */
  async #keep(signal: AbortSignal, onState: () => void): Promise<void> {
    try {
      while (!signal.aborted) {
        await sleep(this.#policy.checkIntervalMs, { clock: this.#clock, signal });
        await this.#checkOnce(signal, onState);
      }
    } catch (error) {
      if (!signal.aborted) this.#logger.error('webhook certificates are no longer kept', { error });
    }
  }

  async #checkOnce(signal: AbortSignal, onState: () => void): Promise<void> {
    try {
      // If another replica was first, its content counts.
      await retry(() => this.#readOrWrite(signal), { isRetriable: isLostRace, maxAttempts, signal });
      onState();
    } catch (error) {
      if (signal.aborted) throw error;
      this.#logger.error('cannot keep the certificate Secret', { ...this.#options.secret, error });
      if (this.#state === undefined) this.#notInjected = `the Secret cannot be read: ${messageOf(error)}`;
    }
    await this.#inject(signal);
  }

  async #readOrWrite(signal: AbortSignal): Promise<void> {
    const stored = await this.#secret.read(signal);
    // A Secret that is lost or broken in the cluster is restored from here, so that nothing changes for the API server.
    const { state, reason } = await nextState(stored.state ?? this.#state, this.#policy, wallTime(this.#clock));
    if (stored.state === undefined || reason !== undefined) {
      await this.#secret.write(state, stored, signal);
      const lost = stored.secret === undefined ? 'the Secret was missing' : stored.problem;
      this.#logger.info('wrote the certificate Secret', { ...this.#options.secret, reason: reason ?? lost });
    }
    this.#adopt(state);
  }

  #adopt(state: CertificateState): void {
    this.#state = state;
    // No series before there is a certificate, because an alert would take 0 for one that has long expired.
    const set = (certificate: string, pem: string): void =>
      this.#expiry.with({ certificate }).set((expiryOf(pem) ?? 0) / 1000);
    set('serving', state.serving.cert);
    set('authority', state.authorities[0] ?? '');
  }

  async #inject(signal: AbortSignal): Promise<void> {
    const { client, inject = {} } = this.#options;
    const { caBundle } = this;
    if (caBundle === undefined) return;
    const problems: string[] = [];
    for (const target of injectionTargets(inject)) {
      try {
        await target.inject(client, caBundle, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        problems.push(messageOf(error));
        this.#logger.error('cannot write the CA into a configuration', { target: target.what, error });
      }
    }
    this.#notInjected = problems.length === 0 ? undefined : problems.join('; ');
  }

  #pair(): KeyPair {
    const { cert = '', key = '' } = this.#state?.serving ?? {};
    return { cert: Buffer.from(cert), key: Buffer.from(key) };
  }
}

/** When certificates end; the README has an alert on it. */
export const expiryMetric: MetricOptions = {
  name: 'kctl_webhook_certificate_expiration_timestamp_seconds',
  help: 'When the certificate of the webhook server, or its authority, expires, in seconds since the epoch.',
  labelNames: ['certificate'],
};
