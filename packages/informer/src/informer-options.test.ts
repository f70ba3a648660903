import type { KubeObject } from '@kctl/apimachinery';
import { defineKind } from '@kctl/apimachinery';
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
});
