// What holds on every server: KCTL_TEST_SERVER=real runs it against kube-apiserver.
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { metadataOnly } from '@kctl/apimachinery';
import { createEnvironment, eventually } from '@kctl/testing';
import type { TestEnvironment } from '@kctl/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSharedInformer, listerWatcherFor } from '../src/index.js';
import { startSession } from './session.js';
import type { Session, SessionOptions } from './session.js';

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await createEnvironment();
});
afterAll(() => environment.stop());
const start = (options: SessionOptions = {}, fill?: readonly string[]): Promise<Session> =>
  startSession(environment, options, fill);

describe('against a server', () => {
  it.each([true, false])('syncs and follows (streaming: %s)', async (watchList) => {
    await using session = await start({ watchList });
    expect(session.seen.sort()).toEqual(['add one=1', 'add two=1']);
    await session.write('one', '2');
    await environment.client.delete(ConfigMap, { namespace: session.namespace, name: 'two' });
    await session.settles(['one=2']);
    // The store has a change before the handlers hear of it.
    await eventually(() => expect(session.seen.slice(2)).toEqual(['update one=2', 'delete two=1']), {
      timeoutMs: 5000,
    });
    const [one] = session.informer.indexer.list();
    expect(one).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
    expect(one?.metadata.managedFields).toBeUndefined();
    expect(session.informer.state.phase).toBe('watching');
  });

  it('lists in pages when told to', async () => {
    await using session = await start({ watchList: false, pageSize: 2 }, ['a', 'b', 'c', 'd', 'e']);
    await session.settles(['a=1', 'b=1', 'c=1', 'd=1', 'e=1']);
  });

  it('reads metadata alone', async () => {
    const { client } = environment;
    await using session = await start();
    const kind = metadataOnly(ConfigMap);
    const informer = createSharedInformer({
      kind,
      listerWatcher: listerWatcherFor(client, kind, { namespace: session.namespace }),
    });
    const stop = new AbortController();
    const run = informer.run(stop.signal);
    await informer.waitForSync();
    const object = informer.indexer.get({ namespace: session.namespace, name: 'one' });
    expect(object).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } });
    expect(object).not.toHaveProperty('data');
    stop.abort();
    await run;
  });

  it('tells of an object that leaves its selector as deleted, and of its return as new', async () => {
    const { client } = environment;
    await using session = await start({}, ['one']);
    const { namespace } = session;
    const informer = createSharedInformer({
      kind: ConfigMap,
      listerWatcher: listerWatcherFor(client, ConfigMap, { namespace, labelSelector: 'color=red' }),
    });
    const seen: string[] = [];
    informer.addEventHandler({ onEvent: ({ type, header }) => void seen.push(`${type} ${header.name}`) });
    const stop = new AbortController();
    const run = informer.run(stop.signal);
    await informer.waitForSync();
    const paint = (color: string): Promise<unknown> =>
      client.patch(ConfigMap, { namespace, name: 'one' }, { type: 'merge', body: { metadata: { labels: { color } } } });
    for (const color of ['red', 'blue', 'red']) await paint(color);
    await eventually(() => expect(seen).toEqual(['add one', 'delete one', 'add one']), { timeoutMs: 10_000 });
    stop.abort();
    await run;
  });

  it('shows a late handler what is there, and then what comes', async () => {
    await using session = await start();
    const seen: string[] = [];
    const late = session.informer.addEventHandler({
      onAdd: ({ metadata }, { isInInitialList }) => void seen.push(`${metadata.name} ${isInInitialList}`),
    });
    await late.waitForSync();
    await session.write('three');
    await session.settles(['one=1', 'three=1', 'two=1']);
    await eventually(() => expect(seen.sort()).toEqual(['one true', 'three false', 'two true']), { timeoutMs: 5000 });
  });

  it('is one object per uid: a name that is deleted and used again is deleted and added', async () => {
    await using session = await start({}, ['one']);
    const key = { namespace: session.namespace, name: 'one' };
    const before = session.informer.indexer.get(key)?.metadata.uid;
    await environment.client.delete(ConfigMap, key);
    await session.write('one', '2');
    await session.settles(['one=2']);
    expect(session.informer.indexer.get(key)?.metadata.uid).not.toBe(before);
    await eventually(() => expect(session.seen).toEqual(['add one=1', 'delete one=1', 'add one=2']), {
      timeoutMs: 5000,
    });
  });

  it('reaches the version of a write', async () => {
    await using session = await start({}, ['one']);
    const key = { namespace: session.namespace, name: 'one' };
    const written = await environment.client.patch(ConfigMap, key, { type: 'merge', body: { data: { value: '7' } } });
    await session.informer.waitForResourceVersion(written.metadata.resourceVersion ?? '');
    expect(session.informer.indexer.get(key)?.data).toEqual({ value: '7' });
  });
});
