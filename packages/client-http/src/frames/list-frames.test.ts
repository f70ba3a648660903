import { defineKind } from '@kctl/apimachinery';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { readList } from './list-frames.js';

const Thing = defineKind({ group: '', version: 'v1', kind: 'Thing', scope: 'Cluster' });

describe('readList', () => {
  it('lets others run while it decodes what arrived at once', async () => {
    const items = Array.from({ length: 1000 }, (_, n) => ({
      metadata: { name: `n-${n}`, labels: { pad: 'x'.repeat(500) } },
    }));
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'ThingList', metadata: { resourceVersion: '7' }, items });
    async function* body(): AsyncGenerator<Buffer[], void> {
      yield [Buffer.from(text)];
    }
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    // A machine on which each item takes a millisecond.
    const clock = new FakeClock();
    let now = 0;
    clock.monotonicNow = () => ++now;
    const list = await readList(Thing, body(), 'list of things', clock);
    isDone = true;
    expect(list.items).toHaveLength(1000);
    expect(list.metadata.resourceVersion).toBe('7');
    expect(turns).toBeGreaterThan(100);
  });
});
