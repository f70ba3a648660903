import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineKind } from '@kctl/apimachinery';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { generateRbac } from '@kctl/rbac';
import { controllerManagedBy, createManager, noopLogger } from '@kctl/runtime';
import { readYamlDocuments } from '@kctl/yaml';
import { expect, it } from 'vitest';

/** The manifest of docs/guides/rbac.md, of the operator of docs/first-operator.md. */
const page = readFileSync(join(import.meta.dirname, '../../../docs/guides/rbac.md'), 'utf8');
const [, manifest = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];

it('the guide to RBAC shows the roles that are generated for the operator of the first guide', async () => {
  const manager = await createManager({
    connection: { server: 'https://127.0.0.1:1' },
    logger: noopLogger,
    leaderElection: { name: 'websites', namespace: 'websites-system' },
  });
  const Website = defineKind()({ group: 'example.com', version: 'v1', kind: 'Website', scope: 'Namespaced' });
  controllerManagedBy(manager)
    .for(Website)
    .owns(ConfigMap)
    .reconcile(() => Promise.resolve());
  const generated = generateRbac(manager.accessNeeds(), { name: 'websites', namespace: 'websites-system' });
  await manager.liveClient[Symbol.asyncDispose]();
  expect(readYamlDocuments(manifest).map((document) => Reflect.get(document, 'value'))).toEqual(generated);
});
