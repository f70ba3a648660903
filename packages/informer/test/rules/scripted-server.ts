import { StatusError } from '@kctl/apimachinery';
import type { KubeObject, Status } from '@kctl/apimachinery';
import type { WatchEvent } from '@kctl/client';
import type { FrameListerWatcher, ListCall, ObjectListerWatcher, WatchCall } from '../../src/index.js';

export interface Thing extends KubeObject {
  spec?: { size: number };
}

/** The `name` at a version; its uid is that of the name, unless another is given. */
export function thing(name: string, version: number, uid = `u-${name}`): Thing {
  return {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { namespace: 'a', name, uid, resourceVersion: String(version) },
    spec: { size: version },
  };
}

/** What a frame of a watch says, as it comes over the wire. */
export interface Frame {
  readonly type: string;
  readonly object: unknown;
}
export const added = (object: Thing): Frame => ({ type: 'ADDED', object });
export const modified = (object: Thing): Frame => ({ type: 'MODIFIED', object });
export const deleted = (object: Thing): Frame => ({ type: 'DELETED', object });
export const bookmark = (version: number, annotations?: Record<string, string>): Frame => ({
  type: 'BOOKMARK',
  object: { kind: 'Thing', metadata: { resourceVersion: String(version), ...(annotations && { annotations }) } },
});
export const initialEnd = (version: number): Frame => bookmark(version, { 'k8s.io/initial-events-end': 'true' });
/** Bytes as they are, for a source of bytes. */
export const raw = (text: string): Frame => ({ type: rawType, object: text });
const rawType = 'RAW';
/** An item of a list as bytes, for a source of bytes. */
export const rawItem = (rawText: string): { readonly rawText: string } => ({ rawText });
const isRawItem = (item: unknown): item is ReturnType<typeof rawItem> =>
  typeof item === 'object' && item !== null && 'rawText' in item;
export const failed = (code: number, reason: string): Frame => ({ type: 'ERROR', object: status(code, reason) });

function status(code: number, reason: string): Status {
  return { kind: 'Status', status: 'Failure', code, reason, message: reason };
}
export const refusal = (code: number, reason: string): StatusError => new StatusError(status(code, reason));

/** What a list is answered with. */
export interface Page {
  readonly version: number;
  readonly items: readonly unknown[];
  readonly continue?: string;
}

/** A watch that a test feeds. */
export class ScriptedWatch {
  readonly call: WatchCall;
  readonly #frames: Frame[] = [];
  #end: { readonly error?: Error } | undefined;
  #wake = (): void => undefined;

  constructor(call: WatchCall) {
    this.call = call;
    call.signal?.addEventListener('abort', () => this.break(new Error('aborted')), { once: true });
  }

  send(...frames: Frame[]): void {
    this.#frames.push(...frames);
    this.#wake();
  }

  close(): void {
    this.#end ??= {};
    this.#wake();
  }

  break(error: Error): void {
    this.#end ??= { error };
    this.#wake();
  }

  async *read(): AsyncGenerator<readonly Frame[]> {
    for (;;) {
      if (this.#frames.length > 0) yield this.#frames.splice(0);
      else if (this.#end?.error !== undefined) throw this.#end.error;
      else if (this.#end !== undefined) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

/** A server that answers as a test says. */
export class ScriptedServer {
  readonly lists: ListCall[] = [];
  readonly watches: ScriptedWatch[] = [];
  page: (call: ListCall) => Page | Promise<Page> = () => ({ version: 10, items: [] });
  /** What lists of parsed objects are answered with instead, whatever it is. */
  answer: unknown = undefined;
  /** Throws where a watch is to be refused. */
  admit: (call: WatchCall) => void = () => undefined;

  /** The watch that was opened last. */
  get watch(): ScriptedWatch {
    const last = this.watches.at(-1);
    if (last === undefined) throw new Error('no watch was opened');
    return last;
  }

  async #list(call: ListCall): Promise<Page> {
    this.lists.push(call);
    return this.page(call);
  }

  #open(call: WatchCall): ScriptedWatch {
    this.admit(call);
    const watch = new ScriptedWatch(call);
    this.watches.push(watch);
    return watch;
  }

  /** As a source of parsed objects. */
  objects(supportsWatchList: boolean): ObjectListerWatcher<Thing> {
    return {
      supportsWatchList,
      list: async (call) => {
        const page = await this.#list(call);
        if (this.answer !== undefined) return structuredClone(this.answer) as never;
        return { metadata: metadataOf(page), items: structuredClone(page.items) as Thing[] };
      },
      watch: async (call) => {
        const watch = this.#open(call);
        return {
          async *[Symbol.asyncIterator]() {
            for await (const frames of watch.read()) for (const frame of frames) yield eventOf(frame);
          },
          [Symbol.asyncDispose]: async () => undefined,
        };
      },
    };
  }

  /** As a source of bytes. */
  bytes(supportsWatchList: boolean): FrameListerWatcher {
    const encode = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
    return {
      supportsWatchList,
      listFrames: async (call) => {
        const page = await this.#list(call);
        return {
          async *[Symbol.asyncIterator]() {
            yield page.items.map((item) => (isRawItem(item) ? Buffer.from(item.rawText) : encode(item)));
          },
          metadata: Promise.resolve(metadataOf(page)),
          [Symbol.asyncDispose]: async () => undefined,
        };
      },
      watchFrames: async (call) => {
        const watch = this.#open(call);
        return {
          async *[Symbol.asyncIterator]() {
            for await (const frames of watch.read())
              yield frames.map((frame) => (frame.type === rawType ? Buffer.from(String(frame.object)) : encode(frame)));
          },
          [Symbol.asyncDispose]: async () => undefined,
        };
      },
    };
  }
}

function metadataOf(page: Page): { resourceVersion: string; continue?: string } {
  return { resourceVersion: String(page.version), ...(page.continue === undefined ? {} : { continue: page.continue }) };
}

/** What a client makes of a frame. */
function eventOf({ type, object }: Frame): WatchEvent<Thing> {
  const { metadata } = object as Partial<Thing>;
  if (type === 'ERROR') return { type, status: object as Status };
  if (type === 'BOOKMARK')
    return {
      type,
      resourceVersion: metadata?.resourceVersion ?? '',
      initialEventsEnd: metadata?.annotations?.['k8s.io/initial-events-end'] === 'true',
    };
  return structuredClone({ type, object }) as WatchEvent<Thing>;
}
