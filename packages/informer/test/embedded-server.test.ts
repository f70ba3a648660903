import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { isAlreadyExists, metadataOnly } from '@kctl/apimachinery';
import { createEnvironment, eventually } from '@kctl/testing';
import type { TestEnvironment } from '@kctl/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSharedInformer, listerWatcherFor } from '../src/index.js';
import type { HandlerRegistration, SharedInformer, SharedInformerOptions } from '../src/index.js';

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await createEnvironment({ server: 'embedded' });
});
afterAll(() => environment.stop());

interface Session extends AsyncDisposable {
  readonly namespace: string;
  readonly informer: SharedInformer<ConfigMap>;
  readonly handler: HandlerRegistration;
  readonly seen: string[];
  write(name: string, value?: string): Promise<void>;
  /** The store holds exactly these `name=value`. */
  settles(expected: readonly string[]): Promise<void>;
}

async function start(
  options: Partial<SharedInformerOptions<ConfigMap>> = {},
  fill: readonly string[] = ['one', 'two'],
): Promise<Session> {
  const { client } = environment;
  const namespace = await environment.createNamespace('informer');
  const write = async (name: string, value = '1'): Promise<void> => {
    const object = { metadata: { namespace, name }, data: { value } };
    try {
      await client.create(ConfigMap, object);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      await client.patch(ConfigMap, { namespace, name }, { type: 'merge', body: object });
    }
  };
  for (const name of fill) await write(name);
  const informer = createSharedInformer<ConfigMap>({
    kind: ConfigMap,
    listerWatcher: listerWatcherFor(client, ConfigMap, { namespace, fieldSelector: 'metadata.name!=kube-root-ca.crt' }),
    ...options,
  });
  const seen: string[] = [];
  const handler = informer.addEventHandler({
    onEvent: ({ type, header, object }) => void seen.push(`${type} ${header.name}=${object.data?.['value']}`),
  });
  const stop = new AbortController();
  const run = informer.run(stop.signal);
  await handler.waitForSync({ signal: AbortSignal.timeout(20_000) });
  return {
    namespace,
    informer,
    handler,
    seen,
    write,
    settles: (expected) =>
      eventually(
        () => {
          expect(informer.indexer.list().map((object) => `${object.metadata.name}=${object.data?.['value']}`)).toEqual(
            [...expected].sort(),
          );
        },
        { timeoutMs: 15_000 },
      ),
    [Symbol.asyncDispose]: async () => {
      environment.embedded?.faults.clear();
      stop.abort();
      await run;
    },
  };
}

describe('against the embedded server', () => {
  it.each([true, false])('syncs and follows (streaming: %s)', async (watchList) => {
    await using session = await start({ watchList });
    expect(session.seen.sort()).toEqual(['add one=1', 'add two=1']);
    await session.write('one', '2');
    await environment.client.delete(ConfigMap, { namespace: session.namespace, name: 'two' });
    await session.settles(['one=2']);
    expect(session.seen.slice(2)).toEqual(['update one=2', 'delete two=1']);
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
    expect(object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'one' } });
    expect(object).not.toHaveProperty('data');
    stop.abort();
    await run;
  });

  const watch = { verb: 'watch', resource: 'configmaps' } as const;
  it.each([
    ['drops the watch', { type: 'dropWatch', how: 'destroy', afterEvents: 1 }],
    ['ends the watch', { type: 'dropWatch', how: 'end', afterEvents: 1 }],
    ['tears an event', { type: 'tearEvent', afterEvents: 1 }],
    ['expires the watch', { type: 'expireWatch', afterEvents: 1 }],
    ['sends every event twice', { type: 'duplicateEvent' }],
  ] as const)('loses nothing when the server %s', async (_name, action) => {
    environment.embedded?.faults.add({ match: watch, action, times: 2 });
    await using session = await start({ watchList: false });
    for (const value of ['2', '3', '4']) {
      await session.write('one', value);
      await session.write(`new-${value}`);
    }
    await session.settles(['new-2=1', 'new-3=1', 'new-4=1', 'one=4', 'two=1']);
    const updates = session.seen.filter((event) => event.startsWith('add'));
    expect(new Set(updates).size).toBe(updates.length);
  });

  it('notices a watch that has gone silent', async () => {
    environment.embedded?.faults.add({ match: watch, action: { type: 'stallWatch' }, times: 1 });
    await using session = await start({ watchList: false, idleTimeoutMs: 300 });
    await session.write('three');
    await session.settles(['one=1', 'three=1', 'two=1']);
  });

  it.each([500, 503, 403, 410])('gets over a list that is refused with %i', async (code) => {
    environment.embedded?.faults.add({
      match: { verb: 'list', resource: 'configmaps' },
      action: { type: 'status', code },
      times: 1,
    });
    await using session = await start({ watchList: false });
    await session.settles(['one=1', 'two=1']);
  });

  it('gets over a list that is cut short', async () => {
    environment.embedded?.faults.add({
      match: { verb: 'list', resource: 'configmaps' },
      action: { type: 'truncateBody', bytes: 300 },
      times: 1,
    });
    await using session = await start({ watchList: false });
    await session.settles(['one=1', 'two=1']);
  });

  it('falls back to a list when the server refuses to stream, and asks no second time', async () => {
    const fault = environment.embedded?.faults.add({
      match: watch,
      action: { type: 'status', code: 422, reason: 'Invalid' },
      times: 1,
    });
    await using session = await start();
    await session.settles(['one=1', 'two=1']);
    expect(fault?.fired).toBe(1);
  });

  it('catches up after the server was away and its history is gone', async () => {
    await using session = await start({ watchList: false });
    await environment.embedded?.stop();
    await eventually(() => expect(session.informer.state.phase).toBe('retrying'), { timeoutMs: 10_000 });
    expect(session.informer.trouble?.reason).toBe('connection');
    await environment.embedded?.start();
    await session.write('three');
    await environment.client.delete(ConfigMap, { namespace: session.namespace, name: 'two' });
    environment.embedded?.compact();
    await session.settles(['one=1', 'three=1']);
    expect(session.seen).toContain('delete two=1');
  });

  it('says why it does not sync, and stops when told to', async () => {
    environment.embedded?.faults.add({
      match: { resource: 'configmaps', verb: ['list', 'watch'] },
      action: { type: 'status', code: 403, reason: 'Forbidden', message: 'no rights' },
    });
    const informer = createSharedInformer({
      kind: ConfigMap,
      listerWatcher: listerWatcherFor(environment.client, ConfigMap),
      watchErrorHandler: ({ reason }) => (reason === 'forbidden' ? 'stop' : 'retry'),
    });
    const waiting = informer.waitForSync();
    const run = informer.run(new AbortController().signal);
    await expect(run).rejects.toMatchObject({ code: 'KCTL_STATUS' });
    await expect(waiting).rejects.toMatchObject({
      code: 'KCTL_SYNC',
      message: expect.stringContaining('no rights') as string,
    });
    expect(informer.isStopped).toBe(true);
    environment.embedded?.faults.clear();
  });
});
