import type { KubeObject } from '@kctl/apimachinery';
import type { WatchEvent } from '@kctl/client';
import { settle } from '@kctl/wait/testing';
import { expect, it } from 'vitest';
import { createFakeControllerSource } from './fake-controller-source.js';

const item = (name: string, data?: object): KubeObject => ({ metadata: { namespace: 'a', name }, ...data });
const shown = (event: WatchEvent<KubeObject>): string => {
  if (event.type === 'ERROR') return `ERROR ${event.status.reason}`;
  if (event.type === 'BOOKMARK') return `BOOKMARK@${event.resourceVersion}`;
  return `${event.type} ${event.object.metadata?.name}@${event.object.metadata?.resourceVersion}`;
};
function collect(events: AsyncIterable<WatchEvent<KubeObject>>): { seen: string[]; ended: Promise<string> } {
  const seen: string[] = [];
  const read = async (): Promise<string> => {
    for await (const event of events) seen.push(shown(event));
    return 'ended';
  };
  return { seen, ended: read().catch(String) };
}

it('lists what there is, and sends changes from any version on', async () => {
  const source = createFakeControllerSource<KubeObject>();
  const a = source.add(item('a'));
  source.add(item('b'));
  const { metadata, items } = await source.list({ resourceVersion: '0' });
  expect([metadata.resourceVersion, items.map(({ metadata: { name } }) => name)]).toEqual(['3', ['a', 'b']]);
  const early = collect(await source.watch({ resourceVersion: '2' }));
  const late = collect(await source.watch({ resourceVersion: '3', timeoutSeconds: 5 }));
  const all = collect(await source.watch({}));
  source.modify(item('a', { data: { x: '1' } }));
  source.delete(item('b'));
  source.bookmark();
  await settle();
  const changes = ['MODIFIED a@4', 'DELETED b@5', 'BOOKMARK@5'];
  expect([early.seen, late.seen]).toEqual([['ADDED b@3', ...changes], changes]);
  expect(all.seen).toEqual(['ADDED a@2', 'ADDED b@3', ...changes]);
  expect((await source.list()).items[0]?.metadata?.uid).toBe(a.metadata?.uid);
  expect(source.calls.map(({ verb, resourceVersion }) => `${verb} ${resourceVersion ?? ''}`)).toEqual([
    'list 0',
    'watch 2',
    'watch 3',
    'watch ',
    'list ',
  ]);
});

it('loses events, ends and breaks watches, expires versions and fails requests', async () => {
  const source = createFakeControllerSource<KubeObject>();
  const stop = new AbortController();
  const watches = await Promise.all([1, 2].map(() => source.watch({ resourceVersion: '1' })));
  const [one, two] = watches.map(collect);
  source.add(item('a'), { dropWatch: true });
  await settle();
  source.endWatches();
  expect([await one?.ended, await two?.ended, one?.seen, source.watchers]).toEqual(['ended', 'ended', [], 0]);
  const broken = collect(await source.watch({ resourceVersion: '2' }));
  source.endWatches(new Error('reset'));
  expect(await broken.ended).toBe('Error: reset');
  source.modify(item('a'));
  source.expire();
  const old = collect(await source.watch({ resourceVersion: '2', signal: stop.signal }));
  await settle();
  expect(old.seen).toEqual(['ERROR Expired']);
  stop.abort(new Error('enough'));
  expect([await old.ended, source.watchers]).toEqual(['Error: enough', 0]);
  source.failNext('list', new Error('down'));
  await expect(source.list()).rejects.toThrow('down');
  expect((await source.list()).items).toHaveLength(1);
  await expect(source.watch({ signal: AbortSignal.abort(new Error('no')) })).rejects.toThrow('no');
});

it('keeps no tie to what it was given or has handed out, and refuses impossible changes', async () => {
  const source = createFakeControllerSource<KubeObject>();
  const made = source.add(item('a', { data: { x: '1' } }));
  Object.assign(made, { data: {} });
  expect((await source.list()).items[0]).toMatchObject({ data: { x: '1' } });
  expect(() => source.add(item('a'))).toThrow('add a/a: it is there already');
  expect(() => source.modify(item('b'))).toThrow('modify a/b: it does not exist');
  expect(() => source.delete(item('b'))).toThrow('delete a/b: it does not exist');
  expect(() => source.add({ metadata: {} })).toThrow('add: metadata.name');
});
