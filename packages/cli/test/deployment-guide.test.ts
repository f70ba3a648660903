import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineResource } from '@kctl/crd';
import { defineOperator } from '@kctl/operator';
import { controllerManagedBy } from '@kctl/runtime';
import { readYamlDocuments } from '@kctl/yaml';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { generateFiles } from '../src/index.js';

const page = readFileSync(join(import.meta.dirname, '../../../docs/guides/deployment.md'), 'utf8');
const [, manifest = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
const values = (text: string): unknown[] =>
  readYamlDocuments(text).map((document): unknown => Reflect.get(document, 'value'));

const Website = defineResource({
  group: 'example.com',
  kind: 'Website',
  versions: { v1: { spec: z.object({ html: z.string() }) } },
});
const operator = defineOperator({
  name: 'websites',
  resources: [Website],
  setup: (manager) => {
    controllerManagedBy(manager)
      .for(Website)
      .reconcile(() => Promise.resolve());
  },
});

it('the guide to deployment shows the objects that kctl generate writes for the operator of the first guide', async () => {
  const input = { graph: await operator.graph(), image: 'registry.example.com/websites:1.0.0' };
  const generated = generateFiles(input, ['manager']).get('manager/manager.yaml') ?? '';
  expect(values(manifest)).toEqual(values(generated));
  // The prose around the manifest.
  expect(page).toContain('two replicas');
  expect(JSON.stringify(values(generated))).toContain('"replicas":2');
});
