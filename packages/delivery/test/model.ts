import { isDeadlineExceeded } from '@kctl/wait';
import type { FakeClock } from '@kctl/wait/testing';
import { settle } from '@kctl/wait/testing';
import { Audience, Delivery, Turn } from '../src/index.js';
import type { EventTraits, Publication, Series } from '../src/index.js';

/** One version of an object. */
export interface Version {
  readonly key: string;
  readonly uid: number;
  readonly version: number;
}

export interface ModelEvent {
  readonly type: 'add' | 'update' | 'delete';
  readonly now: Version;
  /** What an update starts from. */
  readonly from: Version | undefined;
  readonly isResync: boolean;
}

const add = (now: Version): ModelEvent => ({ type: 'add', now, from: undefined, isResync: false });
const update = (from: Version, now: Version): ModelEvent => ({ type: 'update', now, from, isResync: false });
const remove = (now: Version): ModelEvent => ({ type: 'delete', now, from: undefined, isResync: false });
const resync = (now: Version): ModelEvent => ({ type: 'update', now, from: now, isResync: true });

export const traits: EventTraits<ModelEvent> = {
  keyOf: ({ now }) => now.key,
  typeOf: ({ type }) => type,
  isResync: (event) => event.isResync,
  mergeAdd: (_add, { now }) => add(now),
  mergeUpdate: ({ from }, { now, isResync }) => ({ type: 'update', now, from, isResync }),
};
const everyTraits: EventTraits<ModelEvent> = { ...traits, keyOf: () => undefined };

/** How a handler behaves. */
export type Nature = 'fast' | 'slow' | 'throws' | 'rejects' | 'thenable' | 'hangs' | 'joins' | 'leaves';

/** Objects that change and their followers, as an informer has them. */
export class ModelStore {
  readonly audience: Audience<ModelEvent, Place> = new Audience<ModelEvent, Place>();
  readonly objects: Map<string, Version> = new Map<string, Version>();
  isGone = false;
  #drain: { readonly events: ModelEvent[]; readonly publication: Publication<ModelEvent> } | undefined;
  readonly #next: () => number;
  readonly #name: string;

  constructor(name: string, next: () => number) {
    this.#name = name;
    this.#next = next;
  }

  /** Whether the store is ahead of what was published. */
  get isAhead(): boolean {
    return this.#drain !== undefined;
  }

  write(id: number): void {
    if (this.isAhead || this.isGone) return;
    const present = this.objects.get(this.#key(id));
    const now = this.#put(id, present?.uid);
    this.audience.publish(present === undefined ? add(now) : update(present, now));
  }

  remove(id: number): void {
    const present = this.objects.get(this.#key(id));
    if (present === undefined || this.isAhead || this.isGone) return;
    this.objects.delete(present.key);
    this.audience.publish(remove({ ...present, version: this.#next() }));
  }

  /** The object is another one under the same name: one move, two events. */
  replace(id: number): void {
    const present = this.objects.get(this.#key(id));
    if (present === undefined || this.isAhead || this.isGone) return;
    const now = this.#put(id, undefined);
    const publication = this.audience.begin();
    publication.offer(remove(present));
    publication.offer(add(now));
  }

  /** Everything at once, told step by step. */
  relist(ids: readonly number[]): void {
    if (this.isAhead || this.isGone) return;
    const events: ModelEvent[] = [];
    for (const id of new Set(ids)) {
      const present = this.objects.get(this.#key(id));
      if (present !== undefined && id % 2 === 0) {
        this.objects.delete(present.key);
        events.unshift(remove(present));
      } else
        events.push(
          present === undefined ? add(this.#put(id, undefined)) : update(present, this.#put(id, present.uid)),
        );
    }
    this.#drain = { events, publication: this.audience.begin() };
  }

  /** Nothing here is watched. */
  drop(): void {
    this.step(Infinity);
    if (this.isGone) return;
    const events = [...this.objects.values()].map(remove);
    this.objects.clear();
    this.isGone = true;
    this.#drain = { events, publication: this.audience.begin() };
  }

  step(count: number): void {
    const drain = this.#drain;
    if (drain === undefined) return;
    for (const event of drain.events.splice(0, count)) drain.publication.offer(event);
    if (drain.events.length > 0) return;
    this.#drain = undefined;
    for (const { delivery } of this.audience.members) delivery.proceed();
  }

  #put(id: number, uid: number | undefined): Version {
    const version = this.#next();
    const now: Version = { key: this.#key(id), uid: uid ?? version, version };
    this.objects.set(now.key, now);
    return now;
  }

  #key(id: number): string {
    return `${this.#name}/${id}`;
  }
}

/** One handler in one store. */
class Place {
  readonly delivery: Delivery<ModelEvent>;
  readonly store: ModelStore;

  readonly isEvery: boolean;
  #isResyncing = false;

  constructor(store: ModelStore, delivery: Delivery<ModelEvent>, isEvery: boolean) {
    this.store = store;
    this.delivery = delivery;
    this.isEvery = isEvery;
  }

  offer(event: ModelEvent): void {
    this.delivery.offer(event);
  }

  resync(): void {
    const { store, delivery } = this;
    if (store.isAhead) return;
    const versions = [...store.objects.values()];
    if (this.isEvery) {
      if (!this.#isResyncing) {
        this.#isResyncing = true;
        delivery.insert(seriesOf(versions, resync));
        delivery.mark(() => (this.#isResyncing = false));
      }
      return;
    }
    delivery.interleave({
      get left() {
        return versions.length;
      },
      get isPaused() {
        return store.isAhead;
      },
      next: (isWaiting) => {
        const key = versions.shift()?.key ?? '';
        const present = store.objects.get(key);
        return present === undefined || isWaiting(key) ? undefined : resync(present);
      },
    });
  }
}

function seriesOf(versions: Version[], make: (version: Version) => ModelEvent): Series<ModelEvent> {
  return {
    get left() {
      return versions.length;
    },
    next: () => {
      const version = versions.shift();
      return version === undefined ? undefined : make(version);
    },
  };
}

/** What a handler needs of the world it lives in. */
export interface World {
  readonly clock: FakeClock;
  readonly stores: readonly ModelStore[];
  join(nature: Nature, isEvery: boolean): void;
  leave(which: number): void;
}

/** A handler in all stores that believes nothing: it notes each event that cannot follow from what it knows. */
export class Recorder {
  readonly known: Map<string, Version> = new Map<string, Version>();
  readonly wrong: string[] = [];
  readonly places: Place[] = [];
  isRemoved = false;
  calls = 0;
  failures = 0;
  #busy = 0;
  readonly #world: World;
  readonly #nature: Nature;
  readonly #isEvery: boolean;

  constructor(world: World, nature: Nature, isEvery: boolean) {
    this.#world = world;
    this.#nature = nature;
    this.#isEvery = isEvery;
    const turn = new Turn();
    for (const store of world.stores) {
      const delivery = new Delivery<ModelEvent>({
        name: nature,
        clock: world.clock,
        traits: isEvery ? everyTraits : traits,
        turn,
        call: (event) => this.#take(event),
        onFailure: ({ error }) => {
          this.failures++;
          if (isDeadlineExceeded(error)) this.#busy--;
        },
      });
      const place = new Place(store, delivery, isEvery);
      store.audience.join(place);
      delivery.replay(seriesOf([...store.objects.values()], add));
      this.places.push(place);
    }
  }

  get pending(): number {
    return this.places.reduce((sum, { delivery }) => sum + delivery.pending, 0);
  }

  async remove(): Promise<void> {
    this.isRemoved = true;
    for (const { store, delivery } of this.places) {
      delivery.end();
      store.audience.leave(this.places.find((place) => place.delivery === delivery)!);
    }
    await Promise.all(this.places.map(({ delivery }) => delivery.ended()));
  }

  /** What waits must be bounded by the number of objects. */
  checkBound(objects: number): void {
    for (const { delivery } of this.places)
      if (!this.#isEvery && delivery.pending > 3 * objects) this.wrong.push(`${delivery.pending} wait of ${objects}`);
  }

  judge(): string[] {
    if (this.isRemoved) return this.wrong;
    const expected = this.#world.stores
      .flatMap(({ objects }) => [...objects.values()])
      .map(text)
      .sort()
      .join();
    const known = [...this.known.values()].map(text).sort().join();
    return known === expected ? this.wrong : [...this.wrong, `${this.#nature} knows ${known}, not ${expected}`];
  }

  #take(event: ModelEvent): unknown {
    this.calls++;
    this.#check(event);
    switch (this.#nature) {
      case 'fast':
        return undefined;
      case 'joins':
        if (this.calls % 4 === 1 && this.calls < 20) this.#world.join('fast', this.calls % 8 === 1);
        return undefined;
      case 'leaves':
        if (this.calls % 3 === 0) this.#world.leave(this.calls);
        return undefined;
      case 'throws':
        throw new Error('the handler throws');
      case 'slow':
        return this.#wait(1 + (this.calls % 5) * 300);
      case 'rejects':
        return this.#wait(10).then(() => Promise.reject(new Error('the handler rejects')));
      case 'thenable': {
        const waited = this.#wait(this.calls % 3);
        // biome-ignore lint/suspicious/noThenProperty: a thenable is what it is about
        return { then: (resolve: () => void) => void waited.then(resolve) };
      }
      case 'hangs':
        if (this.calls % 5 !== 0) return this.#wait(50);
        this.#busy++;
        return new Promise(() => undefined);
    }
  }

  async #wait(ms: number): Promise<void> {
    this.#busy++;
    await new Promise<void>((resolve) => this.#world.clock.setTimer(resolve, ms));
    this.#busy--;
  }

  #check({ type, now, from, isResync }: ModelEvent): void {
    const known = this.known.get(now.key);
    const note = (problem: string): void => void this.wrong.push(`${this.#nature}: ${type} ${text(now)}: ${problem}`);
    if (this.isRemoved) note('after the removal');
    if (this.#busy > 0) note('while a callback runs');
    if (type === 'add' && known !== undefined) note(`it is known as ${text(known)}`);
    if (type !== 'add' && known === undefined) note('it is not known');
    if (type !== 'add' && known !== undefined && known.uid !== now.uid) note('of another object');
    if (type === 'update' && known !== undefined && from?.version !== known.version)
      note(`from ${from?.version}, known is ${known.version}`);
    if (type === 'update' && !isResync && from?.version === now.version) note('nothing changed');
    if (type === 'update' && known !== undefined && now.version < known.version) note('back in time');
    if (type === 'delete') this.known.delete(now.key);
    else this.known.set(now.key, now);
  }
}

/** Lets everything come to rest. */
export async function rest(clock: FakeClock, recorders: readonly Recorder[]): Promise<void> {
  for (let minute = 0; minute < 400; minute++) {
    await settle();
    if (recorders.every(({ isRemoved, pending }) => isRemoved || pending === 0) && clock.pendingTimers === 0) return;
    await clock.advance(30_000);
  }
}

function text({ key, uid, version }: Version): string {
  return `${key}#${uid}@${version}`;
}
