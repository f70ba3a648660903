import { isConflict, StatusError } from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap, Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  addFinalizer,
  apply,
  applyIfChanged,
  applyStatus,
  applySubResource,
  createApplyMemo,
  createOrPatch,
  createOrUpdate,
  extractApplied,
  inNamespace,
  intercept,
  isApplyConflict,
  isEmptyPatch,
  listAll,
  mergeFrom,
  record,
  removeFinalizer,
  strategicMergeFrom,
  waitForEvent,
  withFieldOwner,
} from '../src/index.js';
import {
  listWithin,
  requireClientPart,
  requireKey,
  requireListAnswer,
  requireObjectAnswer,
} from '../src/internal/index.js';

const key = { namespace: 'shop', name: 'web' };
const web = { metadata: key };
const none = {} as never;
const client = { get: unexpected, patch: unexpected, list: unexpected, status: unexpected, subResource: unexpected };
function unexpected(): never {
  throw new Error('nothing must be sent');
}
const all = client as never;
const owner = { fieldOwner: 'me' };
const stream = (async function* () {})();
const original = { ...web, apiVersion: 'apps/v1', kind: 'Deployment' };

it.each([
  ['apply: the client has no patch', () => apply(none, ConfigMap, web)],
  ['apply: the options are', () => apply(all, ConfigMap, web, 5 as never)],
  ['"fieldowner"', () => apply(all, ConfigMap, web, { fieldowner: 'me' } as never)],
  ['apply: the kind is', () => apply(all, none, web as never)],
  ['metadata.name is not set', () => apply(all, ConfigMap, { metadata: { namespace: 'shop' } } as never)],
  ['metadata.namespace is not set', () => apply(all, ConfigMap, { metadata: { name: 'web' } } as never)],
  ['the object has no metadata', () => apply(all, ConfigMap, {} as never)],
  ['has managedFields', () => apply(all, ConfigMap, { metadata: { ...key, managedFields: [] } })],
  ['applyStatus: the client has no status', () => applyStatus(none, Deployment, web)],
  ['applyStatus: the options are', () => applyStatus(all, Deployment, web, 5 as never)],
  ['"fieldowner"', () => applyStatus(all, Deployment, web, { fieldowner: 'me' } as never)],
  [
    'applySubResource: the client has no subResource',
    () => applySubResource(none, Deployment, web, { subresource: 'scale' }),
  ],
  ['applySubResource: the options are', () => applySubResource(all, Deployment, web, 5 as never)],
  ['"fieldowner"', () => applySubResource(all, Deployment, web, { subresource: 'scale', fieldowner: 'me' } as never)],
  ['applySubResource: the subresource is empty', () => applySubResource(all, Deployment, web, { subresource: '' })],
  ['applySubResource: the subresource is undefined', () => applySubResource(all, Deployment, web, {} as never)],
  ['applyIfChanged: the client has no get and no patch', () => applyIfChanged(none, ConfigMap, web, owner)],
  ['applyIfChanged: the kind is', () => applyIfChanged(all, none, web as never, owner as never)],
  ['applyIfChanged: the options are', () => applyIfChanged(all, ConfigMap, web, 5 as never)],
  ['"fieldowner"', () => applyIfChanged(all, ConfigMap, web, { ...owner, fieldowner: 'x' } as never)],
  ['createApplyMemo: the options are', () => createApplyMemo(5 as never)],
  ['"size"', () => createApplyMemo({ size: 5 } as never)],
  ['addFinalizer: the client has no get and no patch', () => addFinalizer(none, ConfigMap, web as never, 'a/b')],
  ['addFinalizer: the kind is', () => addFinalizer(all, none, web as never, 'a/b')],
  ['addFinalizer: the finalizer is empty', () => addFinalizer(all, ConfigMap, web as never, '')],
  ['addFinalizer: the options are', () => addFinalizer(all, ConfigMap, web as never, 5 as never)],
  ['"name"', () => addFinalizer(all, ConfigMap, web as never, { finalizer: 'a/b', name: 'x' } as never)],
  ['removeFinalizer: the client has no get and no patch', () => removeFinalizer(none, ConfigMap, web as never, 'a/b')],
  ['removeFinalizer: the kind is', () => removeFinalizer(all, none, web as never, 'a/b')],
  ['"mutated"', () => createOrUpdate(all, ConfigMap, key, { mutate: () => undefined, mutated: 1 } as never)],
  ['mutate is', () => createOrUpdate(all, ConfigMap, key, null as never)],
  ['listAll: the client has no list', () => listAll(none, ConfigMap).next()],
  ['listAll: the kind is', () => listAll(all, none).next()],
  ['listAll: the options are', () => listAll(all, ConfigMap, 5 as never).next()],
  ['mergeFrom: the options are', () => mergeFrom(web, web, 5 as never)],
  ['"lock"', () => mergeFrom(web, web, { lock: true } as never)],
  ['strategicMergeFrom: the options are', () => strategicMergeFrom(original, original, 5 as never)],
  ['"lock"', () => strategicMergeFrom(original, original, { lock: true } as never)],
  ['strategicMergeFrom: the original is', () => strategicMergeFrom({} as typeof web, web)],
  ['strategicMergeFrom: the modified object is', () => strategicMergeFrom(original, {} as never)],
  [
    'has no apiVersion and kind',
    () => strategicMergeFrom({ ...original, kind: undefined } as never, original as never),
  ],
  [
    'has no apiVersion and kind',
    () => strategicMergeFrom({ ...original, apiVersion: undefined } as never, original as never),
  ],
  [
    'mergeFrom: the original is an object without metadata',
    () => mergeFrom({} as typeof web, web, { optimisticLock: true }),
  ],
  [
    'mergeFrom: the original has no resourceVersion',
    () => mergeFrom({ metadata: { ...key, resourceVersion: '' } }, web as never, { optimisticLock: true }),
  ],
  ['use mergeFrom', () => strategicMergeFrom({ ...original, apiVersion: 'example.com/v1' }, original)],
  ['the client has no list: expected a client with list, such as', () => listWithin(none, ConfigMap, { scopes: [] })],
  ['listWithin: the options are', () => listWithin(all, ConfigMap, null as never)],
  ['record: the client is null: expected a client, such as', () => record(null as never)],
  ['inNamespace: the namespace is', () => inNamespace(all, 5 as never)],
  ['create: the kind is', () => inNamespace(all, 'a').create(none, web as never)],
  ['list: the kind is', () => inNamespace(all, 'a').list(none)],
  ['isEmptyPatch: the options are', () => isEmptyPatch(5 as never)],
  ['get: the kind is null', () => requireKey('get', null as never, key)],
  ['intercept: the hooks are not a function', () => intercept(all, {} as never)],
  ['has no resourceVersion', () => strategicMergeFrom(original, original, { optimisticLock: true })],
  ['withFieldOwner: the field owner is', () => withFieldOwner(all, 5 as never)],
  ['waitForEvent: events is not a stream', () => waitForEvent(5 as never, () => true)],
  ['waitForEvent: events is not a stream', () => waitForEvent(null as never, () => true)],
  ['waitForEvent: until is not valid', () => waitForEvent(stream, [() => true, 5 as never])],
  ['waitForEvent: until is not valid', () => waitForEvent(stream, [])],
  ['"timeout"', () => waitForEvent(stream, () => true, { timeout: 5 } as never)],
  ['timeoutMs -1', () => waitForEvent(stream, () => true, { timeoutMs: -1 })],
  ['fieldOwner "" is not valid', () => extractApplied(original, '')],
  ['fieldOwner 5 is not valid', () => extractApplied(original, 5 as never)],
  ['extractApplied: the options are', () => extractApplied(original, 'me', 5 as never)],
  ['"sub"', () => extractApplied(original, 'me', { sub: 5 } as never)],
  ['the object "web" has no managedFields', () => extractApplied(Deployment, original as never, 'me')],
  ['get: the kind is undefined', () => requireKey('get', undefined as never, key)],
  ['get: the kind is not a Kind', () => requireKey('get', { kind: 'X', apiVersion: 'v1' } as never, key)],
  ['get: the kind is "ConfigMap"', () => requireKey('get', 'ConfigMap' as never, key)],
  ['the key is null', () => requireKey('get', ConfigMap, null as never)],
  [
    'the key is an object without a name: expected { namespace, name }',
    () => requireKey('get', ConfigMap, {} as never),
  ],
  ['the key is an object without a name: expected { name }', () => requireKey('get', Namespace, { name: 5 } as never)],
  [
    'the object is a Pod',
    () => requireKey('get', ConfigMap, { apiVersion: 'v1', kind: 'Pod', metadata: key } as never),
  ],
  [
    'the object is a ConfigMap.x',
    () => requireKey('get', ConfigMap, { apiVersion: 'x/v1', kind: 'ConfigMap', metadata: key } as never),
  ],
  ['list of the client returned', () => requireListAnswer('x', { items: 5 })],
  ['list of the client returned', () => requireListAnswer('x', undefined)],
  ['items[0] that is not an object', () => requireListAnswer('x', { items: [5] })],
  ['get of the client returned', () => requireObjectAnswer('x', { metadata: null })],
  ['expected the verbs update, patch', () => requireClientPart('status', { get: unexpected })],
  ['expected the verbs get, create, update, patch', () => requireClientPart('subResource', { get: 5 })],
  ['subResource of the client returned', () => requireClientPart('subResource', undefined)],
] as readonly (readonly [string, () => unknown])[])('%s', async (message, call) => {
  await expect(async () => call()).rejects.toThrow(message);
});

it('takes keys and objects of the kind, in any of its versions', () => {
  const named = [
    key,
    { metadata: key },
    { apiVersion: 'v9', kind: 'ConfigMap', metadata: key },
    { apiVersion: 'x/v1', metadata: key },
    { kind: 'X', metadata: key },
    { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: key },
  ];
  for (const each of named) expect(requireKey('get', ConfigMap, each as never)).toEqual(key);
  expect(requireKey('get', Namespace, { metadata: { name: 'a', namespace: null } } as never)).toStrictEqual({
    name: 'a',
  });
});

describe('server-side apply', () => {
  let sent: unknown[] = [];
  beforeEach(() => {
    sent = [];
  });
  const part = {
    patch: async (...given: unknown[]) => {
      sent.push(given);
      return {};
    },
  };
  const sending = { ...part, status: () => part, subResource: () => part } as never;
  it('of the status, and of a subresource in the type of its body', async () => {
    await applyStatus(sending, Deployment, { metadata: key, status: { replicas: 1 } }, owner);
    await applySubResource(sending, Deployment, { metadata: key }, { subresource: 'scale', ...owner });
    await applySubResource(sending, Deployment, { metadata: key }, { subresource: 'status', ...owner });
    const body = (apiVersion: string, kind: string, more: object = {}) => [
      key,
      { type: 'apply', body: { apiVersion, kind, metadata: key, ...more } },
      owner,
    ];
    expect(sent).toEqual([
      body('apps/v1', 'Deployment', { status: { replicas: 1 } }),
      body('autoscaling/v1', 'Scale'),
      body('apps/v1', 'Deployment'),
    ]);
  });

  const causes = [
    { reason: 'FieldManagerConflict', field: '.spec', message: 'conflict with "other" using v1' },
    { reason: 'FieldManagerConflict', message: 'conflict' },
    { reason: 'FieldManagerConflict' },
    { reason: 'Other', field: '.x' },
  ] as never;
  it.each([
    ['apply', (failing: never) => apply(failing, Deployment, web)],
    ['applyStatus', (failing: never) => applyStatus(failing, Deployment, web)],
    ['applySubResource', (failing: never) => applySubResource(failing, Deployment, web, { subresource: 'status' })],
  ] as const)('%s names the fields that others own, and passes other failures on', async (_what, call) => {
    const failing = (error: Error) => {
      const refusing = { patch: async () => Promise.reject(error) };
      return { ...refusing, status: () => refusing, subResource: () => refusing } as never;
    };
    const conflict = (details?: object) =>
      new StatusError({ code: 409, reason: 'Conflict', message: 'x', ...(details && { details }) });
    const error: unknown = await call(failing(conflict({ causes }))).catch((reason: unknown) => reason);
    if (!isApplyConflict(error)) throw new Error('no conflict', { cause: error });
    expect(error.conflicts).toEqual([
      { manager: 'other', field: '.spec', message: 'conflict with "other" using v1' },
      { manager: 'unknown', field: '', message: 'conflict' },
      { manager: 'unknown', field: '', message: '' },
    ]);
    for (const plain of [conflict(), conflict({})]) {
      await expect(call(failing(plain))).rejects.toBe(plain);
      expect(isConflict(plain)).toBe(true);
    }
    const other = new StatusError({ code: 422, reason: 'Invalid', message: 'x', details: { causes } });
    await expect(call(failing(other))).rejects.toBe(other);
  });
});

describe('createOrUpdate and createOrPatch', () => {
  const writers: readonly (typeof createOrPatch)[] = [createOrUpdate, createOrPatch];
  const { signal } = new AbortController();
  it.each(writers)('%o reads with the signal, and passes failures on', async (call) => {
    const seen: unknown[] = [];
    const failure = new StatusError({ code: 500, reason: 'InternalError', message: 'broken' });
    const failing = {
      get: async (...[, , options]: unknown[]) => {
        seen.push(options);
        throw failure;
      },
    } as never;
    const mutate = (): undefined => undefined;
    await expect(call(failing, ConfigMap, key, { mutate, signal })).rejects.toBe(failure);
    await expect(call(failing, ConfigMap, key, { mutate })).rejects.toBe(failure);
    expect(seen).toStrictEqual([{ signal }, {}]);
  });

  it.each([
    ['unchanged', () => undefined, []],
    ['updated', (draft: { data?: object }) => (draft.data = { a: '2' }), ['patch']],
    ['updatedStatusOnly', (draft: { status?: object }) => (draft.status = { x: 1 }), ['status']],
    [
      'updatedStatus',
      (draft: object) => Object.assign(draft, { data: {}, status: {} }) && undefined,
      ['patch', 'status'],
    ],
  ] as const)('createOrPatch: %s', async (result, mutate, expected) => {
    const read = { metadata: { ...key, resourceVersion: '1' }, data: { a: '1' }, status: { x: 0 } };
    const sent: string[] = [];
    const patching = (name: string) => ({ patch: async () => (sent.push(name), read) });
    const stub = { get: async () => read, ...patching('patch'), status: () => patching('status') } as never;
    expect((await createOrPatch(stub, ConfigMap, key, { mutate: mutate as never })).result).toBe(result);
    expect(sent).toEqual(expected);
  });

  it('refuse another name or namespace, and take a draft that is returned', async () => {
    const read = { metadata: { ...key, resourceVersion: '1' } };
    const stub = { get: async () => read } as never;
    for (const call of writers) {
      const move = (draft: { metadata: { namespace?: string } }) => void (draft.metadata.namespace = 'other');
      await expect(call(stub, ConfigMap, key, { mutate: move })).rejects.toThrow('must not change the name');
      for (const mutate of [(draft: object) => draft, () => null])
        expect((await call(stub, ConfigMap, key, { mutate: mutate as never })).result).toBe('unchanged');
    }
    const cluster = { get: async () => ({ metadata: { name: 'a', namespace: 'odd' } }) } as never;
    expect((await createOrUpdate(cluster, Namespace, { name: 'a' }, { mutate: () => undefined })).result).toBe(
      'unchanged',
    );
  });
});

it('strategicMergeFrom patches by the kind that is given, with a lock on demand', () => {
  const from = { metadata: { ...key, resourceVersion: '7' }, spec: { replicas: 1 } } as never;
  const to = { metadata: { ...key, resourceVersion: '7' }, spec: { replicas: 2 } } as never;
  const spec = { replicas: 2 };
  expect(strategicMergeFrom(from, to, { kind: Deployment })).toEqual({ type: 'strategic', body: { spec } });
  expect(strategicMergeFrom(from, to, { kind: Deployment, optimisticLock: true })).toEqual({
    type: 'strategic',
    body: { spec, metadata: { resourceVersion: '7' } },
  });
});
