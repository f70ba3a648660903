import { loggerOption, metricsOption, requestCounterOption, tracerOption } from '@kctl/telemetry/internal';
import { controllerSettingNames, observerOption } from '@kctl/controller/internal';
import { listenerOption } from '@kctl/http-server/internal';
import {
  booleanOption,
  clockOption,
  functionOption,
  numberProblem,
  objectOption,
  type OptionCheck,
  type OptionNames,
  optionProblems,
  optionWithMethods,
  shownValue,
  textOption,
} from '@kctl/options';
import type { LeaderElectionOptions } from './elector.js';
import type { ControllerDefaults, HealthOptions, ManagerOptions } from './manager.js';
import type { MetricsServerOptions } from './metrics-server.js';
import type { ProfilingOptions } from './profiling.js';

const pathOption: OptionCheck = (name, value) =>
  typeof value === 'string' && value.startsWith('/')
    ? undefined
    : `${name} ${shownValue(value)} is not valid: expected a path such as "/metrics"`;

/** The options of each object, complete by type, so that none can be forgotten here. */
const known = {
  manager: {
    cluster: true,
    logger: loggerOption,
    metrics: metricsOption,
    tracer: tracerOption,
    requestCounter: requestCounterOption,
    observer: observerOption,
    clock: clockOption,
    leaderElection: true,
    health: true,
    metricsServer: true,
    gracefulShutdownTimeoutMs: true,
    controllers: true,
    dependencies: objectOption('dependencies by their names'),
    accessNeeds: functionOption,
    webhookServer: optionWithMethods(
      ['register', 'has', 'run'],
      'a webhook server, such as createWebhookServer() of @kctl/webhook',
    ),
    profiling: true,
    scheduleStore: optionWithMethods(['load', 'save'], 'a store with load and save, such as createLeaseScheduleStore'),
  } satisfies OptionNames<ManagerOptions>,
  health: {
    port: true,
    listener: listenerOption,
    host: textOption,
    livenessPath: true,
    readinessPath: true,
    informerGraceMs: true,
    checkTimeoutMs: true,
    builtInChecks: true,
  } satisfies OptionNames<HealthOptions>,
  metricsServer: {
    listener: listenerOption,
    port: true,
    host: textOption,
    path: pathOption,
    secureServing: booleanOption,
    tls: objectOption('settings of TLS'),
    filter: functionOption,
    certDir: textOption,
    certName: textOption,
    keyName: textOption,
  } satisfies OptionNames<MetricsServerOptions>,
  profiling: { port: true, host: true } satisfies OptionNames<ProfilingOptions>,
  leaderElection: {
    newElector: true,
    accessNeeds: functionOption,
    onLost: true,
    rejoinTimeoutMs: true,
  } satisfies OptionNames<LeaderElectionOptions>,
  controllers: {
    ...controllerSettingNames,
    groupKindConcurrency: objectOption('workers by kind, such as { "Deployment.apps": 4 }'),
  } satisfies OptionNames<ControllerDefaults>,
};

/** Names of the manager's options, for a facade that has more. */
export const managerOptionNames: OptionNames<ManagerOptions> = known.manager;

const sections = ['health', 'metricsServer', 'profiling', 'leaderElection', 'controllers'] as const;

/** @throws TypeError naming every option that is not valid, before anything is made of them */
export function checkOptions(options: ManagerOptions): void {
  const whole: unknown = options;
  if (typeof whole !== 'object' || whole === null)
    throw new TypeError('createManager: expected options: { cluster: createCluster({ … }) }');
  const { cluster, gracefulShutdownTimeoutMs, health, metricsServer, profiling, leaderElection } = options;
  const given: unknown = cluster;
  const problems = [
    ...optionProblems(options, known.manager),
    ...sections.flatMap((field) => optionProblems(options[field], known[field], field)),
    // Without one there would be no election at all, and every replica would lead.
    typeof leaderElection?.newElector === 'function' || !isGiven(leaderElection)
      ? undefined
      : 'leaderElection.newElector is not set: expected a function that makes an elector, such as createLeaderElector of @kctl/leader-election',
    onLostProblem(leaderElection?.onLost),
    typeof given === 'object' && given !== null && 'client' in given && 'cache' in given
      ? undefined
      : 'cluster is not set: expected what createCluster returns',
    graceProblem(gracefulShutdownTimeoutMs),
    requiredPortProblem('health', health),
    ...pathProblems(health),
    numberProblem('health.informerGraceMs', health?.informerGraceMs ?? 0, { orInfinity: true }),
    health?.checkTimeoutMs === undefined
      ? undefined
      : numberProblem('health.checkTimeoutMs', health.checkTimeoutMs, { above: 0, orInfinity: true }),
    portProblem('metricsServer.port', metricsServer?.port),
    requiredPortProblem('profiling', profiling),
    numberProblem('leaderElection.rejoinTimeoutMs', leaderElection?.rejoinTimeoutMs ?? 0),
    ...Object.entries(options.controllers?.groupKindConcurrency ?? {}).map(([kind, workers]) =>
      numberProblem(`controllers.groupKindConcurrency[${JSON.stringify(kind)}]`, workers, { integer: true }),
    ),
  ].filter((problem) => problem !== undefined);
  if (problems.length > 0) throw new TypeError(`createManager: ${problems.join('; ')}`);
}

const lossPolicies: readonly unknown[] = ['exit', 'rejoin', 'rejoin-after-outage', undefined];

function onLostProblem(onLost: unknown): string | undefined {
  if (lossPolicies.includes(onLost)) return undefined;
  return `leaderElection.onLost ${shownValue(onLost)} is not valid: expected "exit", "rejoin" or "rejoin-after-outage"`;
}

function graceProblem(graceMs: number | undefined): string | undefined {
  if (graceMs === undefined || (typeof graceMs === 'number' && graceMs < 0)) return undefined;
  const remedy = 'Infinity and negative numbers wait without limit';
  return numberProblem('gracefulShutdownTimeoutMs', graceMs, { orInfinity: true, remedy });
}

function isGiven(section: unknown): section is object {
  return typeof section === 'object' && section !== null;
}

function requiredPortProblem(field: string, section: { readonly port: number } | undefined): string | undefined {
  if (!isGiven(section)) return undefined;
  return numberProblem(`${field}.port`, section.port, portRange);
}

function pathProblems(health: HealthOptions | undefined): string[] {
  if (!isGiven(health)) return [];
  const { livenessPath = '/healthz', readinessPath = '/readyz' } = health;
  const problems = Object.entries({ livenessPath, readinessPath })
    .filter(([, path]) => typeof path !== 'string' || !/^\/[^?#]*[^/?#]$/.test(path))
    .map(([field, path]) => `health.${field} ${shownValue(path)} is not valid: expected a path such as "/healthz"`);
  if (livenessPath === readinessPath)
    problems.push(
      `health.readinessPath ${JSON.stringify(readinessPath)} is the liveness path, too: readiness would not be served`,
    );
  return problems;
}

const portRange = { most: 65_535, integer: true, remedy: '0 takes any free port' };

function portProblem(field: string, port: number | undefined): string | undefined {
  if (port === undefined) return undefined;
  return numberProblem(field, port, portRange);
}
