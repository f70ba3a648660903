// The sources of a model, and how often each of them is started.
import type { Kind } from '@kctl/apimachinery';
import type { FakeClock } from '@kctl/wait/testing';
import type { EventChannel, ReconcileRequest, Source } from '../../src/index.js';
import {
  channelSource,
  createEventChannel,
  enqueueRequestForObject,
  enqueueRequestsFromMapFunc,
  funcSource,
  kindSource,
  pollingSource,
} from '../../src/index.js';
import { FakeInformers, Node, Pod, StoringInformer } from '../fakes.js';

/** Where the source is that fails on poison. */
export const channelIndex = 1;
const toSelf = enqueueRequestsFromMapFunc<string, ReconcileRequest>((name) => [{ name }]);

/** A source that counts how often it is started. */
export interface TrackedSource {
  readonly name: string;
  readonly source: Source<ReconcileRequest>;
  /** How many starts of it have not been ended. */
  readonly live: () => number;
}

function tracked(source: Source<ReconcileRequest>): TrackedSource {
  let live = 0;
  return {
    name: source.name,
    live: () => live,
    source: {
      name: source.name,
      start: async (context) => {
        live++;
        const onEnd = (): void => void live--;
        if (context.signal.aborted) onEnd();
        else context.signal.addEventListener('abort', onEnd, { once: true });
        return source.start(context);
      },
    },
  };
}

/** What sources see of the model around them. */
export interface SourcesWorld {
  readonly clock: FakeClock;
  readonly areHandlersSlow: boolean;
  /** Called with each pod that a new handler gets as its initial list. */
  readonly onInitial: (name: string) => void;
  readonly must: (isTrue: boolean, what: string) => void;
}

/** Informers of pods and nodes that are lent, and the sources over them and over channels. */
export class LifeSources {
  readonly pods: StoringInformer;
  /** Has every object reconciled once more. */
  readonly config: EventChannel<string> = createEventChannel<string>({ capacity: 4, identify: String });
  readonly channel: EventChannel<string> = createEventChannel<string>({ identify: String });
  readonly all: readonly TrackedSource[];
  /** Informers that are lent. */
  loans = 0;
  readonly #informers: FakeInformers;

  readonly #world: SourcesWorld;

  constructor(world: SourcesWorld) {
    this.#world = world;
    this.#informers = new FakeInformers(() => new ListeningInformer(world.onInitial));
    this.pods = this.#informers.of(Pod) as StoringInformer;
    this.pods.sync();
    this.#informers.of(Node).sync();
    this.all = this.#make();
  }

  /** Handlers on the informer of pods. */
  get handlers(): number {
    return this.#informers.of(Pod).handlers.size;
  }

  /** Each of its requests stands for all objects. It could be replayed, as a source of a kind can. */
  trigger(): Source<ReconcileRequest> {
    const { name, start } = channelSource({ name: 'config', events: this.config, handler: toSelf });
    return {
      name,
      start: async (context) => {
        const replay = (): void => this.#world.must(false, 'a trigger is replayed, by what it has triggered itself');
        return { ...(await start(context)), replay };
      },
    };
  }

  kind(kind: Kind): Source<ReconcileRequest> {
    const informers = {
      informer: () => Promise.reject(new Error('informers are lent here')),
      acquire: () => {
        this.loans++;
        return {
          informer: this.#informers.of(kind) as never,
          [Symbol.asyncDispose]: () => {
            this.loans--;
            return Promise.resolve();
          },
        };
      },
    };
    const enqueue = enqueueRequestForObject();
    const { clock, areHandlersSlow, must } = this.#world;
    let isBusy = false;
    return kindSource({
      informers,
      kind,
      handler: (event, queue, context) => {
        must(!isBusy, `two calls of the handler of ${kind.kind}`);
        if (!areHandlersSlow) return enqueue(event, queue, context);
        isBusy = true;
        return new Promise<void>((resolve) => void clock.setTimer(resolve, 5)).then(() => {
          isBusy = false;
          return enqueue(event, queue, context);
        });
      },
    });
  }

  #make(): TrackedSource[] {
    const channel: AsyncIterable<string> = {
      [Symbol.asyncIterator]: () => {
        const iterator = this.channel[Symbol.asyncIterator]();
        return {
          next: async () => {
            const next = await iterator.next();
            if (next.done !== true && next.value.startsWith('poison')) throw new Error('poison');
            return next;
          },
        };
      },
    };
    return [
      tracked(this.kind(Node)),
      tracked(channelSource({ name: 'channel', events: channel, handler: toSelf })),
      tracked(
        pollingSource<string, ReconcileRequest>({
          name: 'polled',
          everyMs: 700,
          identify: String,
          poll: async () => ['polled'],
          handler: toSelf,
        }),
      ),
      tracked({
        name: 'never synced',
        start: () => Promise.resolve({ waitForSync: () => new Promise(() => undefined), stop: () => undefined }),
      }),
      tracked(
        funcSource('func', ({ queue }) => {
          queue.add({ name: 'func' });
          return undefined;
        }),
      ),
      tracked({ name: 'fails to start', start: () => Promise.reject(new Error('no route')) }),
      tracked(
        pollingSource<string, ReconcileRequest>({
          name: 'hangs',
          everyMs: 100,
          identify: String,
          poll: () => new Promise(() => undefined),
          handler: toSelf,
          waitForFirst: false,
        }),
      ),
      // Required, and slow to sync: a removal often comes before.
      tracked({
        name: 'slow to sync',
        start: ({ clock }) =>
          Promise.resolve({
            waitForSync: () => new Promise((resolve) => void clock.setTimer(() => resolve(), 40)),
            stop: () => undefined,
          }),
      }),
    ];
  }
}

/** An informer that says which objects each new handler gets as its initial list. */
class ListeningInformer extends StoringInformer {
  readonly #onInitial: (name: string) => void;

  constructor(onInitial: (name: string) => void) {
    super();
    this.#onInitial = onInitial;
  }

  override addEventHandler(handler: Parameters<StoringInformer['addEventHandler']>[0]) {
    for (const name of this.objects.keys()) this.#onInitial(name);
    return super.addEventHandler(handler);
  }
}
