// Handlers that wait: one call at a time per source, whatever calls it, and what a call that never settles costs.
import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { EventHandler, ObjectEvent, ReconcileRequest } from '../src/index.js';
import { channelSource, createEventChannel, informerSource, kindSource, pollingSource } from '../src/index.js';
import { FakeInformers, Node, pod, StoringInformer } from './fakes.js';
import { createHarness } from './harness.js';

type Harness = ReturnType<typeof createHarness>;

const node = (name: string, version = 1): KubeObject => ({ metadata: { name, resourceVersion: String(version) } });

/** Notes how many calls run, in all and per object, and what they were called with. */
function observe(t: Harness, waitMs: (name: string) => number = () => 10) {
  const running = new Map<string, number>();
  const seen = { most: 0, overlaps: 0, calls: [] as string[] };
  const call = async (name: string, what: string): Promise<void> => {
    seen.calls.push(what);
    running.set(name, (running.get(name) ?? 0) + 1);
    if ((running.get(name) ?? 0) > 1) seen.overlaps++;
    seen.most = Math.max(
      seen.most,
      [...running.values()].reduce((sum, count) => sum + count, 0),
    );
    const ms = waitMs(name);
    await new Promise<void>((resolve) => (ms === Infinity ? undefined : void t.clock.setTimer(resolve, ms)));
    running.set(name, (running.get(name) ?? 0) - 1);
  };
  const ofObject: EventHandler<DeepReadonly<KubeObject>, ReconcileRequest> = (event, queue) => {
    const name = event.object.metadata.name ?? '';
    return call(name, `${event.type} ${textOf(event)}`).then(() => queue.add({ name }));
  };
  const ofText: EventHandler<string, ReconcileRequest> = ({ object }, queue) =>
    call('', object).then(() => queue.add({ name: object }));
  return { seen, ofObject, ofText };
}

function textOf(event: ObjectEvent): string {
  const { name, resourceVersion } = event.object.metadata;
  return `${name}@${event.type === 'update' ? `${event.oldObject.metadata.resourceVersion}→` : ''}${resourceVersion}`;
}

const names = (t: Harness): string[] => t.runs.map(({ name }) => name);

describe('a handler that waits is called for one event at a time', () => {
  it('of a kind, in the order of the events', async () => {
    const t = createHarness();
    const { seen, ofObject } = observe(t);
    t.controller.watch(kindSource({ informers: t.informers, kind: Node, handler: ofObject }));
    t.informers.of(Node).sync();
    await t.start();
    for (let each = 0; each < 20; each++) t.informers.of(Node).add(node(`n${each}`));
    await t.clock.advance(1000);
    expect(seen.most).toBe(1);
    expect(seen.calls).toEqual(Array.from({ length: 20 }, (_, each) => `create n${each}@1`));
    t.stop.abort();
  });

  it('of an informer, a channel and a poll', async () => {
    const t = createHarness();
    const observed = [observe(t), observe(t), observe(t)] as const;
    const informer = new StoringInformer().sync();
    const channel = createEventChannel<string>();
    const items = Array.from({ length: 10 }, (_, each) => `i${each}`);
    t.controller.watch(informerSource({ informer, handler: observed[0].ofObject }));
    t.controller.watch(channelSource({ name: 'outside', events: channel, handler: observed[1].ofText }));
    t.controller.watch(
      pollingSource<string, ReconcileRequest>({
        name: 'polled',
        everyMs: 10_000,
        identify: String,
        poll: async () => items,
        handler: observed[2].ofText,
      }),
    );
    await t.start();
    await t.clock.advance(200);
    for (const item of items) {
      informer.add(pod(item));
      channel.send(item);
    }
    await t.clock.advance(1000);
    expect(observed.map(({ seen }) => [seen.most, seen.calls.length])).toEqual([
      [1, 10],
      [1, 10],
      [1, 10],
    ]);
    t.stop.abort();
  });

  it('also while everything is handed over once more', async () => {
    const t = createHarness(undefined, {}, new FakeInformers(() => new StoringInformer()));
    const { seen, ofObject } = observe(t);
    const nodes = t.informers.of(Node).sync();
    const config = createEventChannel<string>();
    for (let each = 0; each < 5; each++) nodes.add(node(`n${each}`));
    t.controller.watch(kindSource({ informers: t.informers, kind: Node, handler: ofObject }));
    const toNothing: EventHandler<string, ReconcileRequest> = (_event, queue) => {
      queue.add({ name: 'all' });
      return undefined;
    };
    t.controller.reconcileAllOn(channelSource({ name: 'config', events: config, handler: toNothing }));
    await t.start();
    await t.clock.advance(100);
    expect(t.controller.phase).toBe('active');
    for (let each = 0; each < 5; each++) nodes.update(node(`n${each}`), node(`n${each}`, 2));
    config.send('changed');
    await t.clock.advance(1000);
    expect([seen.most, seen.calls.length]).toEqual([1, 15]);
    t.stop.abort();
  });

  it('also where one of an earlier run has not ended', async () => {
    const t = createHarness();
    const { seen, ofObject } = observe(t, () => 3000);
    const nodes = t.informers.of(Node).sync();
    t.pods.sync();
    t.controller.watch(kindSource({ informers: t.informers, kind: Node, handler: ofObject }));
    const first = new AbortController();
    const done = t.controller.run(first.signal);
    await settle();
    nodes.add(node('a'));
    await t.clock.advance(10);
    first.abort();
    await done;
    void t.controller.run(t.stop.signal);
    await settle();
    nodes.add(node('b'));
    await t.clock.advance(10_000);
    expect(seen).toMatchObject({ most: 1, calls: ['create a@1', 'create b@1'] });
    expect(names(t)).toEqual(['b']);
    t.stop.abort();
  });
});

describe('handlerConcurrency', () => {
  it('lets the handler wait for several objects, for each of them once and in order', async () => {
    const t = createHarness();
    const { seen, ofObject } = observe(t);
    const nodes = t.informers.of(Node).sync();
    t.controller.watch(kindSource({ informers: t.informers, kind: Node, handler: ofObject, handlerConcurrency: 4 }));
    await t.start();
    for (let version = 1; version < 4; version++)
      for (let each = 0; each < 12; each++)
        if (version === 1) nodes.add(node(`n${each}`));
        else nodes.update(node(`n${each}`, version - 1), node(`n${each}`, version));
    await t.clock.advance(1000);
    expect([seen.most, seen.overlaps, seen.calls.length]).toEqual([4, 0, 36]);
    expect(seen.calls.filter((call) => call.includes('n7@'))).toEqual([
      'create n7@1',
      'update n7@1→2',
      'update n7@2→3',
    ]);
    t.stop.abort();
  });

  it.each([0, 1.5, Number.NaN, '4', null])('%s is refused', (handlerConcurrency) => {
    const t = createHarness();
    const source = (): unknown =>
      kindSource({
        informers: t.informers,
        kind: Node,
        handler: () => undefined,
        handlerConcurrency: handlerConcurrency as never,
      });
    expect(source).toThrow(/handlerConcurrency .* is not valid: expected an integer ≥ 1/);
  });
});

describe('a handler that never settles', () => {
  it('for many objects keeps the start waiting for two of them, and the others are handled then', async () => {
    const t = createHarness();
    const { seen, ofObject } = observe(t, (name) => (name.startsWith('bad') ? Infinity : 0));
    const nodes = t.informers.of(Node);
    t.controller.watch(kindSource({ informers: t.informers, kind: Node, handler: ofObject }));
    t.pods.sync();
    void t.run();
    await settle();
    for (let each = 0; each < 5; each++) nodes.add(node(`bad${each}`), true);
    nodes.add(node('good'), true);
    nodes.sync();
    await t.clock.advance(59_000);
    expect(t.controller.phase).toBe('cold');
    await t.clock.advance(2000);
    expect(t.controller.phase).toBe('active');
    await t.clock.advance(120_000);
    expect(names(t)).toEqual(['good']);
    const reported = t.logger.lines.filter(({ message }) => message.startsWith('event handler failed'));
    expect(reported.map(({ fields }) => fields['object'])).toEqual(['bad0', 'bad1', 'bad2', 'bad3', 'bad4']);
    expect(String(reported[0]?.fields['error'])).toContain('handler of kind source: Node has not settled');
    expect(seen.calls.length).toBe(6);
    t.stop.abort();
    await settle();
    expect(t.clock.pendingTimers).toBe(0);
  });

  it('takes a small part of the time of the other objects, however many there are', async () => {
    const t = createHarness();
    const { seen, ofObject } = observe(t, (name) => (name.startsWith('bad') ? Infinity : 0));
    const nodes = t.informers.of(Node).sync();
    t.controller.watch(kindSource({ informers: t.informers, kind: Node, handler: ofObject }));
    await t.start();
    for (let each = 0; each < 10; each++) nodes.add(node(`bad${each}`));
    await t.clock.advance(310_000);
    seen.calls.splice(0);
    const hour = 3_600_000;
    for (let ms = 0, version = 1; ms < hour; ms += 60_000, version++) {
      for (let each = 0; each < 10; each++) nodes.update(node(`bad${each}`, version), node(`bad${each}`, version + 1));
      await t.clock.advance(60_000);
    }
    // Once more for each object, as it has changed, and then one in five minutes, of 30 s each.
    expect(seen.calls.length).toBeLessThanOrEqual(10 + 13);
    expect(seen.calls.length).toBeGreaterThanOrEqual(18);
    t.stop.abort();
  });

  it('has the next event of its object, which starts from what was seen last', async () => {
    const t = createHarness();
    let isHanging = true;
    const { seen, ofObject } = observe(t, () => (isHanging ? Infinity : 0));
    const nodes = t.informers.of(Node).sync();
    t.controller.watch(kindSource({ informers: t.informers, kind: Node, handler: ofObject }));
    await t.start();
    nodes.update(node('x', 1), node('x', 2));
    await t.clock.advance(31_000);
    isHanging = false;
    nodes.update(node('x', 2), node('x', 3));
    await t.clock.advance(10);
    expect(seen.calls).toEqual(['update x@1→2', 'update x@1→3']);
    expect(names(t)).toEqual(['x']);
    await t.clock.advance(3_600_000);
    expect(seen.calls.length).toBe(2);
    t.stop.abort();
  });

  it('is not called again for an event for which it settles after all', async () => {
    const t = createHarness();
    const { seen, ofObject } = observe(t, () => 60_000);
    const nodes = t.informers.of(Node).sync();
    t.controller.watch(kindSource({ informers: t.informers, kind: Node, handler: ofObject }));
    await t.start();
    nodes.add(node('late'));
    await t.clock.advance(3_600_000);
    expect(seen.calls).toEqual(['create late@1']);
    expect(names(t)).toEqual(['late']);
    t.stop.abort();
    await settle();
    expect(t.clock.pendingTimers).toBe(0);
  });

  it('is called again for the others soon after one of them was handled', async () => {
    const t = createHarness();
    let isDown = true;
    const { seen, ofObject } = observe(t, () => (isDown ? Infinity : 0));
    const nodes = t.informers.of(Node).sync();
    t.controller.watch(kindSource({ informers: t.informers, kind: Node, handler: ofObject }));
    await t.start();
    for (let each = 0; each < 10; each++) nodes.add(node(`n${each}`));
    await t.clock.advance(301_000);
    isDown = false;
    await t.clock.advance(302_000);
    expect(names(t).sort()).toEqual(Array.from({ length: 10 }, (_, each) => `n${each}`));
    expect(seen.calls.length).toBeLessThanOrEqual(22);
    t.stop.abort();
  });
});
