// The subresource `eviction` of pods, which is a deletion that disruption budgets may refuse. Mirrors
// pkg/registry/core/pod/storage.
import { isDeepStrictEqual } from 'node:util';
import { labelSelectorFrom, type UntypedObject } from '@kctl/apimachinery';
import { at, invalidValue, isObject, objectOf, objectsOf } from '@kctl/crd/internal/engine';
import { formatTime } from '../protocol/go-text.js';
import { decodeBodyKind } from '../resource/body-kind.js';
import type { Decoded, DecodeInput } from '../resource/resource.js';
import { disruptionRefused, forbiddenObject, internalError, invalid, unclassified } from '../protocol/status.js';
import type { ObjectVersion } from '../storage/version.js';
import type { Backend, ResourceCall } from './call.js';
import { placeOf } from './commit.js';
import { checkDeleteOptions, dryRunOf, type DeleteOptions } from './delete-options.js';
import { deleteStored, planDeletion } from './deletion.js';
import { requirePresent } from './update.js';

const evictionType = { apiVersion: 'policy/v1', group: 'policy', kind: 'Eviction', version: 'v1' };
/** Older clients still send this one. */
const olderVersion = 'policy/v1beta1';

/** Decodes an Eviction. @throws StatusError 400 */
export function decodeEviction(input: DecodeInput): Decoded {
  const { value } = input;
  const isOlder = isObject(value) && value['apiVersion'] === olderVersion;
  return decodeBodyKind(
    isOlder ? { ...input, value: { ...value, apiVersion: evictionType.apiVersion } } : input,
    evictionType,
  );
}

/**
 * The options that the pod is deleted with, taken from the eviction, as a dry run if either of the two is. @throws
 * StatusError 422, 500
 */
export function evictionOptions({ query, path }: ResourceCall, eviction: UntypedObject): DeleteOptions {
  const given = objectOf(eviction['deleteOptions']);
  const unsafe = 'ignoreStoreReadErrorWithClusterBreakingPotential';
  if (given[unsafe] === true)
    throw invalid(evictionType, path.name, [
      invalidValue(`deleteOptions.${unsafe}`, true, 'can not be set for pod eviction, try after removing the option'),
    ]);
  const [asked, contained] = [query.getAll('dryRun'), dryRunOf(given)];
  if (asked.length === 0) return checkDeleteOptions(given);
  if (contained.length > 0 && !isDeepStrictEqual(asked, contained))
    throw unclassified(
      `Non-matching dry-run options in request and content: [${asked.join(' ')}] and [${contained.join(' ')}]`,
    );
  return checkDeleteOptions({ ...given, dryRun: asked });
}

/** So many evictions of a budget may be under way. */
const maxDisrupted = 2_000;

/**
 * Deletes a pod unless a disruption budget forbids it, past admission for DELETE: the eviction has been admitted.
 *
 * @throws StatusError 404, 409, 429, 403, 500; LostRaceError
 */
export function evictStored(backend: Backend, call: ResourceCall, options: DeleteOptions): void {
  const { definition } = call;
  const present = requirePresent(backend, call);
  if (!isOver(present.object)) spendBudget(backend, call, { pod: present.object, dryRun: options.dryRun });
  if (options.dryRun) {
    deleteStored(backend, definition, { present, options });
    return;
  }
  // Preconditions are checked before the pod changes; as upstream, an empty resourceVersion is taken for none here.
  const resourceVersion = options.resourceVersion === '' ? undefined : options.resourceVersion;
  planDeletion(backend, definition, { present, options: { ...options, resourceVersion } });
  const next = withDisruption(present.object, formatTime(backend.clock.now()));
  const place = placeOf(definition, present.object);
  const marked =
    next === present.object
      ? present
      : backend.store.commit({ ...place, expected: present.revision, object: next }).current;
  deleteStored(backend, definition, {
    present: marked,
    options: { ...options, ...(resourceVersion !== undefined && { resourceVersion: String(marked.revision) }) },
  });
}

/** An evicted pod has a condition that explains why it went. */
function withDisruption(pod: UntypedObject, now: string): UntypedObject {
  const all = objectsOf(at(pod, 'status', 'conditions'));
  const before = all.find(({ type }) => type === 'DisruptionTarget');
  const why = { status: 'True', reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' };
  if (Object.entries(why).every(([name, value]) => before?.[name] === value)) return pod;
  const lastTransitionTime = before?.['status'] === why.status ? before['lastTransitionTime'] : now;
  const condition = { type: 'DisruptionTarget', ...why, lastProbeTime: null, lastTransitionTime };
  const conditions =
    before === undefined ? [...all, condition] : all.map((each) => (each === before ? condition : each));
  return { ...pod, status: { ...objectOf(pod['status']), conditions } };
}

/** A pod that does not run, or is about to end, disrupts nothing. */
function isOver(pod: UntypedObject): boolean {
  const phase = at(pod, 'status', 'phase');
  return (
    phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending' || pod.metadata.deletionTimestamp !== undefined
  );
}

function isReady(pod: UntypedObject): boolean {
  const conditions = at(pod, 'status', 'conditions');
  const all: readonly unknown[] = Array.isArray(conditions) ? conditions : [];
  return all.some((condition) => at(condition, 'type') === 'Ready' && at(condition, 'status') === 'True');
}

function spendBudget(
  backend: Backend,
  { path }: ResourceCall,
  { pod, dryRun }: { readonly pod: UntypedObject; readonly dryRun: boolean },
): void {
  const definition = backend.registry.find('policy', 'v1', 'poddisruptionbudgets');
  if (definition === undefined) return;
  const prefix = `${path.namespace}/`;
  const budgets: ObjectVersion[] = [];
  for (const [, version] of backend.store.table(definition.storageKey).scan({ prefix }))
    if (selects(version.object, pod)) budgets.push(version);
  const [budget, second] = budgets;
  if (budget === undefined) return;
  if (second !== undefined)
    throw internalError(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  const { object } = budget;
  const name = object.metadata.name ?? '';
  const status = at(object, 'status');
  const count = (field: string): number => numberOf(at(status, field));
  if (!isReady(pod)) {
    if (at(object, 'spec', 'unhealthyPodEvictionPolicy') === 'AlwaysAllow') return;
    // A pod that is not ready does not count among the healthy ones, so it may go while there are enough of these.
    if (count('currentHealthy') >= count('desiredHealthy') && count('desiredHealthy') > 0) return;
  }
  if (count('observedGeneration') < numberOf(object.metadata.generation))
    throw disruptionRefused(`The disruption budget ${name} is still being processed by the server.`, 10);
  const allowed = count('disruptionsAllowed');
  if (allowed < 0) throw forbiddenObject(definition, name, 'pdb disruptions allowed is negative');
  const disrupted = at(status, 'disruptedPods');
  const others = isObject(disrupted) ? disrupted : {};
  if (Object.keys(others).length > maxDisrupted)
    throw forbiddenObject(
      definition,
      name,
      'DisruptedPods map too big - too many evictions not confirmed by PDB controller',
    );
  if (allowed === 0)
    throw disruptionRefused(
      `The disruption budget ${name} needs ${count('desiredHealthy')} healthy pods and has ${count('currentHealthy')} currently`,
    );
  if (dryRun) return;
  const disruptedPods = { ...others, [pod.metadata.name ?? '']: formatTime(backend.clock.now()) };
  const next = {
    ...object,
    status: { ...(isObject(status) ? status : {}), disruptionsAllowed: allowed - 1, disruptedPods },
  };
  backend.store.commit({ ...placeOf(definition, object), expected: budget.revision, object: next });
}

function selects(budget: UntypedObject, pod: UntypedObject): boolean {
  const selector = at(budget, 'spec', 'selector');
  // Without a selector it selects nothing; an empty one selects every pod of the namespace.
  return isObject(selector) && labelSelectorFrom(selector).matches(pod.metadata.labels ?? {});
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
