import type { Kind, KubeObject } from '@kctl/apimachinery';
import { StatusError } from '@kctl/apimachinery';
import type { Patch } from '@kctl/client';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { ReconcileContext, ReconcileResult } from '../src/index.js';
import { asReconciler, finalizing, reconcileObject } from '../src/index.js';
import { Pod, pod } from './fakes.js';
import { createRecordingLogger } from './recording-logger.js';
import { RecordingMetrics } from './recording-metrics.js';

const context = { signal: new AbortController().signal } as ReconcileContext;
const [mine, other] = ['example.com/mine', 'example.com/other'];

/** A server of one object that understands the two patches there are. */
function createServer(object: KubeObject | undefined, log: string[]) {
  const server = { object, fail: undefined as StatusError | undefined };
  const client = {
    patch: async (_kind: unknown, _key: unknown, patch: Patch) => {
      if (server.fail !== undefined) throw server.fail;
      const current = server.object;
      if (current === undefined) throw new StatusError({ code: 404, reason: 'NotFound' });
      if (patch.type !== 'json') throw new Error('unexpected patch');
      let finalizers = [...(current.metadata.finalizers ?? [])];
      for (const operation of patch.operations) {
        const index = Number(operation.path.split('/')[3]);
        if (operation.op === 'test') {
          const field = operation.path.split('/')[2];
          const actual = field === 'resourceVersion' || field === 'uid' ? current.metadata[field] : finalizers[index];
          if (actual !== operation.value) throw new StatusError({ code: 422, reason: 'Invalid' });
        } else if (operation.op === 'remove') finalizers.splice(index, 1);
        else if (operation.op === 'add')
          finalizers = Array.isArray(operation.value)
            ? (operation.value as string[])
            : [...finalizers, operation.value as string];
      }
      const next = { ...current, metadata: { ...current.metadata, finalizers, resourceVersion: '2' } };
      server.object = current.metadata.deletionTimestamp !== undefined && finalizers.length === 0 ? undefined : next;
      log.push(`finalizers ${finalizers.join(',')}`);
      return next as never;
    },
  };
  return { server, client };
}

function setUp(
  object: ReturnType<typeof pod>,
  results: { cleanup?: ReconcileResult; isNeeded?: boolean; applied?: ReconcileResult } = {},
) {
  const log: string[] = [];
  const { server, client } = createServer(object, log);
  const step = finalizing<Kind<KubeObject, 'Namespaced'>>({
    client,
    kind: Pod,
    finalizers: [
      {
        name: mine,
        isNeeded: () => results.isNeeded ?? true,
        cleanup: async () => {
          log.push('clean up');
          return results.cleanup;
        },
      },
    ],
    apply: async ({ metadata }) => {
      log.push(`apply with ${(metadata.finalizers ?? []).join(',')}`);
      return results.applied;
    },
    clock: new FakeClock(),
  });
  return { log, server, run: (seen = object) => step(seen, context) };
}

describe('finalizing', () => {
  const deleted = (...finalizers: string[]) => pod('a', { finalizers, deletionTimestamp: '2026-01-01T00:00:00Z' });

  it('applies only when the finalizer is persisted', async () => {
    const t = setUp(pod('a'));
    await t.run();
    expect(t.log).toEqual([`finalizers ${mine}`, `apply with ${mine}`]);
  });

  it('keeps the finalizers of others', async () => {
    const t = setUp(pod('a', { finalizers: [other] }));
    await t.run();
    expect(t.log).toEqual([`finalizers ${other},${mine}`, `apply with ${other},${mine}`]);
    const gone = setUp(deleted(other, mine));
    await gone.run();
    expect(gone.log).toEqual(['clean up', `finalizers ${other}`]);
  });

  it('does not take the finalizer from another object of the name', async () => {
    const t = setUp(deleted(mine));
    t.server.object = { metadata: { ...deleted(mine).metadata, uid: 'another' } };
    expect(await t.run()).toEqual({ backoff: true });
    expect(t.server.object.metadata.finalizers).toEqual([mine]);
  });

  it('writes nothing when the finalizer is there, or not needed', async () => {
    const there = setUp(pod('a', { finalizers: [mine] }));
    await there.run();
    expect(there.log).toEqual([`apply with ${mine}`]);
    const unneeded = setUp(pod('a'), { isNeeded: false });
    await unneeded.run();
    expect(unneeded.log).toEqual(['apply with ']);
  });

  it('cleans up and removes a finalizer that is no longer needed, while the object stays', async () => {
    const t = setUp(pod('a', { finalizers: [other, mine] }), { isNeeded: false });
    await t.run();
    expect(t.log).toEqual(['clean up', `finalizers ${other}`, `apply with ${other}`]);
    const pending = setUp(pod('a', { finalizers: [mine] }), { isNeeded: false, cleanup: { requeueAfterMs: 500 } });
    expect(await pending.run()).toEqual({ requeueAfterMs: 500 });
    expect(pending.log).toEqual(['clean up', `apply with ${mine}`]);
  });

  it.each([
    [{ requeueAfterMs: 700 }, { requeueAfterMs: 500 }],
    [{ requeueAfterMs: 300 }, { requeueAfterMs: 300 }],
    [{ requeueAfterMs: -5 }, { requeueAfterMs: -5 }],
  ])('runs again at the earlier of two times: %j or after 500 ms', async (applied, expected) => {
    const cleanup = { requeueAfterMs: 500 };
    const t = setUp(pod('a', { finalizers: [mine] }), { isNeeded: false, cleanup, applied });
    expect(await t.run()).toEqual(expected);
  });

  it.each([
    ['each of several finalizers', deleted(mine, other, 'example.com/third'), ['example.com/third']],
    ['no more once the object has gone', deleted(mine, other), []],
  ])('cleans up %s', async (what, object, left) => {
    const log: string[] = [];
    const { server, client } = createServer(object, log);
    const finalizers = [mine, other].map((name) => ({
      name,
      cleanup: async () => {
        log.push(`clean up ${name}`);
        if (what.startsWith('no more')) server.object = undefined;
      },
    }));
    const step = finalizing<Kind<KubeObject, 'Namespaced'>>({
      client,
      kind: Pod,
      finalizers,
      apply: async () => undefined,
    });
    expect(await step(object, context)).toEqual({});
    expect(server.object?.metadata.finalizers ?? []).toEqual(left);
    expect(log.filter((line) => line.startsWith('clean up'))).toHaveLength(left.length + 1);
  });

  it('keeps the finalizer while the clean-up is not done', async () => {
    const t = setUp(deleted(mine), { cleanup: { requeueAfterMs: 500 } });
    expect(await t.run()).toEqual({ requeueAfterMs: 500 });
    expect(t.log).toEqual(['clean up']);
  });

  it.each<ReconcileResult>([{ requeueAfterMs: 0 }, { requeueAfterMs: -5 }, { requeueAfterMs: -1e9, keep: true }])(
    'keeps the finalizer when the clean-up asks for another run now: %j',
    async (cleanup) => {
      const t = setUp(deleted(mine), { cleanup });
      expect(await t.run()).toEqual(cleanup);
      expect(t.log).toEqual(['clean up']);
    },
  );

  it.each<[unknown, string]>([
    [{ requeueAfterMs: Number.NaN }, 'requeueAfterMs NaN is not valid'],
    [{ requeueAfterMs: Infinity }, 'requeueAfterMs Infinity is not valid'],
    [{ requeueAfter: 5 }, 'unknown field "requeueAfter"'],
    ['later', 'the result "later" is not valid'],
  ])('keeps the finalizer when the clean-up returns %j', async (cleanup, problem) => {
    const t = setUp(deleted(mine), { cleanup: cleanup as ReconcileResult });
    await expect(t.run()).rejects.toThrow(problem);
    expect(t.log).toEqual(['clean up']);
  });

  it('does nothing to a deleted object that only others hold', async () => {
    const t = setUp(deleted(other));
    expect(await t.run()).toEqual({});
    expect(t.log).toEqual([]);
  });

  it('tries again when the object has changed meanwhile, without applying', async () => {
    const t = setUp(pod('a', { resourceVersion: '2' }));
    expect(await t.run(pod('a', { resourceVersion: '1' }))).toEqual({ backoff: true });
    const shifted = setUp(deleted(mine));
    expect(await shifted.run(deleted(other, mine))).toEqual({ backoff: true });
    expect([t.log, shifted.log]).toEqual([[], ['clean up']]);
  });

  it('is done when the object is gone, and fails on what else the server says', async () => {
    const t = setUp(deleted(mine));
    t.server.object = undefined;
    expect(await t.run()).toEqual({});
    const added = setUp(pod('a'));
    added.server.object = undefined;
    expect([await added.run(), added.log]).toEqual([{}, []]);
    t.server.fail = new StatusError({ code: 403, reason: 'Forbidden' });
    await expect(t.run()).rejects.toThrow(StatusError);
  });
});

describe('a finalizer that the server refuses', () => {
  const invalid = new StatusError({
    code: 422,
    reason: 'Invalid',
    message: 'Pod "a" is invalid: metadata.finalizers: Invalid value: "bucket"',
    details: { causes: [{ reason: 'FieldValueInvalid', field: 'metadata.finalizers', message: 'Invalid value' }] },
  });

  it('fails the reconcile with the reason, instead of waiting for a change', async () => {
    const adding = setUp(pod('a'));
    adding.server.fail = invalid;
    await expect(adding.run()).rejects.toBe(invalid);
    expect(adding.log).toEqual([]);
  });

  it('does so where it is to be removed', async () => {
    const removing = setUp(pod('a', { finalizers: [mine], deletionTimestamp: '2026-01-01T00:00:00Z' }));
    removing.server.fail = invalid;
    await expect(removing.run()).rejects.toBe(invalid);
    expect(removing.log).toEqual(['clean up']);
  });

  const cleanup = async (): Promise<undefined> => undefined;
  it.each<[unknown, string]>([
    [undefined, 'finalizing: finalizers'],
    [{ name: mine, cleanup }, 'finalizers is a value of type object: expected a list of finalizers'],
    [[null], 'finalizers[0] is null: expected { name, cleanup }'],
    [[{ name: '', cleanup }], 'finalizers[0].name is not set'],
    [[{ name: mine }], 'finalizers[0].cleanup is undefined: expected a function'],
    [
      [
        { name: mine, cleanup },
        { name: mine, cleanup },
      ],
      'finalizers[1].name "example.com/mine" is there twice: the second would never clean up',
    ],
  ])('is refused before it is used: %j', (finalizers, problem) => {
    const client = createServer(pod('a'), []).client;
    const given = { client, kind: Pod, finalizers: finalizers as never, apply: cleanup };
    expect(() => finalizing(given)).toThrow(problem);
    if (finalizers !== undefined)
      expect(() =>
        reconcileObject({ ...given, client: client as never, fieldOwner: 'test', reconcile: cleanup }),
      ).toThrow(problem);
  });
});

describe('a clean-up that is stuck', () => {
  const began = Date.parse('2026-01-01T00:00:00Z');
  const deleted = pod('a', { finalizers: [mine], deletionTimestamp: '2026-01-01T00:00:00Z' });

  it.each<[string, () => Promise<ReconcileResult>]>([
    ['fails', () => Promise.reject(new Error('the bucket is in use'))],
    ['asks for another run', () => Promise.resolve({ requeueAfterMs: 1000 })],
  ])('is counted, logged and told where it %s, from 10 minutes on', async (_how, cleanup) => {
    const clock = new FakeClock({ now: began });
    const metrics = new RecordingMetrics();
    const logger = createRecordingLogger();
    const told: string[] = [];
    const step = finalizing<Kind<KubeObject, 'Namespaced'>>({
      client: createServer(deleted, []).client,
      kind: Pod,
      finalizers: [{ name: mine, cleanup }],
      apply: async () => undefined,
      clock,
      metrics,
      onStuck: async (object, { finalizer, sinceMs, error }) => {
        told.push(`${object.metadata.name} ${finalizer} ${sinceMs} ${String(error)}`);
        throw new Error('no status today');
      },
    });
    const run = (): Promise<unknown> => step(deleted, { ...context, logger }).catch((error: unknown) => error);
    const count = (): number | undefined =>
      metrics.read('kctl_finalizer_stuck_cleanups_total', { kind: 'Pod', finalizer: mine });
    await clock.advance(599_999);
    const before = await run();
    expect([told, count() ?? 0, logger.lines]).toEqual([[], 0, []]);
    await clock.advance(1);
    expect(await run()).toEqual(before);
    const reason = before instanceof Error ? String(before) : 'undefined';
    expect([told, count()]).toEqual([[`a ${mine} 600000 ${reason}`], 1]);
    expect(logger.lines.map(({ level, message }) => `${level}: ${message}`)).toEqual([
      'warn: a clean-up keeps a deleted object for long',
      'error: onStuck failed',
    ]);
  });
});

describe('asReconciler', () => {
  it('hands over the object, and takes its absence for a success', async () => {
    const seen: string[] = [];
    const notFound = new StatusError({ code: 404, reason: 'NotFound' });
    const reconcile = asReconciler({
      client: {
        get: (_kind, key) =>
          'name' in key && key.name === 'a' ? Promise.resolve(pod('a') as never) : Promise.reject(notFound),
      },
      kind: Pod,
      reconcile: async ({ metadata }) => {
        seen.push(metadata.name);
        return { backoff: true };
      },
    });
    expect(await reconcile({ namespace: 'default', name: 'a' }, context)).toEqual({ backoff: true });
    expect(await reconcile({ namespace: 'default', name: 'b' }, context)).toEqual({});
    await expect(reconcile({ name: 'a' }, context)).rejects.toThrow('needs a namespace');
    expect(seen).toEqual(['a']);
  });

  it.each([0, -1])('passes on a requeue after %d ms', async (requeueAfterMs) => {
    const reconcile = asReconciler({
      client: { get: () => Promise.resolve(pod('a') as never) },
      kind: Pod,
      reconcile: async () => ({ requeueAfterMs }),
    });
    expect(await reconcile({ namespace: 'default', name: 'a' }, context)).toEqual({ requeueAfterMs });
  });
});
