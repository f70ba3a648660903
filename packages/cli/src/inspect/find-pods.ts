import { isDeleting } from '@kctl/apimachinery';
import { DaemonSet, Deployment, ReplicaSet, StatefulSet } from '@kctl/apimachinery/kinds/apps/v1';
import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import { resolvePods, type ReadPod, type WorkloadTarget } from '@kctl/pods';
import type { ClusterOptions, OpenCluster } from '../cluster.js';
import { CliError } from '../errors.js';
import type { CliIo } from '../io.js';
import { loadOperator, readProject } from '../project.js';
import { unlessMissing } from '../unless-missing.js';
import { ownCommand } from '../own-command.js';

/** Which workload is that of the operator. */
export interface WorkloadOptions extends ClusterOptions {
  readonly main?: string;
  /** Such as `deployment/websites`. @default the Deployment of the project's operator */
  readonly target?: string;
  /** Of the target. @default that of the operator */
  readonly namespace?: string;
}

const kinds = [Deployment, StatefulSet, ReplicaSet, DaemonSet, Pod];

/** The pods of a workload, except those that are being deleted. @throws CliError if there are no pods */
export async function findPods(
  { signal }: CliIo,
  cluster: OpenCluster,
  target: WorkloadTarget,
): Promise<readonly ReadPod[]> {
  const shown = `${target.kind.kind.toLowerCase()}/${target.name} in ${target.namespace}`;
  const pods = await unlessMissing(resolvePods(cluster.client, target, { signal }));
  if (pods === undefined)
    throw new CliError(`${shown} does not exist: deploy it by ${ownCommand('deploy')}, or name another`);
  const running = pods.filter((pod) => !isDeleting(pod));
  if (running.length === 0)
    throw new CliError(`${shown} has no pods: is it deployed? See ${ownCommand('deploy')}, or kubectl describe`);
  return running;
}

/** `deployment/websites`, `deploy/websites`, or a name alone, which is that of a Deployment. */
export function parseTarget(argument: string, namespace: string): WorkloadTarget {
  const [first = '', second] = argument.split('/');
  const [word, name] = second === undefined ? ['deployment', first] : [first.toLowerCase(), second];
  const kind = kinds.find((each) => [each.kind.toLowerCase(), each.plural, shortNames[each.kind]].includes(word));
  if (kind === undefined || name === '')
    throw new CliError(
      `${JSON.stringify(argument)} is not a workload: expected ${kinds.map((each) => each.kind.toLowerCase()).join(', ')}, a slash and a name, such as deployment/websites`,
      { exitCode: 2 },
    );
  return { kind, namespace, name };
}

const shortNames: Readonly<Record<string, string>> = {
  Deployment: 'deploy',
  StatefulSet: 'sts',
  ReplicaSet: 'rs',
  DaemonSet: 'ds',
  Pod: 'po',
};

/** The workload of the operator. @throws CliError if the given target is not a workload, or if there is no operator */
export async function targetOf(io: CliIo, { target, namespace, main }: WorkloadOptions): Promise<WorkloadTarget> {
  if (target !== undefined && namespace !== undefined) return parseTarget(target, namespace);
  const operator = await loadOperator(readProject(io.cwd, main === undefined ? {} : { main }));
  return parseTarget(target ?? operator.name, namespace ?? operator.namespace);
}
