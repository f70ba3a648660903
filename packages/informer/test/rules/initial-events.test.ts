// What a reflector takes from the initial events of a stream into a store of the caller's, and how it reports that store.
import type { DeepReadonly } from '@kctl/apimachinery';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createReflector } from '../../src/index.js';
import type { ReflectorStore } from '../../src/index.js';
import {
  added,
  bookmark,
  deleted,
  type Frame,
  initialEnd,
  modified,
  raw,
  ScriptedServer,
  thing,
} from './scripted-server.js';
import type { Thing } from './scripted-server.js';
import { feeds, ThingKind } from './scripted-session.js';

const other = (name: string, version: number): Thing => ({ ...thing(name, version), kind: 'Other' });
const nameless = { metadata: { name: '' } } as Thing;

describe.each(feeds)('the initial events of a stream of %s', (source) => {
  const replaced = async (...frames: readonly Frame[]): Promise<readonly string[]> => {
    const seen: string[] = [];
    const server = new ScriptedServer();
    server.page = () => ({ version: 10, items: [thing('a list', 1)] });
    const stop = new AbortController();
    const store: ReflectorStore<DeepReadonly<Thing>> = {
      ...{ add: () => undefined, update: () => undefined, delete: () => undefined },
      replace: (objects, version, { isIncomplete }) =>
        void seen.push(
          `${objects.map(({ metadata }) => metadata.name).join(' ')}@${version}${isIncomplete ? ' incomplete' : ''}`,
        ),
    };
    const clock = new FakeClock();
    const reflector = createReflector<Thing>({ kind: ThingKind, listerWatcher: server[source](true), store, clock });
    const run = reflector.run(stop.signal);
    await settle();
    server.watch.send(...frames);
    await settle();
    stop.abort();
    await run;
    return seen;
  };

  it('are incomplete if one of them may be any object, and complete if it is another', async () => {
    expect(await replaced(added(thing('a', 1)), added(nameless), initialEnd(9))).toEqual(['a@9 incomplete']);
    expect(await replaced(added(thing('a', 1)), added(other('b', 2)), initialEnd(9))).toEqual(['a@9']);
    expect(await replaced(added(thing('a', 1)), deleted(other('b', 2)), initialEnd(9))).toEqual(['a@9']);
  });

  if (source === 'bytes')
    it('are incomplete if one of them cannot be read, which is left out and deletes nothing', async () => {
      const unreadable = (type: string): Frame =>
        raw(JSON.stringify({ type, object: thing('a', 3) }).replace('"spec"', '"metadata":{"name":"b"},"spec"'));
      expect(await replaced(added(thing('c', 1)), unreadable('ADDED'), initialEnd(9))).toEqual(['c@9 incomplete']);
      expect(await replaced(added(thing('a', 1)), unreadable('DELETED'), initialEnd(9))).toEqual(['a@9 incomplete']);
    });

  it('are refused if all of them are of another kind, whatever bookmarks come between', async () => {
    for (const frame of [added, modified, deleted])
      expect(await replaced(frame(other('a', 1)), bookmark(5), initialEnd(9))).toEqual(['a list@10']);
    expect(await replaced(added(other('a', 1)), deleted(thing('b', 2)), initialEnd(9))).toEqual(['@9']);
  });
});

it('reports what a store rejects with later', async () => {
  const reported: string[] = [];
  const server = new ScriptedServer();
  const stop = new AbortController();
  const nothing = (): void => undefined;
  const store = {
    add: nothing,
    update: nothing,
    delete: nothing,
    replace: async () => await Promise.reject(new Error('late')),
  };
  const reflector = createReflector<Thing>({
    kind: ThingKind,
    listerWatcher: server.objects(false),
    store,
    clock: new FakeClock(),
    onStoreError: (error) => void reported.push(String(error)),
  });
  const run = reflector.run(stop.signal);
  await settle();
  stop.abort();
  await run;
  expect(reported.toSorted()).toEqual([
    'Error: late',
    expect.stringMatching(/^TypeError: store\.replace returned a promise/),
  ]);
});
