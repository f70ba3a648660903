import { isJsonObject } from '@kctl/apimachinery/internal';
import type { DeepReadonly, KubeObject, OwnerReference } from '@kctl/apimachinery';
import { headerValues } from '@kctl/apimachinery/internal/wire';
import { clockOption, requireOptions } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { formatDuration, systemClock } from '@kctl/wait';
import type { Clock } from '@kctl/wait';
import { conditionsOf, readiness } from './conditions.js';
import { finalizersOf, isSet } from './kube-object.js';
import { requireObject, requireOptionsObject } from './checks/require-arguments.js';

/** Options of {@link describeObject}. */
export interface DescribeOptions {
  /** @default systemClock */
  readonly clock?: Clock;
}

const optionNames: OptionNames<DescribeOptions> = { clock: clockOption };

/** A short form of an object, as fields for a log line. Missing parts of an object are omitted. */
export interface ObjectDescription {
  readonly kind: string;
  /** `namespace/name`, or the name. */
  readonly key: string;
  /** As {@link readiness} has it. */
  readonly state: 'ready' | 'progressing' | 'failed';
  /** `ReplicasUnavailable: 1 of 3 replicas are available`. */
  readonly reason?: string;
  readonly phase?: string;
  /** `1/3`: those that are ready and those that are wanted. */
  readonly replicas?: string;
  /** `Available=False (MinimumReplicasUnavailable), Progressing=True`. */
  readonly conditions?: string;
  /** `7`, or `7 (observed 6)`. */
  readonly generation?: string;
  /** `3m12s`. */
  readonly age?: string;
  /** Since when it is being deleted. */
  readonly deleting?: string;
  readonly finalizers?: string;
  /** `Deployment/web`, the controller first. */
  readonly owners?: string;
}

/**
 * Describes an object of any kind in a few strings, for the fields of a log line or an error, as at the beginning of
 * `kubectl describe`. It contains no values of the spec, and so no secrets.
 *
 * @example
 * ```ts
 * import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
 * import { describeObject } from '@kctl/client';
 *
 * const deployment = await client.get(Deployment, { namespace: 'shop', name: 'web' });
 * logger.info('waiting for the workload', { ...describeObject(deployment) });
 * ```
 */
export function describeObject(object: DeepReadonly<KubeObject>, options: DescribeOptions = {}): ObjectDescription {
  requireOptionsObject('describeObject', options);
  requireOptions('describeObject', options, optionNames);
  const { clock = systemClock } = options;
  requireObject('describeObject', 'object', object);
  const { metadata, kind = 'object' } = object;
  const { generation, creationTimestamp, deletionTimestamp } = metadata;
  const [namespace, name] = [metadata.namespace ?? '', metadata.name ?? ''];
  const { state, reason, message } = readiness(object);
  const status = member(object, 'status');
  const since = (time: string | undefined): string | undefined => {
    const at = Date.parse(time ?? '');
    return Number.isNaN(at) ? undefined : formatDuration(Math.max(0, Math.floor((clock.now() - at) / 1000)) * 1000);
  };
  const owners = headerValues.owners(metadata.ownerReferences);
  const fields = {
    reason: state === 'ready' ? undefined : [reason, message].filter((text) => text !== '').join(': '),
    phase: textOf(member(status, 'phase')),
    replicas: replicasOf(object, status),
    conditions: joined(conditionsOf(object).map(conditionText)),
    generation:
      typeof generation !== 'number' ? undefined : generationText(generation, member(status, 'observedGeneration')),
    age: since(creationTimestamp),
    deleting: !isSet(deletionTimestamp) ? undefined : `since ${since(deletionTimestamp) ?? deletionTimestamp}`,
    finalizers: joined(finalizersOf(object)),
    owners: joined(
      [...owners.filter(isController), ...owners.filter((owner) => !isController(owner))].map(
        (owner) => `${owner.kind}/${owner.name}`,
      ),
    ),
  };
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { kind, key: namespace === '' ? name : `${namespace}/${name}`, state, ...Object.fromEntries(present) };
}

const isController = ({ controller }: OwnerReference): boolean => controller === true;

function conditionText({ type, status, reason }: { type: string; status: string; reason?: unknown }): string {
  const isPlain = status === 'True' || typeof reason !== 'string' || reason === '';
  return isPlain ? `${type}=${status}` : `${type}=${status} (${reason})`;
}

function generationText(generation: number, observed: unknown): string {
  return typeof observed === 'number' && observed !== generation
    ? `${generation} (observed ${observed})`
    : String(generation);
}

/** Of Deployments, StatefulSets, ReplicaSets and what is made like them; of DaemonSets by their nodes. */
function replicasOf(object: unknown, status: unknown): string | undefined {
  const wanted = member(status, 'desiredNumberScheduled') ?? member(member(object, 'spec'), 'replicas');
  if (typeof wanted !== 'number' || !isJsonObject(status)) return undefined;
  const ready = member(status, 'numberReady') ?? member(status, 'readyReplicas') ?? 0;
  return typeof ready === 'number' ? `${ready}/${wanted}` : undefined;
}

const member = (value: unknown, name: string): unknown => (isJsonObject(value) ? value[name] : undefined);
const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
const joined = (texts: readonly string[]): string | undefined => (texts.length === 0 ? undefined : texts.join(', '));
