/** A webhook that makes a short object long: what follows takes place in another thread, and nothing is asked twice. */
import { Worker } from 'node:worker_threads';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { converter } from './converter.js';
import { configMap, configMaps, harness, widget, widgets, type Harness } from './harness.js';
import { allow, patch, startHook, type HookServer } from './hook-server.js';

const post = vi.spyOn(Worker.prototype, 'postMessage');
const registration = '/apis/admissionregistration.k8s.io/v1';
const pads = ['q7', 'p'.repeat(70_000)] as const;

function writes(): number {
  return post.mock.calls.filter(([job]) => Reflect.get(Object(job), 'type') === 'write').length;
}

beforeEach(() => {
  vi.clearAllMocks();
});
afterAll(() => {
  vi.restoreAllMocks();
});

/** Three mutating webhooks, of which the second adds the pad and the third says no more, and one that judges. */
async function reviewed(h: Harness, pad: string): Promise<HookServer> {
  const hook = await startHook();
  const rules = [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['configmaps', 'widgets'] }];
  const configure = (type: string, names: readonly string[]): Promise<unknown> =>
    h.post(`${registration}/${type}webhookconfigurations`, {
      metadata: { name: 'all' },
      webhooks: names.map((name) => ({
        name: `${name}.ex.io`,
        clientConfig: hook.client(`/${name}`),
        rules,
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        failurePolicy: name === 'down' ? 'Ignore' : 'Fail',
      })),
    });
  await configure('mutating', ['down', 'first', 'pad', 'last']);
  await configure('validating', ['judge']);
  hook.answer = ({ url, review: { request } }) => {
    const { pathname } = new URL(url, 'https://hook');
    if (pathname === '/down') return 'cut';
    const { annotations = {} } = request.object.metadata;
    const put = (key: string, value: string): ReturnType<typeof patch> =>
      patch([{ op: 'add', path: '/metadata/annotations', value: { ...annotations, [key]: value } }], {
        warnings: [`${key} for ${request.operation}`],
        auditAnnotations: { key },
      });
    if (pathname === '/first') return put('first', 'x');
    if (pathname === '/pad') return put('pad', pad);
    return pathname === '/last' ? put('last', Object.keys(annotations).join()) : allow();
  };
  return hook;
}

test('is asked as often as of a short object, and the object is the same', async () => {
  const seen: unknown[] = [];
  for (const pad of pads) {
    const h = await harness();
    const hook = await reviewed(h, pad);
    const answers = [
      await h.post(configMaps, configMap('a', { l: 'x' }, { k: 'v' })),
      await h.post(`${configMaps}?dryRun=All`, configMap('b')),
      await h.merge(`${configMaps}/a`, { data: { k: 'w' }, metadata: { annotations: null } }),
      await h.get(`${configMaps}/a`),
    ];
    const told = answers.map(({ status, headers, body }) => ({
      status,
      warnings: headers.get('warning'),
      annotations: JSON.stringify(body.metadata.annotations).replace(pad, 'PAD'),
      data: body.data,
    }));
    const calls = hook.requests.map(({ url, review: { request } }) => {
      const { annotations = {} } = request.object.metadata;
      return `${url.replace(/\?.*/, '')} ${request.operation} ${request.dryRun} ${Object.keys(annotations).join()}`;
    });
    const uids = new Set(hook.requests.map(({ review: { request } }) => request.uid));
    expect(uids.size).toBe(hook.requests.filter(({ url }) => !url.startsWith('/down')).length + 3);
    seen.push({ told, calls, audit: h.server.journal.responses().map(({ auditAnnotations }) => auditAnnotations) });
  }
  const [short, long] = seen;
  const plain = (value: unknown, pad: string): unknown => JSON.parse(JSON.stringify(value).replaceAll(pad, 'PAD'));
  expect(plain(long, pads[1])).toEqual(plain(short, pads[0]));
  expect(writes()).toBeGreaterThan(0);
});

test('is asked again where another writer was faster', async () => {
  const h = await harness();
  const hook = await reviewed(h, pads[1]);
  await h.post(configMaps, configMap('a'));
  const { answer } = hook;
  let isFirst = true;
  hook.answer = async (request) => {
    const { object } = request.review.request;
    if (request.url.startsWith('/last') && isFirst && object.data?.slow !== undefined) {
      isFirst = false;
      expect((await h.merge(`${configMaps}/a`, { data: { quick: 'y' } })).status).toBe(200);
    }
    return answer(request);
  };
  const { status, body } = await h.merge(`${configMaps}/a`, { data: { slow: 'y' } });
  expect(status).toBe(200);
  expect(body.data).toEqual({ slow: 'y', quick: 'y' });
  expect(isFirst).toBe(false);
});

test('of objects that a webhook converts, too', async () => {
  const h = await harness();
  const { crd } = await converter();
  await h.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
  await reviewed(h, pads[1]);
  const other = { ...widget('a', {}, { length: 5 }), apiVersion: 'ex.io/v2' };
  const { status, body } = await h.post(widgets.replace('/v1/', '/v2/'), other);
  expect(status).toBe(201);
  expect(body.spec).toMatchObject({ length: 5 });
  expect(body.metadata.annotations.pad).toBe(pads[1]);
});
