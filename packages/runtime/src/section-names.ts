import { functionOption, type OptionNames, optionProblems } from '@kctl/options';
import type { CoordinatedElectionOptions, RuntimeManagerOptions, RuntimeWebhookOptions } from './runtime-options.js';

type NamesOf<T> = OptionNames<NonNullable<T>>;

/** The options of each part that the facade makes, complete by type, so that none can be forgotten here. */
const http: NamesOf<RuntimeManagerOptions['http']> = {
  impersonate: true,
  program: true,
  userAgent: true,
  rateLimit: true,
  maxRetries: true,
  requestTimeoutMs: true,
  connectTimeoutMs: true,
  maxConnections: true,
  http2: true,
  compression: true,
  onWarning: functionOption,
  detailedMetrics: true,
  environment: true,
  execAllowlist: true,
};
const cache: NamesOf<RuntimeManagerOptions['cache']> = {
  name: true,
  byObject: true,
  defaultNamespaces: true,
  defaults: true,
  undeclaredReads: true,
  lingerMs: true,
  watchErrorHandler: functionOption,
  listerWatcherFor: functionOption,
  watchList: true,
  minWatchTimeoutMs: true,
  idleTimeoutMs: true,
  listIdleTimeoutMs: true,
  backoff: true,
  maxInternalErrorRetryMs: true,
  handlerMetrics: true,
  random: functionOption,
};
const client: NamesOf<RuntimeManagerOptions['client']> = {
  uncached: true,
  cacheUntyped: true,
  readYourWrites: true,
  barrierTimeoutMs: true,
  ownWriteTtlMs: true,
};
const webhook: NamesOf<RuntimeWebhookOptions> = {
  host: true,
  listener: true,
  port: true,
  certDir: true,
  certName: true,
  keyName: true,
  certificate: true,
  getCertificate: true,
  tls: true,
  http2: true,
  clientCaName: true,
  allowedClients: true,
  limits: true,
  maxBufferedBytes: true,
  shutdownTimeoutMs: true,
  selfManagedCertificates: true,
};
const selfManagedCertificates: NamesOf<RuntimeWebhookOptions['selfManagedCertificates']> = {
  secret: true,
  service: true,
  dnsNames: true,
  inject: true,
  authorityValidityMs: true,
  servingValidityMs: true,
  overlapMs: true,
  checkIntervalMs: true,
};
const coordinated: NamesOf<CoordinatedElectionOptions> = {
  binaryVersion: true,
  emulationVersion: true,
  strategy: true,
};

/** A sentence for each option of a part that is not known, and for each part that is not an object. */
export function sectionProblems(options: RuntimeManagerOptions): string[] {
  const { webhook: ofWebhook, leaderElection } = options;
  return [
    ...problemsOf('http', options.http, http),
    ...problemsOf('cache', options.cache, cache),
    ...problemsOf('client', options.client, client),
    ...problemsOf('webhook', ofWebhook, webhook),
    ...problemsOf('webhook.selfManagedCertificates', ofWebhook?.selfManagedCertificates, selfManagedCertificates),
    ...problemsOf('leaderElection.coordinated', leaderElection?.coordinated, coordinated),
  ];
}

/** null leaves a part out, as undefined does. */
function problemsOf(section: string, given: unknown, known: Readonly<Record<string, unknown>>): string[] {
  return optionProblems(given ?? undefined, known, section);
}
