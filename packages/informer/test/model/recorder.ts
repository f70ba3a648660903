import type { DeepReadonly } from '@kctl/apimachinery';
import { compareResourceVersions } from '@kctl/apimachinery';
import type { Clock } from '@kctl/wait';
import { isObjectDecodeError } from '../../src/index.js';
import { sleep } from '@kctl/wait';
import type { HandlerRegistration, InformerEvent, InformerEventHandler, SharedInformer } from '../../src/index.js';
import type { Item } from './fake-server.js';
import type { Chance } from './random.js';

/** How a handler of a history is made. */
export interface RecorderOptions {
  readonly chance: Chance;
  readonly label: string;
  /** Whether the server has this very object. */
  readonly isThere: (key: string, uid: string) => boolean;
  /** Whether the server has gone back in time, so that what is late may contradict what it says now. */
  readonly goesBack: () => boolean;
  /** Adds one more handler. */
  readonly join: () => void;
}

/** A handler that believes nothing: it keeps what it was told, and notes each event that cannot follow from that. */
export class Recorder {
  readonly violations: string[] = [];
  readonly known: Map<string, { uid: string; version: string }> = new Map<string, { uid: string; version: string }>();
  readonly registration: HandlerRegistration;
  events = 0;
  isRemoved = false;
  #isBusy = false;
  readonly label: string;
  readonly #isThere: RecorderOptions['isThere'];
  readonly #goesBack: RecorderOptions['goesBack'];

  constructor(
    informer: SharedInformer<Item>,
    clock: Clock,
    { chance, label, isThere, goesBack, join }: RecorderOptions,
  ) {
    this.label = label;
    this.#isThere = isThere;
    this.#goesBack = goesBack;
    const nature = chance.pick([
      'fast',
      'fast',
      'slow',
      'throws',
      'rejects',
      'thenable',
      'hangs',
      'joins',
      'leaves',
    ] as const);
    const handler: InformerEventHandler<Item> = {
      onEvent: (event) => {
        this.#check(informer, event);
        if (nature === 'throws' && this.events % 3 === 0) throw new Error('handler');
        if (nature === 'joins' && this.events % 5 === 1) join();
        if (nature === 'leaves' && this.events === 7) void this.remove();
        if (nature === 'fast' || nature === 'throws' || nature === 'joins' || nature === 'leaves') return;
        this.#isBusy = true;
        if (nature === 'hangs' && this.events % 4 === 0) return new Promise(() => undefined);
        if (nature === 'thenable')
          return {
            // biome-ignore lint/suspicious/noThenProperty: a thenable is what it is about
            then: (resolve: () => void) =>
              clock.setTimer(() => {
                this.#isBusy = false;
                resolve();
              }, 100),
          } as unknown as Promise<void>;
        return sleep(1 + (this.events % 7) * 300, { clock }).then(() => {
          this.#isBusy = false;
          if (nature === 'rejects') throw new Error('handler');
        });
      },
    };
    this.registration = informer.addEventHandler(handler, {
      name: label,
      delivery: chance.pick(['latest', 'latest', 'every']),
      resyncMs: chance.maybe(0.2) ? 5000 : 0,
    });
  }

  /** A callback did not settle in time: the next one begins. */
  gaveUp(): void {
    this.#isBusy = false;
  }

  async remove(): Promise<void> {
    this.isRemoved = true;
    await this.registration.remove();
  }

  #note(text: string): void {
    this.violations.push(`${this.label}: ${text}`);
  }

  #check(informer: SharedInformer<Item>, event: InformerEvent<Item>): void {
    this.events++;
    const { header, type } = event;
    const key = `${header.namespace}/${header.name}`;
    const known = this.known.get(key);
    if (this.isRemoved) this.#note(`${type} ${key} after removal`);
    if (this.#isBusy) this.#note(`${type} ${key} while the event before is being handled`);
    const object = readable(() => event.object);
    if (object !== undefined && object.metadata.resourceVersion !== header.resourceVersion)
      this.#note(`${type} ${key}: header and object differ`);
    if (object !== undefined && !Object.isFrozen(object.spec)) this.#note(`${type} ${key} is not frozen`);
    if (type === 'delete' && !event.leftScope && !this.#goesBack() && this.#isThere(key, header.uid))
      this.#note(`delete of ${key}, which is on the server`);
    if (type === 'add') {
      if (known !== undefined) this.#note(`add of ${key}, which is known`);
    } else if (known === undefined) this.#note(`${type} of ${key}, which is not known`);
    else if (type === 'update') {
      if (event.oldHeader?.resourceVersion !== known.version)
        this.#note(`update of ${key} from ${event.oldHeader?.resourceVersion}, known is ${known.version}`);
      const old = readable(() => event.oldObject);
      if (old !== undefined && old.metadata.resourceVersion !== known.version)
        this.#note(`update of ${key}: old object is not the known one`);
      if (known.uid !== header.uid) this.#note(`update of ${key} to another uid`);
      // A version that could not be read may come once more, and be read then.
      if (!this.#goesBack() && known.version === header.resourceVersion && !event.isResync && old !== undefined)
        this.#note(`update of ${key} without a change`);
      if (!this.#goesBack() && compareResourceVersions(header.resourceVersion, known.version) === 'older')
        this.#note(`update of ${key} back in time`);
    } else if (known.uid !== header.uid) this.#note(`delete of ${key} with another uid`);
    const stored = informer.indexer.stored(header);
    if (
      type !== 'delete' &&
      !this.#goesBack() &&
      stored !== undefined &&
      stored.uid === header.uid &&
      compareResourceVersions(stored.resourceVersion, header.resourceVersion) === 'older'
    )
      this.#note(`${type} of ${key} before the store had it`);
    if (type === 'delete') this.known.delete(key);
    else this.known.set(key, { uid: header.uid, version: header.resourceVersion });
  }
}

/** An object whose bytes are damaged cannot be read; its events are right all the same. */
function readable(read: () => DeepReadonly<Item> | undefined): DeepReadonly<Item> | undefined {
  try {
    return read();
  } catch (error) {
    if (isObjectDecodeError(error)) return undefined;
    throw error;
  }
}
