import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isNotFound } from '@kctl/apimachinery';
import { ConfigMap, Namespace, Secret } from '@kctl/apimachinery/kinds/core/v1';
import { isApplyConflict } from '@kctl/client';
import { createRestMapper } from '@kctl/client-http';
import { createEnvironment } from '@kctl/testing';
import type { TestEnvironment } from '@kctl/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  applyManifests,
  isApplyManifestsError,
  isApplySetError,
  isManifestError,
  readManifests,
} from '../src/index.js';
import type { AppliedObject, ApplyManifestsOptions, ManifestSource } from '../src/index.js';

// On the embedded server; with KCTL_TEST_SERVER=real on a real one.
let environment: TestEnvironment;
let options: ApplyManifestsOptions;
let count = 0;

beforeAll(async () => {
  environment = await createEnvironment();
  options = { mapper: createRestMapper({ transport: environment.client.transport }), fieldOwner: 'test' };
});
afterAll(() => environment.stop());

const configMap = (namespace: string, name: string, data: Record<string, string> = { a: '1' }) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name },
  data,
});
const shown = (results: readonly AppliedObject[]) =>
  results.map(({ kind, key, action }) => `${kind.kind} ${key.name} ${action}`);
const apply = async (sources: ManifestSource | readonly ManifestSource[], more: Partial<ApplyManifestsOptions> = {}) =>
  await applyManifests(environment.client, sources, { ...options, ...more });
const failureOf = async (work: Promise<unknown>): Promise<unknown> =>
  await work.then(
    () => undefined,
    (error: unknown) => error,
  );

/** A definition, an object of it and its namespace, in the wrong order. */
function site(): { readonly text: string; readonly namespace: string; readonly group: string } {
  const namespace = `site-${++count}-${environment.server}`;
  const group = `${namespace}.example.com`;
  const text = `
apiVersion: ${group}/v1
kind: Site
metadata: { name: docs, namespace: ${namespace} }
spec: { replicas: 2 }
---
apiVersion: v1
kind: List
items:
  - { apiVersion: v1, kind: ConfigMap, metadata: { name: b, namespace: ${namespace} }, data: { mode: "0644" } }
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: sites.${group} }
spec:
  group: ${group}
  scope: Namespaced
  names: { kind: Site, plural: sites }
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
---
---
apiVersion: v1
kind: Namespace
metadata: { name: ${namespace} }
`;
  return { text, namespace, group };
}

describe('applyManifests', () => {
  it('applies in order of dependency, and finds nothing to do the second time', async () => {
    const { text, namespace, group } = site();
    const progress: string[] = [];
    const onProgress: ApplyManifestsOptions['onProgress'] = (step) =>
      void progress.push(step.type === 'waiting' ? `waiting ${step.name}` : step.result.kind.kind);
    expect(shown(await apply(text, { onProgress }))).toEqual([
      `Namespace ${namespace} created`,
      `CustomResourceDefinition sites.${group} created`,
      'ConfigMap b created',
      'Site docs created',
    ]);
    expect(progress).toEqual(['Namespace', `waiting sites.${group}`, 'CustomResourceDefinition', 'ConfigMap', 'Site']);
    expect((await apply(text)).map(({ action }) => action)).toEqual(Array(4).fill('unchanged'));
    const [, , , changed] = await apply(text.replace('replicas: 2', 'replicas: 3'));
    expect([changed?.action, changed?.differences]).toEqual([
      'configured',
      [{ op: 'replace', path: '/spec/replicas', value: 3 }],
    ]);
  });

  it('says in a dry run what would be, and what it cannot know', async () => {
    const { text, namespace } = site();
    expect((await apply(text, { dryRun: true })).map(({ action }) => action)).toEqual([
      'created',
      'created',
      'unknown',
      'unknown',
    ]);
    expect(isNotFound(await failureOf(environment.client.get(Namespace, { name: namespace })))).toBe(true);
  });

  it('deletes what is left out, in namespaces and kinds that are no longer named, too', async () => {
    const [first, second] = [await environment.createNamespace('prune'), await environment.createNamespace('prune')];
    const prune = { name: 'set', namespace: first };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: second, name: 's' } };
    await apply([configMap(first, 'keep'), configMap(first, 'drop'), secret], { prune });
    const parent = await environment.client.get(Secret, prune);
    expect(parent.metadata.annotations).toEqual({
      'applyset.kubernetes.io/tooling': 'kctl/v1',
      'applyset.kubernetes.io/contains-group-kinds': 'ConfigMap,Secret',
      'applyset.kubernetes.io/additional-namespaces': second,
    });
    await environment.client.create(ConfigMap, { metadata: { namespace: first, name: 'of-others' } });
    const left = [configMap(first, 'keep')];
    const expected = ['ConfigMap keep unchanged', 'ConfigMap drop pruned', 'Secret s pruned'];
    expect(shown(await apply(left, { prune, dryRun: true }))).toEqual(expected);
    expect(shown(await apply(left, { prune }))).toEqual(expected);
    expect(shown(await apply(left, { prune }))).toEqual(['ConfigMap keep unchanged']);
    const { items } = await environment.client.list(ConfigMap, { namespace: first });
    const names = items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt');
    expect(names).toEqual(['keep', 'of-others']);
    const { metadata } = await environment.client.get(Secret, prune);
    expect(metadata.annotations?.['applyset.kubernetes.io/contains-group-kinds']).toBe('ConfigMap');
  });

  it('gives a set the id that kubectl gives it', async () => {
    const namespace = await environment.createNamespace('id');
    await apply([], { allowEmpty: true, prune: { name: 'mine', namespace } });
    const { metadata } = await environment.client.get(Secret, { namespace, name: 'mine' });
    const { createHash } = await import('node:crypto');
    const hash = createHash('sha256').update(`mine.${namespace}.Secret.`).digest('base64url');
    expect(metadata.labels).toEqual({ 'applyset.kubernetes.io/id': `applyset-${hash}-v1` });
  });

  it.each([
    [
      { name: 'set', namespace: 'a', king: 'ConfigMap' },
      'applyManifests: prune: unknown option "king": did you mean "kind"?',
    ],
    [{ name: 'set' }, 'prune.namespace undefined is not valid: expected a name'],
    [{ name: '', namespace: 'a' }, 'prune.name "" is not valid: expected a name'],
    [{ name: 'set', namespace: 5 }, 'prune.namespace 5 is not valid: expected a name'],
    [true, 'applyManifests: prune: expected options'],
  ])('refuses the parent %j before anything is sent', async (prune, message) => {
    const error = await failureOf(apply(configMap('default', 'never'), { prune: prune as never }));
    expect(String(error)).toContain(message);
    const key = { namespace: 'default', name: 'never' };
    expect(isNotFound(await failureOf(environment.client.get(ConfigMap, key)))).toBe(true);
  });

  it('leaves the parents of others alone', async () => {
    const namespace = await environment.createNamespace('parents');
    const parent = { name: 'set', namespace };
    const secret = async (annotations: Record<string, string>) => {
      await environment.client.create(Secret, { metadata: { ...parent, annotations } });
      const error = await failureOf(apply(configMap(namespace, 'x'), { prune: parent }));
      await environment.client.delete(Secret, parent);
      return [isApplySetError(error), String(error)];
    };
    expect(await secret({})).toEqual([true, expect.stringMatching(/is not the parent of an ApplySet/)]);
    expect(await secret({ 'applyset.kubernetes.io/tooling': 'kubectl/v1.36' })).toEqual([
      true,
      expect.stringMatching(/of "kubectl", not of "kctl"/),
    ]);
    expect(isNotFound(await failureOf(environment.client.get(ConfigMap, { namespace, name: 'x' })))).toBe(true);
  });

  it('applies what can be applied, reports the rest, and prunes nothing then', async () => {
    const namespace = await environment.createNamespace('errors');
    const prune = { name: 'set', namespace, kind: 'ConfigMap' as const };
    await apply([configMap(namespace, 'old')], { prune });
    await apply(configMap(namespace, 'taken', { a: 'theirs' }), { fieldOwner: 'others' });
    const bad = { ...configMap(namespace, 'bad'), metadata: { namespace, name: 'Bad_Name' } };
    const unserved = { apiVersion: 'nowhere.example.com/v1', kind: 'Nothing', metadata: { namespace, name: 'n' } };
    const sources = [bad, configMap(namespace, 'taken'), unserved, configMap(namespace, 'good')];
    const error = await failureOf(apply(sources, { prune }));
    if (!isApplyManifestsError(error)) throw error;
    expect(shown(error.results)).toEqual([
      'ConfigMap Bad_Name failed',
      'ConfigMap taken failed',
      'ConfigMap good created',
      'Nothing n failed',
    ]);
    expect(error.errors.some(isApplyConflict)).toBe(true);
    expect(error.message).toMatch(/3 of 4 objects failed: ConfigMap errors-\w+\/Bad_Name: /);
    expect((await environment.client.get(ConfigMap, { namespace, name: 'old' })).metadata.name).toBe('old');
    expect((await apply(configMap(namespace, 'taken'), { force: true }))[0]?.action).toBe('configured');
  });

  it('knows later what it applied beside a namespace that failed', async () => {
    const namespace = await environment.createNamespace('beside');
    const prune = { name: 'set', namespace };
    const bad = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'Bad_Name' } };
    expect(isApplyManifestsError(await failureOf(apply([bad, configMap(namespace, 'beside')], { prune })))).toBe(true);
    expect(shown(await apply([], { allowEmpty: true, prune }))).toEqual(['ConfigMap beside pruned']);
  });

  it('applies nothing that it could not delete later, where the parent cannot be written', async () => {
    const namespace = await environment.createNamespace('no-parent');
    const prune = { name: 'set', namespace: `${namespace}-missing` };
    const bad = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'Bad_Name' } };
    expect(isNotFound(await failureOf(apply(configMap(namespace, 'x'), { prune })))).toBe(true);
    const error = await failureOf(apply([bad, configMap(namespace, 'x')], { prune }));
    expect(isApplyManifestsError(error) && shown(error.results)).toEqual(['Namespace Bad_Name failed']);
    expect(isNotFound(await failureOf(environment.client.get(ConfigMap, { namespace, name: 'x' })))).toBe(true);
  });

  it('says in a dry run what would be where the namespace of the parent is not there yet', async () => {
    const name = `planned-${++count}`;
    const sources = [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, configMap(name, 'x')];
    const prune = { name: 'set', namespace: name };
    expect(shown(await apply(sources, { prune, dryRun: true }))).toEqual([
      `Namespace ${name} created`,
      'ConfigMap x unknown',
    ]);
    expect(isNotFound(await failureOf(apply([], { allowEmpty: true, prune, dryRun: true })))).toBe(true);
  });

  it('prunes nothing for sources without objects, and names each of them', async () => {
    const namespace = await environment.createNamespace('empty');
    const prune = { name: 'set', namespace };
    await apply([configMap(namespace, 'one'), configMap(namespace, 'two')], { prune });
    const folder = await mkdtemp(join(tmpdir(), 'kctl-empty-'));
    try {
      const [nothing, comments, other] = ['nothing.yaml', 'comments.yml', 'notes.txt'].map((name) =>
        join(folder, name),
      );
      await writeFile(nothing ?? '', '');
      await writeFile(comments ?? '', '# kind: ConfigMap\n---\n# nothing\n');
      await mkdir(join(folder, 'none'));
      await writeFile(join(folder, 'none', 'notes.txt'), 'x');
      await writeFile(other ?? '', 'x');
      const items = { apiVersion: 'v1', kind: 'List', items: [] } as never;
      const sources: (readonly [ManifestSource | readonly ManifestSource[], RegExp])[] = [
        [[], /the list of sources has no objects/],
        [nothing ?? '', /nothing\.yaml has no objects/],
        [comments ?? '', /comments\.yml has no objects/],
        [join(folder, 'none'), /none \(no \.yaml, \.yml or \.json file\) has no objects/],
        [folder, /comments\.yml has no objects .*nothing\.yaml has no objects/],
        ['# nothing\n', /manifest 1 has no objects/],
        ['---\n---\n', /manifest 1 has no objects/],
        [items, /manifest 1 has no objects/],
        [[configMap(namespace, 'one'), comments ?? ''], /comments\.yml has no objects/],
      ];
      for (const [source, message] of sources)
        for (const dryRun of [true, false]) {
          const error = await failureOf(apply(source, { prune, dryRun }));
          expect(error).toMatchObject({ code: 'KCTL_MANIFEST', message: expect.stringMatching(message) as string });
        }
      expect(
        (await environment.client.list(ConfigMap, { namespace })).items.map(({ metadata }) => metadata.name),
      ).toEqual(expect.arrayContaining(['one', 'two']));
      expect(shown(await apply(comments ?? '', { prune, allowEmpty: true }))).toHaveLength(2);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('finishes after an abort in the middle of a prune', async () => {
    const namespace = await environment.createNamespace('half-pruned');
    const prune = { name: 'set', namespace };
    await apply([configMap(namespace, 'one'), configMap(namespace, 'two')], { prune });
    const controller = new AbortController();
    const reason = new Error('enough');
    const onProgress = () => controller.abort(reason);
    expect(await failureOf(apply([], { allowEmpty: true, prune, signal: controller.signal, onProgress }))).toBe(reason);
    expect(shown(await apply([], { allowEmpty: true, prune }))).toHaveLength(1);
    const { metadata } = await environment.client.get(Secret, prune);
    expect(metadata.annotations?.['applyset.kubernetes.io/contains-group-kinds'] ?? '').toBe('');
  });

  it('stops with its signal', async () => {
    const namespace = await environment.createNamespace('abort');
    const controller = new AbortController();
    const reason = new Error('enough');
    const onProgress = () => controller.abort(reason);
    const sources = [configMap(namespace, 'one'), configMap(namespace, 'two')];
    expect(await failureOf(apply(sources, { signal: controller.signal, onProgress }))).toBe(reason);
    expect(isNotFound(await failureOf(environment.client.get(ConfigMap, { namespace, name: 'two' })))).toBe(true);
  });

  it('puts what names no namespace into that of the options', async () => {
    const namespace = await environment.createNamespace('default');
    const [result] = await apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }, { namespace });
    expect(result?.key).toEqual({ namespace, name: 'a' });
  });
});

describe('readManifests', () => {
  it('reads files, folders and YAML as kubectl does', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kctl-manifests-'));
    await writeFile(
      join(folder, 'b.yaml'),
      '# nothing\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\nx: [0644, yes, 12:30, 2026-01-01, 9007199254740993, 1e3]\n',
    );
    await writeFile(join(folder, 'a.json'), '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}');
    await writeFile(join(folder, 'notes.txt'), 'no');
    const manifests = await readManifests([folder]);
    await rm(folder, { recursive: true });
    expect(manifests.map(({ object }) => object.metadata.name)).toEqual(['a', 'b']);
    expect(manifests[1]?.object['x']).toEqual([420, true, '12:30', '2026-01-01', 9007199254740993n, 1000]);
  });

  it.each<[ManifestSource, RegExp]>([
    ['none.yaml', /"none.yaml": neither a file or folder that can be read nor YAML/],
    ['a: [1\nb', /manifest 1: not YAML/],
    ['a: 1\n---\n- b\n', /document 1: apiVersion is not set; manifest 1: document 2: not an object/],
    [{ apiVersion: 'v1', metadata: { name: 'a' } }, /kind is not set/],
    [{ apiVersion: 'v1', kind: 'Pod', metadata: { generateName: 'a-' } }, /generateName makes a new object each time/],
    [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', managedFields: [] } }, /managedFields is set/],
    [
      '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}\n---\n{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}',
      /Pod a is also in/,
    ],
  ])('refuses %j', async (source, message) => {
    const error = await failureOf(readManifests(source));
    expect([isManifestError(error), String(error)]).toEqual([true, expect.stringMatching(message)]);
  });
});
