/** Columns and storage hashes of every kind, as kube-apiserver 1.36 shows them (test/golden/tables.json). */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createApiServer } from '../src/index.js';
import { harness } from './harness.js';

interface Golden {
  readonly storageVersionHash?: string;
  readonly columns: readonly string[];
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly priority: number;
}

interface Resource {
  readonly name: string;
  readonly storageVersionHash?: string;
}

const golden = JSON.parse(readFileSync(new URL('golden/tables.json', import.meta.url), 'utf8')) as Record<
  string,
  Golden
>;

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

describe('tables of built-in kinds', () => {
  it('have the columns of a real server, for every kind', async () => {
    const server = createApiServer({ listen: false });
    await server.start();
    const shown: Record<string, Golden> = {};
    for (const path of Object.keys(golden)) {
      const answer = await server.fetch(`${path}?limit=1`, { headers: { accept: table } });
      const { columnDefinitions } = (await answer.json()) as { columnDefinitions: Column[] };
      const at = path.lastIndexOf('/');
      const { resources } = (await (await server.fetch(path.slice(0, at))).json()) as { resources: Resource[] };
      const hash = resources.find(({ name }) => name === path.slice(at + 1))?.storageVersionHash;
      shown[path] = {
        ...(hash !== undefined && { storageVersionHash: hash }),
        columns: columnDefinitions.map(({ name, type, format, priority }) =>
          [name, type, format, priority].join(' | '),
        ),
      };
    }
    expect(shown).toEqual(golden);
    await server.stop();
  });

  it('show flow schemas in the order in which they are tried', async () => {
    const server = createApiServer({ listen: false });
    await server.start();
    const answer = await server.fetch('/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas', {
      headers: { accept: table },
    });
    const { rows } = (await answer.json()) as { rows: { cells: [string, string, number] }[] };
    expect(rows.map(({ cells }) => [cells[0], cells[2]])).toEqual([
      ['exempt', 1],
      ['probes', 2],
      ['system-leader-election', 100],
      ['system-node-high', 400],
      ['system-nodes', 500],
      ['kube-controller-manager', 800],
      ['kube-scheduler', 800],
      ['kube-system-service-accounts', 900],
      ['service-accounts', 9000],
      ['global-default', 9900],
      ['catch-all', 10000],
    ]);
    await server.stop();
  });
});

describe('APIServices', () => {
  it('come and go with the group versions of custom resources', async () => {
    const server = await harness({ controllers: false });
    const path = '/apis/apiregistration.k8s.io/v1/apiservices/v1.tables.example';
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const schema = { openAPIV3Schema: { type: 'object' } };
    await server.post(definitions, {
      metadata: { name: 'things.tables.example' },
      spec: {
        group: 'tables.example',
        scope: 'Cluster',
        names: { plural: 'things', kind: 'Thing' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    });
    await expect.poll(async () => (await server.get(path)).status).toBe(200);
    const { body } = await server.get(path);
    expect(body).toMatchObject({
      metadata: { labels: { 'kube-aggregator.kubernetes.io/automanaged': 'true' } },
      spec: { group: 'tables.example', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 },
      status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] },
    });
    await server.delete(`${definitions}/things.tables.example`);
    await expect.poll(async () => (await server.get(path)).status).toBe(404);
  });
});
