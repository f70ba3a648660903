import type { ReplicaWorld } from '@kctl/simulation';
import { sleep } from '@kctl/wait';
import { createDelayingQueue, createPriorityQueue, type DelayingQueue } from '@kctl/workqueue';

/** How late a key may be handed out: nothing of a world stalls for longer. In ms. */
const toleranceMs = 90_000;
const muchLaterMs = 3_600_000;

/**
 * Keys that are added for an hour later and then for an earlier time, while they wait and while they are processed: the
 * earliest add counts, and none is lost.
 */
export class Alarms {
  readonly #world: ReplicaWorld;

  constructor(world: ReplicaWorld) {
    this.#world = world;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#world;
    const queues = [createDelayingQueue({ clock }), createPriorityQueue({ clock })];
    signal.addEventListener('abort', () => queues.forEach((queue) => queue.shutDown()), { once: true });
    await Promise.all(
      queues.flatMap((queue, index) => this.#use(queue, index === 0 ? 'delaying' : 'priority', signal)),
    );
  }

  #use(queue: DelayingQueue<string>, name: string, signal: AbortSignal): readonly Promise<void>[] {
    const { clock, random, violate } = this.#world;
    /** By key, when it is to be handed out. */
    const due = new Map<string, number>();
    const add = (key: string, delayMs: number): void => {
      due.set(key, Math.min(due.get(key) ?? Infinity, clock.monotonicNow() + delayMs));
      if (delayMs === 0) queue.add(key);
      else queue.addAfter(key, delayMs);
    };
    const pause = (ms: number): Promise<void> => sleep(ms, { clock, signal }).catch(() => undefined);
    const plan = async (): Promise<void> => {
      while (!signal.aborted) {
        await pause(random() * 10_000);
        const key = `alarm-${Math.floor(random() * 5)}`;
        add(key, muchLaterMs);
        if (random() < 0.7) await pause(random() * 5_000);
        if (!signal.aborted) add(key, random() < 0.3 ? 0 : random() * 20_000);
      }
    };
    const work = async (): Promise<void> => {
      for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
        due.delete(key);
        await pause(random() * 3_000);
        queue.done(key);
      }
    };
    const late = (): readonly [string, number][] =>
      [...due].filter(([, at]) => at + toleranceMs < clock.monotonicNow());
    const watch = async (): Promise<void> => {
      while (!signal.aborted) {
        await pause(30_000);
        const before = late();
        if (before.length === 0) continue;
        // After a stall the timers of the queue and this one are due together.
        await pause(5_000);
        for (const [key, at] of late())
          if (!signal.aborted && before.some((each) => each[0] === key && each[1] === at))
            violate('late-key', `${key} of a ${name} queue is late by ${Math.round(clock.monotonicNow() - at)} ms`);
      }
    };
    return [plan(), work(), watch()];
  }
}
