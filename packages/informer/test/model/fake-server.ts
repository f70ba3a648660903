import { StatusError } from '@kctl/apimachinery';
import type { KubeObject, Status } from '@kctl/apimachinery';
import { createLineSplitter, createListSplitter } from '@kctl/apimachinery/internal/wire';
import type { WatchEvent } from '@kctl/client';
import type { FrameListerWatcher, ListCall, ObjectListerWatcher, WatchCall } from '../../src/index.js';
import type { Clock } from '@kctl/wait';
import { sleep } from '@kctl/wait';
import type { Chance } from './random.js';

export interface Item extends KubeObject {
  spec: { value: number; node: string };
}

interface LogEntry {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly version: number;
  readonly object: Item;
}

type Frame = { type: string; object: unknown };

class OpenWatch {
  frames: Frame[] = [];
  /** How the stream ends once the frames are out; undefined while it goes on. */
  end: 'close' | 'reset' | 'cut' | 'silence' | undefined;
  /** Whether it is to begin with the state and a marker that was not sent so far. */
  awaitsMarker: boolean;
  /** Whether it was sent something that ends it. */
  isBroken = false;
  isClosed = false;
  #wake: (() => void) | undefined;

  constructor(awaitsMarker: boolean) {
    this.awaitsMarker = awaitsMarker;
  }

  push(...frames: Frame[]): void {
    if (this.end !== undefined) return;
    this.frames.push(...frames);
    this.wake();
  }

  finish(how: 'close' | 'reset' | 'cut' | 'silence'): void {
    this.end ??= how;
    this.wake();
  }

  wake(): void {
    this.#wake?.();
  }

  async wait(signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#wake = resolve;
      signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
    });
  }
}

const status = (code: number, reason: string, message = reason): Status => ({
  kind: 'Status',
  status: 'Failure',
  code,
  reason,
  message,
});

const poisonEvery = 7;

/** Whether a transform fails for an object, where the history has one that does. */
export function isPoison({ spec }: Item): boolean {
  return spec.value % poisonEvery === 0;
}

/** A collection with history, and every way in which a server and a network let a watcher down. */
export class FakeServer {
  version = 100;
  objects: Map<string, Item> = new Map<string, Item>();
  #log: LogEntry[] = [];
  /** Versions of a time that a restored server has no memory of. They are not given again: an old one is known by that. */
  readonly #forgotten = new Set<number>();
  /** Whether it was restored: then it is right that what it says goes back in time. */
  isRestored = false;
  readonly #watches = new Set<OpenWatch>();
  readonly #chance: Chance;
  readonly #clock: Clock;
  #compactedTo = 99;
  #uid = 0;
  /** Probability of a fault at each opportunity. */
  faults = 0.15;
  readonly streams: boolean;
  /** A proxy that drops the parameters of WatchList. */
  readonly dropsMarker: boolean;
  /** A proxy that answers a watch out of what it has: it replays known events, and closes. */
  readonly replays: boolean;
  /** A server or proxy that often goes silent before the state that it streams is complete. */
  readonly isSilent: boolean;
  /** How many streams of the state were asked for. */
  initialStreams = 0;
  /** How many of them ended before they were complete, and how many of these because nothing more came. */
  readonly incomplete = { streams: 0, silent: 0 };
  /** What a client did that no client should do to a server. */
  readonly violations: string[] = [];
  readonly #opened = { at: -1, version: '', times: 0 };

  constructor(chance: Chance, clock: Clock) {
    this.#chance = chance;
    this.#clock = clock;
    this.streams = chance.maybe(0.5);
    this.dropsMarker = this.streams && chance.maybe(0.1);
    this.replays = chance.maybe(0.2);
    this.isSilent = chance.maybe(0.2);
  }

  /** Whether a client has no reason to take the server for one that cannot stream its state. */
  get canStream(): boolean {
    return this.streams && !this.dropsMarker && this.incomplete.streams < 3;
  }

  get openWatches(): number {
    return this.#watches.size;
  }

  write(): void {
    const namespace = this.#chance.pick(['a', 'b']);
    const name = `n${this.#chance.int(6)}`;
    const key = `${namespace}/${name}`;
    const present = this.objects.get(key);
    this.#proceed(1 + this.#chance.int(3));
    if (present !== undefined && this.#chance.maybe(0.35)) {
      this.objects.delete(key);
      this.#record('DELETED', { ...present, metadata: { ...present.metadata, resourceVersion: String(this.version) } });
      return;
    }
    this.#put(namespace, name);
  }

  /** Writes every object once more, at a version that no transform fails for. */
  heal(): void {
    for (const { metadata } of [...this.objects.values()]) {
      do this.#proceed(1);
      while (this.version % poisonEvery === 0);
      this.#put(metadata.namespace ?? '', metadata.name ?? '');
    }
  }

  /** Goes back to an earlier state, as a server whose storage is restored from a backup. */
  restore(): void {
    const recent = this.#log.filter(({ version }) => version > this.#compactedTo && version < this.version);
    if (recent.length === 0) return;
    const { version } = this.#chance.pick(recent);
    for (const later of this.#log) if (later.version > version) this.#forgotten.add(later.version);
    this.objects = this.#stateAt(version);
    this.#log = this.#log.filter((entry) => entry.version <= version);
    this.version = version;
    this.isRestored = true;
    this.restart();
  }

  #proceed(by: number): void {
    this.version += by;
    while (this.#forgotten.has(this.version)) this.version++;
  }

  #isUnknown(version: number): boolean {
    return version > this.version || this.#forgotten.has(version);
  }

  #put(namespace: string, name: string): void {
    const key = `${namespace}/${name}`;
    const present = this.objects.get(key);
    const object: Item = {
      apiVersion: 'example.com/v1',
      kind: 'Item',
      metadata: {
        name,
        namespace,
        uid: present?.metadata.uid ?? `uid-${++this.#uid}`,
        resourceVersion: String(this.version),
        labels: { 'brace}': '"{', app: this.#chance.pick(['x', 'y']) },
        managedFields: [{ manager: 'é"]}\\', operation: 'Apply' }],
      },
      spec: { value: this.version, node: this.#chance.pick(['n1', 'n2', 'n3']) },
    };
    this.objects.set(key, object);
    this.#record(present === undefined ? 'ADDED' : 'MODIFIED', object);
  }

  bookmark(): void {
    const marker = (version: number): Frame => ({
      type: 'BOOKMARK',
      object: { kind: 'Item', metadata: { resourceVersion: String(version) } },
    });
    for (const watch of this.#watches) {
      if (watch.end !== undefined || this.dropsMarker) continue;
      watch.push(marker(this.version));
      if (this.#chance.maybe(this.faults)) watch.push(marker(this.version));
      // A late bookmark of an earlier time: it must not set the watcher back.
      if (this.#chance.maybe(this.faults)) watch.push(marker(this.version - this.#chance.int(20)));
    }
  }

  compact(): void {
    this.#compactedTo = this.version - this.#chance.int(4);
  }

  /** Leaves nothing to those who have not seen the present state. */
  expire(): void {
    this.restart();
    this.write();
    this.#compactedTo = this.version;
  }

  /** Breaks an open watch in one of the ways in which watches break. */
  breakWatch(): void {
    const watch = this.#chance.pick([...this.#watches]);
    if (watch === undefined) return;
    const error = (code: number, reason: string): void => {
      watch.isBroken = true;
      watch.push({ type: 'ERROR', object: status(code, reason) });
      if (this.#chance.maybe(0.5)) watch.finish('silence');
    };
    const ways: (() => void)[] = [
      () => watch.finish('close'),
      () => watch.finish('reset'),
      () => watch.finish('cut'),
      () => watch.finish('silence'),
      () => error(410, 'Expired'),
      () => error(429, 'TooManyRequests'),
      () => error(500, 'InternalError'),
      () => error(503, 'ServiceUnavailable'),
      () => {
        watch.isBroken = true;
        watch.push({ type: 'MODIFIED', object: { kind: 'Item', metadata: {} } }, { type: 'NEWS', object: {} });
      },
    ];
    this.#chance.pick(ways)();
  }

  restart(): void {
    for (const watch of this.#watches) watch.finish(this.#chance.pick(['close', 'reset', 'cut']));
  }

  #record(type: LogEntry['type'], object: Item): void {
    this.#log.push({ type, version: this.version, object });
    for (const watch of this.#watches) watch.push({ type, object });
  }

  async #maybeFail(signal: AbortSignal | undefined): Promise<void> {
    if (this.#chance.maybe(this.faults))
      await sleep(this.#chance.int(20_000), { clock: this.#clock, ...(signal === undefined ? {} : { signal }) });
    if (!this.#chance.maybe(this.faults)) return;
    const fail = this.#chance.int(8);
    if (fail === 0) throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    if (fail === 1) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    if (fail === 2)
      await new Promise((_resolve, reject) =>
        signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true }),
      );
    throw new StatusError(
      this.#chance.pick([
        status(500, 'InternalError'),
        status(503, 'ServiceUnavailable'),
        status(429, 'TooManyRequests'),
        status(403, 'Forbidden'),
        status(410, 'Expired'),
      ]),
    );
  }

  /** Any recent state is right for version "0"; for anything else the present one is taken. */
  #stateAt(version: number): Map<string, Item> {
    if (version === this.version) return new Map(this.objects);
    const state = new Map<string, Item>();
    for (const entry of this.#log) {
      if (entry.version > version) break;
      const key = `${entry.object.metadata.namespace}/${entry.object.metadata.name}`;
      if (entry.type === 'DELETED') state.delete(key);
      else state.set(key, entry.object);
    }
    return state;
  }

  async #list(call: ListCall): Promise<{ items: Item[]; version: string; token: string }> {
    await this.#maybeFail(call.signal);
    const wanted = Number(call.resourceVersion ?? 0);
    if (this.#isUnknown(wanted)) throw new StatusError(status(504, 'Timeout', `Too large resource version: ${wanted}`));
    let version = this.version;
    let offset = 0;
    if (call.continue !== undefined) {
      [version = 0, offset = 0] = call.continue.split(':').map(Number);
      if (version < this.#compactedTo || this.#isUnknown(version) || this.#chance.maybe(this.faults))
        throw new StatusError(status(410, 'Expired'));
    } else if (call.resourceVersion === '0' && this.#chance.maybe(0.3)) {
      const recent = this.#log.filter((entry) => entry.version > this.#compactedTo);
      if (recent.length > 0) version = this.#chance.pick(recent).version;
    }
    const all = [...this.#stateAt(version).values()].sort((x, y) =>
      `${x.metadata.namespace}/${x.metadata.name}` < `${y.metadata.namespace}/${y.metadata.name}` ? -1 : 1,
    );
    const limit = call.limit ?? all.length;
    const items = all.slice(offset, offset + limit);
    const more = offset + items.length < all.length;
    return { items, version: String(version), token: more ? `${version}:${offset + items.length}` : '' };
  }

  async #open(call: WatchCall): Promise<OpenWatch> {
    const streaming = call.sendInitialEvents === true;
    await this.#maybeFail(call.signal).catch((error: unknown) => {
      if (streaming) this.incomplete.streams++;
      throw error;
    });
    if (streaming && !this.streams) throw new StatusError(status(422, 'Invalid'));
    const wanted = call.resourceVersion === undefined ? undefined : Number(call.resourceVersion);
    if (wanted !== undefined && this.#isUnknown(wanted))
      throw new StatusError(status(504, 'Timeout', `Too large resource version: ${wanted}`));
    const watch = new OpenWatch(streaming);
    if (streaming) this.initialStreams++;
    if (wanted !== undefined && wanted < this.#compactedTo && !streaming) {
      if (this.#chance.maybe(0.5)) throw new StatusError(status(410, 'Expired'));
      watch.push({ type: 'ERROR', object: status(410, 'Expired') });
    } else if (streaming || wanted === undefined) {
      const initial = [...this.objects.values()].map((object) => ({ type: 'ADDED', object }));
      watch.push(...initial);
      if (streaming && !this.dropsMarker)
        watch.push({
          type: 'BOOKMARK',
          object: {
            kind: 'Item',
            metadata: { resourceVersion: String(this.version), annotations: { 'k8s.io/initial-events-end': 'true' } },
          },
        });
      if (this.#chance.maybe(this.isSilent ? this.faults * 3 : this.faults)) {
        watch.frames.length = this.#chance.int(watch.frames.length + 1);
        watch.finish(this.isSilent ? 'silence' : this.#chance.pick(['close', 'reset', 'silence', 'cut']));
      }
    } else {
      this.#countOpened(String(wanted));
      const isReplay = this.replays && this.violations.length === 0 && this.#chance.maybe(this.faults * 6);
      if (isReplay) {
        const known = this.#log.filter(({ version }) => version <= wanted).slice(-1 - this.#chance.int(3));
        watch.push(...known.map(({ type, object }) => ({ type, object })));
        watch.finish('close');
      } else for (const { type, object, version } of this.#log) if (version > wanted) watch.push({ type, object });
    }
    this.#watches.add(watch);
    if (this.#chance.maybe(this.faults)) watch.finish('close');
    return watch;
  }

  /** A watch that brought nothing new must not be opened again at once. */
  #countOpened(version: string): void {
    const opened = this.#opened;
    const at = this.#clock.monotonicNow();
    if (opened.at !== at || opened.version !== version) Object.assign(opened, { at, version, times: 0 });
    if (++opened.times === 5) this.violations.push(`5 watches at version ${version} within one moment`);
  }

  /** Bytes that are damaged where only a read of the object finds it. */
  #damaged(text: string): string {
    return this.#chance.maybe(this.faults * 0.3) ? text.replace(/("node":"n\d")\}/, '$1 oops}') : text;
  }

  /** The same, where not even the object's name can be read. */
  #unnamed(text: string): string {
    return this.#chance.maybe(this.faults * 0.5) ? text.replace('"metadata":{"name"', '"metadata":{oops "name"') : text;
  }

  /** Cuts bytes at random places, as a network does. */
  #chunks(text: string): Uint8Array[] {
    const bytes = Buffer.from(text);
    const chunks: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; ) {
      const size = 1 + this.#chance.int(this.#chance.maybe(0.3) ? 20 : 2000);
      chunks.push(Buffer.from(bytes.subarray(at, at + size)));
      at += size;
    }
    return chunks;
  }

  async *#frames(watch: OpenWatch, signal: AbortSignal | undefined): AsyncGenerator<Frame[]> {
    try {
      for (;;) {
        while (watch.frames.length > 0) {
          const batch = watch.frames.splice(0, 1 + this.#chance.int(5));
          if (batch.some(isMarker)) watch.awaitsMarker = false;
          yield batch;
        }
        if (watch.end === 'close') return;
        if (watch.end === 'reset') throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
        if (watch.end === 'cut') throw Object.assign(new Error('cut frame'), { code: 'KCTL_DECODE' });
        await watch.wait(signal);
      }
    } finally {
      this.#close(watch);
    }
  }

  #close(watch: OpenWatch): void {
    this.#watches.delete(watch);
    if (watch.isClosed) return;
    watch.isClosed = true;
    if (!watch.awaitsMarker) return;
    this.incomplete.streams++;
    if (!watch.isBroken && (watch.end === undefined || watch.end === 'silence')) this.incomplete.silent++;
  }

  byteSource(): FrameListerWatcher {
    return {
      listFrames: async (call) => {
        const { items, version, token } = await this.#list(call);
        const splitter = createListSplitter();
        const metadata = Promise.withResolvers<{ resourceVersion: string; continue?: string }>();
        const listMeta = { resourceVersion: version, ...(token === '' ? {} : { continue: token }) };
        const bare = items.map(({ apiVersion: _apiVersion, kind: _kind, ...rest }) => rest);
        const text = this.#chance.maybe(0.5)
          ? JSON.stringify({ kind: 'ItemList', metadata: listMeta, items: bare })
          : JSON.stringify({ apiVersion: 'example.com/v1', items, kind: 'ItemList', metadata: listMeta });
        const chunks = this.#chunks(this.#unnamed(this.#damaged(text)));
        if (this.#chance.maybe(this.faults)) chunks.length = this.#chance.int(chunks.length);
        return {
          async *[Symbol.asyncIterator]() {
            try {
              for (const chunk of chunks) yield splitter.push(chunk);
              metadata.resolve(splitter.finish().metadata as { resourceVersion: string });
            } catch (error) {
              metadata.reject(error);
              throw error;
            }
          },
          metadata: metadata.promise,
          [Symbol.asyncDispose]: async () => undefined,
        };
      },
      watchFrames: async (call) => {
        const watch = await this.#open(call);
        const frames = this.#frames(watch, call.signal);
        const splitter = createLineSplitter();
        const chunksOf = (text: string): Uint8Array[] => this.#chunks(text);
        const lineOf = (frame: Frame): string => {
          const text = JSON.stringify(frame);
          const sent = this.#damaged(text);
          if (sent !== text) watch.isBroken = true;
          return `${sent}${this.#chance.maybe(0.9) ? '\n' : ''}`;
        };
        return {
          async *[Symbol.asyncIterator]() {
            for await (const batch of frames)
              for (const chunk of chunksOf(`${batch.map(lineOf).join('')}\n`)) yield splitter.push(chunk);
          },
          [Symbol.asyncDispose]: async () => this.#close(watch),
        };
      },
    };
  }

  objectSource(): ObjectListerWatcher<Item> {
    return {
      list: async (call) => {
        const { items, version, token } = await this.#list(call);
        return {
          metadata: { resourceVersion: version, ...(token === '' ? {} : { continue: token }) },
          items: structuredClone(items),
        };
      },
      watch: async (call) => {
        const watch = await this.#open(call);
        const frames = this.#frames(watch, call.signal);
        return {
          async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent<Item>> {
            for await (const batch of frames) for (const frame of batch) yield asEvent(structuredClone(frame));
          },
          [Symbol.asyncDispose]: async () => this.#close(watch),
        };
      },
    };
  }
}

function isMarker({ type, object }: Frame): boolean {
  return type === 'BOOKMARK' && (object as KubeObject).metadata.annotations !== undefined;
}

function asEvent({ type, object }: Frame): WatchEvent<Item> {
  if (type === 'ERROR') return { type, status: object as Status };
  if (type !== 'BOOKMARK') return { type: type as 'ADDED', object: object as Item };
  const { metadata } = object as KubeObject;
  return {
    type,
    resourceVersion: metadata.resourceVersion ?? '',
    initialEventsEnd: metadata.annotations?.['k8s.io/initial-events-end'] === 'true',
  };
}
