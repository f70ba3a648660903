import type { KeyOf, KeyOrObject, Kind, NamespacedKey } from '@kctl/apimachinery';
import { ControllerRevision, Deployment, ReplicaSet } from '@kctl/apimachinery/kinds/apps/v1';
import type { DaemonSet, StatefulSet } from '@kctl/apimachinery/kinds/apps/v1';
import { isDeleting } from '@kctl/apimachinery';
import { formatGroupKind, isJsonObject } from '@kctl/apimachinery/internal';
import { headerValues } from '@kctl/apimachinery/internal/wire';
import { clockOption, functionOption, requireOptions } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { systemClock } from '@kctl/wait';
import type { Clock } from '@kctl/wait';
import { wallTime } from '@kctl/wait/internal';
import { requireListAnswer, requireObjectAnswer } from '../checks/answers.js';
import type { Client, ReadObject, Reader, Watcher } from '../client.js';
import type { AbortOptions } from '../options.js';
import { jsonPatchFrom } from '../patch.js';
import { waitFor } from '../wait-for.js';
import type { WaitForOptions } from '../wait-for.js';
import { requireClient, requireObject, requireOptionsObject } from '../checks/require-arguments.js';
import { keyIn, requireKind } from '../checks/require-kind.js';

/** A kind whose pods are replaced step by step when its template changes. */
export type RolloutKind = typeof Deployment | typeof StatefulSet | typeof DaemonSet;

/** How far a rollout is. */
export interface RolloutStatus {
  /** Whether every pod is of the present template, and available. */
  readonly isDone: boolean;
  /** Whether it will not continue, because the progress deadline of a Deployment is exceeded. */
  readonly isStalled: boolean;
  /** In the words of `kubectl rollout status`. */
  readonly message: string;
}

/**
 * Returns the progress of the rollout of a Deployment, StatefulSet or DaemonSet, as reported by
 * `kubectl rollout status`. A spec that its controller has not seen yet is never done.
 *
 * @throws TypeError for another kind, and for what is not an object as it was read
 */
export function rolloutStatus<K extends RolloutKind>(kind: K, object: ReadObject<K>): RolloutStatus {
  requireRolloutKind('rolloutStatus', kind);
  requireObject('rolloutStatus', 'object', object);
  if (kind.kind === 'Deployment') return deploymentStatus(object as ReadObject<typeof Deployment>);
  if (kind.kind === 'StatefulSet') return statefulSetStatus(object as ReadObject<typeof StatefulSet>);
  return daemonSetStatus(object as ReadObject<typeof DaemonSet>);
}

const rolloutKinds: readonly string[] = ['Deployment', 'StatefulSet', 'DaemonSet'];

/** Another kind has no rollout, and would be read as if it were a DaemonSet. @throws TypeError */
function requireRolloutKind(what: string, kind: Kind): void {
  requireKind(what, kind);
  if (kind.group === 'apps' && rolloutKinds.includes(kind.kind)) return;
  throw new TypeError(
    `${what}: ${formatGroupKind(kind)} has no rollout: expected Deployment, StatefulSet or DaemonSet of apps`,
  );
}

const under = (message: string): RolloutStatus => ({ isDone: false, isStalled: false, message });
const done = (message: string): RolloutStatus => ({ isDone: true, isStalled: false, message });

function deploymentStatus({ metadata, spec, status = {} }: ReadObject<typeof Deployment>): RolloutStatus {
  const { name, generation = 0 } = metadata;
  if (generation > (status.observedGeneration ?? 0))
    return under('Waiting for deployment spec update to be observed...');
  const progressing = status.conditions?.find(({ type }) => type === 'Progressing');
  if (progressing?.reason === 'ProgressDeadlineExceeded')
    return { isDone: false, isStalled: true, message: `deployment "${name}" exceeded its progress deadline` };
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0 } = status;
  const wanted = spec?.replicas ?? 1;
  const waiting = `Waiting for deployment "${name}" rollout to finish:`;
  if (updatedReplicas < wanted)
    return under(`${waiting} ${updatedReplicas} out of ${wanted} new replicas have been updated...`);
  if (replicas > updatedReplicas)
    return under(`${waiting} ${replicas - updatedReplicas} old replicas are pending termination...`);
  if (availableReplicas < updatedReplicas)
    return under(`${waiting} ${availableReplicas} of ${updatedReplicas} updated replicas are available...`);
  return done(`deployment "${name}" successfully rolled out`);
}

function statefulSetStatus({ metadata, spec, status }: ReadObject<typeof StatefulSet>): RolloutStatus {
  const { generation = 0 } = metadata;
  if (spec?.updateStrategy?.type === 'OnDelete')
    return done('rollout status is only available for RollingUpdate strategy type');
  const observed = status?.observedGeneration ?? 0;
  if (observed === 0 || generation > observed) return under('Waiting for statefulset spec update to be observed...');
  const wanted = spec?.replicas ?? 1;
  const { readyReplicas = 0, updatedReplicas = 0, updateRevision = '', currentRevision = '' } = status ?? {};
  if (readyReplicas < wanted) return under(`Waiting for ${wanted - readyReplicas} pods to be ready...`);
  const partition = spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
  if (partition > 0) {
    if (updatedReplicas < wanted - partition)
      return under(
        `Waiting for partitioned roll out to finish: ${updatedReplicas} out of ${wanted - partition} new pods have been updated...`,
      );
    return done(`partitioned roll out complete: ${updatedReplicas} new pods have been updated...`);
  }
  if (updateRevision !== currentRevision)
    return under(
      `waiting for statefulset rolling update to complete ${updatedReplicas} pods at revision ${updateRevision}...`,
    );
  return done(
    `statefulset rolling update complete ${status?.currentReplicas ?? 0} pods at revision ${currentRevision}...`,
  );
}

function daemonSetStatus({ metadata, spec, status }: ReadObject<typeof DaemonSet>): RolloutStatus {
  const { name, generation = 0 } = metadata;
  if (spec?.updateStrategy?.type === 'OnDelete')
    return done('rollout status is only available for RollingUpdate strategy type');
  if (generation > (status?.observedGeneration ?? 0))
    return under('Waiting for daemon set spec update to be observed...');
  const { updatedNumberScheduled = 0, desiredNumberScheduled = 0, numberAvailable = 0 } = status ?? {};
  const waiting = `Waiting for daemon set "${name}" rollout to finish:`;
  if (updatedNumberScheduled < desiredNumberScheduled)
    return under(`${waiting} ${updatedNumberScheduled} out of ${desiredNumberScheduled} new pods have been updated...`);
  if (numberAvailable < desiredNumberScheduled)
    return under(`${waiting} ${numberAvailable} of ${desiredNumberScheduled} updated pods are available...`);
  return done(`daemon set "${name}" successfully rolled out`);
}

const stalledCode = 'KCTL_ROLLOUT_STALLED';

/** Thrown when a rollout that is waited for will not go on. */
export class RolloutStalledError extends Error {
  override readonly name = 'RolloutStalledError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_ROLLOUT_STALLED' = stalledCode;
}

/** Whether an error is a {@link RolloutStalledError}, also one of another copy of this package. */
export function isRolloutStalled(error: unknown): error is RolloutStalledError {
  return error instanceof Error && 'code' in error && error.code === stalledCode;
}

/** Options of {@link waitForRollout}. */
export interface WaitForRolloutOptions extends Omit<WaitForOptions<RolloutKind>, 'until'> {
  /** Called with each status that differs from the one before. */
  readonly onProgress?: (status: RolloutStatus) => void;
}

const rolloutOptionNames: OptionNames<WaitForRolloutOptions> = {
  condition: true,
  jsonPath: true,
  deleted: true,
  created: true,
  timeoutMs: true,
  intervalMs: true,
  clock: clockOption,
  signal: true,
  onProgress: true,
};

/**
 * Waits until a rollout is done, and returns the object. Mirrors `kubectl rollout status --watch`.
 *
 * @throws RolloutStalledError when the progress deadline is exceeded or the object is deleted; what `waitFor` throws
 */
export async function waitForRollout<K extends RolloutKind>(
  client: Reader | (Reader & Watcher),
  kind: K,
  named: NoInfer<KeyOrObject<K>>,
  options: WaitForRolloutOptions = {},
): Promise<ReadObject<K>> {
  requireClient('waitForRollout', client, ['get']);
  requireRolloutKind('waitForRollout', kind);
  requireOptionsObject('waitForRollout', options);
  requireOptions('waitForRollout', options, rolloutOptionNames);
  const { onProgress, ...wait } = options;
  const problem = onProgress === undefined ? undefined : functionOption('onProgress', onProgress);
  if (problem !== undefined) throw new TypeError(`waitForRollout: ${problem}`);
  const { name } = keyIn('waitForRollout', kind, named);
  let last = '';
  const isDone = (object: ReadObject<K> | undefined): boolean => {
    if (object === undefined || isDeleting(object))
      throw new RolloutStalledError(`${kind.kind} ${name} does not exist, or is being deleted`);
    const status = rolloutStatus(kind, object);
    if (status.message !== last) onProgress?.(status);
    last = status.message;
    if (status.isStalled) throw new RolloutStalledError(status.message);
    return status.isDone;
  };
  const object = await waitFor<K>(client, kind, named, { ...wait, until: isDone });
  if (object === undefined) throw new RolloutStalledError(`${kind.kind} ${name} does not exist`);
  return object;
}

/** Options of {@link restartRollout}. */
export interface RestartOptions extends AbortOptions {
  readonly fieldOwner?: string;
  /** @default systemClock */
  readonly clock?: Clock;
}

const restartOptionNames: OptionNames<RestartOptions> = { fieldOwner: true, clock: clockOption, signal: true };

/** Replaces all pods, by the annotation of the template that `kubectl rollout restart` sets. */
export async function restartRollout<K extends RolloutKind>(
  client: Client,
  kind: K,
  named: NoInfer<KeyOrObject<K>>,
  options: RestartOptions = {},
): Promise<void> {
  requireClient('restartRollout', client, ['patch']);
  requireRolloutKind('restartRollout', kind);
  requireOptionsObject('restartRollout', options);
  requireOptions('restartRollout', options, restartOptionNames);
  const { clock = systemClock, ...patchOptions } = options;
  const restartedAt = new Date(wallTime(clock)).toISOString().replace(/\.\d+Z$/, 'Z');
  const annotations = { 'kubectl.kubernetes.io/restartedAt': restartedAt };
  const body = { spec: { template: { metadata: { annotations } } } };
  await client.patch(kind, keyIn('restartRollout', kind, named), { type: 'merge', body }, patchOptions);
}

/** Options of {@link undoRollout}. */
export interface UndoOptions extends AbortOptions {
  /** The revision to go back to, as `kubectl rollout history` numbers them. @default the one before the present one */
  readonly toRevision?: number;
  readonly fieldOwner?: string;
}

const undoOptionNames: OptionNames<UndoOptions> = { toRevision: true, fieldOwner: true, signal: true };

/**
 * Goes back to the template of an earlier revision. Mirrors `kubectl rollout undo`.
 *
 * @returns the revision that it went back to; 0 if the template is already that of the revision
 * @throws RangeError when there is no such revision; TypeError for a Deployment that is paused
 */
export async function undoRollout<K extends RolloutKind>(
  client: Client,
  kind: K,
  named: NoInfer<KeyOrObject<K>>,
  options: UndoOptions = {},
): Promise<number> {
  requireClient('undoRollout', client, ['get', 'list', 'patch']);
  requireRolloutKind('undoRollout', kind);
  requireOptionsObject('undoRollout', options);
  requireOptions('undoRollout', options, undoOptionNames);
  const { toRevision, ...patchOptions } = options;
  const { signal } = options;
  const key: KeyOf<K> = keyIn('undoRollout', kind, named);
  const object = requireObjectAnswer(
    'rollout',
    await client.get(kind, key, { live: true, ...(signal === undefined ? {} : { signal }) }),
  );
  if (isPaused(object))
    throw new TypeError(`undoRollout: Deployment ${key.name} is paused: resume it before its rollout is undone`);
  const revisions = await revisionsOf(client, kind, { object, options });
  const target = pick(revisions, toRevision, `${kind.kind} ${key.name}`);
  if (target === revisions.at(-1)) return 0;
  await client.patch(kind, key, target.patch, patchOptions);
  return target.revision;
}

/** A template of the past, with the patch that brings it back. */
interface Revision {
  readonly revision: number;
  readonly patch: Parameters<Client['patch']>[2];
}

function pick(revisions: readonly Revision[], wanted: number | undefined, what: string): Revision {
  const found =
    wanted === undefined || wanted === 0 ? revisions.at(-2) : revisions.find(({ revision }) => revision === wanted);
  if (found !== undefined) return found;
  const known = revisions.map(({ revision }) => revision).join(', ');
  throw new RangeError(
    wanted === undefined || wanted === 0
      ? `undoRollout: ${what} has no earlier revision`
      : `undoRollout: ${what} has no revision ${wanted}: it has ${known === '' ? 'none' : known}`,
  );
}

async function revisionsOf<K extends RolloutKind>(
  client: Client,
  kind: K,
  { object, options }: { readonly object: ReadObject<K>; readonly options: UndoOptions },
): Promise<Revision[]> {
  const { namespace = '', uid } = object.metadata as { readonly namespace?: string; readonly uid: string };
  const scope = { namespace, live: true, ...(options.signal === undefined ? {} : { signal: options.signal }) };
  const isOwned = ({ metadata }: { readonly metadata: ReadObject<typeof ReplicaSet>['metadata'] }): boolean =>
    headerValues.owners(metadata.ownerReferences).some((owner) => owner.uid === uid && owner.controller === true);
  if (kind.kind === 'Deployment') {
    const { items } = requireListAnswer('undoRollout', await client.list(ReplicaSet, scope));
    return items.filter(isOwned).map(ofReplicaSet).toSorted(byRevision);
  }
  const { items } = requireListAnswer('undoRollout', await client.list(ControllerRevision, scope));
  return items
    .filter(isOwned)
    .map(
      ({ revision = 0, data }): Revision => ({
        revision,
        patch: { type: 'strategic', body: isJsonObject(data) ? data : {} },
      }),
    )
    .toSorted(byRevision);
}

const byRevision = (a: Revision, b: Revision): number => a.revision - b.revision;

function ofReplicaSet({ metadata, spec }: ReadObject<typeof ReplicaSet>): Revision {
  const { template } = spec ?? {};
  const { 'pod-template-hash': _hash, ...labels } = template?.metadata?.labels ?? {};
  return {
    revision: Number(metadata.annotations?.['deployment.kubernetes.io/revision'] ?? 0),
    // Adding a member that is there replaces it as a whole.
    patch: jsonPatchFrom(
      { spec: {} },
      { spec: { template: { ...template, metadata: { ...template?.metadata, labels } } } },
    ),
  };
}

function isPaused(object: object): boolean {
  return 'spec' in object && isJsonObject(object.spec) && object.spec['paused'] === true;
}

/** Stops the rollout of a Deployment, so changes of its template wait. */
export async function pauseRollout(client: Client, key: NamespacedKey, options: AbortOptions = {}): Promise<void> {
  requireClient('pauseRollout', client, ['patch']);
  requireOptionsObject('pauseRollout', options);
  const body = { spec: { paused: true } };
  await client.patch(Deployment, keyIn('pauseRollout', Deployment, key), { type: 'merge', body }, options);
}

/** Lets the rollout of a Deployment go on. */
export async function resumeRollout(client: Client, key: NamespacedKey, options: AbortOptions = {}): Promise<void> {
  requireClient('resumeRollout', client, ['patch']);
  requireOptionsObject('resumeRollout', options);
  const body = { spec: { paused: null } };
  await client.patch(Deployment, keyIn('resumeRollout', Deployment, key), { type: 'merge', body }, options);
}
