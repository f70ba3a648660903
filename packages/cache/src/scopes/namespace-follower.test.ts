import { StatusError } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { NamespaceScopes } from '../cache-options.js';
import { createNamespaceFollower } from './namespace-follower.js';
import type { NamespaceFollower, NamespaceFollowerOptions } from './namespace-follower.js';

/** A server of Namespaces that a test changes, and a cache that notes what it is set to. */
class Stage {
  readonly clock = new FakeClock();
  readonly set: string[][] = [];
  readonly lists: unknown[] = [];
  readonly stop = new AbortController();
  setNamespaces: (namespaces: NamespaceScopes) => Promise<void> = () => Promise.resolve();
  #version = 10;
  #send: ((event: { type: string; object: KubeObject }) => void) | undefined;
  readonly #names: Set<string>;

  constructor(...names: string[]) {
    this.#names = new Set(names);
  }

  follow(options: Partial<NamespaceFollowerOptions>): NamespaceFollower {
    const client = {
      list: (_kind: unknown, listOptions: object) => {
        this.lists.push(listOptions);
        const items = [...this.#names].map((name) => this.#namespace(name));
        return Promise.resolve({ metadata: { resourceVersion: '10' }, items });
      },
      watch: (_kind: unknown, { signal, sendInitialEvents }: { signal?: AbortSignal; sendInitialEvents?: boolean }) => {
        if (sendInitialEvents === true)
          return Promise.reject(new StatusError({ kind: 'Status', status: 'Failure', code: 422, reason: 'Invalid' }));
        const queue: unknown[] = [];
        let wake = (): void => undefined;
        this.#send = (event) => {
          queue.push(event);
          wake();
        };
        signal?.addEventListener('abort', () => wake(), { once: true });
        return Promise.resolve({
          async *[Symbol.asyncIterator]() {
            while (signal?.aborted !== true) {
              while (queue.length > 0) yield queue.shift();
              await new Promise<void>((resolve) => (wake = resolve));
            }
          },
          [Symbol.asyncDispose]: () => Promise.resolve(),
        });
      },
    };
    return createNamespaceFollower({
      client: client as never,
      clock: this.clock,
      random: () => 0,
      cache: {
        setNamespaces: (namespaces) => {
          this.set.push(Object.keys(namespaces));
          return this.setNamespaces(namespaces);
        },
      },
      ...options,
    });
  }

  async add(name: string): Promise<void> {
    this.#version++;
    this.#send?.({ type: 'ADDED', object: this.#namespace(name) });
    await settle();
  }

  async remove(name: string): Promise<void> {
    this.#version++;
    this.#send?.({ type: 'DELETED', object: this.#namespace(name) });
    await settle();
  }

  #namespace(name: string): KubeObject {
    const resourceVersion = String(this.#version);
    return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, uid: `u-${name}`, resourceVersion } };
  }
}

describe('createNamespaceFollower', () => {
  it('sets a cache to the namespaces that patterns choose, and follows them', async () => {
    const stage = new Stage('team-red', 'team-x', 'default');
    const follower = stage.follow({
      names: ['team-*', '!team-x'],
      labelSelector: 'watched=yes',
      scope: { labelSelector: 'a=b' },
    });
    // Until they are known, none: not all.
    expect(stage.set).toEqual([[]]);
    const running = follower.run(stage.stop.signal);
    await follower.waitForReady(stage.stop.signal);
    expect(stage.set).toEqual([[], ['team-red']]);
    expect(stage.lists[0]).toMatchObject({ labelSelector: 'watched=yes' });
    await stage.add('team-blue');
    await stage.add('other');
    expect(follower.namespaces).toEqual(['team-blue', 'team-red']);
    await stage.remove('team-red');
    expect(follower.namespaces).toEqual(['team-blue']);
    expect(stage.set.at(-1)).toEqual(['team-blue']);
    stage.stop.abort();
    await running;
  });

  it('makes one turn of what changes while the cache is set, and goes on where that fails', async () => {
    const stage = new Stage('a');
    const follower = stage.follow({});
    const running = follower.run(stage.stop.signal);
    await follower.waitForReady(stage.stop.signal);
    const gate = Promise.withResolvers<undefined>();
    stage.setNamespaces = () => gate.promise;
    await stage.add('b');
    await stage.add('c');
    await stage.add('d');
    expect(stage.set.at(-1)).toEqual(['a', 'b']);
    gate.reject(new Error('a namespace was gone'));
    await settle();
    expect(stage.set.slice(2)).toEqual([
      ['a', 'b'],
      ['a', 'b', 'c', 'd'],
    ]);
    stage.stop.abort();
    await running;
  });

  it('sets what the cache refused again, later and later, without a further change', async () => {
    const stage = new Stage('a');
    const follower = stage.follow({});
    const running = follower.run(stage.stop.signal);
    await follower.waitForReady(stage.stop.signal);
    let failures = 2;
    stage.setNamespaces = async () => {
      if (failures-- > 0) throw new Error('not now');
    };
    await stage.add('b');
    expect(stage.set).toHaveLength(3);
    await stage.clock.advance(1000);
    expect(stage.set).toHaveLength(4);
    await stage.clock.advance(1999);
    expect(stage.set).toHaveLength(4);
    await stage.clock.advance(1);
    expect(stage.set.slice(2)).toEqual([
      ['a', 'b'],
      ['a', 'b'],
      ['a', 'b'],
    ]);
    await stage.clock.advance(600_000);
    expect(stage.set).toHaveLength(5);
    failures = 1;
    await stage.add('c');
    stage.stop.abort();
    await running;
    expect(stage.clock.pendingTimers).toBe(0);
  });

  it('does not let a namespace that cannot be listed hold up those that come later, nor the stop', async () => {
    const stage = new Stage('a');
    stage.setNamespaces = () => new Promise(() => undefined);
    const follower = stage.follow({});
    const running = follower.run(stage.stop.signal);
    await settle();
    let isReady = false;
    void follower.waitForReady(stage.stop.signal).then(
      () => (isReady = true),
      () => undefined,
    );
    await stage.add('b');
    expect(stage.set).toEqual([[], ['a']]);
    await stage.clock.advance(10_000);
    expect(stage.set).toEqual([[], ['a'], ['a', 'b']]);
    stage.setNamespaces = () => Promise.resolve();
    await stage.clock.advance(10_000);
    await stage.add('c');
    expect(stage.set.at(-1)).toEqual(['a', 'b', 'c']);
    // The first are not there yet.
    expect(isReady).toBe(false);
    stage.setNamespaces = () => new Promise(() => undefined);
    await stage.add('d');
    stage.stop.abort();
    await running;
    expect(stage.clock.pendingTimers).toBe(0);
  });

  it('does not end the process where the cache refuses to be empty, and is ready without any namespace', async () => {
    const stage = new Stage();
    stage.setNamespaces = () => Promise.reject(new Error('not now'));
    const follower = stage.follow({});
    await settle();
    stage.setNamespaces = () => Promise.resolve();
    // Which is no run.
    await expect(follower.run(undefined as never)).rejects.toThrow('run needs an AbortSignal');
    const running = follower.run(stage.stop.signal);
    await follower.waitForReady(stage.stop.signal);
    expect(stage.set).toEqual([[], []]);
    await expect(follower.run(stage.stop.signal)).rejects.toThrow('the follower was started already');
    await stage.add('a');
    expect(stage.set.at(-1)).toEqual(['a']);
    stage.stop.abort();
    await running;
  });

  it('says that it is not ready where it ends before', async () => {
    const stage = new Stage();
    const follower = stage.follow({});
    const waiting = follower.waitForReady(new AbortController().signal);
    stage.stop.abort();
    await follower.run(stage.stop.signal);
    await expect(waiting).rejects.toThrow('the follower has stopped');
    await expect(follower.waitForReady(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  });

  it('refuses what is not valid', () => {
    const stage = new Stage();
    expect(() => stage.follow({ names: ['Team'] })).toThrow('name pattern "Team" is not valid');
    expect(() => stage.follow({ labelSelector: 'a in' })).toThrow();
    expect(() => stage.follow({ namespaces: ['a'] } as never)).toThrow('unknown option "namespaces"');
  });
});
