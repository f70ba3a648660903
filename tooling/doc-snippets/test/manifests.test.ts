// Every YAML block of a page or README is applied as a dry run with strict fields: on the embedded server here, on a real
// kube-apiserver by `pnpm conformance -- --target real`. Alerts are compared with the metrics that the packages write.
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineKind, isAlreadyExists, parseApiVersion } from '@kctl/apimachinery';
import type { KubeObject, UntypedObject } from '@kctl/apimachinery';
import type { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { createEnvironment } from '@kctl/testing';
import type { TestEnvironment } from '@kctl/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

const root = join(import.meta.dirname, '..', '..', '..');
const printed = execFileSync(process.execPath, ['scripts/docs/manifests.mjs'], { cwd: root, encoding: 'utf8' });
const documents = (JSON.parse(printed) as { place: string; text: string }[]).flatMap(({ place, text }) =>
  parseAllDocuments(text).map((document, index) => ({ place: `${place} (${index + 1})`, document })),
);

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly annotations?: { readonly summary?: string };
}
const isObject = (value: unknown): value is KubeObject & { apiVersion: string; kind: string } =>
  typeof value === 'object' && value !== null && 'apiVersion' in value && 'kind' in value;

/** Of a file of Prometheus, or of a part of one. */
function alertsOf(value: unknown): Alert[] {
  if (Array.isArray(value)) return value as Alert[];
  const { groups = [] } = value as { groups?: { rules: Alert[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

const values = documents.map(({ place, document }) => ({ place, value: document.toJS() as unknown }));
const objects = values.flatMap(({ place, value }) => (isObject(value) ? [{ place, object: value }] : []));
const alerts = values.flatMap(({ place, value }) =>
  isObject(value) ? [] : alertsOf(value).map((alert) => ({ place, alert })),
);

describe('manifests of the documentation', () => {
  let environment: TestEnvironment;
  const namespaces = [...new Set(objects.map(({ object }) => object.metadata.namespace ?? 'default'))];

  beforeAll(async () => {
    const application = join(root, 'examples', 'application-operator', 'src', 'application.ts');
    const { applicationCrd } = (await import(application)) as { applicationCrd: CustomResourceDefinition };
    environment = await createEnvironment({ crds: [applicationCrd] });
    for (const name of namespaces)
      await environment.client.create(Namespace, { metadata: { name } }).catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
  });
  afterAll(async () => {
    for (const name of namespaces.filter((each) => each !== 'default'))
      await environment.client.delete(Namespace, { name });
    await environment.stop();
  });

  it('are there, and are YAML', () => {
    expect(objects.length).toBeGreaterThanOrEqual(8);
    for (const { place, document } of documents) expect(document.errors, place).toEqual([]);
  });

  it.each(objects)('$object.kind of $place is accepted', async ({ object }) => {
    const { group, version } = parseApiVersion(object.apiVersion);
    const scope = object.metadata.namespace === undefined ? 'Cluster' : 'Namespaced';
    const kind = defineKind()({ group, version, kind: object.kind, scope });
    const options = { dryRun: true, fieldValidation: 'Strict' } as const;
    const created = await environment.client.create(kind, object as UntypedObject, options);
    expect(created.metadata.name).toBe(object.metadata.name);
  });

  it('an unknown field is refused, so that these checks mean something', async () => {
    const kind = defineKind()({ group: '', version: 'v1', kind: 'ConfigMap', scope: 'Namespaced' });
    const wrong = { metadata: { namespace: 'default', name: 'wrong' }, dat: {} };
    await expect(environment.client.create(kind, wrong, { dryRun: true, fieldValidation: 'Strict' })).rejects.toThrow(
      /dat/,
    );
  });

  it.each(alerts)('alert $alert.alert of $place uses metrics that are written', ({ alert }) => {
    const metrics = alert.expr.match(/\b(?:controller_runtime|workqueue|rest_client|leader_election|kctl)_\w+/g) ?? [];
    expect(metrics.length).toBeGreaterThan(0);
    for (const metric of metrics) expect(sources()).toContain(`'${metric}'`);
    expect(alert.annotations?.summary ?? '').toMatch(/\.$/);
  });
});

let cached: string | undefined;
/** The sources of the packages, in one text. */
function sources(): string {
  cached ??= globSync('packages/*/src/**/*.ts', { cwd: root, exclude: (file) => /kinds|facts/.test(file) })
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n');
  return cached;
}
