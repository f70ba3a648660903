import { defineKind } from '@kctl/apimachinery';
import type { KubeObject } from '@kctl/apimachinery';
import { createIndexer } from '@kctl/cache-index';
import { FakeClock } from '@kctl/wait/testing';
import { Slicer, slicerOf } from '@kctl/wait/internal';
import { describe, expect, it, vi } from 'vitest';
import { ByteDecoder } from '../decoders/byte-decoder.js';
import { ObjectDecoder } from '../decoders/object-decoder.js';
import { Intake } from './intake.js';

const Thing = defineKind({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });
const slicer = slicerOf(new FakeClock());

/** Frames and items of a script: `x@1` is version 1 of x; `x@1/o` has another uid. */
function textOf(name: string): string {
  const [, of = '', version = '', uid = of] = /^(\w+)@(\d+)(?:\/(\w+))?$/.exec(name) ?? [];
  return JSON.stringify({
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { namespace: 'a', name: of, uid, resourceVersion: version },
    // So that no two versions are of one length.
    spec: { pad: 'p'.repeat(Number(version)) },
  });
}

function bookmark(resourceVersion: string, isEnd: boolean): Buffer {
  const annotations = isEnd ? { 'k8s.io/initial-events-end': 'true' } : {};
  const object = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { resourceVersion, annotations } };
  return Buffer.from(JSON.stringify({ type: 'BOOKMARK', object }));
}

class Session {
  readonly #indexer = createIndexer<KubeObject>();
  readonly #decoder = new ByteDecoder<KubeObject>({
    kind: Thing,
    freeze: true,
    keepManagedFields: false,
    transform: undefined,
    fieldPaths: () => undefined,
    onSkip: () => undefined,
  });
  readonly #intake = new Intake(this.#indexer, this.#decoder, {
    dispatch: () => undefined,
    beginDrain: () => ({ offer: () => undefined, end: () => undefined }),
    moved: () => undefined,
  });

  get content(): string[] {
    return [...this.#indexer.values()].map(({ name, resourceVersion }) => `${name}@${resourceVersion}`).toSorted();
  }

  get resourceVersion(): string {
    return this.#intake.resourceVersion;
  }

  get liveBytes(): number {
    return this.#decoder.slabs.liveBytes;
  }

  async run(script: readonly string[]): Promise<this> {
    for (const step of script) {
      const [verb = '', ...names] = step.split(' ');
      if (verb === 'begin') this.#intake.begin();
      else if (verb === 'abandon') this.#intake.abandon();
      else if (verb === 'commit') await this.#intake.commit(names[0] ?? '', slicer, () => false);
      for (const name of names) {
        const frame = (type: string): Buffer => Buffer.from(`{"type":"${type}","object":${textOf(name)}}`);
        if (verb === 'item') this.#intake.listItem(Buffer.from(textOf(name)));
        // Parsed because of its kind, and not JSON behind its identity.
        else if (verb === 'broken')
          this.#intake.listItem(Buffer.from(textOf(name).replace('Thing', 'Other').replace('"pad"', 'pad')));
        else if (verb === 'other') this.#intake.listItem(Buffer.from(textOf(name).replace('Thing', 'Other')));
        else if (verb === 'initial') this.#intake.initialFrame(frame('ADDED'));
        else if (verb === 'initially-deleted') this.#intake.initialFrame(frame('DELETED'));
        else if (verb === 'initial-bookmark' || verb === 'initial-end')
          this.#intake.initialFrame(bookmark(name, verb === 'initial-end'));
        else if (verb === 'live') this.#intake.liveFrame(frame('MODIFIED'));
        else if (verb === 'deleted') this.#intake.liveFrame(frame('DELETED'));
      }
    }
    return this;
  }
}

const filled = ['begin', 'item x@11 y@12', 'commit 20'];

describe('an intake', () => {
  it.each<{ name: string; script: readonly string[]; content: readonly string[] }>([
    { name: 'a list', script: filled, content: ['x@11', 'y@12'] },
    {
      name: 'a list that was abandoned',
      script: [...filled, 'begin', 'item x@21 z@22', 'abandon'],
      content: ['x@11', 'y@12'],
    },
    {
      name: 'a list that was begun again',
      script: [...filled, 'begin', 'item x@21 z@22', 'begin', 'item x@23', 'commit 30'],
      content: ['x@23'],
    },
    { name: 'an object that is twice in a list', script: ['begin', 'item x@11 x@12', 'commit 20'], content: ['x@12'] },
    {
      name: 'a known object that is twice in a list',
      script: [...filled, 'begin', 'item x@11 x@11 x@21 y@12', 'commit 30'],
      content: ['x@21', 'y@12'],
    },
    {
      name: 'a list with the same versions',
      script: [...filled, 'begin', 'item x@11 y@12', 'commit 30'],
      content: ['x@11', 'y@12'],
    },
    { name: 'a list with less', script: [...filled, 'begin', 'item y@12', 'commit 30'], content: ['y@12'] },
    { name: 'a list of nothing', script: [...filled, 'begin', 'commit 30'], content: [] },
    {
      name: 'an item that cannot be read',
      script: [...filled, 'begin', 'broken x@21', 'item y@22', 'commit 30'],
      content: ['x@11', 'y@22'],
    },
    {
      name: 'an item that cannot be read of another object',
      script: [...filled, 'begin', 'broken x@21/o', 'commit 30'],
      content: [],
    },
    {
      name: 'items of which the last is of another object',
      script: [...filled, 'begin', 'item x@21', 'broken x@22/o', 'commit 30'],
      content: [],
    },
    {
      name: 'items of which the last cannot be read',
      script: [...filled, 'begin', 'item x@21', 'broken x@22', 'commit 30'],
      content: ['x@21'],
    },
    {
      name: 'an item of another kind',
      script: [...filled, 'begin', 'other x@21 z@21', 'item y@12', 'commit 30'],
      content: ['x@11', 'y@12'],
    },
    {
      name: 'items of which the last is of another kind',
      script: [...filled, 'begin', 'item x@21', 'other x@22', 'commit 30'],
      content: ['x@21'],
    },
    { name: 'initial events', script: ['begin', 'initial x@11 x@12 y@13', 'commit 20'], content: ['x@12', 'y@13'] },
    {
      name: 'initial deletions',
      script: ['begin', 'initial x@11 y@12', 'initially-deleted x@13 z@14', 'commit 20'],
      content: ['y@12'],
    },
    {
      name: 'initial deletions of known objects',
      script: [...filled, 'begin', 'initial x@11 y@12', 'initially-deleted x@13', 'commit 30'],
      content: ['y@12'],
    },
    { name: 'an update', script: [...filled, 'live x@21'], content: ['x@21', 'y@12'] },
    { name: 'an update to the same version', script: [...filled, 'live x@11'], content: ['x@11', 'y@12'] },
    { name: 'an update to an earlier version', script: [...filled, 'live x@9'], content: ['x@11', 'y@12'] },
    { name: 'another object of the name', script: [...filled, 'live x@21/o'], content: ['x@21', 'y@12'] },
    { name: 'a deletion', script: [...filled, 'deleted x@21'], content: ['y@12'] },
    { name: 'a deletion at an earlier version', script: [...filled, 'deleted x@9'], content: ['x@11', 'y@12'] },
    { name: 'a deletion of what is not known', script: [...filled, 'deleted z@21'], content: ['x@11', 'y@12'] },
    { name: 'a deletion of another object of the name', script: [...filled, 'deleted x@21/o'], content: ['y@12'] },
  ])('keeps the bytes of what is stored alone: $name', async ({ script, content }) => {
    const session = await new Session().run(script);
    expect(session.content).toEqual(content);
    const fresh = await new Session().run(['begin', `item ${content.join(' ')}`.trim(), 'commit 30']);
    expect(session.liveBytes).toBe(content.length === 0 ? 0 : fresh.liveBytes);
  });

  it('begins nothing by frames that come without a replacement, and commits nothing', async () => {
    const session = await new Session().run([
      ...filled,
      'initial z@21',
      'initially-deleted x@22',
      'item z@23',
      'broken x@24',
      'other x@25',
      'commit 30',
    ]);
    expect(session.content).toEqual(['x@11', 'y@12']);
  });

  it.each([
    ['an object', 'initial z@21', '20'],
    ['a deletion', 'initially-deleted x@22', '20'],
    ['a bookmark', 'initial-bookmark 23', '20'],
    ['the end', 'initial-end 24', '24'],
  ])('is at the version of the last content until the initial events end: %s', async (_what, frame, version) => {
    expect((await new Session().run([...filled, 'begin', frame])).resourceVersion).toBe(version);
  });
});

describe('an intake yields to the event loop', () => {
  /** What a commit of as many objects does in slices that are over at once. */
  async function commit(
    count: number,
    { known = 0, isIncomplete = false, endsAfter = Infinity } = {},
  ): Promise<{ breaths: number; offers: number; isEnded: boolean; size: number; resourceVersion: string }> {
    const indexer = createIndexer<KubeObject>();
    const offers: string[] = [];
    let isEnded = false;
    const decoder = new ObjectDecoder<KubeObject>({
      ...{ kind: Thing, freeze: true, keepManagedFields: false, transform: undefined },
      onSkip: () => undefined,
    });
    const intake = new Intake(indexer, decoder, {
      dispatch: () => undefined,
      beginDrain: () => ({ offer: ({ key }) => void offers.push(key), end: () => (isEnded = true) }),
      moved: () => undefined,
    });
    const clock = new FakeClock();
    const quick = slicerOf(clock);
    const list = (of: number): void => {
      intake.begin();
      for (let place = 0; place < of; place++)
        intake.listItem({ metadata: { name: `x-${place}`, resourceVersion: String(place + 1) } });
    };
    list(known);
    await intake.commit('1000', quick, () => false);
    offers.length = 0;
    isEnded = false;
    let breaths = 0;
    const slow = new Slicer(clock, 5);
    vi.spyOn(slow, 'isOver', 'get').mockReturnValue(true);
    vi.spyOn(slow, 'breathe').mockImplementation(() => Promise.resolve(void breaths++));
    list(count);
    if (isIncomplete) intake.listItem({} as KubeObject);
    await intake.commit('2000', slow, () => breaths > endsAfter);
    return { breaths, offers: offers.length, isEnded, size: indexer.size, resourceVersion: indexer.resourceVersion };
  }

  it.each([
    { name: 'every 64 objects of a list', count: 200, options: {}, breaths: 3, offers: 200, size: 200 },
    { name: 'not for fewer', count: 63, options: {}, breaths: 0, offers: 63, size: 63 },
    { name: 'for 64', count: 64, options: {}, breaths: 1, offers: 64, size: 64 },
    {
      name: 'also between objects that did not change',
      count: 130,
      options: { known: 130 },
      breaths: 2,
      offers: 0,
      size: 130,
    },
    { name: 'between deletions', count: 0, options: { known: 130 }, breaths: 2, offers: 130, size: 0 },
    {
      name: 'between objects that are kept',
      count: 0,
      options: { known: 130, isIncomplete: true },
      breaths: 4,
      offers: 0,
      size: 130,
    },
  ])('$name', async ({ count, options, breaths, offers, size }) => {
    expect(await commit(count, options)).toEqual({ breaths, offers, size, isEnded: true, resourceVersion: '2000' });
  });

  it('and ends there if the run has ended, with the store at the version of the list or as it was', async () => {
    expect(await commit(200, { endsAfter: 0 })).toEqual({
      ...{ breaths: 1, offers: 64, isEnded: false, size: 200, resourceVersion: '2000' },
    });
    expect(await commit(0, { known: 200, isIncomplete: true, endsAfter: 0 })).toEqual({
      ...{ breaths: 1, offers: 0, isEnded: false, size: 200, resourceVersion: '1000' },
    });
  });
});
