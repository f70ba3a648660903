import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isNoKindMatch } from '@kctl/apimachinery';
import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import { FakeClock } from '@kctl/wait/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDiscoveryFileCache } from '../src/discovery-cache/index.js';
import { createRestMapper } from '../src/index.js';
import type { DiscoveryCache, RestMapper, Transport } from '../src/index.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kctl-discovery-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** A server without aggregated discovery, and what it was asked for. */
function createServer(): { readonly transport: Transport; readonly asked: string[]; kinds: string[] } {
  const server = { asked: [] as string[], kinds: ['Widget'] };
  const bodyOf = (path: string): object => {
    if (path === '/api') return { kind: 'APIVersions', versions: ['v1'] };
    if (path === '/apis')
      return { kind: 'APIGroupList', groups: [{ name: 'example.com', versions: [{ version: 'v1' }] }] };
    const names = path === '/api/v1' ? ['Pod'] : server.kinds;
    const resources = names.map((kind) => ({ name: `${kind.toLowerCase()}s`, kind, namespaced: true, verbs: ['get'] }));
    return { kind: 'APIResourceList', resources };
  };
  const transport: Transport = {
    server: 'https://10.0.0.1:6443/prefix',
    send: ({ path }) => {
      server.asked.push(path);
      const body = (async function* () {
        yield [Buffer.from(JSON.stringify(bodyOf(path)))];
      })();
      const contentType = 'application/json';
      return Promise.resolve({ status: 200, contentType, retryAfterMs: undefined, headers: {}, body });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return Object.assign(server, { transport });
}

const kindOf = async (mapper: RestMapper, kind: string): Promise<string> =>
  (await mapper.kindFor({ group: 'example.com', kind })).apiVersion;

describe('createDiscoveryFileCache', () => {
  it('answers a later run without a request', async () => {
    const { transport, asked } = createServer();
    const run = (): RestMapper => createRestMapper({ transport, cache: createDiscoveryFileCache({ directory }) });
    expect(await kindOf(run(), 'Widget')).toBe('example.com/v1');
    expect(asked.toSorted()).toEqual(['/api', '/apis', '/apis/example.com/v1']);
    asked.length = 0;
    expect([await kindOf(run(), 'Widget'), asked]).toEqual(['example.com/v1', []]);
    const folder = join(directory, '10.0.0.1_6443_prefix');
    expect((await readdir(folder)).toSorted()).toEqual(['api.json', 'apis.json', 'apis_example.com_v1.json']);
    expect((await stat(join(folder, 'apis.json'))).mode & 0o777).toBe(0o600);
  });

  it('takes a variable that is empty for one that is not set', async () => {
    const environment = { KUBECACHEDIR: '', HOME: directory };
    const { transport } = createServer();
    await kindOf(createRestMapper({ transport, cache: createDiscoveryFileCache({ environment }) }), 'Widget');
    expect(await readdir(join(directory, '.kube', 'cache', 'kctl', 'discovery'))).toHaveLength(1);
  });

  it('looks for a kind that it does not have on the server, and keeps what that says', async () => {
    const server = createServer();
    const run = (): RestMapper =>
      createRestMapper({ transport: server.transport, cache: createDiscoveryFileCache({ directory }) });
    await kindOf(run(), 'Widget');
    server.kinds = ['Widget', 'Gadget'];
    server.asked.length = 0;
    expect(await kindOf(run(), 'Gadget')).toBe('example.com/v1');
    expect(server.asked).toContain('/apis/example.com/v1');
    server.asked.length = 0;
    expect([await kindOf(run(), 'Gadget'), server.asked]).toEqual(['example.com/v1', []]);
    const missed = await kindOf(run(), 'None').catch((error: unknown) => error);
    expect([isNoKindMatch(missed), server.asked.length]).toEqual([true, 3]);
  });

  it('reads no file after an invalidation, nor one that is older than its time', async () => {
    const { transport, asked } = createServer();
    const clock = new FakeClock();
    const run = (): RestMapper =>
      createRestMapper({ transport, cache: createDiscoveryFileCache({ directory, clock }) });
    const mapper = run();
    await kindOf(mapper, 'Widget');
    const written = clock.now() / 1000;
    for (const file of await readdir(directory, { recursive: true, withFileTypes: true }))
      if (file.isFile()) await utimes(join(file.parentPath, file.name), written, written);
    mapper.invalidate();
    asked.length = 0;
    await clock.advance(6 * 3_600_000 - 1);
    expect([await kindOf(run(), 'Widget'), asked]).toEqual(['example.com/v1', []]);
    await clock.advance(1);
    await kindOf(run(), 'Widget');
    expect(asked).toHaveLength(3);
    asked.length = 0;
    await kindOf(mapper, 'Widget');
    expect(asked).toHaveLength(3);
  });

  it('asks the server where a file is not valid, or none can be written', async () => {
    const { transport, asked } = createServer();
    const cache = createDiscoveryFileCache({ directory });
    await kindOf(createRestMapper({ transport, cache }), 'Widget');
    const file = join(directory, '10.0.0.1_6443_prefix', 'apis_example.com_v1.json');
    await writeFile(file, '{"kind":');
    asked.length = 0;
    expect(await kindOf(createRestMapper({ transport, cache }), 'Widget')).toBe('example.com/v1');
    expect([asked, JSON.parse(await readFile(file, 'utf8')).kind]).toEqual([
      ['/apis/example.com/v1'],
      'APIResourceList',
    ]);
    const nowhere = createDiscoveryFileCache({ directory: join(file, 'below-a-file') });
    expect(await kindOf(createRestMapper({ transport, cache: nowhere }), 'Widget')).toBe('example.com/v1');
  });

  it('keeps nothing of a server that could not reach a group', async () => {
    const { transport } = createServer();
    const kept: string[] = [];
    const cache: DiscoveryCache = {
      read: () => Promise.resolve(undefined),
      write: ({ path }) => Promise.resolve(void kept.push(path)),
    };
    const stale = { metadata: { name: 'example.com' }, versions: [{ version: 'v1', freshness: 'Stale' }] };
    const send: Transport['send'] = async (request) => {
      if (request.path !== '/apis') return await transport.send(request);
      const text = JSON.stringify({ kind: 'APIGroupDiscoveryList', items: [stale] });
      return {
        ...(await transport.send(request)),
        body: (async function* () {
          yield [Buffer.from(text)];
        })(),
      };
    };
    await kindOf(createRestMapper({ transport: { ...transport, send }, cache }), 'Widget');
    expect(kept).toEqual(['/api', '/apis/example.com/v1']);
  });

  it('is not asked about kinds that the mapper was given, as resolveKind says', async () => {
    const { transport, asked } = createServer();
    const mapper = createRestMapper({ transport, kinds: [Pod], cache: createDiscoveryFileCache({ directory }) });
    const resolved = async (group: string, kind: string): Promise<unknown> => {
      const { kind: found, source } = await mapper.resolveKind({ group, kind });
      return [found.plural, source, asked.length > 0];
    };
    expect(await resolved('', 'Pod')).toEqual(['pods', 'known', false]);
    expect(await resolved('example.com', 'Widget')).toEqual(['widgets', 'discovery', true]);
  });

  it('refuses options that are not valid', () => {
    expect(() => createDiscoveryFileCache({ ttlMs: -1 })).toThrow(/ttlMs -1/);
    expect(() => createDiscoveryFileCache({ directory: '' })).toThrow(/directory "" is not valid: expected a path/);
    const { transport } = createServer();
    expect(() => createRestMapper({ transport, cache: {} as never })).toThrow(/cache has no method read, write/);
  });
});
