import { ConfigMap, Event as CoreEvent } from '@kctl/apimachinery/kinds/core/v1';
import { Event } from '@kctl/apimachinery/kinds/events.k8s.io/v1';
import { createEnvironment } from '@kctl/testing';
import { expect, it } from 'vitest';
import { createEventBroadcaster, eventsOf } from '../src/index.js';

it.each([
  ['events.k8s.io/v1', 'auto'],
  ['core/v1', 'v1'],
] as const)('an API server accepts events and their series through %s', async (_name, api) => {
  await using environment = await createEnvironment();
  const namespace = await environment.createNamespace('events');
  const subject = await environment.client.create(ConfigMap, { metadata: { name: 'subject', namespace } });
  const stop = new AbortController();
  const broadcaster = createEventBroadcaster({ client: environment.client, api });
  const running = broadcaster.run(stop.signal);
  const recorder = broadcaster.recorder('example.com/test');
  recorder.warning(subject, 'Broken', 'it broke');
  await broadcaster.flush();
  recorder.warning(subject, 'Broken', 'it broke');
  for (let n = 1; n <= 12; n++) {
    recorder.normal(subject, 'Created', `created pod web-${n}`);
    await broadcaster.flush();
  }
  stop.abort();
  await running;
  const { items } = await environment.client.list(Event, { namespace });
  const created = items.filter(({ reason }) => reason === 'Created');
  expect(created.map(({ note, series }) => [note, series?.count]).toSorted()).toEqual([
    ['(combined from similar events): created pod web-12', 3],
    ...Array.from({ length: 9 }, (_, index) => [`created pod web-${index + 1}`, undefined]),
  ]);
  expect(items.filter(({ reason }) => reason === 'Broken')).toMatchObject([
    {
      reason: 'Broken',
      type: 'Warning',
      note: 'it broke',
      regarding: { name: 'subject', uid: subject.metadata.uid },
      series: { count: 2 },
    },
  ]);
  const core = await environment.client.list(CoreEvent, { namespace });
  expect(core.items.filter(({ reason }) => reason === 'Broken')).toMatchObject([
    { reason: 'Broken', message: 'it broke', involvedObject: { name: 'subject' } },
  ]);
});

it('finds the events of an object, and leaves those of others and of an earlier one of that name out', async () => {
  await using environment = await createEnvironment();
  const { client } = environment;
  const namespace = await environment.createNamespace('events-of');
  const stop = new AbortController();
  const broadcaster = createEventBroadcaster({ client });
  const running = broadcaster.run(stop.signal);
  const recorder = broadcaster.recorder('example.com/test');
  const create = () => client.create(ConfigMap, { metadata: { name: 'subject', namespace } });
  const earlier = await create();
  recorder.normal(earlier, 'Earlier', 'of the one before');
  await client.delete(ConfigMap, earlier);
  const subject = await create();
  recorder.normal(subject, 'First', 'first');
  await broadcaster.flush();
  recorder.normal(subject, 'Second', 'second');
  recorder.normal({ apiVersion: 'v1', kind: 'Namespace', name: namespace }, 'Seen', 'cluster-scoped');
  stop.abort();
  await running;
  expect((await eventsOf(client, subject)).map(({ reason }) => reason)).toEqual(['First', 'Second']);
  const reference = { apiVersion: 'v1', kind: 'Namespace', name: namespace };
  expect((await eventsOf(client, reference)).map(({ reason }) => reason)).toEqual(['Seen']);
  await expect(eventsOf(client, { metadata: { name: 'x' } })).rejects.toThrow('an object with apiVersion');
});
