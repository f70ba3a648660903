import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineKind, type KubeObject } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { expect, onTestFinished, test } from 'vitest';
import { resolveCrds } from './crd-sources.js';
import { createEnvironment } from './environment.js';

interface Gadget extends KubeObject {
  spec?: { size?: number; anything?: unknown };
  status?: { ready?: boolean };
}
const gadget = (version: string) =>
  defineKind<Gadget>()({ group: 'ex.io', version, kind: 'Gadget', scope: 'Namespaced' });

const yaml = (plural: string) => `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ${plural}.ex.io}
spec:
  group: ex.io
  scope: Namespaced
  names: {kind: ${plural.toUpperCase()}, plural: ${plural}}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`;

const namesOf = async (sources: Parameters<typeof resolveCrds>[0]) =>
  (await resolveCrds(sources)).map(({ metadata }) => metadata.name);

async function folder(files: Record<string, string>): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'kctl-crds-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(path, name), text)));
  return path;
}

test('a path, a folder, YAML, an object and a kind give definitions', async () => {
  const path = await folder({
    'a.yaml': `${yaml('as')}---\nkind: ConfigMap\n---\n${yaml('bs')}`,
    'c.json': JSON.stringify({ kind: 'CustomResourceDefinition', metadata: { name: 'cs.ex.io' }, spec: {} }),
    'notes.txt': 'no',
    'other.yml': 'kind: ConfigMap',
  });
  expect(await namesOf([path])).toEqual(['as.ex.io', 'bs.ex.io', 'cs.ex.io']);
  expect(await namesOf([join(path, 'a.yaml'), yaml('ds')])).toEqual(['as.ex.io', 'bs.ex.io', 'ds.ex.io']);
  const [made, ...more] = await resolveCrds([gadget('v1'), gadget('v2')]);
  expect(more).toEqual([]);
  expect(made?.spec.versions.map(({ name, storage }) => [name, storage])).toEqual([
    ['v1', true],
    ['v2', false],
  ]);
});

test('what gives no definition is refused by name', async () => {
  const path = await folder({ 'a.yaml': 'kind: ConfigMap' });
  await expect(resolveCrds([path])).rejects.toThrow(`there is no CustomResourceDefinition in ${path}`);
  await expect(resolveCrds(['/does/not/exist'])).rejects.toThrow('"/does/not/exist" is neither a file');
  await expect(resolveCrds(['a: [\n'])).rejects.toThrow('is not YAML');
  await expect(resolveCrds([ConfigMap])).rejects.toThrow('ConfigMap of group "" is built in');
});

test('an environment installs them, and a kind without a schema takes any object', async () => {
  const Gadget = gadget('v1');
  await using environment = await createEnvironment({ server: 'embedded', crds: [yaml('as'), Gadget] });
  const { client } = environment;
  expect((await client.list(CustomResourceDefinition)).items).toHaveLength(2);
  const namespace = await environment.createNamespace();
  const spec = { size: 1, anything: { goes: [1, 'x'] } };
  const made = await client.create(Gadget, { metadata: { namespace, name: 'g' }, spec });
  expect(made.spec).toEqual(spec);
});

test('kinds of one plural with another scope are refused', async () => {
  const cluster = defineKind<KubeObject>()({ group: 'ex.io', version: 'v2', kind: 'Gadget', scope: 'Cluster' });
  await expect(resolveCrds([gadget('v1'), cluster])).rejects.toThrow(
    'crds: gadgets.ex.io is Gadget, Namespaced, in v1 and Gadget, Cluster, in v2: one definition has one of each',
  );
});

test('a resource brings its definition, with all of its versions', async () => {
  const [manifest] = await resolveCrds([yaml('as')]);
  const [group, plural] = [manifest?.spec.group ?? '', manifest?.spec.names.plural ?? ''];
  const v1 = defineKind<KubeObject>()({ group, version: 'v1', kind: 'A', plural, scope: 'Namespaced' });
  const resource = { ...v1, manifest: { ...manifest, kind: 'CustomResourceDefinition' } };
  expect(await resolveCrds([v1, resource])).toEqual([resource.manifest]);
});

test('YAML means what it means to kubectl', async () => {
  const text = yaml('cs').replace('{type: object}', '{type: object, title: on, format: 12:30, maxProperties: 010}');
  const [definition] = await resolveCrds(text);
  const schema = { type: 'object', title: true, format: '12:30', maxProperties: 8 };
  expect(definition?.spec.versions[0]?.schema?.openAPIV3Schema).toEqual(schema);
});
