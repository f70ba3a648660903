import type { KubeObject } from '@kctl/apimachinery';
import type { WatchEvent } from '@kctl/client';
import type { ListCall, ObjectListerWatcher, WatchCall } from '@kctl/informer';
import type { CacheOptions } from '../src/index.js';

interface Change {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject;
}

interface Stream {
  readonly namespace: string | undefined;
  /** The changes up to this version were sent. */
  at: number;
  isExpired: boolean;
  wake: () => void;
}

/** A server of a few objects that change, whose watches follow by namespace. */
export class LiveServer {
  readonly objects: Map<string, KubeObject> = new Map<string, KubeObject>();
  readonly #log: Change[] = [];
  readonly #streams = new Set<Stream>();
  #version = 100;

  readonly listerWatcherFor: NonNullable<CacheOptions['listerWatcherFor']> = (_kind, { namespace }) => {
    const source: ObjectListerWatcher<KubeObject> = {
      supportsWatchList: false,
      list: (call) => Promise.resolve(this.#list(namespace, call)),
      watch: (call) => Promise.resolve(this.#watch(namespace, call)),
    };
    return source as ObjectListerWatcher<never>;
  };

  write(namespace: string, name: string): void {
    const key = `${namespace}/${name}`;
    const present = this.objects.get(key);
    const version = ++this.#version;
    const object: KubeObject = {
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      metadata: { namespace, name, uid: present?.metadata.uid ?? `u-${version}`, resourceVersion: String(version) },
    };
    this.objects.set(key, object);
    this.#note({ version, type: present === undefined ? 'ADDED' : 'MODIFIED', object });
  }

  remove(namespace: string, name: string): void {
    const key = `${namespace}/${name}`;
    const present = this.objects.get(key);
    if (present === undefined) return;
    const version = ++this.#version;
    this.objects.delete(key);
    const object = { ...present, metadata: { ...present.metadata, resourceVersion: String(version) } };
    this.#note({ version, type: 'DELETED', object });
  }

  /** Ends all watches: their versions are gone, so that what they miss is found by a new list. */
  expire(): void {
    for (const stream of this.#streams) {
      stream.isExpired = true;
      stream.wake();
    }
  }

  #note(change: Change): void {
    this.#log.push(change);
    for (const { wake } of this.#streams) wake();
  }

  #list(namespace: string | undefined, _call: ListCall) {
    const items = [...this.objects.values()].filter(({ metadata }) => isIn(namespace, metadata.namespace));
    return { metadata: { resourceVersion: String(this.#version) }, items: structuredClone(items) };
  }

  #watch(namespace: string | undefined, { resourceVersion, signal }: WatchCall) {
    const stream: Stream = { namespace, at: Number(resourceVersion), isExpired: false, wake: () => undefined };
    this.#streams.add(stream);
    const aborted = Promise.withResolvers<never>();
    aborted.promise.catch(() => undefined);
    signal?.addEventListener('abort', () => aborted.reject(new Error('aborted')), { once: true });
    const next = (): WatchEvent<KubeObject> | undefined => {
      if (stream.isExpired) return { type: 'ERROR', status: { code: 410, reason: 'Expired' } };
      const change = this.#log.find(
        ({ version, object }) => version > stream.at && isIn(namespace, object.metadata.namespace),
      );
      if (change === undefined) return undefined;
      stream.at = change.version;
      return { type: change.type, object: structuredClone(change.object) };
    };
    return {
      async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent<KubeObject>> {
        for (;;) {
          const event = next();
          if (event === undefined)
            await Promise.race([aborted.promise, new Promise<void>((wake) => (stream.wake = wake))]);
          else yield event;
          if (event?.type === 'ERROR') return;
        }
      },
      [Symbol.asyncDispose]: () => Promise.resolve(void this.#streams.delete(stream)),
    };
  }
}

function isIn(scope: string | undefined, namespace: string | undefined): boolean {
  return scope === undefined || scope === namespace;
}
