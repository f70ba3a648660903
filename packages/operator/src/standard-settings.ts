import { isLoopback } from '@kctl/manager/internal';
import type { RuntimeManagerOptions } from '@kctl/runtime';
import type { ConsoleLogger, LogLevel } from '@kctl/telemetry';
import { SettingsError } from './errors.js';
import { createReconcileLog } from './reconcile-log.js';
import { withRemedies } from './remedy-logger.js';
import type { SettingField } from './settings-schema.js';

/** Settings that every operator has. */
export interface StandardSettings {
  /** @default KUBECONFIG, else the pod's service account, else ~/.kube/config */
  readonly kubeconfig?: string;
  /** @default the current context */
  readonly context?: string;
  /**
   * Namespace that the operator runs in, which is that of its Lease. `POD_NAMESPACE`. @default that of the connection
   */
  readonly namespace?: string;
  /** @default every namespace */
  readonly watchNamespaces: readonly string[];
  readonly leaderElect: boolean;
  /** `host:port` or `:port`; `0` for none. */
  readonly healthProbeBindAddress: string;
  /** `host:port` or `:port`; `0` for none. */
  readonly metricsBindAddress: string;
  /**
   * Address on which `@kctl/inspection` reports why objects are reconciled, as `host:port` of a loopback address or as
   * `:port`, which means 127.0.0.1; `0` for none. See `kctl inspect`.
   */
  readonly inspectionBindAddress: string;
  /** Records names of Secrets and messages of errors in the inspection, for development. */
  readonly inspectionDetails: boolean;
  readonly webhookPort: number;
  /** Address that the webhook server binds to. @default every address of the machine */
  readonly webhookHost?: string;
  /** @default that of the webhook server */
  readonly webhookCertDir?: string;
  readonly logLevel: LogLevel;
  readonly logFormat: 'json' | 'text';
  /** Writes a line for each reconcile, with key, reasons, result, ms and requests. */
  readonly logReconciles: boolean;
  readonly gracefulShutdownTimeoutMs: number;
}

/** The defaults; addresses are those of kubebuilder's operators. */
export const standardDefaults: StandardSettings = {
  watchNamespaces: [],
  leaderElect: false,
  healthProbeBindAddress: ':8081',
  metricsBindAddress: ':8080',
  inspectionBindAddress: '0',
  inspectionDetails: false,
  webhookPort: 9443,
  logLevel: 'info',
  logFormat: 'json',
  logReconciles: false,
  gracefulShutdownTimeoutMs: 30_000,
};

/** The levels of a logger, least severe first. */
export const logLevels: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error'];

const shown = (name: keyof StandardSettings): string => JSON.stringify(standardDefaults[name]);

/** As flags, environment and file carry them. */
export const standardFields: readonly SettingField[] = [
  { name: 'kubeconfig', type: 'string', description: 'file of the cluster to use' },
  { name: 'context', type: 'string', description: 'context of the kubeconfig' },
  { name: 'namespace', type: 'string', description: 'namespace that the operator runs in; environment: POD_NAMESPACE' },
  {
    name: 'watchNamespaces',
    type: 'list',
    description: 'namespaces to watch, names and patterns; all where none is given; environment: WATCH_NAMESPACE, too',
  },
  {
    name: 'leaderElect',
    type: 'boolean',
    description: 'let one of several replicas work',
    defaultText: shown('leaderElect'),
  },
  {
    name: 'healthProbeBindAddress',
    type: 'string',
    description: 'where health is answered; 0 for none',
    defaultText: shown('healthProbeBindAddress'),
  },
  {
    name: 'metricsBindAddress',
    type: 'string',
    description: 'where metrics are served; 0 for none',
    defaultText: shown('metricsBindAddress'),
  },
  {
    name: 'inspectionBindAddress',
    type: 'string',
    description: 'where the inspection is served, on a loopback address; 0 for none',
    defaultText: shown('inspectionBindAddress'),
  },
  {
    name: 'inspectionDetails',
    type: 'boolean',
    description: 'record names of Secrets and messages of errors in the inspection, for development',
    defaultText: shown('inspectionDetails'),
  },
  {
    name: 'webhookPort',
    type: 'number',
    range: { least: -1, most: 65_535, integer: true, remedy: '-1 serves none' },
    description: 'port of the webhook server',
    defaultText: shown('webhookPort'),
  },
  {
    name: 'webhookHost',
    type: 'string',
    description: 'address that the webhook server binds to; every address by default',
  },
  { name: 'webhookCertDir', type: 'string', description: 'folder of the certificate of the webhook server' },
  {
    name: 'logLevel',
    type: 'string',
    choices: logLevels,
    description: 'least severe level that is written; a change in the file takes effect while it runs',
    defaultText: shown('logLevel'),
  },
  {
    name: 'logFormat',
    type: 'string',
    choices: ['json', 'text'],
    description: 'one JSON object a line, or text for people',
    defaultText: shown('logFormat'),
  },
  {
    name: 'logReconciles',
    type: 'boolean',
    description: 'write a line for each reconcile: key, reasons, result, ms, requests',
    defaultText: shown('logReconciles'),
  },
  {
    name: 'gracefulShutdownTimeoutMs',
    type: 'number',
    range: {},
    description: 'how long a stop may take, in ms',
    defaultText: shown('gracefulShutdownTimeoutMs'),
  },
];

/**
 * The options of a manager with these settings.
 *
 * @throws SettingsError naming a setting that is not valid
 */
export function managerOptionsOf(
  name: string,
  settings: StandardSettings,
  logger: ConsoleLogger,
): RuntimeManagerOptions {
  const { kubeconfig, context, namespace, watchNamespaces, leaderElect, webhookCertDir, webhookHost = '' } = settings;
  const health = parseBindAddress('healthProbeBindAddress', settings.healthProbeBindAddress);
  const metrics = parseBindAddress('metricsBindAddress', settings.metricsBindAddress);
  const inspection = inspectionAddressOf(settings.inspectionBindAddress);
  const details = settings.inspectionDetails ? { recordSecretNames: true, recordErrorMessages: true } : {};
  return {
    logger: withRemedies(logger),
    ...(settings.logReconciles ? { tracer: createReconcileLog(logger) } : {}),
    gracefulShutdownTimeoutMs: settings.gracefulShutdownTimeoutMs,
    webhook: {
      port: settings.webhookPort,
      ...(webhookHost === '' ? {} : { host: webhookHost }),
      ...(webhookCertDir === undefined ? {} : { certDir: webhookCertDir }),
    },
    ...(kubeconfig === undefined || kubeconfig === '' ? {} : { kubeconfigPath: kubeconfig }),
    ...(context === undefined || context === '' ? {} : { context }),
    ...(watchNamespaces.length === 0 ? {} : { namespaces: watchNamespaces }),
    ...(health === undefined ? {} : { health }),
    ...(metrics === undefined ? {} : { metricsServer: metrics }),
    ...(inspection === undefined ? {} : { inspection: { ...inspection, ...details } }),
    ...(leaderElect ? { leaderElection: { name, ...(namespace === undefined ? {} : { namespace }) } } : {}),
  };
}

/** A bind address of Go: `:8081`, `127.0.0.1:8081`, `[::1]:8081`; undefined for `0`. @throws SettingsError */
export function parseBindAddress(
  field: string,
  address: string,
): { readonly host?: string; readonly port: number } | undefined {
  if (address === '0' || address === '') return undefined;
  const [, bracketed, host = bracketed, port] = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(address) ?? [];
  const number = Number(port);
  if (port === undefined || number > 65_535)
    throw new SettingsError(
      `${field} ${JSON.stringify(address)} is not valid: expected host:port or :port, such as ":8081", or "0" for none`,
    );
  return host === undefined || host === '' ? { port: number } : { host, port: number };
}

/**
 * Address that serves the inspection. It does not authenticate clients, so only this machine may connect. @throws
 * SettingsError
 */
function inspectionAddressOf(address: string): ReturnType<typeof parseBindAddress> {
  const parsed = parseBindAddress('inspectionBindAddress', address);
  if (parsed?.host !== undefined && !isLoopback(parsed.host))
    throw new SettingsError(
      `inspectionBindAddress ${JSON.stringify(address)} is not a loopback address: use 127.0.0.1 and a port-forward, such as that of npx kctl inspect`,
    );
  return parsed;
}
