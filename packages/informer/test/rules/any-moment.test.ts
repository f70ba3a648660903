// What is done to an informer between any two microtasks of a list, a stream of events and a relist: it ends, it leaves,
// handlers and readers join and go. Timers and random histories reach only the moments at which something waits.
import { describe, expect, it } from 'vitest';
import { createEventStream } from '../../src/index.js';
import type { InformerEvent } from '../../src/index.js';
import { added, bookmark, deleted, failed, initialEnd, modified, thing } from './scripted-server.js';
import type { Thing } from './scripted-server.js';
import { feeds, ScriptedSession } from './scripted-session.js';

const moments = 90;
const relisted = [thing('c', 14), thing('d', 15)];

/** A handler that notes what cannot follow from what it has received. */
class Witness {
  readonly known = new Set<string>();
  readonly wrong: string[] = [];
  #isBusy = false;

  take({ type, key }: InformerEvent<Thing>): void {
    if (type === 'add' ? this.known.has(key) : !this.known.has(key)) this.wrong.push(`${type} ${key} is not legal`);
    if (type === 'delete') this.known.delete(key);
    else this.known.add(key);
  }

  async takeSlowly(event: InformerEvent<Thing>): Promise<void> {
    if (this.#isBusy) this.wrong.push(`${event.key} while another one is handled`);
    this.#isBusy = true;
    this.take(event);
    await Promise.resolve();
    this.#isBusy = false;
  }
}

interface Scene {
  readonly session: ScriptedSession;
  readonly late: Witness;
  readonly leaveReader: () => Promise<unknown>;
  readonly removeHandler: () => Promise<void>;
}

/** `ends`: whether the store is not what the server has in the end. */
const deeds: Readonly<Record<string, { ends?: 'as it was' | 'empty'; act: (scene: Scene) => unknown }>> = {
  stops: { ends: 'as it was', act: ({ session }) => session.stop() },
  leaves: { ends: 'empty', act: ({ session }) => session.informer.leaveScope() },
  'leaves and stops': {
    ends: 'as it was',
    act: ({ session }) => Promise.all([session.informer.leaveScope(), session.stop()]),
  },
  'loses a handler': { act: ({ removeHandler }) => removeHandler() },
  'loses a reader': { act: ({ leaveReader }) => leaveReader() },
  'gets a handler': {
    act: ({ session, late }) => void session.informer.addEventHandler({ onEvent: (event) => late.take(event) }),
  },
  'gets an index': {
    act: ({ session }) => session.informer.addIndexers({ name: ({ metadata }) => [metadata?.name ?? ''] }),
  },
};

describe.each(feeds)('an informer fed by %s', (source) => {
  describe.each([false, true])('(streaming: %s)', (streams) => {
    it.each(Object.entries(deeds))('that %s at any moment', async (_what, { act, ends }) => {
      for (let moment = 0; moment < moments; moment++) {
        const session = new ScriptedSession({ source, streams });
        const { server, clock, informer } = session;
        server.page = () => ({ version: 10, items: [thing('a', 1), thing('b', 2)] });
        const [slow, quick, late] = [new Witness(), new Witness(), new Witness()];
        const registration = informer.addEventHandler({ onEvent: (event) => slow.takeSlowly(event) });
        informer.addEventHandler({ onEvent: (event) => quick.take(event) });
        const reader = createEventStream(informer, { clock })[Symbol.asyncIterator]();
        const reading = (async () => {
          while ((await reader.next()).done !== true);
        })();
        const stream = (version: number, ...objects: Thing[]): void => {
          if (streams) server.watches.at(-1)?.send(...objects.map((object) => added(object)), initialEnd(version));
        };
        const scene: Scene = {
          session,
          late,
          leaveReader: async () => await reader.return?.(),
          removeHandler: () => registration.remove(),
        };
        const done = ticks(moment).then(() => act(scene));
        const started = session.start();
        await ticks(8);
        stream(10, thing('a', 1), thing('b', 2));
        await ticks(8);
        server.watches.at(-1)?.send(modified(thing('a', 11)), bookmark(12), deleted(thing('b', 13)));
        server.watches.at(-1)?.send(added(thing('c', 14)), failed(410, 'Expired'));
        await started;
        server.page = () => ({ version: 20, items: relisted });
        for (let second = 0; second < 5; second++) {
          stream(20, ...relisted);
          await clock.advance(1000);
        }
        await done;
        if (ends !== 'as it was') {
          const expected = ends === 'empty' ? [] : ['a/c', 'a/d'];
          expect([moment, informer.indexer.listKeys(), [...quick.known].sort()]).toEqual([moment, expected, expected]);
        }
        await session.stop();
        await registration.ended;
        await reading;
        expect([moment, ...slow.wrong, ...quick.wrong, ...late.wrong]).toEqual([moment]);
        expect([moment, clock.pendingTimers, informer.state.phase]).toEqual([moment, 0, 'stopped']);
      }
    });
  });
});

async function ticks(count: number): Promise<void> {
  for (let tick = 0; tick < count; tick++) await Promise.resolve();
}
