import { Node } from '@kctl/apimachinery/kinds/core/v1';
import { createEnvironment, eventually } from '@kctl/testing';
import { FakeClock } from '@kctl/wait/testing';
import { expect, it } from 'vitest';
import { elasticLabel, joinedByAnnotation, runNodeLabeler } from '../src/labeler.js';

const elastic = (name: string) => ({ metadata: { name, annotations: { [joinedByAnnotation]: 'autoscaling' } } });

it('labels nodes that joined by autoscaling, and tells of those that left', async () => {
  await using environment = await createEnvironment();
  const { client } = environment;
  const stop = new AbortController();
  const lines: string[] = [];
  await client.create(Node, elastic('elastic-1'));
  await client.create(Node, { metadata: { name: 'manual-1' } });
  const running = runNodeLabeler({ client, signal: stop.signal, log: (line) => lines.push(line) });
  await eventually(async () =>
    expect((await client.get(Node, { name: 'elastic-1' })).metadata.labels?.[elasticLabel]).toBe('true'),
  );
  await client.create(Node, elastic('elastic-2'));
  await eventually(() => expect(lines).toContain('elastic-2 joined by autoscaling: labelled'));
  expect((await client.get(Node, { name: 'manual-1' })).metadata.labels?.[elasticLabel]).toBeUndefined();
  for (const name of ['elastic-1', 'elastic-2', 'manual-1']) await client.delete(Node, { name });
  await eventually(() => expect(lines).toContain('elastic-2 is gone'));
  stop.abort();
  await running;
});

it('comes back after 30 s when labelling failed', async () => {
  await using environment = await createEnvironment();
  const { client } = environment;
  const stop = new AbortController();
  const clock = new FakeClock();
  const lines: string[] = [];
  let failures = 1;
  await client.create(Node, elastic('elastic-3'));
  const flaky = {
    listFrames: client.listFrames.bind(client),
    watchFrames: client.watchFrames.bind(client),
    patch: ((...args: Parameters<typeof client.patch>) =>
      failures-- > 0 ? Promise.reject(new Error('no quota')) : client.patch(...args)) as typeof client.patch,
  };
  const running = runNodeLabeler({ client: flaky, signal: stop.signal, log: (line) => lines.push(line), clock });
  await eventually(() => expect(lines).toContain('elastic-3 could not be labelled (no quota): again in 30 s'));
  await clock.advance(29_999);
  expect(lines.at(-1)).toContain('again in 30 s');
  await clock.advance(1);
  await eventually(() => expect(lines).toContain('elastic-3 joined by autoscaling: labelled'));
  await client.delete(Node, { name: 'elastic-3' });
  stop.abort();
  await running;
});
