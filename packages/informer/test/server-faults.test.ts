// Faults are the embedded server's to inject.
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createEnvironment, eventually } from '@kctl/testing';
import type { TestEnvironment } from '@kctl/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSharedInformer, listerWatcherFor } from '../src/index.js';
import { startSession } from './session.js';
import type { Session, SessionOptions } from './session.js';

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await createEnvironment({ server: 'embedded' });
});
afterAll(() => environment.stop());
const start = (options: SessionOptions = {}, fill?: readonly string[]): Promise<Session> =>
  startSession(environment, options, fill);

describe('against a server that fails', () => {
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
    await eventually(() => expect(session.seen).toContain('delete two=1')); // the store is ahead of its handlers
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
