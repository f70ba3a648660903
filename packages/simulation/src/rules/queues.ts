import { activities } from '../activity.js';
import type { ReplicaHost } from '../replica-host.js';
import type { Operator } from '../world.js';

/** What is needed of the metrics of an operator; those of a manager are such. */
interface Exporter {
  export(): Promise<{ readonly body: string }>;
}

const depthLine = /^workqueue_depth\{([^}]*)\} (\d+)/gm;

/** Work queues in which keys wait, as their metrics say: `3 in the queue "widget"`. None without such metrics. */
export async function waitingKeys({ scope }: ReplicaHost, { metrics }: Operator): Promise<string[]> {
  if (scope === undefined || !isExporter(metrics)) return [];
  const { body } = await activities.run({ scope }, () => metrics.export());
  const waiting = new Map<string, number>();
  for (const [, labels = '', depth] of body.matchAll(depthLine)) {
    const name = /\bname="([^"]*)"/.exec(labels)?.[1] ?? '';
    waiting.set(name, (waiting.get(name) ?? 0) + Number(depth));
  }
  return [...waiting].flatMap(([name, depth]) =>
    depth === 0 ? [] : [`${depth} in the queue ${JSON.stringify(name)}`],
  );
}

/** How often keys that wait in quiet times are looked at before they count as left, and how long between, in ms. */
const turns = 30;
const turnMs = 1000;

/**
 * What is wrong with work queues in which keys still wait after half a minute in which nothing moves. A replica that does
 * not lead may keep keys until it does.
 */
export async function keysLeftWaiting(
  host: ReplicaHost,
  sleep: (ms: number) => Promise<void>,
): Promise<string | undefined> {
  let waiting: string[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const { operator } = host;
    waiting = operator === undefined || operator.isLeader === false ? [] : await waitingKeys(host, operator);
    if (waiting.length === 0) return undefined;
    await sleep(turnMs);
  }
  const advice = 'a reconcile that waits holds its worker: give it a deadline, and the signal of its context';
  return `keys wait when nothing moves: ${waiting.join(', ')}; ${advice}`;
}

function isExporter(metrics: unknown): metrics is Exporter {
  return typeof metrics === 'object' && metrics !== null && typeof Reflect.get(metrics, 'export') === 'function';
}
