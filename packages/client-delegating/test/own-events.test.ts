import type { DeepReadonly } from '@kctl/apimachinery';
import { headerOf } from '@kctl/apimachinery/internal/wire';
import { noopLogger } from '@kctl/telemetry';
import type { LogFields } from '@kctl/telemetry';
import { FakeClock, settle } from '@kctl/wait/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '@kctl/client';
import { createOwnEvents } from '../src/index.js';
import type { ObjectEventHandler, ObservableInformers, ObservedEvent, OwnEvents } from '../src/index.js';
import { modelClient, ModelServer, Thing, thing } from './model.js';

interface Update {
  readonly isResync: boolean;
}

const key = { namespace: 'ns', name: 'a' };
const broken = Object.assign(new Error('connection reset'), { maybeSent: true });

let server: ModelServer;
let clock: FakeClock;
let live: Client;
let client: Client;
let own: OwnEvents;
let handler: ObjectEventHandler<Thing, unknown, Update, unknown>;
let seen: string[];
let told: Thing | undefined;
let logged: unknown[];

const size = (object: { readonly spec?: { readonly size?: number } }): string => String(object.spec?.size ?? '');
/** What an informer would tell of the present state, having told the state before. */
function watchEvent(isResync = false): void {
  const present = server.objects.get('ns/a');
  const before = told;
  told = present;
  if (present === undefined) {
    if (before !== undefined) void handler.onDelete?.(before, {});
  } else if (before === undefined) void handler.onAdd?.(present, {});
  else if (before !== present || isResync) void handler.onUpdate?.(before, present, { isResync });
}
const foreign = (to: number): unknown => server.put(thing('a', { spec: { size: to } }), false);
const read = (): Thing => ({ ...(server.objects.get('ns/a') as Thing) });

beforeEach(async () => {
  server = new ModelServer();
  clock = new FakeClock();
  live = modelClient(server);
  seen = [];
  told = undefined;
  logged = [];
  const logger = {
    ...noopLogger,
    error: (_message: string, fields?: LogFields) => void logged.push(fields?.['error']),
  };
  own = createOwnEvents({ clock, logger, maxHoldMs: 1000 });
  client = own.wrapClient({
    ...live,
    update: async (kind, object, options) => {
      const answer = await live.update(kind, object, options);
      await during();
      return answer;
    },
  });
  handler = own.wrapHandler(Thing, {
    onAdd: (object) => void seen.push(`add ${size(object)}`),
    onUpdate: (from, to, { isResync }: Update) =>
      void seen.push(`${isResync ? 'resync ' : ''}${size(from)}→${size(to)}`),
    onDelete: (object) => void seen.push(`delete ${size(object)}`),
  });
  during = () => Promise.resolve();
  await client.create(Thing, thing('a', { spec: { size: 1 } }));
  watchEvent();
});

/** What happens between the commit of an update and its answer. */
let during: () => Promise<void>;

describe('own events', () => {
  it('of an add always arrive', () => {
    expect(seen).toEqual(['add 1']);
  });

  it('of guarded writes are kept back, whether they come before the answer or after it', async () => {
    during = async () => watchEvent();
    await client.update(Thing, { ...read(), spec: { size: 2 } });
    during = () => Promise.resolve();
    await client.update(Thing, { ...read(), spec: { size: 3 } });
    await client.status(Thing).update({ ...read(), status: { ready: 1 } });
    watchEvent();
    expect(seen).toEqual(['add 1']);
  });

  // JOSDK#3398: "the version is mine" is not enough, because the answer holds what others wrote before.
  it('of a patch without a version are delivered: it may have met a foreign change that nobody has seen', async () => {
    foreign(5);
    await client.patch(Thing, key, { type: 'merge', body: { status: { ready: 1 } } });
    watchEvent();
    expect(seen).toEqual(['add 1', '1→5']);
  });

  it('of a patch with a version are kept back', async () => {
    const { resourceVersion = '' } = read().metadata;
    const metadata = { ...read().metadata, resourceVersion };
    await client.patch(Thing, key, { type: 'merge', body: { metadata, spec: { size: 2 } } });
    watchEvent();
    expect(seen).toEqual(['add 1']);
  });

  it('do not swallow a foreign change that the handler has not seen before the own one', async () => {
    foreign(5);
    await client.update(Thing, { ...read(), spec: { size: 6 } });
    watchEvent();
    expect(seen).toEqual(['add 1', '1→6']);
  });

  it('do not swallow a foreign change between two own ones', async () => {
    during = async () => watchEvent();
    await client.update(Thing, { ...read(), spec: { size: 2 } });
    foreign(5);
    await client.update(Thing, { ...read(), spec: { size: 6 } });
    expect(seen).toEqual(['add 1', '2→6']);
  });

  it('that foreign ones follow while the write is under way are merged into one update, old first, new last', async () => {
    during = async () => {
      watchEvent();
      foreign(8);
      watchEvent();
      watchEvent(true);
      expect(seen).toEqual(['add 1']);
    };
    await client.update(Thing, { ...read(), spec: { size: 2 } });
    expect(seen).toEqual(['add 1', '1→8']);
  });

  it('never hold a delete, and drop what it overtakes', async () => {
    during = async () => {
      watchEvent();
      server.remove('ns/a');
      watchEvent();
      expect(seen).toEqual(['add 1', 'delete 2']);
    };
    await client.update(Thing, { ...read(), spec: { size: 2 } });
    expect(seen).toEqual(['add 1', 'delete 2']);
  });

  it('nest: parallel writes of one object hold until the last is answered', async () => {
    const gate = Promise.withResolvers<undefined>();
    during = async () => {
      await gate.promise;
    };
    const first = client.update(Thing, { ...read(), spec: { size: 2 } });
    await Promise.resolve();
    const second = client.patch(Thing, key, { type: 'merge', body: { spec: { size: 3 } } });
    watchEvent();
    await second;
    expect(seen).toEqual(['add 1']);
    gate.resolve(undefined);
    await first;
    expect(seen).toEqual(['add 1', '1→3']);
  });

  it('are delivered after a write that failed, or whose answer was lost', async () => {
    server.fault = { when: 'after', error: broken };
    await client.update(Thing, { ...read(), spec: { size: 2 } }).catch(() => undefined);
    watchEvent();
    expect(seen).toEqual(['add 1', '1→2']);
    during = () => Promise.reject(broken);
    await client.update(Thing, { ...read(), spec: { size: 3 } }).catch(() => undefined);
    watchEvent();
    expect(seen).toEqual(['add 1', '1→2', '2→3']);
  });

  it('are held no longer than allowed by a write that hangs', async () => {
    during = () => new Promise(() => undefined);
    void client.update(Thing, { ...read(), spec: { size: 2 } });
    while (read().spec?.size !== 2) await Promise.resolve();
    watchEvent();
    await clock.advance(999);
    expect(seen).toEqual(['add 1']);
    await clock.advance(2);
    expect(seen).toEqual(['add 1', '1→2']);
  });

  it('that were held wait for a callback that runs', async () => {
    const gate = Promise.withResolvers<undefined>();
    const steps: string[] = [];
    const slow: ObjectEventHandler<Thing, unknown, Update, unknown> = own.wrapHandler(Thing, {
      onUpdate: async (from, to, _info: Update) => {
        steps.push(`begin ${size(from)}→${size(to)}`);
        await gate.promise;
        steps.push(`end ${size(from)}→${size(to)}`);
      },
    });
    const before = told as Thing;
    const other = thing('b', { spec: { size: 1 } });
    let running: unknown;
    during = async () => {
      await slow.onUpdate?.(before, foreign(7) as Thing, { isResync: false });
      running = slow.onUpdate?.(other, thing('b', { spec: { size: 5 } }), { isResync: false });
    };
    const written = client.update(Thing, { ...read(), spec: { size: 2 } });
    await written;
    await settle();
    expect(steps).toEqual(['begin 1→5']);
    gate.resolve(undefined);
    await running;
    await settle();
    expect(steps).toEqual(['begin 1→5', 'end 1→5', 'begin 1→7', 'end 1→7']);
  });

  it('leave resyncs alone', async () => {
    await client.update(Thing, { ...read(), spec: { size: 2 } });
    watchEvent();
    watchEvent(true);
    expect(seen).toEqual(['add 1', 'resync 2→2']);
  });

  it('a relist that shows one state for many is kept back only where all of it was own', async () => {
    for (const n of [2, 3, 4]) await client.update(Thing, { ...read(), spec: { size: n } });
    watchEvent();
    expect(seen).toEqual(['add 1']);
    await client.update(Thing, { ...read(), spec: { size: 5 } });
    foreign(6);
    await client.update(Thing, { ...read(), spec: { size: 7 } });
    watchEvent();
    expect(seen).toEqual(['add 1', '4→7']);
  });
});

describe('own events behind an informer', () => {
  type Change = ObservedEvent<DeepReadonly<Thing>>;
  interface Watch {
    readonly seen: string[];
    /** What an informer would tell, in events that count how often they are decoded. */
    tell(type: Change['type']): unknown;
    remove(): void;
    readonly decoded: () => number;
  }

  async function watch(answer: () => void | Promise<void> = () => undefined): Promise<Watch> {
    const heard: string[] = [];
    let decoded = 0;
    let observer: ((event: Change) => unknown) | undefined;
    let before = told;
    const registration = {
      hasSynced: true,
      waitForSync: () => Promise.resolve(),
      remove: () => void (observer = undefined),
    };
    const informers = {
      informer: () =>
        Promise.resolve({
          addEventHandler: ({ onEvent }: { onEvent(event: Change): unknown }) => {
            observer = onEvent;
            return registration;
          },
        }),
    } as unknown as ObservableInformers;
    const informer = await own.wrapInformers(informers).informer(Thing);
    const handle = informer.addEventHandler({
      onEvent: ({ type, header, oldHeader }) => {
        heard.push(`${type} ${oldHeader?.resourceVersion ?? ''}→${header.resourceVersion}`);
        return answer();
      },
    });
    return {
      seen: heard,
      decoded: () => decoded,
      remove: () => void handle.remove(),
      tell: (type) => {
        const object = server.objects.get('ns/a') ?? before;
        if (object === undefined) throw new Error('there is nothing to tell of');
        const oldObject = before;
        before = object;
        return observer?.({
          type,
          header: headerOf(object),
          oldHeader: oldObject === undefined ? undefined : headerOf(oldObject),
          get object() {
            decoded++;
            return object;
          },
          get oldObject() {
            decoded++;
            return oldObject;
          },
          isInInitialList: false,
          finalStateUnknown: false,
        });
      },
    };
  }

  it('stay out, undecoded; adds, deletes, resyncs and foreign updates arrive', async () => {
    const { seen: heard, tell, decoded } = await watch();
    tell('add');
    await client.update(Thing, { ...read(), spec: { size: 2 } });
    tell('update');
    tell('update');
    foreign(3);
    tell('update');
    tell('delete');
    expect(heard).toEqual(['add 11→11', 'update 12→12', 'update 12→13', 'delete 13→13']);
    expect(decoded()).toBe(0);
  });

  it('stay out of an informer on loan, which is returned; without loans there are none', async () => {
    const steps: string[] = [];
    let observer: ((event: Change) => unknown) | undefined;
    const informer = {
      addEventHandler: ({ onEvent }: { onEvent(event: Change): unknown }) => {
        observer = onEvent;
        return { hasSynced: true, waitForSync: () => Promise.resolve(), remove: () => void steps.push('removed') };
      },
    };
    class Informers {
      readonly name = 'loans of';
      acquire(kind: { readonly kind: string }): object {
        steps.push(`${this.name} ${kind.kind}`);
        return { informer, [Symbol.asyncDispose]: async () => void steps.push('returned') };
      }
      async informer(): Promise<object> {
        return informer;
      }
    }
    const wrapped = own.wrapInformers(new Informers() as unknown as ObservableInformers);
    const loan = wrapped.acquire?.(Thing);
    const handle = loan?.informer.addEventHandler({ onEvent: ({ type }) => void steps.push(type) });
    const event = (type: Change['type'], from: Thing | undefined, object: Thing): Change => ({
      type,
      header: headerOf(object),
      oldHeader: from === undefined ? undefined : headerOf(from),
      object,
      oldObject: from,
      isInInitialList: false,
      finalStateUnknown: false,
    });
    const before = read();
    await client.update(Thing, { ...before, spec: { size: 2 } });
    observer?.(event('update', before, read()));
    observer?.(event('delete', before, read()));
    await handle?.remove();
    await loan?.[Symbol.asyncDispose]();
    expect(steps).toEqual(['loans of Thing', 'delete', 'removed', 'returned']);
    expect(own.wrapInformers({ informer: async () => informer } as never).acquire).toBeUndefined();
  });

  it('wait for the answer of a write, merged with foreign ones, and never overtake a delete', async () => {
    const { seen: heard, tell } = await watch();
    during = async () => {
      tell('update');
      foreign(8);
      tell('update');
      expect(heard).toEqual([]);
    };
    await client.update(Thing, { ...read(), spec: { size: 2 } });
    expect(heard).toEqual(['update 11→13']);
    during = async () => {
      tell('update');
      tell('delete');
    };
    await client.update(Thing, { ...read(), spec: { size: 3 } });
    expect(heard).toEqual(['update 11→13', 'delete 14→14']);
  });

  it('do not reach a handler that was removed meanwhile', async () => {
    const { seen: heard, tell, remove } = await watch();
    during = async () => {
      tell('update');
      foreign(8);
      tell('update');
      remove();
    };
    await client.update(Thing, { ...read(), spec: { size: 2 } });
    expect(heard).toEqual([]);
  });

  const failure = new Error('handler failed');
  const throws = (): void => {
    throw failure;
  };
  const failing = [
    { how: 'throws', fail: throws },
    { how: 'rejects', fail: () => Promise.reject<undefined>(failure) },
  ];

  it.each(failing)('that wait for a write leave its answer alone when a handler $how', async ({ fail }) => {
    const first = await watch(fail);
    const second = await watch();
    during = async () => {
      first.tell('update');
      second.tell('update');
      foreign(8);
      first.tell('update');
      second.tell('update');
    };
    await expect(client.update(Thing, { ...read(), spec: { size: 2 } })).resolves.toMatchObject({ spec: { size: 2 } });
    await settle();
    expect([first.seen, second.seen, logged]).toEqual([['update 11→13'], ['update 11→13'], [failure]]);
  });

  it.each(failing)('that are held too long are logged when a handler $how', async ({ fail }) => {
    const { seen: heard, tell } = await watch(fail);
    during = () => new Promise(() => undefined);
    void client.update(Thing, { ...read(), spec: { size: 2 } });
    while (read().spec?.size !== 2) await Promise.resolve();
    tell('update');
    await clock.advance(1001);
    await settle();
    expect([heard, logged]).toEqual([['update 11→12'], [failure]]);
  });

  it('that are released while a callback runs wait for its end, merged, and never overtake a delete', async () => {
    const gate = Promise.withResolvers<undefined>();
    let running = 0;
    let overlaps = 0;
    const { seen: heard, tell } = await watch(async () => {
      if (++running > 1) overlaps++;
      await gate.promise;
      running--;
    });
    const told = tell('add');
    during = async () => void tell('update');
    await client.patch(Thing, key, { type: 'merge', body: { spec: { size: 2 } } });
    await client.update(Thing, { ...read(), spec: { size: 3 } });
    foreign(8);
    await client.update(Thing, { ...read(), spec: { size: 9 } });
    expect(heard).toEqual(['add 11→11']);
    const deleted = tell('delete');
    gate.resolve(undefined);
    await Promise.all([told, deleted]);
    await settle();
    expect([heard.at(-1)?.slice(0, 6), heard.length <= 3, overlaps]).toEqual(['delete', true, 0]);
  });

  it('that a handler takes its time for are waited for by the informer', async () => {
    const { tell } = await watch(() => Promise.reject(failure));
    await expect(tell('add')).rejects.toBe(failure);
  });
});

describe('createOwnEvents', () => {
  it('refuses a time that is none', () => {
    expect(() => createOwnEvents({ maxHoldMs: NaN })).toThrow('createOwnEvents: maxHoldMs NaN is not valid');
    expect(() => own.wrapHandler(undefined as never, {})).toThrow('wrapHandler: the kind is undefined');
    for (const informers of [undefined, {}, { informer: 5 }])
      expect(() => own.wrapInformers(informers as never)).toThrow('wrapInformers: informers is');
  });
});
