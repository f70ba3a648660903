import { describe, expect, it } from 'vitest';
import type { LeaderElectionRecord, ResourceLock } from '../record.js';

/** Makes locks on one fresh object. */
export interface ResourceLockFixture {
  /** A lock of a candidate on the object; locks of one fixture compete for the same object. */
  readonly lock: (identity: string) => ResourceLock;
  readonly dispose?: () => Promise<void> | void;
}

/** Declares the tests. `create` is called for each of them. */
export function resourceLockConformance(
  name: string,
  create: () => Promise<ResourceLockFixture> | ResourceLockFixture,
): void {
  const withFixture = (test: (fixture: ResourceLockFixture) => Promise<void>) => async (): Promise<void> => {
    const fixture = await create();
    try {
      await test(fixture);
    } finally {
      await fixture.dispose?.();
    }
  };
  describe(`ResourceLock: ${name}`, () => {
    it(
      'knows its identity and describes itself',
      withFixture(async ({ lock }) => {
        expect(lock('a').identity).toBe('a');
        expect(lock('a').description).not.toBe('');
        await Promise.resolve();
      }),
    );

    it(
      'has no record before somebody creates it',
      withFixture(async ({ lock }) => {
        expect(await lock('a').get()).toBeUndefined();
      }),
    );

    it(
      'reads back what was created, by any candidate',
      withFixture(async ({ lock }) => {
        const created = await lock('a').create(record('a'));
        expect(created.record).toEqual(record('a'));
        const seen = await lock('b').get();
        expect(seen?.record).toEqual(record('a'));
        expect(seen?.fingerprint).toBe(created.fingerprint);
      }),
    );

    it(
      'lets one of two creators win',
      withFixture(async ({ lock }) => {
        const results = await Promise.allSettled([lock('a').create(record('a')), lock('b').create(record('b'))]);
        expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      }),
    );

    it(
      'lets one of two updates that are based on the same version win',
      withFixture(async ({ lock }) => {
        const [a, b] = [lock('a'), lock('b')];
        await a.create(record('a'));
        await b.get();
        await b.update(record('b'));
        await expect(a.update(record('a'))).rejects.toThrow();
        expect((await lock('c').get())?.record.holderIdentity).toBe('b');
      }),
    );

    it(
      'can update again after its own update',
      withFixture(async ({ lock }) => {
        const a = lock('a');
        await a.create(record('a'));
        await a.update({ ...record('a'), leaderTransitions: 1 });
        await a.update({ ...record('a'), leaderTransitions: 2 });
        expect((await lock('b').get())?.record.leaderTransitions).toBe(2);
      }),
    );

    it(
      'can update after reading again what it lost',
      withFixture(async ({ lock }) => {
        const [a, b] = [lock('a'), lock('b')];
        await a.create(record('a'));
        await b.get();
        await b.update(record('b'));
        await a.update(record('a')).catch(() => undefined);
        await a.get();
        await a.update(record('a'));
        expect((await b.get())?.record.holderIdentity).toBe('a');
      }),
    );

    it(
      'changes the fingerprint with every change, and only then',
      withFixture(async ({ lock }) => {
        const a = lock('a');
        const first = await a.create(record('a'));
        expect((await a.get())?.fingerprint).toBe(first.fingerprint);
        const second = await a.update({ ...record('a'), renewTime: '2026-01-01T00:00:02.000000Z' });
        expect(second.fingerprint).not.toBe(first.fingerprint);
      }),
    );

    it(
      'refuses an update before it knows a version',
      withFixture(async ({ lock }) => {
        await expect(lock('a').update(record('a'))).rejects.toThrow();
      }),
    );

    it(
      'ends a request whose signal is aborted',
      withFixture(async ({ lock }) => {
        await expect(lock('a').get({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow();
      }),
    );
  });
}

function record(holderIdentity: string): LeaderElectionRecord {
  const time = '2026-01-01T00:00:00.000000Z';
  return { holderIdentity, leaseDurationSeconds: 15, acquireTime: time, renewTime: time, leaderTransitions: 0 };
}
