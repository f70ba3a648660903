import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Node, Pod, Service } from '@kctl/apimachinery/kinds/core/v1';
import { noopLogger } from '@kctl/runtime';
import { createEnvironment, eventually } from '@kctl/testing';
import { expect, it } from 'vitest';
import { createServiceDiscovery } from '../src/discovery.js';
import type { TargetGroup } from '../src/targets.js';

it('keeps the file equal to the running pods behind annotated services', async () => {
  await using environment = await createEnvironment();
  const { client, connection } = environment;
  const folder = await mkdtemp(join(tmpdir(), 'kctl-targets-'));
  const file = join(folder, 'targets.json');
  const namespace = await environment.createNamespace('discovery');
  const node = `node-${namespace}`;
  const ours = async (): Promise<TargetGroup[]> =>
    (JSON.parse(await readFile(file, 'utf8')) as TargetGroup[]).filter(
      ({ labels }) => labels['namespace'] === namespace,
    );
  const stop = new AbortController();
  const manager = await createServiceDiscovery({ connection, logger: noopLogger }, file);
  const running = manager.run(stop.signal);
  try {
    await client.create(Node, { metadata: { name: node, labels: { 'topology.kubernetes.io/zone': 'z1' } } });
    await client.create(Service, {
      metadata: {
        namespace,
        name: 'web',
        annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '9100' },
      },
      spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
    });
    for (const [name, app, podIP] of [
      ['web-1', 'web', '10.1.0.1'],
      ['web-2', 'web', '10.1.0.2'],
      ['other-1', 'other', '10.1.0.3'],
    ] as const) {
      await client.create(Pod, {
        metadata: { namespace, name, labels: { app } },
        spec: { nodeName: node, containers: [{ name: 'c', image: 'i' }] },
      });
      await client
        .status(Pod)
        .patch(
          { namespace, name },
          { type: 'merge', body: { status: { phase: 'Running', podIP, podIPs: [{ ip: podIP }] } } },
        );
    }
    await eventually(
      async () => expect((await ours()).map(({ targets }) => targets[0])).toEqual(['10.1.0.1:9100', '10.1.0.2:9100']),
      { timeoutMs: 20_000 },
    );
    expect((await ours())[0]?.labels).toEqual({ namespace, service: 'web', pod: 'web-1', node, zone: 'z1' });

    await client.delete(Pod, { namespace, name: 'web-1' }, { gracePeriodSeconds: 0 });
    await eventually(async () => expect((await ours()).map(({ targets }) => targets[0])).toEqual(['10.1.0.2:9100']));
    await client.patch(
      Service,
      { namespace, name: 'web' },
      { type: 'merge', body: { metadata: { annotations: { 'prometheus.io/scrape': null } } } },
    );
    await eventually(async () => expect(await ours()).toEqual([]));
  } finally {
    stop.abort();
    await running;
    await client.delete(Node, { name: node });
    await rm(folder, { recursive: true, force: true });
  }
});
