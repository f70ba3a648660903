import { defineKind } from '@kctl/apimachinery';
import type { Kind } from '@kctl/apimachinery';
import { FakeClock, settle } from '@kctl/wait/testing';
import { createSharedInformer } from '../../src/index.js';
import type {
  EventHandlerOptions,
  HandlerRegistration,
  SharedInformer,
  SharedInformerOptions,
} from '../../src/index.js';
import { ScriptedServer } from './scripted-server.js';
import type { Thing } from './scripted-server.js';

export const ThingKind: Kind<Thing, 'Namespaced'> = defineKind<Thing>()({
  group: 'example.com',
  version: 'v1',
  kind: 'Thing',
  scope: 'Namespaced',
});

/** Both ways in which a reflector can be fed. */
export const feeds = ['objects', 'bytes'] as const;
export type FeedName = (typeof feeds)[number];
/** The ways in which an informer can be fed and keep what it was fed: `compact` compresses bytes as soon as it can. */
export const sources: readonly ['objects', 'bytes', 'compact'] = [...feeds, 'compact'];
export type SourceName = (typeof sources)[number];

/** How an informer is fed from a server, and keeps it. */
export function fedFrom(
  server: ScriptedServer,
  source: SourceName,
  streams: boolean,
): Pick<SharedInformerOptions<Thing>, 'listerWatcher' | 'storage'> {
  if (source !== 'compact') return { listerWatcher: server[source](streams) };
  return { listerWatcher: server.bytes(streams), storage: { plainBytes: 0 } };
}

type InformerOptions = Partial<SharedInformerOptions<Thing>> & {
  readonly source?: SourceName;
  readonly streams?: boolean;
};

/** An informer on a scripted server, by a clock that a test moves. */
export class ScriptedSession implements AsyncDisposable {
  readonly clock: FakeClock = new FakeClock();
  readonly server: ScriptedServer = new ScriptedServer();
  readonly informer: SharedInformer<Thing>;
  readonly handlerErrors: unknown[] = [];
  readonly #stop = new AbortController();
  #run: Promise<void> | undefined;

  constructor({ source = 'bytes', streams = false, ...options }: InformerOptions = {}) {
    this.informer = createSharedInformer<Thing>({
      kind: ThingKind,
      ...fedFrom(this.server, source === 'compact' && options.freeze === false ? 'bytes' : source, streams),
      clock: this.clock,
      random: () => 0,
      onHandlerError: (error) => void this.handlerErrors.push(error),
      ...options,
    });
  }

  /** Adds a handler that notes what it hears, as `add x@1`, `update x@1→2`, `delete x@2`. */
  listen(options?: EventHandlerOptions): { seen: string[]; registration: HandlerRegistration } {
    const seen: string[] = [];
    const registration = this.informer.addEventHandler(
      {
        onEvent: (event) => {
          const { type, header, oldHeader, isInInitialList, finalStateUnknown, isResync } = event;
          const version = type === 'update' ? `${oldHeader?.resourceVersion}→` : '';
          const notes = [isInInitialList && 'initial', finalStateUnknown && 'unknown', isResync && 'resync'];
          seen.push([`${type} ${header.name}@${version}${header.resourceVersion}`, ...notes.filter(Boolean)].join(' '));
        },
      },
      options,
    );
    return { seen, registration };
  }

  /** Starts, and lets everything happen that needs no time. */
  async start(): Promise<void> {
    this.#run = this.informer.run(this.#stop.signal);
    this.#run.catch(() => undefined);
    await settle();
  }

  /** Ends the informer. @throws what it ended for */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#run;
  }

  /** What the run ends with. */
  get run(): Promise<void> {
    return this.#run ?? Promise.reject(new Error('the informer was not started'));
  }

  names(): string[] {
    return this.informer.indexer.list().map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#run?.catch(() => undefined);
  }
}
