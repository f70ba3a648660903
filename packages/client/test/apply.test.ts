// Cases after the failure history of the Java SDK's matcher (quantities, keyed lists, defaults, removed fields).
import { StatusError } from '@kctl/apimachinery';
import type { PersistedObject } from '@kctl/apimachinery';
import { Deployment, StatefulSet } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap, Secret } from '@kctl/apimachinery/kinds/core/v1';
import { describe, expect, it } from 'vitest';
import { apply, applyIfChanged, createApplyMemo, intercept, isApplyConflict, record } from '../src/index.js';
import type { ApplyConfiguration, ApplyIfChangedOptions, WatchingClient } from '../src/index.js';
import { createMemoryClient } from './memory-client.js';

const key = { namespace: 'default', name: 'web' };
const fieldOwner = 'operator';

/** What the server has after the configuration below was applied: defaults and the fields of others are in it. */
function stored(): PersistedObject<typeof Deployment> {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      ...key,
      uid: 'u1',
      resourceVersion: '10',
      generation: 1,
      labels: { app: 'web' },
      annotations: { 'deployment.kubernetes.io/revision': '1' },
      managedFields: [
        {
          manager: fieldOwner,
          operation: 'Apply',
          apiVersion: 'apps/v1',
          fieldsType: 'FieldsV1',
          fieldsV1: {
            'f:metadata': { 'f:labels': { 'f:app': {} } },
            'f:spec': {
              'f:selector': {},
              'f:template': {
                'f:metadata': { 'f:labels': { 'f:app': {} } },
                'f:spec': {
                  'f:containers': {
                    'k:{"name":"main"}': {
                      '.': {},
                      'f:name': {},
                      'f:image': {},
                      'f:env': {
                        'k:{"name":"EMPTY"}': { '.': {}, 'f:name': {}, 'f:value': {} },
                        'k:{"name":"MODE"}': { '.': {}, 'f:name': {}, 'f:value': {} },
                      },
                      'f:ports': {
                        'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {}, 'f:name': {} },
                      },
                      'f:resources': { 'f:limits': { 'f:cpu': {}, 'f:memory': {} } },
                    },
                  },
                },
              },
            },
          },
        },
        {
          manager: 'kube-controller-manager',
          operation: 'Update',
          subresource: 'status',
          fieldsV1: { 'f:status': {} },
        },
        {
          manager: 'autoscaler',
          operation: 'Update',
          apiVersion: 'apps/v1',
          fieldsV1: { 'f:spec': { 'f:replicas': {} } },
        },
      ],
    },
    spec: {
      replicas: 5,
      revisionHistoryLimit: 10,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web', injected: 'yes' } },
        spec: {
          restartPolicy: 'Always',
          containers: [
            { name: 'injected', image: 'proxy:1' },
            {
              name: 'main',
              image: 'web:1',
              imagePullPolicy: 'IfNotPresent',
              env: [{ name: 'EMPTY' }, { name: 'MODE', value: 'fast' }],
              ports: [{ containerPort: 80, name: 'http', protocol: 'TCP' }],
              resources: { limits: { cpu: '1', memory: '1Gi' } },
            },
          ],
        },
      },
    },
    status: { observedGeneration: 1 },
  };
}

function wanted(): ApplyConfiguration<typeof Deployment> {
  return {
    metadata: { ...key, labels: { app: 'web' } },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          containers: [
            {
              name: 'main',
              image: 'web:1',
              env: [
                { name: 'MODE', value: 'fast' },
                { name: 'EMPTY', value: '' },
              ],
              ports: [{ containerPort: 80, name: 'http' }],
              resources: { limits: { cpu: '1000m', memory: '1024Mi' } },
            },
          ],
        },
      },
    },
  };
}

type Mutable = Record<string, never>;
/** Changes a copy of the configuration at a path. */
function wantedWith(path: string, value: unknown): ApplyConfiguration<typeof Deployment> {
  const copy = structuredClone(wanted()) as unknown as Mutable;
  const names = path.split('.');
  const last = names.pop() ?? '';
  let at: Record<string, unknown> = copy;
  for (const name of names) at = at[name] as Record<string, unknown>;
  if (value === undefined) delete at[last];
  else at[last] = value;
  return copy as unknown as ApplyConfiguration<typeof Deployment>;
}

/** A client whose server answers applies with the next version, or with the same where nothing is to change. */
function client(answer: 'changes' | 'noop' = 'changes'): ReturnType<typeof record> & WatchingClient {
  return record(
    intercept(createMemoryClient(), () => ({
      get: async () => stored() as never,
      patch: async () =>
        ({
          ...stored(),
          metadata: { ...stored().metadata, resourceVersion: answer === 'noop' ? '10' : '11' },
        }) as never,
    })),
  );
}

const run = (
  configuration: ApplyConfiguration<typeof Deployment>,
  options: Partial<ApplyIfChangedOptions<typeof Deployment>> = {},
) =>
  applyIfChanged(client(), Deployment, configuration, {
    fieldOwner,
    actual: stored(),
    ...options,
  });

const container = 'spec.template.spec.containers.0';
const shown = 'spec.template.spec.containers[name=main]';

describe('applyIfChanged', () => {
  it('sends nothing where all fields are held and as desired, whatever others and defaults have set', async () => {
    const recorder = client();
    const result = await applyIfChanged(recorder, Deployment, wanted(), { fieldOwner });
    expect(result).toMatchObject({ applied: false, changed: false, reason: 'matches', differences: [] });
    expect(recorder.writes).toEqual([]);
  });

  it.each([
    ['a changed field', `${container}.image`, 'web:2', `${shown}.image`, 'changed'],
    ['a field that is new to us', 'spec.paused', true, 'spec.paused', 'notOwned'],
    ['a field of another owner', 'spec.replicas', 5, 'spec.replicas', 'notOwned'],
    ['a field that is no longer desired', 'metadata.labels', undefined, 'metadata.labels', 'noLongerDesired'],
    [
      'a list item that is no longer desired',
      `${container}.ports`,
      [],
      `${shown}.ports[containerPort=80,protocol=TCP]`,
      'noLongerDesired',
    ],
    ['a new list item', `${container}.ports.1`, { containerPort: 81 }, `${shown}.ports[]`, 'notOwned'],
    ['another quantity', `${container}.resources.limits.cpu`, '1001m', `${shown}.resources.limits.cpu`, 'changed'],
    [
      'a variable that is no longer empty',
      `${container}.env.1.value`,
      'x',
      `${shown}.env[name=EMPTY].value`,
      'missing',
    ],
    [
      'a value that is not a quantity though it looks like one',
      `${container}.env.0.value`,
      '1000m',
      `${shown}.env[name=MODE].value`,
      'changed',
    ],
    [
      'a change below a field that is held whole',
      'spec.selector.matchLabels',
      { app: 'other' },
      'spec.selector',
      'changed',
    ],
  ])('applies %s', async (...[_name, path, value, at, reason]) => {
    const result = await run(wantedWith(path, value));
    expect(result).toMatchObject({ applied: true, changed: true, reason: 'differs' });
    expect(result.differences).toMatchObject([{ path: at, reason }]);
  });

  it.each([
    ['null', 'spec.paused', null],
    [
      'the other order of a keyed list',
      `${container}.env`,
      [
        { name: 'EMPTY', value: '' },
        { name: 'MODE', value: 'fast' },
      ],
    ],
    ['the default of a key, spelled out', `${container}.ports.0.protocol`, undefined],
    ['a status, which the server drops', 'status', { replicas: 3 }],
  ])('takes %s for no difference', async (_name, path, value) => {
    expect(await run(wantedWith(path, value))).toMatchObject({ applied: false, reason: 'matches' });
  });

  it('finds out that a field we hold has gone', async () => {
    const actual = stored();
    delete actual.spec?.template.spec?.containers[1]?.image;
    const result = await run(wanted(), { actual });
    expect(result.differences).toMatchObject([{ path: `${shown}.image`, reason: 'missing', desired: 'web:1' }]);
  });

  it.each([
    ['absent', undefined, 'absent'],
    ['never applied', { manager: 'other' }, 'neverApplied'],
    ['updated, not applied, by us', { operation: 'Update' }, 'neverApplied'],
    ['applied in another version', { apiVersion: 'apps/v1beta1' }, 'otherVersion'],
    ['without managed fields', null, 'noManagedFields'],
  ])('applies where the object is %s', async (_name, change, reason) => {
    const actual = stored();
    if (change === null) delete actual.metadata.managedFields;
    else Object.assign(actual.metadata.managedFields?.[0] ?? {}, change);
    const missing = intercept(client(), () => ({
      get: () => Promise.reject(new StatusError({ code: 404, reason: 'NotFound' })),
    }));
    const result =
      change === undefined
        ? await applyIfChanged(missing, Deployment, wanted(), { fieldOwner })
        : await run(wanted(), { actual });
    expect(result).toMatchObject({ applied: true, reason, differences: [] });
  });

  it('applies where it has applied two versions, in one of which fields may have moved', async () => {
    const actual = stored();
    const [own] = actual.metadata.managedFields ?? [];
    Object.assign(actual.metadata, { managedFields: [own, { ...own, apiVersion: 'apps/v1beta1' }] });
    expect(await run(wanted(), { actual })).toMatchObject({ applied: true, reason: 'otherVersion' });
  });

  it('takes a status for a difference if it has applied one', async () => {
    const actual = stored();
    const fields = actual.metadata.managedFields?.[0]?.fieldsV1;
    Object.assign(fields ?? {}, { 'f:status': { 'f:replicas': {} } });
    Object.assign(actual, { status: { replicas: 1 } });
    const result = await run(wantedWith('status', { replicas: 3 }), { actual });
    expect(result.differences).toMatchObject([{ path: 'status.replicas', reason: 'changed', desired: 3, actual: 1 }]);
    const none = await run(wanted(), { actual });
    expect(none.differences).toMatchObject([{ path: 'status', reason: 'noLongerDesired' }]);
  });

  it('trusts no memo about an object that is not there, and passes on why it cannot be read', async () => {
    const failure = (code: number) => ({ get: () => Promise.reject(new StatusError({ code, reason: 'NotFound' })) });
    const memo = { isNoop: () => true, noteNoop: () => undefined };
    const options = { fieldOwner, memo } as never;
    const absent = intercept(client(), () => failure(404));
    expect(await applyIfChanged(absent, Deployment, wanted(), options)).toMatchObject({ applied: true });
    const down = new StatusError({ code: 500, reason: 'InternalError', message: 'down' });
    const broken = intercept(client(), () => ({ get: () => Promise.reject(down) }));
    await expect(applyIfChanged(broken, Deployment, wanted(), options)).rejects.toBe(down);
  });

  it('says when the server changed nothing, and remembers it for that version and that configuration', async () => {
    const recorder = client('noop');
    const memo = createApplyMemo();
    const options = { fieldOwner, memo };
    const odd = wantedWith('spec.paused', false);
    const first = await applyIfChanged(recorder, Deployment, odd, options);
    expect(first).toMatchObject({ applied: true, changed: false, reason: 'differs' });
    expect(await applyIfChanged(recorder, Deployment, structuredClone(odd), options)).toMatchObject({
      applied: false,
      reason: 'knownNoop',
    });
    expect(recorder.writes).toHaveLength(1);
    await applyIfChanged(recorder, Deployment, wantedWith('spec.paused', true), options);
    expect(recorder.writes).toHaveLength(2);
    const newer = stored();
    newer.metadata.resourceVersion = '12';
    await applyIfChanged(recorder, Deployment, odd, { ...options, actual: newer });
    expect(recorder.writes).toHaveLength(3);
  });

  it.each<[string, (cached: PersistedObject<typeof Deployment>) => void, boolean]>([
    ['no change', () => undefined, false],
    ['another status', (cached) => void (cached.status = { readyReplicas: 1 }), false],
    ['another label', (cached) => void (cached.metadata.labels = { app: 'theirs' }), true],
    ['another spec', (cached) => void (cached.spec!.replicas = 7), true],
    ['another generation', (cached) => void (cached.metadata.generation = 2), true],
    ['no generation', (cached) => void delete cached.metadata.generation, true],
  ])('applies again or not after %s in a cache without managedFields', async (_name, change, isSent) => {
    const recorder = client();
    const options = { fieldOwner, memo: createApplyMemo() };
    const cached = stored();
    delete cached.metadata.managedFields;
    const { object } = await applyIfChanged(recorder, Deployment, wanted(), { ...options, actual: cached });
    expect(object.metadata.resourceVersion).toBe('11');
    cached.metadata.resourceVersion = '12';
    change(cached);
    const again = await applyIfChanged(recorder, Deployment, wanted(), { ...options, actual: cached });
    expect(again.applied).toBe(isSent);
    expect(recorder.writes).toHaveLength(isSent ? 2 : 1);
  });

  it('forgets the oldest no-op beyond its capacity', () => {
    const memo = createApplyMemo({ capacity: 2 });
    const objectOf = (uid: string): object => ({ metadata: { uid, resourceVersion: '1' } });
    for (const uid of ['a', 'b', 'c']) memo.noteNoop(Deployment, objectOf(uid), {});
    expect(['a', 'b', 'c'].map((uid) => memo.isNoop(Deployment, objectOf(uid), {}))).toEqual([false, true, true]);
  });

  it('takes another version for the same but for its status only by a generation, and without managedFields', () => {
    const memo = createApplyMemo();
    const at = (resourceVersion: string, more: object = {}): object => ({
      metadata: { uid: 'u', resourceVersion, ...more },
    });
    memo.noteNoop(Deployment, at('1'), {});
    expect([at('1'), at('2')].map((actual) => memo.isNoop(Deployment, actual, {}))).toEqual([true, false]);
    memo.noteNoop(Deployment, at('1', { generation: 1 }), {});
    const later = [at('2', { generation: 1 }), at('2', { generation: 1, managedFields: [] })];
    expect(later.map((actual) => memo.isNoop(Deployment, actual, {}))).toEqual([true, false]);
  });

  it('knows the defaults in the claims of a StatefulSet', async () => {
    const claim = {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1024Mi' } } },
    };
    const actual: PersistedObject<typeof StatefulSet> = {
      metadata: {
        ...key,
        uid: 'u1',
        resourceVersion: '10',
        managedFields: [
          {
            manager: fieldOwner,
            operation: 'Apply',
            apiVersion: 'apps/v1',
            fieldsV1: { 'f:spec': { 'f:volumeClaimTemplates': {} } },
          },
        ],
      },
      spec: {
        selector: {},
        template: {},
        volumeClaimTemplates: [
          {
            apiVersion: 'v1',
            kind: 'PersistentVolumeClaim',
            metadata: { name: 'data' },
            spec: {
              accessModes: ['ReadWriteOnce'],
              volumeMode: 'Filesystem',
              resources: { requests: { storage: '1Gi' } },
            },
            status: { phase: 'Pending' },
          },
        ],
      },
    };
    const options = { fieldOwner, actual };
    const same = await applyIfChanged(
      client(),
      StatefulSet,
      { metadata: key, spec: { volumeClaimTemplates: [claim] } },
      options,
    );
    expect(same.reason).toBe('matches');
    const other = { ...claim, spec: { ...claim.spec, storageClassName: 'fast' } };
    const changed = await applyIfChanged(
      client(),
      StatefulSet,
      { metadata: key, spec: { volumeClaimTemplates: [other] } },
      options,
    );
    expect(changed.reason).toBe('differs');
  });

  it('compares the stringData of a Secret as data, and never shows values', async () => {
    const actual: PersistedObject<typeof Secret> = {
      metadata: {
        ...key,
        uid: 'u1',
        resourceVersion: '10',
        managedFields: [
          { manager: fieldOwner, operation: 'Apply', apiVersion: 'v1', fieldsV1: { 'f:data': { 'f:password': {} } } },
        ],
      },
      data: { password: Buffer.from('geheim').toString('base64') },
    };
    const recorder = client();
    const set = (password: string) =>
      applyIfChanged(recorder, Secret, { metadata: key, stringData: { password } }, { fieldOwner, actual });
    expect((await set('geheim')).reason).toBe('matches');
    const changed = await set('anders');
    expect(changed.differences).toEqual([{ path: 'data.password', reason: 'changed' }]);
    expect(recorder.writes[0]?.patch).toMatchObject({
      type: 'apply',
      body: { data: { password: Buffer.from('anders').toString('base64') } },
    });
    expect(recorder.writes[0]?.patch).not.toHaveProperty('body.stringData');
  });

  it('takes a value of stringData that is not there for none, as apply does', async () => {
    const recorder = client();
    const stringData = { password: 'geheim', token: undefined, other: null } as never;
    await applyIfChanged(recorder, Secret, { metadata: key, stringData }, { fieldOwner });
    const body = { data: { password: Buffer.from('geheim').toString('base64') } };
    expect(recorder.writes[0]?.patch).toEqual({
      type: 'apply',
      body: { ...body, metadata: key, apiVersion: 'v1', kind: 'Secret' },
    });
  });

  it('compares sets by value, not by order', async () => {
    const actual: PersistedObject<typeof ConfigMap> = {
      metadata: {
        ...key,
        uid: 'u1',
        resourceVersion: '10',
        finalizers: ['b/b', 'a/a'],
        managedFields: [
          {
            manager: fieldOwner,
            operation: 'Apply',
            apiVersion: 'v1',
            fieldsV1: { 'f:metadata': { 'f:finalizers': { '.': {}, 'v:"a/a"': {}, 'v:"b/b"': {} } } },
          },
        ],
      },
    };
    const set = (finalizers: string[]) =>
      applyIfChanged(client(), ConfigMap, { metadata: { ...key, finalizers } }, { fieldOwner, actual });
    expect((await set(['a/a', 'b/b'])).reason).toBe('matches');
    expect((await set(['a/a'])).differences).toMatchObject([{ reason: 'noLongerDesired', actual: 'b/b' }]);
    expect((await set(['a/a', 'b/b', 'c/c'])).differences).toMatchObject([{ reason: 'notOwned', desired: 'c/c' }]);
  });

  it('can be told what else is equal', async () => {
    const isEqual = (path: string, desired: unknown, actual: unknown): boolean =>
      path.endsWith('.image') && `registry/${String(actual)}` === desired;
    expect((await run(wantedWith(`${container}.image`, 'registry/web:1'), { isEqual })).reason).toBe('matches');
  });
});

describe('apply', () => {
  it('fills in apiVersion and kind and passes the options on', async () => {
    const recorder = client();
    await apply(recorder, Deployment, wanted(), { fieldOwner, force: true });
    expect(recorder.writes).toMatchObject([
      {
        verb: 'patch',
        key,
        patch: { type: 'apply', body: { apiVersion: 'apps/v1', kind: 'Deployment' } },
        options: { fieldOwner, force: true },
      },
    ]);
  });

  it('names the owners that it conflicts with', async () => {
    const refusing = intercept(client(), () => ({
      patch: () =>
        Promise.reject(
          new StatusError({
            code: 409,
            reason: 'Conflict',
            message: 'Apply failed with 1 conflict',
            details: {
              causes: [
                {
                  reason: 'FieldManagerConflict',
                  field: '.spec.replicas',
                  message: 'conflict with "kubectl" using apps/v1',
                },
              ],
            },
          }),
        ),
    }));
    const failure: unknown = await apply(refusing, Deployment, wanted()).catch((error: unknown) => error);
    expect(isApplyConflict(failure)).toBe(true);
    expect(String(failure)).toContain('.spec.replicas (kubectl)');
  });

  it('refuses an object as it was read', async () => {
    const read = stored() as ApplyConfiguration<typeof Deployment>;
    await expect(apply(client(), Deployment, read)).rejects.toThrow('has managedFields');
  });
});

describe('createApplyMemo', () => {
  it('refuses a capacity that is none', () => {
    expect(() => createApplyMemo({ capacity: NaN })).toThrow('createApplyMemo: capacity NaN is not valid');
  });
});
