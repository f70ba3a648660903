// client-go's reflector (tools/cache/reflector.go), rule by rule, as a server sees it. Which version is asked for, pages,
// and what each failure leads to are in src/reflector-machine.test.ts.
import { inspect } from 'node:util';
import { type Logger, noopLogger } from '@kctl/telemetry';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { added, bookmark, deleted, failed, initialEnd, modified, raw, refusal, thing } from './scripted-server.js';
import type { Frame } from './scripted-server.js';
import { ScriptedSession, sources } from './scripted-session.js';

describe('what is asked', () => {
  it('lists first, at "0" in pages of 500, then watches at the version of the list, with bookmarks', async () => {
    await using session = new ScriptedSession();
    await session.start();
    expect(session.server.lists).toEqual([expect.objectContaining({ resourceVersion: '0', limit: 500 })]);
    expect(session.server.watch.call).toMatchObject({ resourceVersion: '10', allowWatchBookmarks: true });
    expect(session.server.watch.call.sendInitialEvents).toBeUndefined();
  });

  it.each([
    [0, undefined, 300],
    [0.999, undefined, 600],
    [0, 600_000, 600],
    [0.999, 600_000, 1200],
  ])('asks for a watch of 5 to 10 minutes, or longer (random %d, at least %s ms)', async (random, least, seconds) => {
    await using session = new ScriptedSession({
      random: () => random,
      ...(least === undefined ? {} : { minWatchTimeoutMs: least }),
    });
    await session.start();
    expect(session.server.watch.call.timeoutSeconds).toBe(seconds);
  });

  it('streams where the source can: from no version, with bookmarks, not older than what it has', async () => {
    await using session = new ScriptedSession({ streams: true, bookmarks: false });
    await session.start();
    const { call } = session.server.watch;
    expect(call).toMatchObject({
      allowWatchBookmarks: true,
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
    });
    expect(call).not.toHaveProperty('resourceVersion');
    expect(session.server.lists).toEqual([]);
  });

  it('does not try to stream from a source that says it cannot', async () => {
    await using session = new ScriptedSession({ streams: false });
    await session.start();
    expect(session.server.watches.map(({ call }) => call.sendInitialEvents)).toEqual([undefined]);
  });

  it('goes on from the version of the last event, and of a bookmark', async () => {
    await using session = new ScriptedSession();
    await session.start();
    session.server.watch.send(added(thing('x', 12)));
    await settle();
    session.server.watch.close();
    await settle();
    expect(session.server.watch.call.resourceVersion).toBe('12');
    session.server.watch.send(bookmark(15));
    await settle();
    await session.clock.advance(1000);
    session.server.watch.close();
    await settle();
    expect(session.server.watches.map(({ call }) => call.resourceVersion)).toEqual(['10', '12', '15']);
  });

  it('never asks the server for a resync', async () => {
    await using session = new ScriptedSession({ resyncMs: 1000 });
    session.server.page = () => ({ version: 10, items: [thing('x', 1)] });
    const { seen } = session.listen();
    await session.start();
    await session.clock.advance(2500);
    expect(seen).toEqual(['add x@1 initial', 'update x@1→1 resync', 'update x@1→1 resync']);
    expect([session.server.lists.length, session.server.watches.length]).toEqual([1, 1]);
  });
});

describe('stopping', () => {
  it('does not wait for a list that does not answer', async () => {
    await using session = new ScriptedSession();
    session.server.page = () => new Promise(() => undefined);
    await session.start();
    expect(session.informer.state.phase).toBe('listing');
    await session.stop();
    expect(session.informer.state.phase).toBe('stopped');
    expect(session.server.lists[0]?.signal?.aborted).toBe(true);
    expect(session.clock.pendingTimers).toBe(0);
  });

  it('does not wait for the backoff', async () => {
    await using session = new ScriptedSession();
    session.server.page = () => Promise.reject(refusal(500, 'InternalError'));
    await session.start();
    expect(session.informer.state.phase).toBe('retrying');
    await session.stop();
    expect(session.clock.pendingTimers).toBe(0);
  });

  it('releases the watch', async () => {
    await using session = new ScriptedSession();
    await session.start();
    await session.stop();
    expect(session.server.watch.call.signal?.aborted).toBe(true);
  });
});

describe('failures', () => {
  it('sleeps with jitter between one backoff and two', async () => {
    await using session = new ScriptedSession({ random: () => 0.5 });
    session.server.page = () => Promise.reject(refusal(500, 'InternalError'));
    await session.start();
    await session.clock.advance(1199);
    expect(session.server.lists).toHaveLength(1);
    await session.clock.advance(1);
    expect(session.server.lists).toHaveLength(2);
  });

  it('retries 401, 403 and 404 for ever, but says which it is, so that a handler can stop', async () => {
    const reasons: string[] = [];
    await using session = new ScriptedSession({
      watchErrorHandler: ({ reason }) => {
        reasons.push(reason);
        return reasons.length < 3 ? 'retry' : 'stop';
      },
    });
    const refusals = [refusal(401, 'Unauthorized'), refusal(403, 'Forbidden'), refusal(404, 'NotFound')];
    session.server.page = () => Promise.reject(refusals.shift() ?? new Error('enough'));
    await session.start();
    await session.clock.advance(10_000);
    expect(reasons).toEqual(['unauthorized', 'forbidden', 'not-found']);
    await expect(session.run).rejects.toMatchObject({ code: 'KCTL_STATUS' });
  });

  it('takes a list that says expired again from the newest version, at once', async () => {
    await using session = new ScriptedSession();
    session.server.page = ({ resourceVersion }) =>
      resourceVersion === undefined ? { version: 30, items: [] } : Promise.reject(refusal(410, 'Expired'));
    await session.start();
    expect(session.server.lists.map(({ resourceVersion }) => resourceVersion)).toEqual(['0', undefined]);
    expect(session.informer.resourceVersion).toBe('30');
  });

  it('relists at the last version after an in-stream 410, and tells who listens', async () => {
    const reasons: string[] = [];
    await using session = new ScriptedSession({ watchErrorHandler: ({ reason }) => void reasons.push(reason) });
    await session.start();
    session.server.watch.send(failed(410, 'Expired'));
    await settle();
    expect(session.server.lists).toHaveLength(1);
    await session.clock.advance(800);
    expect(session.server.lists[1]).toMatchObject({ resourceVersion: '10' });
    expect(reasons).toEqual(['expired']);
  });

  it('reopens a watch whose connection was lost, without a list', async () => {
    await using session = new ScriptedSession();
    await session.start();
    session.server.watch.send(added(thing('x', 11)));
    session.server.watch.break(Object.assign(new Error('http2: connection lost'), { code: 'ECONNRESET' }));
    await settle();
    expect(session.server.watches.map(({ call }) => call.resourceVersion)).toEqual(['10', '11']);
    expect(session.server.lists).toHaveLength(1);
  });

  it.each([false, true])(
    'lists again when its watches are answered and then reset (streaming: %s)',
    async (streams) => {
      await using session = new ScriptedSession({ streams });
      session.server.page = () => ({ version: 10, items: [thing('x', 1)] });
      await session.start();
      if (streams) session.server.watch.send(added(thing('x', 1)), initialEnd(10));
      await settle();
      const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
      const begun = session.server.watches.length;
      const syncs = (): number =>
        streams
          ? session.server.watches.slice(begun).filter(({ call }) => call.sendInitialEvents === true).length
          : session.server.lists.length - 1;
      const startedAt = session.clock.monotonicNow();
      let broken = 0;
      for (let step = 0; syncs() === 0 && step < 3000; step++) {
        if (session.server.watches.length > broken) session.server.watch.break(reset);
        broken = session.server.watches.length;
        await session.clock.advance(100);
      }
      expect(syncs()).toBe(1);
      expect(session.server.watches.length - begun).toBeLessThan(5);
      expect(session.clock.monotonicNow() - startedAt).toBeLessThan(120_000);
    },
  );

  it('takes a watch for dead that is silent for longer than the server was asked to keep it', async () => {
    await using session = new ScriptedSession();
    await session.start();
    await session.clock.advance(304_999);
    expect(session.server.watches).toHaveLength(1);
    await session.clock.advance(1);
    expect(session.server.watches).toHaveLength(2);
    expect(session.server.watches[0]?.call.signal?.aborted).toBe(true);
  });
});

describe.each(sources)('an ERROR whose Status has members of other types (%s)', (source) => {
  it.each([
    [{ code: 410, message: 5 }, 'expired'],
    [{ reason: 'Timeout', message: 5, details: { causes: { a: 1 } } }, 'status'],
    [{ code: '410', reason: ['Gone'] }, 'status'],
  ])('is sorted by those that fit: %j', async (members, reason) => {
    const reasons: string[] = [];
    await using session = new ScriptedSession({
      source,
      watchErrorHandler: (trouble) => void reasons.push(trouble.reason),
    });
    await session.start();
    session.server.watch.send({ type: 'ERROR', object: { kind: 'Status', status: 'Failure', ...members } });
    await session.clock.advance(1);
    expect(reasons).toEqual([reason]);
  });
});

describe.each(sources)('an ERROR that is not a Status (%s)', (source) => {
  const canary = 'kanarie-9f8e7d6c';
  const objects: Record<string, unknown> = {
    'a string': canary.repeat(1_000),
    'a Secret': { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, data: { token: canary } },
    'a list': [canary],
    'a number': 5,
  };
  const texts: Record<string, string> = {
    'cut JSON': `{"type":"ERROR","object":{"kind":"Status","message":"${canary}`,
    'JSON with a wrong member': `{"type":"ERROR","object":{"data":{"token":${canary}}}}`,
    'a wrong escape': `{"type":"ERROR","object":{"message":"\\x${canary}"}}`,
  };
  const cases = [
    ...Object.entries(objects).map(([what, object]) => [what, { type: 'ERROR', object }] as const),
    ...(source === 'objects' ? [] : Object.entries(texts).map(([what, text]) => [what, raw(text)] as const)),
  ];
  it.each(cases)('leaves no trace of its contents: %s', async (_what, frame) => {
    const seen: unknown[] = [];
    const log = (...line: unknown[]): void => void seen.push(line);
    const logger: Logger = {
      ...noopLogger,
      isEnabled: () => true,
      trace: log,
      debug: log,
      info: log,
      warn: log,
      error: log,
      child: () => logger,
    };
    await using session = new ScriptedSession({
      source,
      logger,
      watchErrorHandler: (trouble) => void seen.push(trouble),
    });
    await session.start();
    session.server.watch.send(frame);
    await session.clock.advance(1);
    expect(seen.length).toBeGreaterThan(0);
    const text = inspect([seen, session.informer.state], { depth: Infinity, showHidden: true });
    expect(text).not.toContain(canary);
  });
});

describe.each(sources)('a watch that hangs without an end (%s)', (source) => {
  /** An informer whose first stream has ended its initial events. */
  async function streaming(options: ConstructorParameters<typeof ScriptedSession>[0] = {}): Promise<ScriptedSession> {
    const session = new ScriptedSession({ source, streams: true, ...options });
    await session.start();
    session.server.watch.send(added(thing('x', 1)), initialEnd(10));
    await settle();
    return session;
  }

  it('before its first bookmark is noticed after 3 min: the end of its initial events was one', async () => {
    await using session = await streaming();
    await session.clock.advance(179_999);
    expect(session.server.watches).toHaveLength(1);
    await session.clock.advance(1);
    expect(session.server.watches.map(({ call }) => call.resourceVersion)).toEqual([undefined, '10']);
    expect(session.server.lists).toHaveLength(0);
  });

  it('is noticed after 3 min each time, where bookmarks came', async () => {
    await using session = await streaming();
    await session.clock.advance(60_000);
    session.server.watch.send(bookmark(11));
    await settle();
    for (const opened of [2, 3, 4]) {
      await session.clock.advance(180_000);
      expect(session.server.watches).toHaveLength(opened);
    }
  });

  it('may be one of a quiet kind without bookmarks: it is reopened once, and then kept for as long as was asked', async () => {
    await using session = await streaming();
    await session.clock.advance(180_000);
    expect(session.server.watches).toHaveLength(2);
    await session.clock.advance(304_999);
    expect(session.server.watches).toHaveLength(2);
    await session.clock.advance(1);
    expect(session.server.watches).toHaveLength(3);
    session.server.watch.send(bookmark(12));
    await settle();
    await session.clock.advance(180_000);
    expect(session.server.watches).toHaveLength(4);
  });

  it('is kept for as long as was asked where no bookmarks are asked for, or an idle time is given', async () => {
    await using session = await streaming({ bookmarks: false });
    await session.clock.advance(304_999);
    expect(session.server.watches).toHaveLength(1);
    await using patient = await streaming({ idleTimeoutMs: 200_000 });
    await patient.clock.advance(199_999);
    expect(patient.server.watches).toHaveLength(1);
    await patient.clock.advance(1);
    expect(patient.server.watches).toHaveLength(2);
  });
});

describe.each(sources)('a server that closes watches at once (%s)', (source) => {
  /** Closes each watch as soon as it has sent these frames. Returns when they were asked for. */
  async function opened(session: ScriptedSession, frames: () => readonly Frame[]): Promise<number[]> {
    const times: number[] = [];
    session.server.admit = () => {
      times.push(session.clock.monotonicNow());
      queueMicrotask(() => {
        session.server.watch.send(...frames());
        session.server.watch.close();
      });
    };
    await session.start();
    for (let step = 0; step < 600; step++) await session.clock.advance(100);
    return times;
  }

  it.each([
    ['the last event', () => [added(thing('x', 10))]],
    ['an earlier event', () => [added(thing('x', 9))]],
    ['a deletion that is known', () => [deleted(thing('gone', 8))]],
    ['a known bookmark', () => [bookmark(10)]],
    ['many known events', () => [added(thing('x', 9)), modified(thing('x', 10)), bookmark(7)]],
  ] satisfies [string, () => Frame[]][])(
    'having replayed %s, is asked ever less often, and the trouble is told',
    async (_name, frames) => {
      const reasons: string[] = [];
      await using session = new ScriptedSession({
        source,
        watchErrorHandler: ({ reason }) => void reasons.push(reason),
      });
      session.server.page = () => ({ version: 10, items: [thing('x', 10)] });
      const { seen } = session.listen();
      const times = await opened(session, frames);
      // 0.8 + 1.6 + 3.2 + 6.4 + 12.8 + 25.6 s: six pauses in a minute.
      expect(times.length).toBeLessThanOrEqual(7);
      expect(new Set(reasons)).toEqual(new Set(['short-watch']));
      expect(session.informer.state).toMatchObject({ phase: 'retrying', attempts: reasons.length });
      expect(session.informer.trouble?.message).toContain('very short watch');
      expect(seen).toEqual(['add x@10 initial']);
    },
  );

  it('having sent something new each time is asked at once', async () => {
    await using session = new ScriptedSession({ source });
    let version = 10;
    session.server.page = () => ({ version, items: [thing('x', version)] });
    const times = await opened(session, () => (version < 50 ? [modified(thing('x', ++version))] : []));
    expect(times.slice(0, 41).every((time) => time === times[0])).toBe(true);
    expect(session.names()).toEqual(['x@50']);
  });
});

describe.each(sources)('the start of a stream (%s)', (source) => {
  it('that is silent once is tried again after the next failure', async () => {
    const reasons: string[] = [];
    await using session = new ScriptedSession({
      source,
      streams: true,
      listIdleTimeoutMs: 1000,
      watchErrorHandler: ({ reason }) => void reasons.push(reason),
    });
    session.server.page = () => ({ version: 20, items: [thing('x', 20)] });
    await session.start();
    session.server.watch.send(added(thing('ghost', 1)));
    await session.clock.advance(1000);
    expect([session.names(), reasons]).toEqual([['x@20'], ['idle']]);
    session.server.watch.send(failed(410, 'Expired'));
    await session.clock.advance(800);
    expect(session.server.watch.call).toMatchObject({ sendInitialEvents: true, resourceVersion: '20' });
    session.server.watch.send(added(thing('y', 21)), initialEnd(22));
    await settle();
    expect(session.names()).toEqual(['y@21']);
    expect(session.server.lists).toHaveLength(1);
  });

  it('that closes without its end marker is told', async () => {
    const troubles: string[] = [];
    await using session = new ScriptedSession({
      source,
      streams: true,
      watchErrorHandler: ({ reason, message }) => void troubles.push(`${reason}: ${message}`),
    });
    await session.start();
    session.server.watch.send(added(thing('x', 1)));
    await settle();
    session.server.watch.close();
    await settle();
    expect(troubles).toEqual([
      expect.stringMatching(
        /^initial-events: .* closed before .* 1 objects: .*k8s\.io\/initial-events-end is missing$/,
      ),
    ]);
    expect(session.informer.state.phase).toBe('retrying');
  });

  it('that goes on for ever without its end marker is told, and taken by a list', async () => {
    const reasons: string[] = [];
    await using session = new ScriptedSession({
      source,
      streams: true,
      listIdleTimeoutMs: 1000,
      watchErrorHandler: ({ reason }) => void reasons.push(reason),
    });
    session.server.page = () => ({ version: 20, items: [thing('x', 20)] });
    await session.start();
    for (let beat = 1; beat < 20 && !session.informer.hasSynced; beat++) {
      session.server.watch.send(added(thing('x', beat)), bookmark(beat));
      await session.clock.advance(500);
    }
    expect([session.names(), reasons]).toEqual([['x@20'], ['initial-events']]);
  });

  it('that is large is given its time, as long as objects come', async () => {
    await using session = new ScriptedSession({ source, streams: true, listIdleTimeoutMs: 1000 });
    await session.start();
    for (let index = 1; index < 30; index++) {
      session.server.watch.send(added(thing(`x${index}`, index)));
      await session.clock.advance(900);
    }
    session.server.watch.send(initialEnd(30));
    await settle();
    expect([session.names().length, session.server.lists.length]).toEqual([29, 0]);
  });

  it('is collected apart, changes included, and is the store from the end marker on', async () => {
    await using session = new ScriptedSession({ source, streams: true });
    const { seen, registration } = session.listen();
    await session.start();
    session.server.watch.send(added(thing('x', 1)), added(thing('y', 2)), added(thing('z', 3)));
    session.server.watch.send(modified(thing('x', 4)), deleted(thing('y', 5)), bookmark(6));
    await settle();
    expect([session.names(), seen, session.informer.hasSynced]).toEqual([[], [], false]);
    session.server.watch.send(bookmark(7, { 'k8s.io/initial-events-end': 'false' }));
    await settle();
    expect(session.informer.hasSynced).toBe(false);
    session.server.watch.send(initialEnd(8), modified(thing('z', 9)));
    await settle();
    expect(seen).toEqual(['add x@4 initial', 'add z@3 initial', 'update z@3→9']);
    expect(registration.hasSynced).toBe(true);
    expect(session.server.watches).toHaveLength(1);
  });

  it('leaves nothing to the list that follows where the marker never comes', async () => {
    await using session = new ScriptedSession({ source, streams: true });
    session.server.page = () => ({ version: 20, items: [thing('x', 20)] });
    await session.start();
    for (const backoff of [800, 1600, 0]) {
      session.server.watch.send(added(thing('ghost', 1)));
      await settle();
      session.server.watch.close();
      await session.clock.advance(backoff);
    }
    expect(session.names()).toEqual(['x@20']);
    expect(session.server.lists).toHaveLength(1);
    session.server.watch.send(failed(410, 'Expired'));
    await session.clock.advance(10_000);
    // Remembered: no further attempt to stream.
    expect(session.server.watches.filter(({ call }) => call.sendInitialEvents === true)).toHaveLength(3);
    expect(session.server.lists).toHaveLength(2);
  });

  it('counts a bookmark as a sign of life', async () => {
    await using session = new ScriptedSession({ source, streams: true, listIdleTimeoutMs: 1000 });
    await session.start();
    for (let beat = 0; beat < 5; beat++) {
      await session.clock.advance(900);
      session.server.watch.send(bookmark(beat + 1));
    }
    expect([session.server.watches.length, session.server.lists.length]).toEqual([1, 0]);
    await session.clock.advance(1000);
    expect(session.server.lists).toHaveLength(1);
  });

  it.each([true, false])('transforms each object once (streaming: %s)', async (streams) => {
    const transformed: string[] = [];
    await using session = new ScriptedSession({
      source,
      streams,
      transform: (object) => {
        transformed.push(`${object.metadata.name}@${object.metadata.resourceVersion}`);
        return { ...object, spec: { size: 0 } };
      },
    });
    session.server.page = () => ({ version: 10, items: [thing('x', 1), thing('y', 2)] });
    await session.start();
    if (streams) session.server.watch.send(added(thing('x', 1)), added(thing('y', 2)), initialEnd(10));
    session.server.watch.send(modified(thing('x', 11)));
    await settle();
    expect(transformed).toEqual(['x@1', 'y@2', 'x@11']);
    expect(session.informer.indexer.list().map(({ spec }) => spec)).toEqual([{ size: 0 }, { size: 0 }]);
  });
});

describe('bytes', () => {
  it.each([
    ['that end too early', '{"type":"ADDED","object":{"metadata":{"name":"y","resourceVersion":"12'],
    ['that are no event', '["ADDED"]'],
    ['of an event of an unknown type', JSON.stringify({ type: 'RENAMED', object: thing('y', 12) })],
    ['of metadata that are no JSON', '{"type":"ADDED","object":{"metadata":{"name":"y",]}}}'],
    ['of a bookmark that is no JSON', '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"12"},]}}'],
  ])('%s end the watch, as what they said may matter; the second time, the informer lists', async (_name, text) => {
    const reasons: string[] = [];
    await using session = new ScriptedSession({ watchErrorHandler: ({ reason }) => void reasons.push(reason) });
    await session.start();
    session.server.watch.send(added(thing('x', 11)), raw(text), added(thing('z', 13)));
    await settle();
    expect([session.names(), reasons]).toEqual([['x@11'], ['decode']]);
    await session.clock.advance(800);
    expect(session.server.watches.map(({ call }) => call.resourceVersion)).toEqual(['10', '11']);
    expect(session.server.lists).toHaveLength(1);
    session.server.watch.send(raw(text));
    await session.clock.advance(1600);
    expect(session.server.lists).toHaveLength(2);
  });
});

describe.each(sources)('a list after an outage (%s)', (source) => {
  it('finds objects that are not of the initial list', async () => {
    await using session = new ScriptedSession({ source });
    session.server.page = () => ({ version: 10, items: [] });
    const { seen, registration } = session.listen();
    await session.start();
    expect(registration.hasSynced).toBe(true);
    session.server.page = () => ({ version: 20, items: [thing('created-in-the-outage', 15)] });
    session.server.watch.send(failed(410, 'Expired'));
    await session.clock.advance(800);
    expect(seen).toEqual(['add created-in-the-outage@15']);
    const late = session.listen();
    await settle();
    expect(late.seen).toEqual(['add created-in-the-outage@15 initial']);
  });
});

describe.each(sources)('an event (%s)', (source) => {
  it.each([
    ['without metadata', { type: 'ADDED', object: { kind: 'Thing' } }],
    ['of an object without a name', { type: 'ADDED', object: { kind: 'Thing', metadata: { resourceVersion: '11' } } }],
    ['that is a table', { type: 'ADDED', object: { kind: 'Table', metadata: { resourceVersion: '11' }, rows: [] } }],
  ])('%s is skipped with a report: neither stored nor a step ahead', async (_name, frame) => {
    const reports: string[] = [];
    const logger = { ...noopLogger, error: (message: string) => void reports.push(message) };
    await using session = new ScriptedSession({ source, logger });
    await session.start();
    session.server.watch.send(frame, added(thing('x', 12)));
    await settle();
    expect(session.names()).toEqual(['x@12']);
    expect(reports).toEqual([expect.stringContaining('skipped')]);
    session.server.watch.close();
    await settle();
    expect(session.server.watch.call.resourceVersion).toBe('12');
  });

  it('of an unknown type ends the watch, as what it said may matter', async () => {
    const reasons: string[] = [];
    await using session = new ScriptedSession({ source, watchErrorHandler: ({ reason }) => void reasons.push(reason) });
    await session.start();
    session.server.watch.send(added(thing('x', 12)), { type: 'RENAMED', object: thing('y', 13) });
    await settle();
    expect([session.names(), reasons]).toEqual([['x@12'], ['decode']]);
    await session.clock.advance(800);
    expect(session.server.watch.call.resourceVersion).toBe('12');
  });

  it('that is a bookmark moves the version of the store, forward only, and is told to nobody', async () => {
    await using session = new ScriptedSession({ source });
    const { seen } = session.listen();
    await session.start();
    session.server.watch.send(bookmark(20));
    await settle();
    expect(session.informer.resourceVersion).toBe('20');
    session.server.watch.send(bookmark(15));
    await settle();
    expect(session.informer.resourceVersion).toBe('20');
    expect(seen).toEqual([]);
  });

  it('that says what was known before is no event', async () => {
    await using session = new ScriptedSession({ source });
    session.server.page = () => ({ version: 10, items: [thing('x', 9)] });
    const { seen } = session.listen();
    await session.start();
    session.server.watch.send(added(thing('x', 9)), modified(thing('x', 8)), deleted(thing('x', 7)));
    await settle();
    expect(session.names()).toEqual(['x@9']);
    expect(seen).toEqual(['add x@9 initial']);
  });
});
