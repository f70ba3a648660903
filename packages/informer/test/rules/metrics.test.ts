import { sleep } from '@kctl/wait';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { NotedMetrics } from './noted-metrics.js';
import { added, modified, refusal, thing } from './scripted-server.js';
import { ScriptedSession, sources } from './scripted-session.js';

const name = 'things.example.com';
const phases = ['listing', 'watching', 'retrying', 'stopped'];

describe.each(sources)('metrics of an informer of %s', (source) => {
  function open({ streams = false } = {}): { session: ScriptedSession; metrics: NotedMetrics } {
    const metrics = new NotedMetrics();
    return { metrics, session: new ScriptedSession({ source, streams, metrics }) };
  }
  const phaseIn = (metrics: NotedMetrics): string[] =>
    phases.filter((state) => metrics.get('informer_state', { name, state }) === 1);

  it('are about its store, its handlers and its state, and are gone with it', async () => {
    const { session, metrics } = open();
    await using _session = session;
    const { clock, server, informer } = session;
    server.page = async () => {
      await sleep(250, { clock });
      return { version: 10, items: [thing('x', 1), thing('y', 2), thing('z', 3)] };
    };
    const callback = Promise.withResolvers<undefined>();
    informer.addEventHandler({
      onAdd: async () => {
        await callback.promise;
      },
    });
    await session.start();
    expect([phaseIn(metrics), metrics.get('informer_store_objects', { name })]).toEqual([['listing'], 0]);
    await clock.advance(250);
    expect(phaseIn(metrics)).toEqual(['watching']);
    const gauges = ['informer_store_objects', 'informer_store_bytes', 'informer_pending_events'];
    const values = (): unknown[] => gauges.map((gauge) => metrics.get(gauge, { name }));
    const during = values();
    callback.resolve(undefined);
    expect(during).toEqual([3, informer.heldBytes, 2]);
    expect((informer.heldBytes ?? 0) > 0).toBe(source !== 'objects');
    await settle();
    expect(values()).toEqual([3, informer.heldBytes, 0]);
    expect([...phases.map((state) => metrics.get('informer_state', { name, state }))]).toEqual([0, 1, 0, 0]);
    await session.stop();
    expect(values()).toEqual([undefined, undefined, undefined]);
    expect(phases.map((state) => metrics.get('informer_state', { name, state }))).toEqual(phases.map(() => undefined));
    expect(metrics.get('informer_store_resource_version', { name })).toBeUndefined();
  });

  it('have no version that is not a number', async () => {
    const { session, metrics } = open();
    await using _session = session;
    session.server.page = () => ({ version: Number.NaN, items: [] });
    await session.start();
    expect(session.informer.resourceVersion).toBe('NaN');
    expect(metrics.get('informer_store_resource_version', { name })).toBeUndefined();
  });

  it('count lists and watches, how long they take, and what they return', async () => {
    const { session, metrics } = open();
    await using _session = session;
    const { clock, server } = session;
    server.page = async () => {
      await sleep(250, { clock });
      return { version: 10, items: [thing('x', 1), thing('y', 2)] };
    };
    await session.start();
    await clock.advance(250);
    expect(metrics.values.get(`reflector_lists_total{"name":"${name}"}`)).toBe(1);
    expect(metrics.times('reflector_list_duration_seconds', { name })).toEqual([0.25]);
    expect(metrics.times('reflector_items_per_list', { name })).toEqual([2]);
    expect(metrics.get('reflector_watches_total', { name })).toBe(1);
    server.watch.send(modified(thing('x', 11)), added(thing('z', 12)));
    await clock.advance(2_000);
    server.watch.close();
    await settle();
    expect(metrics.times('reflector_watch_duration_seconds', { name })).toEqual([2]);
    expect(metrics.times('reflector_items_per_watch', { name })).toEqual([2]);
    expect(metrics.get('reflector_watches_total', { name })).toBe(2);
  });

  it.each([
    { what: 'closed soon, without an event', afterMs: 400, version: 0, breaks: false, count: 1 },
    { what: 'closed soon, with an old event', afterMs: 999, version: 10, breaks: false, count: 1 },
    { what: 'closed soon, with a new event', afterMs: 400, version: 11, breaks: false, count: undefined },
    { what: 'closed after a second', afterMs: 1_000, version: 0, breaks: false, count: undefined },
    { what: 'broken soon', afterMs: 400, version: 0, breaks: true, count: undefined },
  ])('count a watch as short that is $what: $count', async ({ afterMs, version, breaks, count }) => {
    const { session, metrics } = open();
    await using _session = session;
    session.server.page = () => ({ version: 10, items: [thing('x', 10)] });
    await session.start();
    const { watch } = session.server;
    if (version > 0) watch.send(modified(thing('x', version)));
    await session.clock.advance(afterMs);
    if (breaks) watch.break(new Error('broken'));
    else watch.close();
    await settle();
    expect(metrics.get('reflector_short_watches_total', { name })).toBe(count);
    expect(metrics.get('informer_failures_total', { name, reason: 'short-watch' })).toBe(count);
  });

  it('count failures by their reason', async () => {
    const { session, metrics } = open({ streams: true });
    await using _session = session;
    session.server.admit = ({ sendInitialEvents }) => {
      if (sendInitialEvents === true) throw refusal(400, 'BadRequest');
    };
    session.server.page = () => {
      throw refusal(403, 'Forbidden');
    };
    await session.start();
    expect(metrics.get('informer_failures_total', { name, reason: 'streaming-unsupported' })).toBe(1);
    expect(metrics.get('informer_failures_total', { name, reason: 'forbidden' })).toBe(1);
  });
});
