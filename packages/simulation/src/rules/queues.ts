import { activities } from '../network/activity.js';
import type { ReplicaHost } from '../replica/replica-host.js';
import type { Operator } from '../world.js';

/** The required part of an operator's metrics, which those of a manager have. */
interface Exporter {
  export(): Promise<{ readonly body: string }>;
}

const depthLine = /^workqueue_depth\{([^}]*)\} (\d+)/gm;

/** Number of waiting keys in each non-empty work queue, by its name, per the metrics. Empty without such metrics. */
async function waitingKeys({ scope }: ReplicaHost, { metrics }: Operator): Promise<ReadonlyMap<string, number>> {
  if (scope === undefined || !isExporter(metrics)) return new Map();
  const { body } = await activities.run({ scope }, () => metrics.export());
  const waiting = new Map<string, number>();
  for (const [, labels = '', depth] of body.matchAll(depthLine)) {
    const name = /\bname="([^"]*)"/.exec(labels)?.[1] ?? '';
    waiting.set(name, (waiting.get(name) ?? 0) + Number(depth));
  }
  for (const [name, depth] of waiting) if (depth === 0) waiting.delete(name);
  return waiting;
}

/** `3 in the queue "widget"`. */
function describeWaiting(waiting: Iterable<readonly [name: string, depth: number]>): string {
  return [...waiting].map(([name, depth]) => `${depth} in the queue ${JSON.stringify(name)}`).join(', ');
}

/** Checks the work queues of a replica whose run has ended. */
export async function keysLeftBehind(host: ReplicaHost, operator: Operator | undefined): Promise<string | undefined> {
  const waiting = operator === undefined ? undefined : await waitingKeys(host, operator);
  if (waiting === undefined || waiting.size === 0) return undefined;
  return `${host.name}: run has ended and keys are left behind: ${describeWaiting(waiting)}`;
}

/** How long keys may wait in a queue from which nothing is taken, in ms; and how long a queue is looked at that gets on. */
const patienceMs = 90_000;
const longestMs = 600_000;
const turnMs = 1000;

/**
 * Checks for work queues in which keys still wait when nothing changes, and from which nothing is taken for a minute
 * and a half. A backlog that is being processed is not reported. A replica that does not lead may keep keys until it
 * does.
 */
export async function keysLeftWaiting(
  host: ReplicaHost,
  sleep: (ms: number) => Promise<void>,
): Promise<string | undefined> {
  /** State of each queue at its last progress, and the time without progress since. */
  const stuck = new Map<string, { readonly depth: number; readonly begun: number; idleMs: number }>();
  for (let watchedMs = 0; watchedMs < longestMs; watchedMs += turnMs) {
    const { operator } = host;
    if (operator === undefined || operator.isLeader === false) return undefined;
    const waiting = await waitingKeys(host, operator);
    if (waiting.size === 0) return undefined;
    for (const [name, depth] of waiting) {
      const begun = host.begun.get(name) ?? 0;
      const before = stuck.get(name);
      if (before === undefined || depth < before.depth || begun > before.begun)
        stuck.set(name, { depth, begun, idleMs: 0 });
      else before.idleMs += turnMs;
    }
    for (const name of stuck.keys()) if (!waiting.has(name)) stuck.delete(name);
    const left = [...waiting].filter(([name]) => (stuck.get(name)?.idleMs ?? 0) >= patienceMs);
    if (left.length > 0)
      return `keys wait when nothing moves: ${describeWaiting(left)}; a reconcile that waits holds its worker: give it a deadline, and the signal of its context`;
    await sleep(turnMs);
  }
  return undefined;
}

function isExporter(metrics: unknown): metrics is Exporter {
  return typeof metrics === 'object' && metrics !== null && typeof Reflect.get(metrics, 'export') === 'function';
}
