// One namespace that cannot be listed, or that has left the cache, does not hold up reads of the others, and a read ends with its signal.
import { StatusError } from '@kctl/apimachinery';
import type { Kind } from '@kctl/apimachinery';
import type { ListOptions } from '@kctl/client';
import { describe, expect, it } from 'vitest';
import { createDelegatingClient } from '../src/index.js';
import type { DelegatingClient } from '../src/index.js';
import { LaggingCache, modelClient, ModelServer, Thing, thing } from './model.js';

const inNamespace = (namespace: string, name: string): Thing => thing(name, { metadata: { name, namespace } });
const namesOf = async (client: DelegatingClient, options: ListOptions = {}): Promise<string[]> =>
  (await client.list(Thing, options)).items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);

interface Setup {
  readonly server: ModelServer;
  readonly cache: LaggingCache;
  readonly client: DelegatingClient;
  /** Signals of the requests to the server that have not ended. */
  readonly hanging: AbortSignal[];
}

/** `live`: what the server makes of a list of the bad namespace. */
function setUp(mode: 'overlay' | 'barrier', live: 'forbids' | 'hangs', peeks = true): Setup {
  const server = new ModelServer();
  const cache = new LaggingCache(server);
  cache.namespaces = ['good', 'bad'];
  cache.unlisted.add('bad');
  if (!peeks) cache.peek = undefined;
  const hanging: AbortSignal[] = [];
  const model = modelClient(server);
  const list = async (kind: Kind, options: ListOptions = {}): Promise<never> => {
    if (options.namespace !== 'bad') return (await model.list(kind, options)) as never;
    if (live === 'forbids') throw new StatusError({ code: 403, reason: 'Forbidden', status: 'Failure' });
    if (options.signal !== undefined) hanging.push(options.signal);
    return await new Promise<never>((_resolve, reject) => {
      options.signal?.addEventListener('abort', () => reject(options.signal?.reason as Error), { once: true });
    });
  };
  const client = createDelegatingClient({
    cache,
    client: { ...model, list },
    readYourWrites: mode,
    barrierTimeoutMs: 0,
  });
  return { server, cache, client, hanging };
}

const broken = (): Error => Object.assign(new Error('broken'), { maybeSent: true });

describe.each(['overlay', 'barrier'] as const)('a namespace that cannot be listed (%s)', (mode) => {
  it.each([true, false])('does not hold up a list of all, after an own create in it (peeks: %s)', async (peeks) => {
    const { client, cache } = setUp(mode, 'hangs', peeks);
    await client.create(Thing, inNamespace('good', 'a'));
    await client.create(Thing, inNamespace('bad', 'b'));
    cache.deliver();
    expect(await namesOf(client)).toEqual(['bad/b', 'good/a']);
    await client.delete(Thing, { namespace: 'bad', name: 'b' });
    await client.delete(Thing, { namespace: 'good', name: 'a' });
    cache.deliver();
    expect(await namesOf(client, { signal: AbortSignal.timeout(60_000) }).catch(String)).toEqual([]);
  });

  const doubts: readonly (readonly [string, (setup: Setup) => Promise<unknown>])[] = [
    [
      'a create whose answer was lost',
      ({ client, server }) => {
        server.fault = { when: 'after', error: broken() };
        return client.create(Thing, inNamespace('bad', 'b'));
      },
    ],
    [
      'a generated name whose answer was lost',
      ({ client, server }) => {
        server.fault = { when: 'after', error: broken() };
        return client.create(Thing, { metadata: { generateName: 'b-', namespace: 'bad' } });
      },
    ],
    ['a deleteAllOf', ({ client }) => client.deleteAllOf(Thing, { namespace: 'bad' })],
    [
      'a write to a subresource',
      async ({ client }) => {
        await client.create(Thing, inNamespace('bad', 'b'));
        return client
          .subResource<typeof Thing, { spec: { size: number } }>(Thing, 'scale')
          .update({ namespace: 'bad', name: 'b' }, { spec: { size: 2 } });
      },
    ],
  ];

  it.each(doubts)('ends a list of all with the refusal of the server, after %s', async (_what, write) => {
    const setup = setUp(mode, 'forbids');
    await write(setup).catch(() => undefined);
    await expect(namesOf(setup.client)).rejects.toThrow(/Forbidden|403/);
  });

  it.each(doubts)(
    'ends every read with its signal, and the question with the last of them, after %s',
    async (_what, write) => {
      const setup = setUp(mode, 'hangs');
      const { client, hanging } = setup;
      await write(setup).catch(() => undefined);
      const endings = [new AbortController(), new AbortController()];
      const reads = endings.flatMap(({ signal }) => [
        namesOf(client, { signal }),
        namesOf(client, { signal, namespace: 'bad' }),
        client.get(Thing, { namespace: 'bad', name: 'b' }, { signal }),
      ]);
      const ends = reads.map((read) => read.then(() => 'answered', String));
      await new Promise((resolve) => setImmediate(resolve));
      expect(hanging.some(({ aborted }) => aborted)).toBe(false);
      endings[0]?.abort(new Error('given up'));
      await Promise.all([ends[0], ends[1], ends[2]]);
      endings[1]?.abort(new Error('given up'));
      expect(new Set(await Promise.all(ends))).toEqual(new Set(['Error: given up']));
      expect(hanging.every(({ aborted }) => aborted)).toBe(true);
    },
  );

  it('that has left the cache is no longer part of a list of all, whatever was written to it', async () => {
    const { client, cache, server } = setUp(mode, 'forbids');
    cache.unlisted.clear();
    await client.create(Thing, inNamespace('good', 'a'));
    await client.create(Thing, inNamespace('bad', 'b'));
    await client.create(Thing, inNamespace('bad', 'c'));
    await client.delete(Thing, { namespace: 'bad', name: 'c' });
    server.fault = { when: 'after', error: broken() };
    await client.patch(Thing, { namespace: 'bad', name: 'b' }, { type: 'merge', body: {} }).catch(() => undefined);
    cache.namespaces = ['good'];
    if (mode === 'barrier') cache.deliver();
    expect(await namesOf(client)).toEqual(['good/a']);
  });
});
