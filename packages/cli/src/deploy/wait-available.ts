import { isForbidden, type DeepReadonly } from '@kctl/apimachinery';
import { Deployment, type DeploymentStatus } from '@kctl/apimachinery/kinds/apps/v1';
import { Pod, Secret } from '@kctl/apimachinery/kinds/core/v1';
import type { OperatorGraph } from '@kctl/operator';
import type { OpenCluster } from '../cluster.js';
import type { CliIo } from '../io.js';
import { unlessMissing } from '../unless-missing.js';
import { waitFor } from './wait-for.js';

/** What the replicas of an operator are waited for with. */
export interface AvailableOptions {
  readonly timeoutMs: number | undefined;
  /** The Secret that the pods mount; undefined if they mount none. */
  readonly secret: string | undefined;
}

/** Waits until all replicas of an operator are available and of the applied version. @throws CliError if they are not */
export async function waitAvailable(
  io: CliIo,
  { client }: Pick<OpenCluster, 'client'>,
  { name, namespace }: Pick<OperatorGraph, 'name' | 'namespace'>,
  { timeoutMs, secret }: AvailableOptions,
): Promise<void> {
  let state: RolloutState = { available: 0, wanted: 0, isRolledOut: true, failure: undefined };
  let blocked: string | undefined;
  const where = { io, client, name, namespace, secret };
  await waitFor({
    io,
    timeoutMs,
    isDone: async () => {
      const { metadata, spec, status } = await client.get(Deployment, { name, namespace }, { signal: io.signal });
      state = rolloutOf(spec?.replicas ?? 1, status);
      const isDone =
        status?.observedGeneration === metadata.generation && state.available >= state.wanted && state.isRolledOut;
      if (!isDone) blocked = await blockerOf(where);
      return isDone;
    },
    progress: () => `${state.available} of ${state.wanted} ready: waiting for ${blocked ?? reasonOf(name, state)}`,
    late: (seconds) =>
      `deployment/${name} in ${namespace} is not available after ${seconds} s: ${describe(state)}${blocked === undefined ? '' : `: waiting for ${blocked}`}: see kubectl describe pods --namespace ${namespace}`,
  });
  io.err(`available deployment/${name}\n`);
}

interface RolloutState {
  readonly available: number;
  readonly wanted: number;
  readonly isRolledOut: boolean;
  readonly failure: string | undefined;
}

/**
 * How many replicas are available, and whether all are of the applied version. While a new version does not start, the
 * old one is available. A status without the condition is not the controller's, and does not identify the version of
 * its replicas.
 */
function rolloutOf(wanted: number, status: DeepReadonly<DeploymentStatus> = {}): RolloutState {
  const { replicas = 0, availableReplicas = 0, conditions = [] } = status;
  const isOfController = conditions.some(({ type }) => type === 'Progressing');
  const { updatedReplicas = isOfController ? 0 : replicas } = status;
  const failure = conditions.find(({ type, status: value }) => type !== 'Available' && value === 'False')?.message;
  return { available: availableReplicas, wanted, isRolledOut: updatedReplicas >= replicas, failure };
}

function describe({ available, wanted, isRolledOut, failure }: RolloutState): string {
  return `${available} of ${wanted} replicas are available${isRolledOut ? '' : ', not all of them of the new version'}${failure === undefined ? '' : `: ${failure}`}`;
}

function reasonOf(name: string, { available, wanted, isRolledOut, failure }: RolloutState): string {
  if (failure !== undefined) return failure;
  return available >= wanted && !isRolledOut
    ? `replicas of the new version of deployment/${name}`
    : `the pods of deployment/${name}`;
}

interface BlockerSearch {
  readonly io: CliIo;
  readonly client: OpenCluster['client'];
  readonly name: string;
  readonly namespace: string;
  readonly secret: string | undefined;
}

/** The first cause that keeps pods from being ready: a Secret that is missing, or a pod that cannot start. */
async function blockerOf({ io, client, name, namespace, secret }: BlockerSearch): Promise<string | undefined> {
  const { signal } = io;
  try {
    if (
      secret !== undefined &&
      (await unlessMissing(client.get(Secret, { namespace, name: secret }, { signal }))) === undefined
    )
      return `secret/${secret}, which cert-manager makes`;
    const labelSelector = `app.kubernetes.io/name=${name}`;
    const { items } = await client.list(Pod, { namespace, labelSelector, signal });
    for (const { metadata, status } of items) {
      const waiting = status?.containerStatuses?.find(({ state }) => state?.waiting !== undefined)?.state?.waiting;
      const unscheduled = status?.conditions?.find(
        ({ type, status: value }) => type === 'PodScheduled' && value === 'False',
      );
      const { reason, message } = waiting ?? unscheduled ?? {};
      if (reason === undefined || reason === 'ContainerCreating') continue;
      return `pod/${metadata.name}: ${reason}${message === undefined ? '' : `: ${message}`}`;
    }
    return undefined;
  } catch (error) {
    // A person who may deploy need not be allowed to read Pods or Secrets.
    if (isForbidden(error)) return undefined;
    throw error;
  }
}
