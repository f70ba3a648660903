import { numberProblem } from '@kctl/wait';
import type { ManagerOptions } from './manager.js';

/** @throws TypeError naming every option that is not valid, before anything is made of them */
export function checkOptions(options: ManagerOptions): void {
  const { cluster, gracefulShutdownTimeoutMs, health, metricsServer, profiling, leaderElection } = options;
  const given: unknown = cluster;
  const problems = [
    typeof given === 'object' && given !== null && 'client' in given && 'cache' in given
      ? undefined
      : 'cluster is not set: expected what createCluster returns',
    graceProblem(gracefulShutdownTimeoutMs),
    portProblem('health.port', health?.port),
    numberProblem('health.informerGraceMs', health?.informerGraceMs ?? 0, { orInfinity: true }),
    portProblem('metricsServer.port', metricsServer?.port),
    portProblem('profiling.port', profiling?.port),
    numberProblem('leaderElection.rejoinTimeoutMs', leaderElection?.rejoinTimeoutMs ?? 0),
    ...Object.entries(options.controllers?.groupKindConcurrency ?? {}).map(([kind, workers]) =>
      numberProblem(`controllers.groupKindConcurrency[${JSON.stringify(kind)}]`, workers, { integer: true }),
    ),
  ].filter((problem) => problem !== undefined);
  if (problems.length > 0) throw new TypeError(`createManager: ${problems.join('; ')}`);
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
