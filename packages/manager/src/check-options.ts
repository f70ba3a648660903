import { controllerDefaults } from '@kctl/controller';
import { numberProblem, unknownOptions } from '@kctl/wait';
import type { LeaderElectionOptions } from './elector.js';
import type { ControllerDefaults, HealthOptions, ManagerOptions } from './manager.js';
import type { MetricsServerOptions } from './metrics-server.js';
import type { ProfilingOptions } from './profiling.js';

/** The options of each object: complete by type, so that none can be forgotten here. */
const known = {
  manager: {
    cluster: true,
    logger: true,
    metrics: true,
    tracer: true,
    clock: true,
    leaderElection: true,
    health: true,
    metricsServer: true,
    gracefulShutdownTimeoutMs: true,
    controllers: true,
    dependencies: true,
    webhookServer: true,
    profiling: true,
  } satisfies Record<keyof ManagerOptions, true>,
  health: {
    port: true,
    host: true,
    livenessPath: true,
    readinessPath: true,
    informerGraceMs: true,
    checkTimeoutMs: true,
    builtInChecks: true,
  } satisfies Record<keyof HealthOptions, true>,
  metricsServer: {
    port: true,
    host: true,
    path: true,
    secureServing: true,
    tls: true,
    filter: true,
    certDir: true,
    certName: true,
    keyName: true,
  } satisfies Record<keyof MetricsServerOptions, true>,
  profiling: { port: true, host: true } satisfies Record<keyof ProfilingOptions, true>,
  leaderElection: { newElector: true, onLost: true, rejoinTimeoutMs: true } satisfies Record<
    keyof LeaderElectionOptions,
    true
  >,
  controllers: { ...controllerDefaults, groupKindConcurrency: true } satisfies Record<
    keyof ControllerDefaults,
    unknown
  >,
};

/** Names of the manager's options, for a facade that has more. */
export const managerOptionNames: readonly string[] = Object.keys(known.manager);

/** @throws TypeError naming every option that is not valid, before anything is made of them */
export function checkOptions(options: ManagerOptions): void {
  const { cluster, gracefulShutdownTimeoutMs, health, metricsServer, profiling, leaderElection } = options;
  const given: unknown = cluster;
  const problems = [
    ...unknownOptions(options, managerOptionNames),
    ...(['health', 'metricsServer', 'profiling', 'leaderElection', 'controllers'] as const).flatMap((field) =>
      unknownOptions(options[field] ?? {}, Object.keys(known[field]), `${field}.`),
    ),
    onLostProblem(leaderElection?.onLost),
    typeof given === 'object' && given !== null && 'client' in given && 'cache' in given
      ? undefined
      : 'cluster is not set: expected what createCluster returns',
    graceProblem(gracefulShutdownTimeoutMs),
    portProblem('health.port', health?.port),
    numberProblem('health.informerGraceMs', health?.informerGraceMs ?? 0, { orInfinity: true }),
    health?.checkTimeoutMs === undefined
      ? undefined
      : numberProblem('health.checkTimeoutMs', health.checkTimeoutMs, { above: 0, orInfinity: true }),
    portProblem('metricsServer.port', metricsServer?.port),
    portProblem('profiling.port', profiling?.port),
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
  return `leaderElection.onLost ${JSON.stringify(onLost)} is not valid: expected "exit", "rejoin" or "rejoin-after-outage"`;
}

function graceProblem(graceMs: number | undefined): string | undefined {
  if (graceMs === undefined || graceMs < 0) return undefined;
  const remedy = 'Infinity and negative numbers wait for ever';
  return numberProblem('gracefulShutdownTimeoutMs', graceMs, { orInfinity: true, remedy });
}

function portProblem(field: string, port: number | undefined): string | undefined {
  if (port === undefined) return undefined;
  return numberProblem(field, port, { most: 65_535, integer: true, remedy: '0 takes any free port' });
}
