// Strategic merge patches, as a server applies them: on the embedded one; with KCTL_TEST_SERVER=real on a real one.
import { defineKind, isConflict } from '@kctl/apimachinery';
import type { DeepReadonly } from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { Service } from '@kctl/apimachinery/kinds/core/v1';
import { mergeFrom, strategicMergeFrom } from '@kctl/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createEnvironment } from '../src/index.js';
import type { TestEnvironment } from '../src/index.js';

let environment: TestEnvironment;
let namespace: string;
beforeAll(async () => {
  environment = await createEnvironment();
  namespace = await environment.createNamespace('strategic');
});
afterAll(() => environment.stop());

const labels = { app: 'web' };
const container = (name: string) => ({ name, image: name });

async function deployment(name: string, ...containers: string[]) {
  const template = { metadata: { labels }, spec: { containers: containers.map(container) } };
  return await environment.client.create(Deployment, {
    metadata: { namespace, name },
    spec: { selector: { matchLabels: labels }, template },
  });
}

type ReadDeployment = DeepReadonly<Awaited<ReturnType<typeof deployment>>>;
const containersOf = ({ spec }: ReadDeployment) =>
  (spec?.template.spec?.containers ?? []).map(({ name, image }) => `${name}=${String(image)}`);

it('changes, adds, deletes and orders items of a list, and leaves those that another has added', async () => {
  const { client } = environment;
  const read = await deployment('items', 'app', 'old', 'proxy');
  const withSidecar = structuredClone(read);
  withSidecar.spec?.template.spec?.containers.push(container('sidecar'));
  await client.patch(Deployment, read, strategicMergeFrom(read, withSidecar));
  const changed = structuredClone(read);
  const { spec } = changed.spec?.template ?? {};
  if (spec === undefined) throw new Error('no template');
  spec.containers = [container('proxy'), { ...container('app'), image: 'app:2' }, container('new')];
  const patched = await client.patch(Deployment, read, strategicMergeFrom(read, changed));
  expect(containersOf(patched).toSorted()).toEqual(['app=app:2', 'new=new', 'proxy=proxy', 'sidecar=sidecar']);
  expect(containersOf(patched).filter((each) => each !== 'sidecar=sidecar')).toEqual([
    'proxy=proxy',
    'app=app:2',
    'new=new',
  ]);
  expect(containersOf(await client.patch(Deployment, read, mergeFrom(read, changed)))).not.toContain('sidecar=sidecar');
});

it('drops the other fields of a union', async () => {
  const { client } = environment;
  const read = await deployment('union', 'app');
  expect(read.spec?.strategy?.rollingUpdate).toBeDefined();
  const changed = { ...read, spec: { ...read.spec, strategy: { type: 'Recreate' } } } as typeof read;
  const patched = await client.patch(Deployment, read, strategicMergeFrom(read, changed));
  expect(patched.spec?.strategy).toEqual({ type: 'Recreate' });
});

it('fails with a conflict where the object has changed, with an optimistic lock', async () => {
  const { client } = environment;
  const read = await deployment('lock', 'app');
  const labelled = { ...read, metadata: { ...read.metadata, labels } };
  await client.patch(Deployment, read, strategicMergeFrom(read, labelled, { optimisticLock: true }));
  const again = await client
    .patch(Deployment, read, strategicMergeFrom(read, labelled, { optimisticLock: true }))
    .catch((error: unknown) => error);
  expect(isConflict(again)).toBe(true);
  const { resourceVersion: _, ...metadata } = read.metadata;
  expect(() => strategicMergeFrom({ ...read, metadata } as typeof read, labelled, { optimisticLock: true })).toThrow(
    'strategicMergeFrom: the original has no resourceVersion to lock on: pass the object as it was read',
  );
});

it('keeps ports that differ by their protocol alone', async () => {
  const { client } = environment;
  const port = (name: string, protocol: string) => ({ name, port: 53, protocol });
  const ports = [port('udp', 'UDP'), port('tcp', 'TCP')];
  const read = await client.create(Service, {
    metadata: { namespace, name: 'dns' },
    spec: { selector: labels, ports },
  });
  const renamed = { ...read, spec: { ...read.spec, ports: [port('udp', 'UDP'), port('also', 'TCP')] } };
  const patched = await client.patch(Service, read, strategicMergeFrom(read, renamed));
  expect(patched.spec?.ports?.map(({ name, protocol }) => `${String(name)} ${String(protocol)}`)).toEqual([
    'udp UDP',
    'also TCP',
  ]);
});

it('is empty where nothing differs, and refuses what servers do not merge so', async () => {
  const read = await deployment('same', 'app');
  expect(strategicMergeFrom(read, structuredClone(read)).body).toEqual({});
  const { apiVersion: _, ...bare } = read;
  expect(() => strategicMergeFrom(bare, bare)).toThrow(/has no apiVersion and kind.*pass \{ kind: Deployment \}/);
  const { spec: _spec, ...less } = bare;
  expect(strategicMergeFrom(bare, less, { kind: Deployment }).body).toEqual({ spec: null });
  const Gadget = defineKind({ group: 'gadgets.example.com', version: 'v1', kind: 'Gadget', scope: 'Namespaced' });
  const gadget = { apiVersion: Gadget.apiVersion, kind: Gadget.kind, metadata: { namespace, name: 'a' } };
  expect(() => strategicMergeFrom(gadget, gadget)).toThrow(
    'strategicMergeFrom: Gadget of gadgets.example.com/v1 is not a built-in kind: API servers merge custom resources by JSON merge patches alone: use mergeFrom',
  );
});
