import { defineKind, StatusError } from '@kctl/apimachinery';
import type { Client } from '@kctl/client';
import { noopLogger } from '@kctl/telemetry';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { ReconcileContext } from '../reconciler/reconciler.js';
import { conditionOf } from './condition-of.js';
import { writeStatus } from './write-status.js';
import { reconcileObject, type ObjectContext, type ReconcileObjectOptions } from './reconcile-object.js';

const Thing = defineKind({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });
const Child = defineKind({ group: '', version: 'v1', kind: 'ConfigMap', scope: 'Namespaced' });
const ClusterChild = defineKind({ group: '', version: 'v1', kind: 'Namespace', scope: 'Cluster' });
const key = { namespace: 'n', name: 'a' };
const { signal } = new AbortController();
const context: ReconcileContext = {
  signal,
  superseded: new AbortController().signal,
  isSuperseded: true,
  logger: noopLogger,
  span: { setAttributes: () => undefined, recordError: () => undefined, end: () => undefined },
  reconcileId: 'r',
  attempt: 3,
  isLastAttempt: true,
  priority: 7,
  reasons: ['why'],
};
const refusal = (reason: 'Conflict' | 'NotFound' | 'Forbidden'): StatusError =>
  new StatusError({ reason, code: { Conflict: 409, NotFound: 404, Forbidden: 403 }[reason] });

interface Stored {
  metadata: {
    namespace: string;
    name: string;
    uid: string;
    resourceVersion: string;
    generation: number;
    deletionTimestamp?: string;
  };
  status?: object;
}
const stored = (over: Partial<Stored['metadata']> = {}, status?: object): Stored => ({
  metadata: { ...key, uid: 'u', resourceVersion: '1', generation: 1, ...over },
  ...(status === undefined ? {} : { status }),
});

it.each([
  [{}, 'writeStatus: the client has no status: expected a client with status'],
  [{ more: 1 }, 'writeStatus: unknown option "more"'],
])('writeStatus refuses a target with %j and a client that has nothing', async (more, message) => {
  const target = { client: {} as Client, kind: Thing, fieldOwner: 'me', ...more };
  await expect(writeStatus(target, stored() as never, { status: {}, signal })).rejects.toThrow(message);
  const update = 5 as never;
  const client = { status: () => undefined } as never;
  await expect(writeStatus({ client, kind: Thing, fieldOwner: 'me' }, stored() as never, update)).rejects.toThrow(
    'writeStatus: the options are 5: expected { status, signal }',
  );
});

it('takes nothing that is not a condition for the present one', () => {
  const observed = { type: 'Ready', reason: 'Ok', message: '', status: true };
  const present = {
    type: 'Ready',
    status: 'True',
    lastTransitionTime: '2026-01-01T00:00:00Z',
    reason: '',
    message: '',
  };
  const status = { conditions: [null, undefined, 5, 'Ready', { type: 5 }, present] };
  expect(conditionOf({ metadata: { name: 'a' }, status }, observed, 0)).toMatchObject({
    reason: 'Ok',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });
});

it('makes a condition of the generation that the object has, if it has one', () => {
  const observed = { type: 'Ready', reason: 'Ok', message: '', status: true };
  for (const generation of [{}, { generation: 3 }])
    expect(conditionOf({ metadata: { name: 'a', ...generation } }, observed, 0)).toStrictEqual({
      ...observed,
      status: 'True',
      lastTransitionTime: '1970-01-01T00:00:00Z',
      ...('generation' in generation && { observedGeneration: 3 }),
    });
});

/** A client of one object; the failures of status writes in order, and what each live read answers. */
function setUp(
  object: Stored | undefined,
  given: readonly Error[] = [],
  answers: readonly (Stored | Error | undefined)[] = [],
) {
  const [failures, live] = [[...given], [...answers]];
  const log: string[] = [];
  const patches: { body: unknown; options: object }[] = [];
  const answer = (found: Stored | Error | undefined): Promise<never> =>
    found === undefined || found instanceof Error
      ? Promise.reject(found ?? refusal('NotFound'))
      : Promise.resolve({ apiVersion: 'example.com/v1', kind: 'Thing', ...structuredClone(found) } as never);
  const client = {
    get: (_kind: unknown, _key: unknown, options: { live?: boolean }) => {
      log.push(options.live === true ? 'get live' : 'get');
      return answer(options.live === true ? live.shift() : object);
    },
    patch: (kind: { kind: string }, of: object, patch: { body: object }, options: object) => {
      log.push(`apply ${kind.kind}`);
      patches.push({ body: patch.body, options });
      return Promise.resolve({ ...patch.body, metadata: { ...of, uid: 'c', resourceVersion: '1' } });
    },
    status: () => ({
      patch: (_of: object, patch: { body: unknown }, options: object) => {
        log.push('status');
        const failure = failures.shift();
        if (failure !== undefined) return Promise.reject(failure);
        patches.push({ body: patch.body, options });
        return Promise.resolve({});
      },
    }),
  } as unknown as Client;
  const reconcile = (
    step: ReconcileObjectOptions<typeof Thing>['reconcile'],
    over: Partial<ReconcileObjectOptions<typeof Thing>> = {},
  ) => reconcileObject({ client, kind: Thing, fieldOwner: 'owner', reconcile: step, ...over });
  return { log, patches, reconcile };
}

it('gives the clean-up of a finalizer the whole context of the reconcile', async () => {
  const deleted = stored({ deletionTimestamp: '2026-01-01T00:00:00Z' });
  const t = setUp({ ...deleted, metadata: { ...deleted.metadata, finalizers: ['example.com/a'] } as never });
  const cleanup = async (_object: object, { client, apply, memo, condition }: ObjectContext) => {
    expect(client.get).toBeTypeOf('function');
    await apply(Child, { metadata: { name: 'tombstone' } });
    expect(memo(() => 1)).toBe(1);
    expect(condition('Gone', undefined, 'CleaningUp').status).toBe('Unknown');
  };
  const step = t.reconcile(async () => undefined, { finalizers: [{ name: 'example.com/a', cleanup }] });
  expect(await step(key, context)).toEqual({});
  expect(t.log).toEqual(['get', 'get', 'apply ConfigMap', 'apply Thing']);
});

it('makes conditions with the generation, and with the time of the last transition', async () => {
  const lastTransitionTime = '2025-01-01T00:00:00Z';
  const before = {
    type: 'Ready',
    status: 'True',
    reason: 'Old',
    message: 'old',
    observedGeneration: 1,
    lastTransitionTime,
  };
  const t = setUp(stored({ generation: 2 }, { conditions: [before] }));
  const found: unknown[] = [];
  const step = t.reconcile(
    async (_object, { condition }) => {
      found.push(
        condition('Ready', true, 'New', 'new'),
        condition('Ready', false, 'Lost'),
        condition('Other', true, 'Ok'),
      );
    },
    { clock: new FakeClock({ now: Date.UTC(2026, 0, 1) }) },
  );
  await step(key, context);
  const now = '2026-01-01T00:00:00Z';
  expect(found).toEqual([
    { ...before, reason: 'New', message: 'new', observedGeneration: 2 },
    { ...before, status: 'False', reason: 'Lost', message: '', observedGeneration: 2, lastTransitionTime: now },
    { type: 'Other', status: 'True', reason: 'Ok', message: '', observedGeneration: 2, lastTransitionTime: now },
  ]);
});

describe('the status that a reconcile returns', () => {
  it('is written beside its result, for the version that was read, as its field owner', async () => {
    const t = setUp(stored());
    const step = t.reconcile(async () => ({ status: { phase: 'Ready' } as never, requeueAfterMs: 5 }));
    expect(await step(key, context)).toEqual({ requeueAfterMs: 5 });
    expect(t.log).toEqual(['get', 'status']);
    expect(t.patches).toEqual([
      {
        body: { metadata: { resourceVersion: '1' }, status: { phase: 'Ready' } },
        options: { signal, fieldOwner: 'owner' },
      },
    ]);
  });

  it('is not written if it is as it was, or if there is none', async () => {
    const t = setUp(stored({}, { phase: 'Ready' }));
    for (const result of [{ status: { phase: 'Ready' } as never }, {}, undefined])
      expect(await t.reconcile(async () => result)(key, context)).toEqual({});
    expect(t.log).toEqual(['get', 'get', 'get']);
  });

  it.each<[unknown, string]>([
    [5, 'status is 5'],
    ['ready', 'status is "ready"'],
    [[], 'status is an array'],
  ])('cannot be %o', async (status, message) => {
    const t = setUp(stored());
    await expect(t.reconcile(async () => ({ status: status as never }))(key, context)).rejects.toThrow(
      `reconcile: ${message}: expected an object`,
    );
    expect(t.log).toEqual(['get']);
  });

  it('is written again for the newest version after a conflict, unless that has it', async () => {
    const status = { phase: 'Ready' };
    const t = setUp(stored(), [refusal('Conflict')], [stored({ resourceVersion: '2' }, { phase: 'Old' })]);
    await t.reconcile(async () => ({ status: status as never }))(key, context);
    expect(t.log).toEqual(['get', 'status', 'get live', 'status']);
    expect(t.patches[0]?.body).toMatchObject({ metadata: { resourceVersion: '2' }, status });
    const same = setUp(stored(), [refusal('Conflict')], [stored({ resourceVersion: '2' }, status)]);
    await same.reconcile(async () => ({ status: status as never }))(key, context);
    expect(same.log).toEqual(['get', 'status', 'get live']);
  });

  it.each<[string, Stored | undefined]>([
    ['has gone', undefined],
    ['is another of the name', stored({ uid: 'other', resourceVersion: '2' })],
    ['has another specification', stored({ generation: 2, resourceVersion: '2' })],
  ])('is left to the next reconcile if the object %s', async (_how, latest) => {
    const t = setUp(stored(), [refusal('Conflict')], [latest]);
    expect(await t.reconcile(async () => ({ status: {} as never }))(key, context)).toEqual({});
    expect(t.log).toEqual(['get', 'status', 'get live']);
  });

  it('fails after five conflicts', async () => {
    const latest = Array.from({ length: 9 }, (_, index) => stored({ resourceVersion: `${index}` }));
    const t = setUp(
      stored(),
      Array.from({ length: 9 }, () => refusal('Conflict')),
      latest,
    );
    await expect(t.reconcile(async () => ({ status: {} as never }))(key, context)).rejects.toMatchObject({
      httpCode: 409,
    });
    expect(t.log.filter((line) => line === 'status')).toHaveLength(5);
  });

  it.each<[string, Error, (Stored | Error | undefined)[], string[]]>([
    ['a refusal', refusal('Forbidden'), [], ['get', 'status']],
    ['a resource without status', refusal('NotFound'), [stored()], ['get', 'status', 'get live']],
    ['a read that fails', refusal('Conflict'), [refusal('Forbidden')], ['get', 'status', 'get live']],
  ])('fails for %s', async (_what, failure, live, log) => {
    const t = setUp(stored(), [failure], live);
    const run = t.reconcile(async () => ({ status: {} as never }))(key, context);
    await expect(run).rejects.toBeInstanceOf(StatusError);
    expect(t.log).toEqual(log);
  });

  it('is nothing for an object that has gone meanwhile', async () => {
    const t = setUp(stored(), [refusal('NotFound')], [undefined]);
    expect(await t.reconcile(async () => ({ status: {} as never }))(key, context)).toEqual({});
  });
});

describe('an object', () => {
  it('that is being deleted, or does not exist, is not reconciled', async () => {
    for (const object of [undefined, stored({ deletionTimestamp: '2026-01-01T00:00:00Z' })]) {
      let runs = 0;
      expect(await setUp(object).reconcile(async () => void runs++)(key, context)).toEqual({});
      expect(runs).toBe(0);
    }
  });

  it('that is being deleted is cleaned up with finalizers', async () => {
    const object = stored({ deletionTimestamp: '2026-01-01T00:00:00Z' });
    Object.assign(object.metadata, { finalizers: ['example.com/x'] });
    const cleaned: string[] = [];
    const t = setUp(object);
    const finalizers = [{ name: 'example.com/x', cleanup: async () => void cleaned.push('x') }];
    await t.reconcile(async () => void cleaned.push('reconciled'), { finalizers })(key, context);
    expect(cleaned).toEqual(['x']);
  });

  it('has state in memory, until it has gone', async () => {
    const seen: number[] = [];
    let object: Stored | undefined = stored();
    const client = {
      get: () => (object === undefined ? Promise.reject(refusal('NotFound')) : Promise.resolve(object)),
    };
    const step = setUp(undefined).reconcile(
      async (_object, { memo }) => void seen.push(++memo(() => ({ runs: 0 })).runs),
      { client: client as never },
    );
    await step(key, context);
    await step(key, context);
    object = undefined;
    await step(key, context);
    object = stored();
    await step(key, context);
    expect(seen).toEqual([1, 2, 1]);
  });

  it('is reconciled with all that the controller knows of the run', async () => {
    let seen: ObjectContext | undefined;
    await setUp(stored()).reconcile(async (_object, given) => void (seen = given))(key, context);
    for (const [field, value] of Object.entries(context))
      expect([field, Reflect.get(seen!, field)]).toEqual([field, value]);
  });

  it('is not reconciled to something else: the controller reports it', async () => {
    expect(await setUp(stored()).reconcile((async () => 5) as never)(key, context)).toBe(5);
  });
});

describe('a child', () => {
  it.each<[string, typeof Child | typeof ClusterChild, object, object, object]>([
    [
      'is owned, in the namespace of its owner',
      Child,
      { name: 'c' },
      {},
      { namespace: 'n', owners: ['a'], force: true },
    ],
    ['may be its own', Child, { name: 'c' }, { owned: false }, { namespace: 'n', owners: [], force: true }],
    [
      'may be elsewhere',
      Child,
      { name: 'c', namespace: 'm' },
      { owned: false },
      { namespace: 'm', owners: [], force: true },
    ],
    [
      'may have no namespace',
      ClusterChild,
      { name: 'c' },
      { owned: false },
      { namespace: undefined, owners: [], force: true },
    ],
    [
      'may leave the fields of others',
      Child,
      { name: 'c' },
      { force: false },
      { namespace: 'n', owners: ['a'], force: false },
    ],
  ])('%s', async (...[, kind, metadata, options, expected]) => {
    const t = setUp(stored());
    const configuration = { metadata } as { metadata: { name: string } };
    await t.reconcile(async (_object, { apply }) => void (await apply(kind, configuration, options)))(key, context);
    const { body, options: sent } = t.patches[0] as never as {
      body: { metadata: { namespace?: string; ownerReferences?: { name: string; controller: boolean }[] } };
      options: { force: boolean; fieldOwner: string };
    };
    const { namespace, ownerReferences = [] } = body.metadata;
    const owners = ownerReferences.filter(({ controller }) => controller).map(({ name }) => name);
    expect({ namespace, owners, force: sent.force }).toEqual(expected);
    expect(sent.fieldOwner).toBe('owner');
    expect(metadata).toEqual(configuration.metadata); // what the caller gave is as it was
  });
});

it.each<[object, string]>([
  [{ reconcile: undefined }, 'reconcileObject: reconcile is of type undefined: give a function'],
  [{ kind: undefined }, 'asReconciler'],
  [{ client: {} }, 'client'],
  [{ finalizers: [{ name: '' }] }, 'finalizers'],
  [{ reconcil: 1 }, 'unknown option "reconcil"'],
])('refuses %o', (over, message) => {
  expect(() => setUp(undefined).reconcile(async () => undefined, over)).toThrow(message);
});
