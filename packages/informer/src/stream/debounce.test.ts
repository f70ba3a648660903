import type { KubeObject } from '@kctl/apimachinery';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { Change } from '../handlers/change.js';
import { storeObject } from '@kctl/cache-index/internal';
import { debounced } from './debounce.js';

/** Events by `name@version` that a test sends; `end` ends them. */
function createSource(): {
  readonly events: AsyncGenerator<Change<KubeObject>, void>;
  send(name: string): Promise<void>;
  end(): void;
  readonly isReturned: () => boolean;
} {
  const waiting: Change<KubeObject>[] = [];
  let wake: (() => void) | undefined;
  let isEnded = false;
  let isReturned = false;
  async function* read(): AsyncGenerator<Change<KubeObject>, void> {
    try {
      for (;;) {
        const next = waiting.shift();
        if (next !== undefined) yield next;
        else if (isEnded) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      isReturned = true;
    }
  }
  return {
    events: read(),
    send: async (text) => {
      const [name = '', resourceVersion = ''] = text.split('@');
      const stored = storeObject<KubeObject>({ metadata: { name, resourceVersion } }, { freeze: true });
      waiting.push(new Change('update', stored, stored));
      wake?.();
      await settle();
    },
    end: () => {
      isEnded = true;
      wake?.();
    },
    isReturned: () => isReturned,
  };
}

describe('debounced', () => {
  async function start(): Promise<{
    clock: FakeClock;
    source: ReturnType<typeof createSource>;
    stop: AbortController;
    seen: string[];
    over: Promise<void>;
  }> {
    const clock = new FakeClock();
    const stop = new AbortController();
    const source = createSource();
    const seen: string[] = [];
    const read = async (): Promise<void> => {
      for await (const { header } of debounced(source.events, { quietMs: 100, clock, signal: stop.signal }))
        seen.push(`${header.name}@${header.resourceVersion} at ${clock.monotonicNow()}`);
    };
    const over = read();
    await settle();
    return { clock, source, stop, seen, over };
  }

  it('waits from the last event of each object, with one timer at a time', async () => {
    const { clock, source, seen, over } = await start();
    await source.send('a@1');
    await clock.advance(60);
    await source.send('b@2');
    await clock.advance(30);
    await source.send('a@3');
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(69);
    expect(seen).toEqual([]);
    await clock.advance(1);
    expect(seen).toEqual(['b@2 at 160']);
    await clock.advance(30);
    expect(seen).toEqual(['b@2 at 160', 'a@3 at 190']);
    expect(clock.pendingTimers).toBe(0);
    await source.send('c@4');
    source.end();
    await over;
    expect(seen.at(-1)).toBe('c@4 at 190');
    expect([clock.pendingTimers, source.isReturned()]).toEqual([0, true]);
  });

  it('hands on nothing more when its signal has aborted', async () => {
    const { source, stop, seen, over } = await start();
    await source.send('a@1');
    stop.abort();
    source.end();
    await over;
    expect(seen).toEqual([]);
  });
});
