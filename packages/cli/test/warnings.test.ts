import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { defineKind } from '@kctl/apimachinery';
import { expect, it, vi } from 'vitest';
import { openServer } from '../src/dev/dev-server.js';

it('kctl dev prints each warning of its API server once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kctl-warnings-'));
  const printed: string[] = [];
  const io = {
    cwd: folder,
    environment: {},
    out: (text: string) => void printed.push(text),
    err: (text: string) => void printed.push(text),
    signal: new AbortController().signal,
  };
  try {
    await using server = await openServer(io, {}, { folder, project: folder });
    const { client } = server.cluster;
    const Website = defineKind()({ group: 'example.com', version: 'v1', kind: 'Website', scope: 'Namespaced' });
    await client.create(CustomResourceDefinition, {
      metadata: { name: 'websites.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { kind: 'Website', plural: 'websites' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            deprecated: true,
            deprecationWarning: 'use v2',
            schema: { openAPIV3Schema: { type: 'object' } },
          },
        ],
      },
    });
    await vi.waitFor(() => client.list(Website), { timeout: 300_000 });
    await client.list(Website);
    expect(printed.filter((text) => text.startsWith('Warning'))).toEqual(['Warning: use v2\n']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
