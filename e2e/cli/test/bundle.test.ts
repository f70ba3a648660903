import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterEach, expect, it } from 'vitest';

const cache = join(import.meta.dirname, '..', '.cache');
let folder = '';
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('needs no banner for @kctl/crd', async () => {
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, 'bundle-'));
  const outfile = join(folder, 'main.mjs');
  const contents = `
    import { defineResource } from '@kctl/crd';
    import { z } from 'zod';
    const versions = { v1: { spec: z.object({ size: z.int32() }) } };
    console.log(defineResource({ group: 'example.com', kind: 'Site', versions }).toYaml().split('\\n')[1]);`;
  const stdin = { contents, resolveDir: import.meta.dirname };
  await build({
    stdin,
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@kctl/source'],
    logLevel: 'silent',
  });
  const { stdout, stderr } = spawnSync(process.execPath, [outfile], { encoding: 'utf8' });
  expect(stdout, stderr).toBe('apiVersion: apiextensions.k8s.io/v1\n');
}, 60_000);
