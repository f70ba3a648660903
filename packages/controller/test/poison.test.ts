import { runInNewContext } from 'node:vm';
import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';
import { settle } from '@kctl/wait/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventHandler, ObjectEvent, Predicate, ReconcileRequest } from '../src/index.js';
import {
  and,
  channelSource,
  createEventChannel,
  enqueueRequestForObject,
  enqueueRequestForOwner,
  enqueueRequestsFromMapFunc,
  funcSource,
  generationChanged,
  handlerFuncs,
  informerSource,
  kindSource,
  labelChanged,
  not,
  or,
} from '../src/index.js';
import { FakeInformer, Node, pod } from './fakes.js';
import { createHarness } from './harness.js';

type Handler = EventHandler<DeepReadonly<KubeObject>, ReconcileRequest>;

const node = (name: string, version = 1): KubeObject => ({ metadata: { name, resourceVersion: String(version) } });
const nameOf = (event: ObjectEvent): string => event.object.metadata.name ?? '';
const fail = (): never => {
  throw new TypeError('cannot read spec.owner');
};

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);

beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});

afterEach(async () => {
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

/** A controller of nodes with this handler, started while the nodes `poison` and `good` are listed. */
async function startWith(handler: Handler) {
  const t = createHarness();
  const nodes = t.informers.of(Node);
  t.controller.watch(kindSource({ informers: t.informers, kind: Node, handler }));
  t.pods.sync();
  const done = t.run();
  await settle();
  for (const name of ['poison', 'good']) nodes.add(node(name), true);
  nodes.sync();
  await settle();
  const stop = async (): Promise<void> => {
    t.stop.abort();
    await done;
    expect(t.clock.pendingTimers).toBe(0);
  };
  return { ...t, nodes, stop };
}

/** Queues what it is called with, unless the object is the poison: then `answer` decides. */
const poisoned =
  (answer: () => unknown): Handler =>
  (event, queue) => {
    if (nameOf(event) === 'poison') return answer() as undefined;
    queue.add({ name: nameOf(event) });
    return undefined;
  };

describe('one object that its handler fails for', () => {
  it.each<[string, () => unknown]>([
    ['throws', fail],
    ['rejects', () => Promise.reject(new TypeError('cannot read spec.owner'))],
    ['rejects with a promise of another realm', () => runInNewContext('Promise.reject(new TypeError("spec.owner"))')],
    // biome-ignore lint/suspicious/noThenProperty: a thenable is what it is about
    ['rejects with a thenable', () => ({ then: (_: unknown, reject: (e: unknown) => void) => reject(new Error('x')) })],
    [
      'returns what throws when it is looked at',
      () => Object.defineProperty({}, 'then', { get: fail, enumerable: true }),
    ],
  ])(
    'neither keeps the controller from starting nor other objects from their reconcile: it %s',
    async (_how, answer) => {
      const t = await startWith(poisoned(answer));
      expect(t.controller.phase).toBe('active');
      expect(t.runs.map(({ name }) => name)).toEqual(['good']);
      const [failure] = t.logger.lines.filter(({ message }) => message.startsWith('event handler failed'));
      expect(failure?.fields).toMatchObject({ object: 'poison', error: expect.anything() });
      await t.stop();
    },
  );

  it('holds up the start for no longer than a look-up may take, and other objects not at all, where it never ends', async () => {
    const t = await startWith(poisoned(() => new Promise(() => undefined)));
    t.nodes.add(node('late'));
    await t.clock.advance(29_000);
    expect(t.controller.phase).toBe('cold');
    await t.clock.advance(1000);
    expect(t.controller.phase).toBe('active');
    expect(t.runs.map(({ name }) => name)).toEqual(['good', 'late']);
    expect(t.logger.lines.map(({ fields }) => String(fields['error'])).join()).toContain(
      'has not settled after 30000 ms',
    );
    await t.stop();
  });

  it('yields to its newer state, so that an object that was mended is handled', async () => {
    const handled: string[] = [];
    const t = await startWith((event) => {
      const version = event.object.metadata.resourceVersion ?? '';
      if (event.type === 'create' && nameOf(event) === 'poison') fail();
      handled.push(`${event.type} ${nameOf(event)}@${version}`);
      return undefined;
    });
    await t.clock.advance(120_000);
    t.nodes.update(node('poison'), node('poison', 2));
    await settle();
    expect(handled).toEqual(['create good@1', 'update poison@2']);
    const later = t.logger.lines.length;
    await t.clock.advance(120_000);
    expect(t.logger.lines.length).toBe(later);
    await t.stop();
  });

  it('keeps few of its events, however many come while it fails', async () => {
    let calls = 0;
    const t = await startWith(
      poisoned(() => {
        calls++;
        return fail();
      }),
    );
    for (let version = 2; version < 20_000; version++)
      t.nodes.update(node('poison', version - 1), node('poison', version));
    await settle();
    expect(calls).toBe(1);
    await t.clock.advance(600_000);
    // The first one yields after 6 attempts, and so does each of the few that were kept.
    expect(calls).toBeLessThan(150);
    t.nodes.delete(node('poison'));
    await t.stop();
  });

  it('names in the end what was named when the handler could not be asked, where its look-ups work again', async () => {
    let isDown = true;
    const t = await startWith(
      handlerFuncs({
        create: async (event, queue) => {
          if (isDown) throw new Error('server is down');
          queue.add({ name: event.object.metadata.name ?? '' });
        },
      }),
    );
    await t.clock.advance(20 * 60_000);
    expect(t.runs).toEqual([]);
    isDown = false;
    await t.clock.advance(60_000);
    expect(t.runs.map(({ name }) => name).sort()).toEqual(['good', 'poison']);
    await t.stop();
  });
});

describe('events that wait behind a look-up', () => {
  it('name every request that some state named, in order per object', async () => {
    const gate = Promise.withResolvers<undefined>();
    const heard: string[] = [];
    const t = await startWith(async (event, queue) => {
      if (nameOf(event) !== 'poison') return;
      if (event.type === 'create') await gate.promise;
      const from = event.type === 'update' ? event.oldObject.metadata.resourceVersion : '';
      heard.push(`${event.type} ${from}→${event.object.metadata.resourceVersion}`);
      queue.add({ name: `of-${event.object.metadata.resourceVersion}` });
    });
    for (const version of [2, 3]) t.nodes.update(node('poison', version - 1), node('poison', version));
    t.nodes.delete(node('poison', 3));
    gate.resolve(undefined);
    await settle();
    expect(heard).toEqual(['create →1', 'update 1→2', 'update 2→3', 'delete →3']);
    await t.stop();
  });

  it('of a channel are read no faster than they are handled', async () => {
    const gate = Promise.withResolvers<undefined>();
    const t = createHarness();
    const channel = createEventChannel<{ id: number }>({ capacity: 5000 });
    let read = 0;
    const events = {
      async *[Symbol.asyncIterator]() {
        for await (const event of channel) {
          read++;
          yield event;
        }
      },
    };
    const handler: EventHandler<{ id: number }, ReconcileRequest> = () => gate.promise;
    t.controller.watch(channelSource({ name: 'outside', events, handler }));
    await t.start();
    for (let id = 0; id < 5000; id++) channel.send({ id });
    for (let turn = 0; turn < 20; turn++) await settle();
    expect(read).toBeLessThan(1100);
    gate.resolve(undefined);
    while (read < 5000) await settle();
    t.stop.abort();
  });
});

describe('functions of a user that are asynchronous where they must not be, or fail twice', () => {
  it('a map function that rejects for the old object and throws for the new one leaves nothing unhandled', async () => {
    let calls = 0;
    const map = enqueueRequestsFromMapFunc<DeepReadonly<KubeObject>, ReconcileRequest>((object) => {
      calls++;
      if (object.metadata.resourceVersion === '1') return Promise.reject(new Error('old'));
      throw new Error('new');
    });
    const t = await startWith((event, queue, context) =>
      event.type === 'update' ? map(event, queue, context) : undefined,
    );
    t.nodes.update(node('x', 1), node('x', 2));
    await settle();
    expect(calls).toBe(2);
    expect(JSON.stringify(t.logger.lines.at(-1)?.fields)).toContain('"object":"x"');
    await t.stop();
  });

  const rejecting = (() => Promise.reject(new Error('look-up failed'))) as unknown as Predicate<unknown>;
  const refusing = (() => Promise.resolve(false)) as unknown as Predicate<unknown>;

  it.each<[string, Predicate<unknown>]>([
    ['alone, rejecting', rejecting],
    ['alone', refusing],
    ['in and', and(rejecting)],
    ['in or', or(rejecting)],
    ['in not', not(rejecting)],
  ])('a predicate that returns a promise lets the event pass, and says so: %s', async (_where, predicate) => {
    const t = createHarness();
    const informer = new FakeInformer().sync();
    const handler = handlerFuncs<DeepReadonly<KubeObject>, ReconcileRequest>({
      create: (_event, queue) => queue.add({ name: 'x' }),
    });
    t.controller.watch(informerSource({ informer, handler, predicates: [predicate] }));
    await t.start();
    informer.add(pod('a'));
    await settle();
    expect(t.runs.length).toBe(1);
    expect(
      String(t.logger.lines.find(({ message }) => message.startsWith('predicate failed'))?.fields['error']),
    ).toContain('predicates are synchronous');
    t.stop.abort();
  });

  it('handler functions may return a thenable: it is awaited', async () => {
    const t = await startWith(
      handlerFuncs({
        create: (event, queue) => ({
          // biome-ignore lint/suspicious/noThenProperty: a thenable is what it is about
          then: (resolve: () => void) => {
            queue.add({ name: nameOf(event) });
            resolve();
          },
        }),
      }),
    );
    expect(t.runs.map(({ name }) => name).sort()).toEqual(['good', 'poison']);
    await t.stop();
  });
});

describe('an event without an object', () => {
  it('is logged and ignored, and not tried again and again', async () => {
    const t = createHarness();
    const events = createEventChannel<KubeObject>();
    const predicates = [or(labelChanged, generationChanged)];
    t.controller.watch(channelSource({ name: 'odd', events, handler: enqueueRequestForObject(), predicates }));
    const owned = createEventChannel<KubeObject>();
    t.controller.watch(channelSource({ name: 'owned', events: owned, handler: enqueueRequestForOwner(Node) }));
    t.pods.sync();
    const done = t.run();
    await settle();
    for (const object of [null, undefined, 5, {}, { metadata: null }, node('good')] as never[]) {
      events.send(object);
      owned.send(object);
    }
    while (t.runs.length === 0) await settle();
    expect(t.runs.map(({ name }) => name)).toEqual(['good']);
    const ignored = t.logger.lines.filter(({ message }) => message.includes('without a name'));
    expect(ignored).toHaveLength(5);
    expect(t.logger.lines.filter(({ message }) => message.includes('handler failed'))).toEqual([]);
    t.stop.abort();
    await done;
    expect(t.clock.pendingTimers).toBe(0);
  });
});

describe('a function as a source', () => {
  it('that is asynchronous fails the start where it rejects, and ends by what it resolves to', async () => {
    const rejecting = createHarness();
    rejecting.controller.watch(funcSource('late', (() => Promise.reject(new Error('no route'))) as never));
    rejecting.pods.sync();
    await expect(rejecting.run()).rejects.toThrow('failed to start source func source: late: no route');
    const ended: string[] = [];
    const t = createHarness();
    t.controller.watch(funcSource('late', (async () => () => ended.push('late')) as never));
    t.controller.watch(funcSource('odd', (() => 5) as never));
    const { done } = await t.start();
    t.stop.abort();
    await done;
    expect(ended).toEqual(['late']);
    expect(t.logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
