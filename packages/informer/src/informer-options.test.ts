import type { KubeObject } from '@kctl/apimachinery';
import { defineKind, fieldSelectorFrom, labelSelectorFrom } from '@kctl/apimachinery';
import type { ListOptions } from '@kctl/client';
import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import type { InformerClient, ListerWatcher, SharedInformerOptions } from './index.js';
import { createSharedInformer, listerWatcherFor } from './index.js';

const kind = defineKind({ group: '', version: 'v1', kind: 'Thing', scope: 'Namespaced' });
const listerWatcher: ListerWatcher<KubeObject> = {
  list: () => Promise.reject(new Error('not here')),
  watch: () => Promise.reject(new Error('not here')),
};
const valid: SharedInformerOptions<KubeObject> = { kind, listerWatcher };
/** What a JavaScript program may pass in place of what the types ask for. */
const wrong = (options: Record<string, unknown>): SharedInformerOptions<KubeObject> => ({ ...valid, ...options });

describe('createSharedInformer', () => {
  it.each([
    [{ kind: undefined }, 'createSharedInformer: kind undefined is not valid: expected a kind, such as Pod of'],
    [{ kind: 'Pod' }, 'createSharedInformer: kind "Pod" is not valid: expected a kind'],
    [{ kind: {} }, 'createSharedInformer: kind of type object is not valid: expected a kind'],
    [
      { listerWatcher: undefined },
      'createSharedInformer: listerWatcher undefined is not valid: expected list and watch, or listFrames and watchFrames, such as listerWatcherFor(client, kind)',
    ],
    [{ listerWatcher: { list: listerWatcher } }, 'createSharedInformer: listerWatcher of type object is not valid'],
    [{ minWatchTimeoutMs: 999 }, 'createSharedInformer: minWatchTimeoutMs 999 is not valid: expected'],
    [{ pageSize: 0 }, 'createSharedInformer: pageSize 0 is not valid: expected an integer ≥ 1'],
    [{ idleTimeoutMs: '5s' }, 'createSharedInformer: idleTimeoutMs "5s" is not valid: expected a number of ms ≥ 1'],
    [{ listIdleTimeoutMs: Number.NaN }, 'createSharedInformer: listIdleTimeoutMs NaN is not valid'],
    [{ resyncMs: -1 }, 'createSharedInformer: resyncMs -1 is not valid: expected a number of ms ≥ 0'],
  ])('refuses %o by name, value and remedy', (options, message) => {
    expect(() => createSharedInformer(wrong(options))).toThrow(TypeError);
    expect(() => createSharedInformer(wrong(options))).toThrow(message);
  });

  it('refuses the same of a handler', () => {
    const informer = createSharedInformer(valid);
    expect(() => informer.addEventHandler({}, { resyncMs: Number.NaN })).toThrow(
      'addEventHandler: resyncMs NaN is not valid: expected a number of ms ≥ 0',
    );
  });
});

describe('listerWatcherFor', () => {
  it('refuses what is no client', () => {
    const nothing = undefined as unknown as InformerClient;
    expect(() => listerWatcherFor(nothing, kind)).toThrow(
      'listerWatcherFor: client undefined is not valid: expected a client, such as createHttpClient(…) of @kctl/client-http',
    );
    expect(() => listerWatcherFor({} as InformerClient, kind)).toThrow(
      'listerWatcherFor: client of type object is not valid',
    );
  });

  const client = { ...listerWatcher, get: () => Promise.reject(new Error('not here')) } as unknown as InformerClient;

  it('refuses a scope of which a part would go unnoticed: everything would be listed', () => {
    const scoped = (scope: object) => () => listerWatcherFor(client, kind, scope);
    expect(scoped({ namspace: 'shop' })).toThrow('unknown option "namspace": did you mean "namespace"?');
    expect(scoped({ namespace: 5 })).toThrow('listerWatcherFor: namespace is');
    expect(scoped({ labelSelector: 'app in (' })).toThrow('app in (');
    expect(scoped({ fieldSelector: 'nonsense' })).toThrow('nonsense');
    expect(scoped({ namespace: 'shop', labelSelector: { app: 'web' }, fieldSelector: 'spec.x=1' })).not.toThrow();
  });

  it('keeps to the scope that it was given, whatever becomes of it', async () => {
    const asked: string[] = [];
    const list = (_kind: unknown, { labelSelector = '', fieldSelector = '' }: ListOptions): Promise<never> => {
      asked.push(`${labelSelectorFrom(labelSelector).toString()} ${fieldSelectorFrom(fieldSelector).toString()}`);
      return Promise.reject(new Error('not here'));
    };
    const labelSelector = { app: 'web' };
    const fieldSelector: Record<string, string> = { 'spec.x': '1' };
    const source = listerWatcherFor({ ...client, list }, kind, { labelSelector, fieldSelector });
    labelSelector.app = 'db';
    fieldSelector['spec.y'] = '2';
    if ('list' in source) await source.list({}).catch(() => undefined);
    expect(asked).toEqual(['app=web spec.x=1']);
  });

  it.each([
    ['listFrames', { limit: 5, continue: 'more', resourceVersion: '7' }],
    ['watchFrames', { allowWatchBookmarks: true, sendInitialEvents: true, timeoutSeconds: 9, resourceVersion: '7' }],
  ] as const)('lets a client use the memory of each batch of %s again, within the scope', async (method, call) => {
    const calls: unknown[] = [];
    const refuse = (given: unknown, options: object): Promise<never> => {
      calls.push([given, options]);
      return Promise.reject(new Error('not here'));
    };
    const frames = { ...client, listFrames: refuse, watchFrames: refuse } as unknown as InformerClient;
    const source = listerWatcherFor(frames, kind, { namespace: 'shop', labelSelector: 'app=web' });
    expect('list' in source).toBe(false);
    if ('listFrames' in source) await expect(source[method](call)).rejects.toThrow('not here');
    expect(calls).toEqual([[kind, { ...call, namespace: 'shop', labelSelector: 'app=web', transient: true }]]);
  });

  it('reads live from a client that answers from a cache', async () => {
    const calls: unknown[] = [];
    const list = (_kind: unknown, options: object): Promise<never> => {
      calls.push(options);
      return Promise.reject(new Error('not here'));
    };
    const source = listerWatcherFor({ ...client, list }, kind, { fieldSelector: 'a=b' });
    if ('list' in source) await source.list({ limit: 5 }).catch(() => undefined);
    expect(calls).toEqual([{ limit: 5, fieldSelector: 'a=b', live: true }]);
  });

  it('takes objects of a client, and an informer of a source, that has no bytes to give', async () => {
    const half = { ...client, listFrames: undefined, watchFrames: undefined } as unknown as InformerClient;
    const source = { ...listerWatcherFor(half, kind), listFrames: undefined } as ListerWatcher<KubeObject>;
    const informer = createSharedInformer({ kind, listerWatcher: source });
    const stop = new AbortController();
    const run = informer.run(stop.signal);
    await settle();
    expect(informer.trouble?.message).toBe('not here');
    stop.abort();
    await run;
  });
});
