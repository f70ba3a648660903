import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { configMap, configMaps, harness } from './harness.js';

describe('faults', () => {
  it('§3.7: delay waits on the clock of the server', async () => {
    const h = await harness();
    h.server.faults.add({ match: { verb: 'list' }, action: { type: 'delay', ms: 1000 } });
    let isDone = false;
    const list = h.get(configMaps).then((answer) => {
      isDone = true;
      return answer;
    });
    await h.clock.advance(999);
    expect(isDone).toBe(false);
    await h.clock.advance(1);
    expect((await list).status).toBe(200);
  });

  it('§2.12-74: status answers with Retry-After and does nothing', async () => {
    const h = await harness();
    const fault = h.server.faults.add({
      match: { verb: 'create', resource: 'configmaps' },
      action: { type: 'status', code: 429, retryAfterSeconds: 1 },
      times: 1,
    });
    const answer = await h.post(configMaps, configMap('a'));
    expect([answer.status, answer.body.reason, answer.headers.get('retry-after')]).toEqual([
      429,
      'TooManyRequests',
      '1',
    ]);
    expect((await h.post(configMaps, configMap('a'))).status).toBe(201);
    expect(fault.fired).toBe(1);
    expect(h.server.journal.faults()).toHaveLength(1);
  });

  it('§3.7: commitThenFail keeps the write and tells the client otherwise', async () => {
    const h = await harness();
    h.server.faults.add({ match: { verb: 'create' }, action: { type: 'commitThenFail' }, times: 1 });
    expect((await h.post(configMaps, configMap('a'))).status).toBe(500);
    expect((await h.get(`${configMaps}/a`)).status).toBe(200);
    h.server.faults.add({ match: { verb: 'create' }, action: { type: 'commitThenFail', code: 0 }, times: 1 });
    await expect(h.post(configMaps, configMap('b'))).rejects.toThrow('fetch failed');
    expect((await h.get(`${configMaps}/b`)).status).toBe(200);
  });

  it('§3.7: conflict, rejectConnection and truncateBody', async () => {
    const h = await harness();
    await h.post(configMaps, configMap('a'));
    h.server.faults.add({ match: { verb: 'update' }, action: { type: 'conflict' }, times: 1 });
    expect((await h.put(`${configMaps}/a`, configMap('a'))).body.reason).toBe('Conflict');
    h.server.faults.add({ match: { name: 'a' }, action: { type: 'rejectConnection' }, times: 1 });
    await expect(h.get(`${configMaps}/a`)).rejects.toThrow('fetch failed');
    h.server.faults.add({ match: { verb: 'list' }, action: { type: 'truncateBody', bytes: 10 }, times: 1 });
    await expect(h.get(configMaps)).rejects.toThrow();
  });

  it('§3.7: staleRead shows the past', async () => {
    const h = await harness();
    await h.post(configMaps, configMap('a', undefined, { x: '1' }));
    await h.merge(`${configMaps}/a`, { data: { x: '2' } });
    h.server.faults.add({ match: { verb: ['get', 'list'] }, action: { type: 'staleRead', revisionsBehind: 1 } });
    expect((await h.get(`${configMaps}/a`)).body.data.x).toBe('1');
    expect((await h.get(configMaps)).body.items[0].data.x).toBe('1');
  });

  it('§3.7: expireWatch, dropWatch, stallWatch, tearEvent and duplicateEvent', async () => {
    const h = await harness();
    const watching = { verb: 'watch' } as const;
    const { faults } = h.server;
    faults.add({ match: watching, action: { type: 'expireWatch' }, times: 1 });
    const expired = await h.watch(`${configMaps}?watch=1`);
    expect((await expired.next()).object.code).toBe(410);
    expect(await expired.next()).toBeUndefined();

    faults.add({ match: watching, action: { type: 'dropWatch', afterEvents: 1 }, times: 1 });
    const dropped = await h.watch(`${configMaps}?watch=1`);
    await h.post(configMaps, configMap('a'));
    expect((await dropped.next()).object.metadata.name).toBe('a');
    await h.post(configMaps, configMap('b'));
    expect(await dropped.next()).toBeUndefined();

    faults.add({ match: watching, action: { type: 'stallWatch', afterEvents: 2 }, times: 1 });
    const stalled = await h.watch(`${configMaps}?watch=1`);
    await stalled.take(2);
    await h.post(configMaps, configMap('c'));
    expect(await stalled.pending()).toEqual([]);

    faults.add({ match: watching, action: { type: 'duplicateEvent' }, times: 1 });
    const doubled = await h.watch(`${configMaps}?watch=1&fieldSelector=metadata.name%3Da`);
    const [first, second] = await doubled.take(2);
    expect(first).toBe(second);

    faults.add({ match: watching, action: { type: 'tearEvent' }, times: 1 });
    const torn = await h.server.fetch(`${configMaps}?watch=1`);
    await expect(torn.text()).rejects.toThrow();
  });

  it.each([
    [{ type: 'duplicateEvent' }, { type: 'tearEvent', afterEvents: 1 }],
    [
      { type: 'expireWatch', afterEvents: 3 },
      { type: 'tearEvent', afterEvents: 1 },
    ],
    [
      { type: 'tearEvent', afterEvents: 3 },
      { type: 'tearEvent', afterEvents: 1 },
    ],
  ] as const)('says nothing after half an event, also where %o and %o strike one watch', async (...actions) => {
    const h = await harness();
    for (const name of ['a', 'b', 'c', 'd', 'e']) await h.post(configMaps, configMap(name));
    for (const action of actions) h.server.faults.add({ match: { verb: 'watch' }, action, times: 1 });
    const { body } = await h.server.fetch(`${configMaps}?watch=1`);
    let text = '';
    const reading = (async () => {
      for await (const chunk of body ?? []) text += Buffer.from(chunk).toString();
    })();
    await expect(reading).rejects.toThrow();
    const lines = text.split('\n');
    const half = lines.pop() ?? '';
    expect(half).not.toBe('');
    expect(half.match(/"type":"ADDED"/gu)).toHaveLength(1);
    for (const line of lines) expect(() => JSON.parse(line) as unknown).not.toThrow();
  });

  it('§3.7: the same seed strikes the same requests', async () => {
    const run = async (seed: number) => {
      const h = await harness({ seed });
      h.server.faults.add({ match: { probability: 0.3 }, action: { type: 'status', code: 500 } });
      const answers: number[] = [];
      for (let i = 0; i < 40; i++) answers.push((await h.get(configMaps)).status);
      return answers;
    };
    const first = await run(7);
    expect(await run(7)).toEqual(first);
    expect(await run(8)).not.toEqual(first);
    expect(new Set(first)).toEqual(new Set([200, 500]));
  });

  it('strikes the nth request that matches', async () => {
    const h = await harness();
    h.server.faults.add({ match: { verb: 'list', nth: 2 }, action: { type: 'status', code: 503 } });
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push((await h.get(configMaps)).status);
    expect(answers).toEqual([200, 503, 200]);
  });

  it('refuses a fault that is out of range, naming the field', async () => {
    const h = await harness();
    expect(() => h.server.faults.add({ match: { probability: 2 }, action: { type: 'conflict' } })).toThrow(
      'match.probability 2',
    );
  });
});

describe('journal, snapshot, restore', () => {
  it('§3.7: notes requests, responses and commits in order', async () => {
    const h = await harness();
    h.server.journal.clear();
    await h.post(configMaps, configMap('a'));
    expect(h.server.journal.entries().map((entry) => entry.type)).toEqual(['request', 'commit', 'response']);
    expect(h.server.journal.requests()[0]).toMatchObject({
      verb: 'create',
      resource: 'configmaps',
      namespace: 'default',
    });
    expect(h.server.journal.commits()[0]).toMatchObject({
      resource: '/configmaps',
      namespace: 'default',
      name: 'a',
      change: 'ADDED',
    });
  });

  it('§3.5: restore puts all objects back, ends watches and expires what was before', async () => {
    const h = await harness();
    const a = (await h.post(configMaps, configMap('a'))).body;
    const snapshot = h.server.snapshot();
    await h.delete(`${configMaps}/a`);
    await h.post(configMaps, configMap('b'));
    const watch = await h.watch(`${configMaps}?watch=1&resourceVersion=${h.server.revision}`);
    await settle();
    h.server.restore(snapshot);
    expect(await watch.next()).toBeUndefined();
    const list = (await h.get(configMaps)).body;
    expect([list.items.length, list.items[0].metadata.uid]).toEqual([1, a.metadata.uid]);
    const old = await h.watch(`${configMaps}?watch=1&resourceVersion=${a.metadata.resourceVersion}`);
    expect((await old.next()).object.code).toBe(410);
    expect((await h.post(configMaps, configMap('c'))).status).toBe(201);
  });
});
