import type { KubeObject } from '@kctl/apimachinery';
import { defineKind } from '@kctl/apimachinery';
import { noopLogger } from '@kctl/telemetry';
import { describe, expect, it } from 'vitest';
import { createSharedInformer } from './index.js';

const Thing = defineKind({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });
const thing = (name: string): KubeObject => ({
  metadata: { namespace: 'a', name, uid: `u-${name}`, resourceVersion: '1' },
});

describe('onHandlerError', () => {
  it.each([
    [
      'at once',
      () => {
        throw new Error('the handler');
      },
    ],
    ['later', () => Promise.reject(new Error('the handler'))],
  ])('may fail itself: the informer and the handler go on (%s)', async (_when, onAdd) => {
    const logged: unknown[] = [];
    const informer = createSharedInformer<KubeObject>({
      kind: Thing,
      listerWatcher: {
        supportsWatchList: false,
        list: () => Promise.resolve({ metadata: { resourceVersion: '10' }, items: [thing('x'), thing('y')] }),
        watch: () => new Promise(() => undefined),
      },
      onHandlerError: () => {
        throw new Error('the report');
      },
      logger: { ...noopLogger, error: (message, fields) => void logged.push([message, fields?.['error']]) },
    });
    const handler = informer.addEventHandler({ onAdd });
    const stop = new AbortController();
    const run = informer.run(stop.signal);
    await handler.waitForSync();
    const line = ['onHandlerError failed', new Error('the report')];
    expect(logged).toEqual([line, line]);
    stop.abort();
    await run;
  });
});
