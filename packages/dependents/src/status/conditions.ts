import type { Condition } from '@kctl/apimachinery';
import { removeCondition, setCondition } from '@kctl/apimachinery';
import { NodeFailure } from '../errors.js';
import type { NodeResult } from '../results.js';

/** Results by their names for people, e.g. `routes/main`, in the order of declaration. */
export type NamedResults = readonly (readonly [name: string, result: NodeResult])[];

/** States that are as wanted. */
const settled = new Set<NodeResult['state']>(['ready', 'skipped', 'absent']);
/** Causes that a message has, at most. */
const maxCauses = 3;

export function isReadyRun(results: NamedResults): boolean {
  return results.every(([, { state }]) => settled.has(state));
}

/** Whether waiting does not help a result. */
export function isStalled({ error }: NodeResult): boolean {
  return (error instanceof NodeFailure && error.stalled) || isTerminal(error);
}

function isTerminal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'KCTL_TERMINAL';
}

/** Causes first, then the nodes that wait for them. */
export function messageOf(results: NamedResults): string {
  const open = results.filter(([, { state }]) => !settled.has(state));
  const causes = open.filter(([, { state }]) => state !== 'blocked').toSorted(([, a], [, b]) => rank(a) - rank(b));
  const blocked = open.filter(([, { state }]) => state === 'blocked').map(([name]) => name);
  const shown = causes.slice(0, maxCauses).map(([name, { target, reason, message, since }]) => {
    const where = target === undefined ? name : `${name} (${target})`;
    return `${where}: ${message === '' ? reason : message}, since ${formatTime(since)}`;
  });
  if (causes.length > maxCauses) shown.push(`${causes.length - maxCauses} more`);
  if (blocked.length > 0) shown.push(`blocked: ${blocked.join(', ')}`);
  return shown.join('; ');
}

/** Failures are named before what waits or makes progress. */
function rank({ state }: NodeResult): number {
  return state === 'failed' ? 0 : state === 'waiting' ? 1 : 2;
}

function formatTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** The conditions of a run, in a copy of those that are present. */
export function conditionsOf(
  results: NamedResults,
  given: { readonly generation: number | undefined; readonly isPaused: boolean; readonly now: number },
  present: readonly Condition[],
): Condition[] {
  const { generation, isPaused, now } = given;
  const conditions = present.map((condition) => ({ ...condition }));
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  const isReady = isReadyRun(results) && !isPaused;
  const stalled = results.find(([, result]) => isStalled(result));
  const cause =
    results.find(([, { state }]) => state === 'failed') ?? results.find(([, { state }]) => !settled.has(state));
  const set = (type: string, status: 'True' | 'False', reason: string, message: string): void => {
    setCondition(conditions, { type, status, reason, message, ...observed }, { now });
  };
  set('Ready', isReady ? 'True' : 'False', isReady ? 'Ready' : (cause?.[1].reason ?? 'Paused'), messageOf(results));
  if (stalled === undefined) set('Stalled', 'False', 'Progressing', '');
  else set('Stalled', 'True', stalled[1].reason, `${stalled[0]}: ${stalled[1].message}`);
  if (isPaused) set('Paused', 'True', 'Annotation', 'children are neither written nor deleted');
  else removeCondition(conditions, 'Paused');
  return conditions;
}
