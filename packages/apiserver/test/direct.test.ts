import { expect, it } from 'vitest';
import type { Commit } from '../src/index.js';
import { harness } from './harness.js';

const json = { 'content-type': 'application/json', accept: 'application/json' };

/** What an answer consists of, in order. */
async function answer(
  server: Awaited<ReturnType<typeof harness>>['server'],
  request: { method: string; target: string; body?: unknown; signal?: AbortSignal },
) {
  const parts: string[] = [];
  const done = server.answer(
    {
      method: request.method,
      target: request.target,
      headers: json,
      ...(request.body === undefined ? {} : { body: Buffer.from(JSON.stringify(request.body)) }),
      user: { name: 'tester', groups: ['system:masters'] },
      signal: request.signal ?? new AbortController().signal,
    },
    {
      start: (status) => void parts.push(String(status)),
      data: (bytes) => void parts.push(Buffer.from(bytes).toString()),
      end: () => void parts.push('end'),
      destroy: () => void parts.push('destroy'),
    },
  );
  return { parts, done };
}

it('answers a request that is plain data, in the name of its user', async () => {
  const { server } = await harness();
  const body = { metadata: { name: 'a' } };
  const { parts, done } = await answer(server, {
    method: 'POST',
    target: '/api/v1/namespaces/default/configmaps',
    body,
  });
  await done;
  expect([parts[0], parts.at(-1)]).toEqual(['201', 'end']);
  expect(server.journal.requests().at(-1)?.user).toBe('tester');
});

it('streams a watch until its client goes away', async () => {
  const { server, post } = await harness();
  const client = new AbortController();
  const target = '/api/v1/namespaces/default/configmaps?watch=true';
  const { parts, done } = await answer(server, { method: 'GET', target, signal: client.signal });
  await post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'seen' } });
  while (!parts.some((part) => part.includes('"seen"'))) await new Promise((resolve) => setImmediate(resolve));
  client.abort();
  await done;
  expect(parts.at(-1)).toBe('destroy');
  expect(server.watchers).toBe(0);
});

it('refuses a body beyond the limit', async () => {
  const { server } = await harness({ maxBodyBytes: 10 });
  const body = { metadata: { name: 'too-large' } };
  const { parts, done } = await answer(server, {
    method: 'POST',
    target: '/api/v1/namespaces/default/configmaps',
    body,
  });
  await done;
  expect(parts[0]).toBe('413');
});

it('calls back for each commit with the object before and after', async () => {
  const { server, post, merge, delete: remove } = await harness();
  const commits: Commit[] = [];
  const stop = server.onCommit((commit) => void (commit.resource === '/configmaps' && commits.push(commit)));
  const path = '/api/v1/namespaces/default/configmaps';
  await post(path, { metadata: { name: 'a' }, data: { v: '1' } });
  await merge(`${path}/a`, { data: { v: '2' } });
  await remove(`${path}/a`);
  stop();
  await post(path, { metadata: { name: 'unseen' } });
  expect(commits.map(({ change, namespace, name }) => `${change} ${namespace}/${name}`)).toEqual([
    'ADDED default/a',
    'MODIFIED default/a',
    'DELETED default/a',
  ]);
  expect([commits[1]?.previous?.['data'], commits[1]?.object['data']]).toEqual([{ v: '1' }, { v: '2' }]);
});

it('answers a read without reading the signal of its client, and cuts the answer where that has gone', async () => {
  const { server } = await harness();
  let reads = 0;
  const ask = async (isGone: boolean): Promise<string[]> => {
    const parts: string[] = [];
    await server.answer(
      {
        method: 'GET',
        target: '/api/v1/namespaces/default',
        headers: json,
        get signal() {
          reads++;
          return new AbortController().signal;
        },
        isGone: () => isGone,
      },
      {
        start: (status) => void parts.push(String(status)),
        data: () => undefined,
        end: () => void parts.push('end'),
        destroy: () => void parts.push('destroy'),
      },
    );
    return parts;
  };
  expect([await ask(false), await ask(true), reads]).toEqual([['200', 'end'], ['destroy'], 0]);
});
