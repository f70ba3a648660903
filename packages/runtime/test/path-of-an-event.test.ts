import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createEnvironment, eventually } from '@kctl/testing';
import { expect, it } from 'vitest';
import { controllerManagedBy, createManager, noopLogger } from '../src/index.js';

const page = readFileSync(
  join(import.meta.dirname, '..', '..', '..', 'docs', 'concepts', 'path-of-an-event.md'),
  'utf8',
);
const listed = [...page.matchAll(/^\| `([a-z-]+\/src\/[^`]+)` \|/gm)].map(([, file = '']) => file);

/** The packages that an event passes. */
const stations = [
  'client-http',
  'informer',
  'cache-index',
  'delivery',
  'controller',
  'workqueue',
  'client-delegating',
  'cache',
];

/** Parts of a station that are on the path without deciding anything about an event, by the station's own file. */
const parts = [
  'cache-index/src/shelf.ts',
  'cache-index/src/sorted-entries.ts',
  'cache/src/informers/part-table.ts',
  'cache/src/informers/scoped-informer.ts',
  'cache/src/scopes/scope-table.ts',
  'client-delegating/src/delegating-client.ts',
  'client-http/src/bytes/byte-stream.ts',
  'client-http/src/bytes/chunk-releaser.ts',
  'client-http/src/bytes/codec.ts',
  'client-http/src/http-client.ts',
  'client-http/src/transport/request-metrics.ts',
  'client-http/src/transport/send-checked.ts',
  'client-http/src/transport/transport.ts',
  'controller/src/handler/low-priority.ts',
  'controller/src/loop/assemble-session.ts',
  'controller/src/loop/counted.ts',
  'controller/src/loop/watch.ts',
  'controller/src/object/object-reconciler.ts',
  'controller/src/policy/hot-loop.ts',
  'controller/src/reconciler/running-requests.ts',
  'delivery/src/checkpoints.ts',
  'delivery/src/key-map.ts',
  'delivery/src/waiting-list.ts',
  'informer/src/bytes/alike-parser.ts',
  'informer/src/bytes/slab-store.ts',
  'workqueue/src/delaying/delay-line.ts',
  'workqueue/src/priority/priority-levels.ts',
  'workqueue/src/priority/ready-levels.ts',
  'workqueue/src/queue-base.ts',
  'workqueue/src/queue-metrics.ts',
  'workqueue/src/workers.ts',
];

/** Records the source files of every stack trace that passes one of a few functions of the platform. */
class StackRecorder {
  /** In the order of their first appearance, from the outermost frame in. */
  readonly files: string[] = [];
  readonly #restore: (() => void)[] = [];
  #isRecording = true;

  constructor() {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 100;
    this.#restore.push(() => (Error.stackTraceLimit = limit));
    for (const [owner, names] of [
      [Map.prototype, ['get', 'set']],
      [Set.prototype, ['add']],
      [Array.prototype, ['push']],
      [Object.getPrototypeOf(Uint8Array.prototype) as object, ['subarray']],
      [JSON, ['parse']],
    ] as const)
      for (const name of names) this.#watch(owner, name);
  }

  record(): void {
    if (!this.#isRecording) return;
    this.#isRecording = false;
    const frames = [...(new Error('path').stack ?? '').matchAll(/\/packages\/([a-z-]+\/src\/[\w/-]+\.ts)/g)];
    const files = frames.map(([, file = '']) => file).toReversed();
    // The embedded server runs in the same process.
    if (!files.some((file) => file.startsWith('apiserver/')))
      for (const file of files) if (!this.files.includes(file)) this.files.push(file);
    this.#isRecording = true;
  }

  [Symbol.dispose](): void {
    this.#isRecording = false;
    for (const restore of this.#restore) restore();
  }

  #watch(owner: object, name: string): void {
    const descriptor = Object.getOwnPropertyDescriptor(owner, name);
    const original: unknown = descriptor?.value;
    if (descriptor === undefined || typeof original !== 'function') throw new TypeError(`${name} is not a function`);
    const record = (): void => this.record();
    Object.defineProperty(owner, name, {
      ...descriptor,
      value: function (this: unknown, ...args: unknown[]): unknown {
        record();
        return Reflect.apply(original, this, args);
      },
    });
    this.#restore.push(() => Object.defineProperty(owner, name, descriptor));
  }
}

it('passes the files that the page lists, in that order, and no others that decide', async () => {
  await using environment = await createEnvironment();
  const namespace = await environment.createNamespace('path');
  const manager = await createManager({
    connection: environment.connection,
    logger: noopLogger,
    namespaces: [namespace],
  });
  let recorder: StackRecorder | undefined;
  const record = (): void => recorder?.record();
  const runs: string[] = [];
  controllerManagedBy(manager)
    .for(ConfigMap, {
      predicates: [
        () => {
          record();
          return true;
        },
      ],
    })
    .withOptions({
      rateLimiter: {
        when: () => {
          record();
          return 1;
        },
        forget: () => undefined,
        numRequeues: () => 0,
      },
    })
    .reconcile(async ({ metadata }) => {
      record();
      runs.push(metadata.name);
      if (runs.length === 2) throw new Error('once more');
      return Promise.resolve();
    });
  manager.cache.addIndex(ConfigMap, 'mode', (object) => {
    record();
    return object.data?.['mode'] === undefined ? [] : [object.data['mode']];
  });
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  // The first object opens the way: what is made once, such as metrics and places of handlers, is made then.
  await environment.client.create(ConfigMap, { metadata: { namespace, name: 'first' } });
  await eventually(() => expect(runs).toEqual(['first']));
  {
    using _recorder = (recorder = new StackRecorder());
    await environment.client.create(ConfigMap, { metadata: { namespace, name: 'second' } });
    await eventually(() => expect(runs).toEqual(['first', 'second', 'second']));
  }
  stop.abort();
  await running;
  const isOnPath = (file: string): boolean =>
    stations.includes(file.split('/')[0] ?? '') || file === 'wait/src/slicer.ts';
  const seen = recorder.files.filter(isOnPath);
  expect(listed.filter((file) => !seen.includes(file))).toEqual([]);
  expect(seen.filter((file) => !listed.includes(file) && !parts.includes(file))).toEqual([]);
  expect(seen.filter((file) => listed.includes(file))).toEqual(listed);
});
