import { StatusError } from '@kctl/apimachinery';
import { Secret } from '@kctl/apimachinery/kinds/core/v1';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createInspection } from '../src/index.js';
import { HiddenNames } from '../src/recording/hidden-names.js';
import { Recorder } from '../src/recording/recorder.js';
import { CycleStore } from '../src/recording/store.js';
import { answeringClient, createDriver, Widget } from './harness.js';

it('has the means of the recorded runs of a controller', async () => {
  const { inspection, event, run, clock } = createDriver();
  const controller = { name: 'widgets', phase: 'running', queueLength: 0, maxConcurrentReconciles: 1, inFlight: [] };
  inspection.attach({ controllers: () => [controller], clusters: () => [], accessNeeds: () => [] } as never);
  const row = (): object | undefined => inspection.overview().controllers[0];
  expect(row()).toMatchObject({ runs: 0, meanMs: undefined, meanRequests: undefined });
  for (const ms of [10, 30]) {
    event('widgets', 'shop/a', {});
    await run('widgets', 'shop/a', { work: async () => await clock.advance(ms) });
  }
  event('widgets', 'shop/a', {}); // waits
  expect(row()).toMatchObject({ runs: 2, meanMs: 20, meanRequests: 0 });
});

describe('the timeline of a key', () => {
  it('leads from the event over the run and its writes to the events that those caused', async () => {
    const { inspection, event, run, clock } = createDriver();
    const client = inspection.observeWrites(answeringClient());
    event('widgets', 'shop/a', { type: 'create', resourceVersion: '7' });
    await clock.advance(5);
    await run('widgets', 'shop/a', {
      work: async () => {
        await client.update(Widget, { metadata: { namespace: 'shop', name: 'child', resourceVersion: '1' } });
        await clock.advance(20);
      },
    });
    // The event of the write.
    event('widgets', 'shop/a', { name: 'shop/child', resourceVersion: '101' });
    event('others', 'shop/child', { resourceVersion: '101' });
    const { cycles } = inspection.timeline({ key: 'shop/a' });
    expect(cycles).toHaveLength(2);
    expect(cycles[1]).toMatchObject({
      controller: 'widgets',
      events: [{ source: 'kind source: Widget.example.com', type: 'create', object: 'shop/a', resourceVersion: '7' }],
      run: { attempt: 1, result: 'success', ms: 20 },
      writes: [{ verb: 'update', kind: 'Widget.example.com', object: 'shop/child', resourceVersion: '101' }],
    });
    const [first] = cycles[1]?.writes ?? [];
    expect(first?.caused.map(({ controller, key }) => `${controller} ${key}`).toSorted()).toEqual([
      'others shop/child',
      'widgets shop/a',
    ]);
    const { controller, key, sequence } = cycles[1]!;
    expect(cycles[0]).toMatchObject({ run: undefined, events: [{ causedBy: { controller, key, sequence } }] });
  });

  it('is joined also where the event arrives before the answer to the write', async () => {
    const { inspection, event, run } = createDriver();
    const client = inspection.observeWrites(answeringClient());
    await run('widgets', 'shop/a', {
      work: async () => {
        const written = client.create(Widget, { metadata: { namespace: 'shop', name: 'child' } });
        event('widgets', 'shop/a', { type: 'create', name: 'shop/child', resourceVersion: '101' });
        await written;
      },
    });
    expect(inspection.timeline({ key: 'shop/a' }).cycles[0]?.events[0]?.causedBy?.key).toBe('shop/a');
  });

  it('blames the run that wrote a version, not later ones whose apply changed nothing and answered it again', async () => {
    const { inspection, event, run } = createDriver();
    const same = { metadata: { namespace: 'shop', name: 'child', resourceVersion: '62' } };
    const client = inspection.observeWrites(
      Object.assign(answeringClient(), { patch: async () => same, create: async () => same }),
    );
    const apply = async (): Promise<void> =>
      void (await client.patch(Widget, same.metadata, { type: 'merge', body: same }));
    await run('widgets', 'shop/a', { work: async () => void (await client.create(Widget, same)) });
    event('widgets', 'shop/a', { type: 'create', name: 'shop/child', resourceVersion: '62' });
    await run('widgets', 'shop/a', { work: apply });
    await run('widgets', 'shop/a', { work: apply });
    const { cycles } = inspection.timeline({ key: 'shop/a' });
    const first = cycles.at(-1);
    expect(first?.writes).toMatchObject([{ verb: 'create', resourceVersion: '62' }]);
    expect(cycles.at(-2)?.events[0]?.causedBy).toMatchObject({ key: 'shop/a', sequence: first?.sequence });
  });

  it('names who wrote an object and who deleted it', async () => {
    const { inspection, event, run } = createDriver();
    const client = inspection.observeWrites(answeringClient());
    await run('cleaner', 'shop/policy', {
      work: async () => void (await client.delete(Widget, { namespace: 'shop', name: 'a' })),
    });
    event('widgets', 'shop/a', { type: 'delete', resourceVersion: '300' });
    const { cycles, writtenBy } = inspection.timeline({ key: 'shop/a', kind: 'widget' });
    expect(cycles[0]?.events[0]?.causedBy).toMatchObject({ controller: 'cleaner', key: 'shop/policy' });
    expect(writtenBy).toMatchObject([{ controller: 'cleaner', writes: [{ verb: 'delete', object: 'shop/a' }] }]);
  });

  it('has status and scale as subresources, apply by its name, and leaves out dry runs and what no run sends', async () => {
    const { inspection, run } = createDriver();
    const client = inspection.observeWrites(answeringClient());
    const key = { namespace: 'shop', name: 'a' };
    const body = { metadata: key };
    await client.patch(Widget, key, { type: 'merge', body });
    await run('widgets', 'shop/a', {
      work: async () => {
        await client.patch(Widget, key, { type: 'apply', body }, { fieldOwner: 'x' });
        await client.status(Widget).patch(key, { type: 'merge', body });
        await client.subResource(Widget, 'scale').patch(key, { type: 'merge', body });
        await client.patch(Widget, key, { type: 'merge', body }, { dryRun: true });
      },
    });
    const [cycle] = inspection.timeline({ key: 'shop/a' }).cycles;
    expect(cycle?.writes.map(({ verb, subresource }) => [verb, subresource])).toEqual([
      ['apply', ''],
      ['patch', 'status'],
      ['patch', 'scale'],
    ]);
  });

  it('does not mix runs of two controllers that have the same key', async () => {
    const { inspection, event, run } = createDriver();
    event('widgets', 'shop/a', { resourceVersion: '1' });
    event('pods', 'shop/a', { source: 'kind source: Pod', resourceVersion: '2' });
    await run('widgets', 'shop/a');
    await run('pods', 'shop/a');
    expect(inspection.timeline({ key: 'shop/a', kind: 'Pod' }).cycles.map(({ controller }) => controller)).toEqual([
      'pods',
    ]);
    expect(inspection.timeline({ key: 'shop/a', controller: 'widgets' }).cycles).toHaveLength(1);
  });
});

describe('the table of keys', () => {
  it('counts failures in a row, says when it runs again, and what to do', async () => {
    const { inspection, run, clock } = createDriver();
    const error = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    await run('widgets', 'shop/a', { settled: { result: 'error', error, nextMs: 10_000 } });
    await clock.advance(4000);
    await run('widgets', 'shop/fine');
    expect(inspection.keys()).toMatchObject({
      total: 2,
      counts: { failing: 1, idle: 1 },
      rows: [
        { key: 'shop/a', state: 'failing', attempts: 1, failingForMs: 4000, nextInMs: 6000, failures: 1 },
        { key: 'shop/fine', state: 'idle', attempts: 0, lastResult: 'success' },
      ],
    });
    expect(inspection.keys().rows[0]?.advice).toMatch(/^A connection has failed/);
    await run('widgets', 'shop/a', { attempt: 2, reasons: ['retry'] });
    expect(inspection.keys({ state: 'failing' }).total).toBe(0);
    expect(inspection.timeline({ key: 'shop/a' }).cycles[0]?.reasons).toEqual(['retry']);
  });

  it('ends a run whatever it threw: a key is not shown as running for ever', async () => {
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const status = (fields: object): StatusError =>
      new StatusError({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 422, reason: 'Invalid', ...fields });
    const thrown: readonly [unknown, string][] = [
      [revoked.proxy, 'Error'],
      [new Proxy(new Error('x'), { getPrototypeOf: () => (revoked.proxy as { a: null }).a }), 'Error'],
      [status({ details: { kind: 'pods', causes: [null, 5, { field: 5 }] } }), '422 Invalid: pods'],
      [status({ details: { causes: {} } }), '422 Invalid'],
      [status({ details: null }), '422 Invalid'],
      [Object.defineProperty(status({}), 'status', { value: null }), 'failed'],
      [Object.create(null), 'thrown object'],
      [10n, 'thrown bigint'],
    ];
    for (const [error, failure] of thrown) {
      const { inspection, run } = createDriver();
      await run('widgets', 'shop/a', { settled: { result: 'error', error } });
      expect(inspection.keys().rows).toMatchObject([{ state: 'failing', lastFailure: failure, attempts: 1 }]);
    }
  });

  it('finds loops, what runs, what waits and what is delayed', async () => {
    const { inspection, event, run, clock } = createDriver();
    await run('widgets', 'shop/hot', { settled: { isLooping: true } });
    await run('widgets', 'shop/later', { settled: { result: 'requeue_after', nextMs: 5000 } });
    event('widgets', 'shop/waiting', {});
    const gate = Promise.withResolvers<undefined>();
    const running = run('widgets', 'shop/long', { work: () => gate.promise });
    await clock.advance(90_000);
    const { counts } = inspection.keys();
    expect(counts).toEqual({ failing: 0, looping: 1, running: 1, waiting: 1, delayed: 1, idle: 0 });
    expect(inspection.keys({ state: 'running' }).rows[0]).toMatchObject({
      runningForMs: 90_000,
      advice: /does not end/,
    });
    expect(inspection.keys({ search: 'wait' }).rows[0]).toMatchObject({ waitingForMs: 90_000 });
    await clock.advance(60_000);
    expect(inspection.keys({ state: 'looping' }).total).toBe(0);
    gate.resolve(undefined);
    await running;
  });

  it('forgets what waited when a queue has ended: a standby has nothing in back-off', async () => {
    const { inspection, event, run } = createDriver();
    await run('widgets', 'shop/a', { settled: { result: 'error', error: new Error('x'), nextMs: 5 } });
    event('widgets', 'shop/b', {});
    inspection.observer.ended?.('widgets');
    expect(inspection.keys().counts).toMatchObject({ failing: 0, waiting: 0, idle: 1 });
  });
});

describe('what is recorded', () => {
  const planted = 'hunter2-planted';

  it('has nothing of what objects contain, wherever it is served', async () => {
    const { inspection, event, run } = createDriver();
    const writing = answeringClient();
    const client = inspection.observeWrites(writing);
    const body = {
      metadata: { namespace: 'shop', name: 'a', annotations: { note: planted } },
      spec: { password: planted },
    };
    event('widgets', 'shop/a', {});
    const invalid = Object.assign(new Error(`Widget "a" is invalid: spec.password: Invalid value: "${planted}"`), {
      name: 'StatusError',
      code: 'KCTL_STATUS',
      httpCode: 422,
      status: {
        code: 422,
        reason: 'Invalid',
        message: planted,
        details: {
          name: planted,
          kind: 'widgets',
          group: 'example.com',
          causes: [{ field: `metadata.annotations[${planted}]`, reason: 'FieldValueInvalid', message: planted }],
        },
      },
    });
    await run('widgets', 'shop/a', {
      reasons: [planted],
      work: async () => {
        await client.create(Widget, body);
        await client.update(Widget, body);
        await client.patch(Widget, { namespace: 'shop', name: 'a' }, { type: 'apply', body });
        writing.create = () => Promise.reject(invalid);
        await inspection
          .observeWrites(writing)
          .create(Widget, body)
          .catch(() => undefined);
      },
      settled: { result: 'error', error: new Error('wrapped', { cause: invalid }), nextMs: 5 },
    });
    const odd = new TypeError(`cannot read ${planted}\n    at file:///srv/${planted}.ts:1:1`);
    odd.name = planted.replace('-', ' ');
    await run('widgets', 'shop/b', { settled: { result: 'terminal', error: odd } });
    await run('widgets', 'shop/c', { settled: { result: 'error', error: planted } });
    const everything = JSON.stringify([
      inspection.keys(),
      inspection.timeline({ key: 'shop/a' }),
      inspection.timeline({ key: 'shop/b' }),
      inspection.overview(),
      inspection.rights(),
      inspection.graph(),
    ]);
    expect(everything).not.toContain(planted);
    expect(everything).toContain('422 Invalid: widgets.example.com: metadata.annotations[] (FieldValueInvalid)');
    expect(inspection.keys({ search: 'shop/b' }).rows[0]?.lastFailure).toMatch(/^Error at .*recorder\.test\.ts:\d+$/);
    expect(recorded(inspection)).not.toContain(planted);
  });

  it('holds nothing of it either: the store, walked', async () => {
    const store = new CycleStore({ budgetBytes: 1_000_000, maxRunsPerKey: 10, at: 0 });
    const names = new HiddenNames(false);
    const clock = new FakeClock();
    const recorder = new Recorder({
      store,
      names,
      clock,
      recordErrorMessages: false,
      reconcilesSecrets: () => undefined,
    });
    const source = 'kind source: Secret';
    const header = { resourceVersion: '1', labels: { planted }, name: planted } as never;
    const cause = { source, type: 'update', name: `shop/${planted}`, header } as const;
    recorder.queued('widgets', 'shop/a', { cause, reason: `${source} update shop/${planted}` });
    const context = { attempt: 1, reasons: [`${source} update shop/${planted}`, planted], reconcileId: 'id' } as never;
    const tally = recorder.started('widgets', 'shop/a', context);
    recorder.settled(tally, { result: 'error', error: new Error(planted), nextMs: 5, isLooping: false });
    recorder.queued('secrets', `shop/${planted}`, { cause: { ...cause, name: `shop/${planted}` } });
    const texts = textsOf([store.timelines(), recorder.active].map((each) => [...each]));
    expect(texts).toContain('shop/a');
    expect(texts.join('\n')).not.toContain(planted);
  });

  it('has messages of errors where they are asked for', async () => {
    const { inspection, run } = createDriver({ recordErrorMessages: true });
    await run('widgets', 'shop/a', { settled: { result: 'error', error: new RangeError('7 is too many') } });
    expect(inspection.keys().rows[0]?.lastFailure).toMatch(/^RangeError at .*: 7 is too many$/);
  });

  it('has no names of Secrets: not as keys, nor in events, reasons and writes', async () => {
    const { inspection, event, run } = createDriver();
    const client = inspection.observeWrites(answeringClient());
    const source = 'kind source: Secret (metadata)';
    // Of a controller that owns Secrets the keys are names of other objects.
    event('widgets', 'shop/a', { source, name: `shop/${planted}`, resourceVersion: '101' });
    await run('widgets', 'shop/a', {
      work: async () => void (await client.create(Secret, { metadata: { namespace: 'shop', name: planted } })),
    });
    await run('widgets', 'shop/b', { reasons: [`${source} update shop/${planted}`] });
    // What reconciles Secrets shows it by its first event.
    await run('secrets', `shop/${planted}-early`);
    event('secrets', `shop/${planted}`, { source, name: `shop/${planted}` });
    await run('secrets', `shop/${planted}`);
    expect(recorded(inspection)).not.toContain(planted);
    const [cycle] = inspection.timeline({ key: 'shop/a' }).cycles;
    expect(cycle?.events[0]?.object).toMatch(/^shop\/#[0-9a-f]{8}$/);
    expect(cycle?.writes[0]).toMatchObject({ verb: 'create', kind: 'Secret', object: cycle?.events[0]?.object });
    // The same mark for the same name, so that the run and its event are still joined.
    expect(cycle?.events[0]?.causedBy?.key).toBe('shop/a');
    expect(inspection.keys({ controller: 'secrets' }).rows.map(({ key }) => key)).toEqual([
      expect.stringMatching(/^shop\/#[0-9a-f]{8}$/),
    ]);
  });

  it('marks the Secret of an object with the same name, and nothing else of the object', async () => {
    const { inspection, event, run } = createDriver();
    const need = { group: 'example.com', resource: 'widgets', verbs: ['get'], reason: 'for(Widget)' };
    inspection.attach({
      controllers: () => [{ name: 'widgets', accessNeeds: () => [need] }],
      clusters: () => [],
    } as never);
    const client = inspection.observeWrites(answeringClient());
    event('widgets', 'shop/orders', { type: 'create', resourceVersion: '7' });
    await run('widgets', 'shop/orders', {
      work: async () => {
        await client.create(Secret, { metadata: { namespace: 'shop', name: 'orders' } });
        await client.create(Widget, { metadata: { namespace: 'shop', name: 'orders' } });
      },
    });
    event('widgets', 'shop/orders', { source: 'kind source: Secret', name: 'shop/orders', resourceVersion: '101' });
    await run('widgets', 'shop/orders');
    expect(inspection.keys().rows).toMatchObject([{ key: 'shop/orders', runs: 2 }]);
    const { cycles } = inspection.timeline({ key: 'shop/orders' });
    const marked = expect.stringMatching(/^shop\/#[0-9a-f]{8}$/) as string;
    expect(cycles).toMatchObject([
      { events: [{ source: 'kind source: Secret', object: marked, causedBy: { key: 'shop/orders' } }] },
      { events: [{ object: 'shop/orders' }], writes: [{ object: marked }, { object: 'shop/orders' }] },
    ]);
  });

  it('has names of Secrets where they are asked for', async () => {
    const { inspection, event } = createDriver({ recordSecretNames: true });
    event('secrets', 'shop/tls', { source: 'kind source: Secret' });
    expect(inspection.keys().rows[0]?.key).toBe('shop/tls');
  });
});

/** Everything that can be asked for, walked. */
function recorded(inspection: ReturnType<typeof createInspection>): string {
  const { rows } = inspection.keys({ limit: 500 });
  const timelines = rows.map(({ key }) => inspection.timeline({ key }));
  return textsOf([rows, timelines, inspection.overview(), inspection.graph(), inspection.rights()]).join('\n');
}

/** Every text that a value leads to, keys of tables included. */
function textsOf(root: unknown): string[] {
  const seen = new Set<unknown>();
  const texts: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    if (value instanceof Map) for (const entry of value) entry.forEach(walk);
    else if (value instanceof Set) value.forEach(walk);
    else
      for (const field of Reflect.ownKeys(value)) {
        texts.push(String(field));
        walk(Reflect.get(value, field));
      }
  };
  walk(root);
  return texts;
}

it('names every option that is not valid', () => {
  const given = { budgetBytes: 10, maxRunsPerKey: 0.5, recordSecretNames: 'yes', budget: 1 } as never;
  expect(() => createInspection(given)).toThrow(
    /budget.*budgetBytes 10.*maxRunsPerKey 0\.5.*recordSecretNames "yes" is not valid: expected true or false/s,
  );
});
