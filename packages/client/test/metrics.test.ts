import { expect, it } from 'vitest';
import { NodeMetrics, PodMetrics, topNodes, topPods, totalUsage } from '../src/operations/index.js';
import { createMemoryClient } from './memory-client.js';

it('adds up what containers use, and puts the largest first', async () => {
  const client = createMemoryClient();
  const pod = (namespace: string, name: string, ...usages: { cpu?: string; memory?: string }[]) =>
    client.create(PodMetrics, {
      metadata: { namespace, name },
      timestamp: '2026-01-01T00:00:00Z',
      containers: usages.map((usage, index) => ({ name: `c${index}`, usage })),
    });
  await pod('shop', 'small', { cpu: '1500u', memory: '64Mi' }, { cpu: '1m', memory: '512Ki' });
  await pod('shop', 'large', { cpu: '250m', memory: '1Gi' }, { cpu: '1', memory: '1Gi' });
  await pod('other', 'none');
  const pods = await topPods(client, { namespace: 'shop' });
  expect(pods).toMatchObject([
    { namespace: 'shop', name: 'large', cpu: '1250m', memory: '2Gi', cpuCores: 1.25, memoryBytes: 2 ** 31 },
    { name: 'small', cpu: '2500u', memory: '66048Ki', containers: [{ name: 'c0', cpu: '1500u' }, { name: 'c1' }] },
  ]);
  expect(totalUsage(pods).cpuCores).toBeCloseTo(1.2525);
  expect(await topPods(client, { namespace: 'other' })).toMatchObject([{ cpu: '0', memoryBytes: 0 }]);
  await client.create(NodeMetrics, { metadata: { name: 'n' }, usage: { cpu: '156340723n', memory: '1Ki' } });
  expect(await topNodes(client)).toMatchObject([{ name: 'n', cpu: '156340723n', memory: '1Ki' }]);
});

it('puts the largest use of CPU first, then that of memory, and counts what was not measured as none', async () => {
  const calls: object[] = [];
  const listing = (...items: object[]) =>
    ({
      list: async (_kind: unknown, options: object) => {
        calls.push(options);
        return { metadata: {}, items };
      },
    }) as never;
  const node = (name: string, usage?: object | null) => ({ metadata: { name }, timestamp: `of ${name}`, usage });
  const nodes = [
    node('none', null),
    node('unset'),
    node('small', { cpu: '1', memory: '1Mi' }),
    node('large', { cpu: '1', memory: '1Gi' }),
    node('busy', { cpu: '2' }),
  ];
  const top = await topNodes(listing(...nodes), { labelSelector: 'a=b' });
  expect(top.map(({ name, timestamp, cpu }) => [name, timestamp, cpu])).toEqual([
    ['busy', 'of busy', '2'],
    ['large', 'of large', '1'],
    ['small', 'of small', '1'],
    ['none', 'of none', '0'],
    ['unset', 'of unset', '0'],
  ]);
  const metadata = { namespace: 'shop', name: 'web' };
  const unmeasured = { metadata, containers: [{ name: 'main', usage: null }, { name: 'side' }] };
  const pods = await topPods(listing(unmeasured, { metadata, containers: null }), { namespace: 'shop' });
  expect(pods).toMatchObject([
    {
      cpu: '0',
      memory: '0',
      containers: [
        { name: 'main', cpu: '0' },
        { name: 'side', memory: '0' },
      ],
    },
    { cpu: '0', containers: [] },
  ]);
  expect(calls).toEqual([
    { labelSelector: 'a=b', live: true },
    { namespace: 'shop', live: true },
  ]);
});
