/** What random calls on both servers have found, each as a case of its own. */
import { stage } from '../harness/admission-stage.js';
import { startConverter } from '../harness/converter.js';
import { APPLY_PATCH, MERGE_PATCH } from '../harness/context.js';
import type { Draft, Json } from '../harness/doc.js';
import { created, failure, matches, ok, same } from '../harness/expect.js';
import { allow, mutate, rule, steady } from '../harness/hook.js';
import { spec } from '../harness/spec.js';
import { configMaps, deploymentDraft, deployments, podDraft, podNamespace, pods, secrets } from './paths.js';

const needs = ['webhooks'] as const;
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const names = (list: Json): string[] => list.items.map(({ metadata }: Json) => metadata.name);
const services = (namespace: string, name?: string): string =>
  ['/api/v1/namespaces', namespace, 'services', name].filter((part) => part !== undefined).join('/');
const scaleOf = (name: string, replicas: unknown, metadata: Draft = {}): Draft => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name, ...metadata },
  spec: { replicas },
});

spec(
  44,
  'what a webhook makes of the name of a Scale is lost with the Scale',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook } = await stage(t);
    created(await t.post(widgets.path(ns), widgets.draft('a')));
    created(await t.post(deployments(ns), deploymentDraft('a')));
    const rules = [rule(widgets.group, 'widgets/scale'), rule('apps', 'deployments/scale')];
    await hook.install('Mutating', [hook.entry('m.kctl.test', { rules })]);
    hook.answer = () => mutate([{ op: 'replace', path: '/metadata/name', value: 'zz' }]);
    for (const path of [widgets.path(ns, 'a', 'scale'), `${deployments(ns, 'a')}/scale`]) {
      const put = ok(await t.put(path, scaleOf('a', 2)));
      same([put.metadata.name, put.spec], ['a', { replicas: 2 }], `PUT ${path}`);
      same(ok(await t.patch(path, MERGE_PATCH, { spec: { replicas: 3 } })).spec, { replicas: 3 }, `PATCH ${path}`);
    }
  },
  { needs },
);

spec(
  66,
  'the first patch of the Scale of a custom resource counts as a change, whatever it changes',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook } = await stage(t);
    created(await t.post(widgets.path(ns), widgets.draft('a')));
    created(await t.post(deployments(ns), deploymentDraft('a')));
    const rules = [rule(widgets.group, 'widgets/scale'), rule('apps', 'deployments/scale')];
    await hook.install('Mutating', [
      hook.entry('m.kctl.test', { rules, reinvocationPolicy: 'IfNeeded' }),
      hook.entry('n.kctl.test', { rules }),
    ]);
    hook.answer = ({ url }) =>
      url.startsWith('/n?') ? mutate([{ op: 'add', path: '/data', value: { a: 'b' } }]) : allow();
    for (const [path, asked] of [
      [widgets.path(ns, 'a', 'scale'), ['/m', '/n', '/m']],
      [`${deployments(ns, 'a')}/scale`, ['/m', '/n']],
    ] as const) {
      const { spec: now } = ok(await t.get(path));
      hook.take();
      ok(await t.put(path, scaleOf('a', now.replicas)));
      same(
        hook.take().map(({ url }) => url.split('?')[0]),
        asked,
        path,
      );
    }
  },
  { needs },
);

spec(
  68,
  'admission sees an object of another kind as it came',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook } = await stage(t);
    await hook.install('Validating', [hook.entry('v.kctl.test', { rules: [rule(widgets.group, 'widgets')] })]);
    const body: Json = { ...widgets.draft('a', { bogus: 1 }), kind: 'Other' };
    failure(await t.post(widgets.path(ns), body), { code: 422, reason: 'Invalid' });
    same(hook.take(), [], 'what is not valid is not shown to validating webhooks');
    await hook.install('Mutating', [hook.entry('m.kctl.test', { rules: [rule(widgets.group, 'widgets')] })]);
    failure(await t.post(widgets.path(ns), body), { code: 422, reason: 'Invalid' });
    const [review] = hook.take();
    same(review?.request.object.spec, body.spec, 'spec');
  },
  { needs },
);

spec(
  68,
  'a Service that a webhook renames is refused for its name alone',
  async (plain) => {
    const t = steady(plain);
    const { ns, hook } = await stage(t);
    created(await t.post(services(ns), { metadata: { name: 'a' }, spec: { ports: [{ port: 80 }] } }));
    await hook.install('Mutating', [hook.entry('m.kctl.test', { rules: [rule('', 'services')] })]);
    hook.answer = () => mutate([{ op: 'replace', path: '/metadata/name', value: 'zz' }]);
    const { details } = failure(await t.patch(services(ns, 'a'), MERGE_PATCH, { metadata: { labels: { l: 'a' } } }), {
      code: 422,
      reason: 'Invalid',
    });
    same([...new Set(details.causes.map(({ field }: Json) => field))], ['metadata.name'], 'causes');
  },
  { needs },
);

spec(
  66,
  'webhooks for one version see the object in it one after the other, with what the stored version does not know',
  async (plain) => {
    const t = steady(plain);
    const { ns, hook } = await stage(t);
    const converter = await startConverter(({ spec: { tier: _tier, ...rest }, ...object }, apiVersion) => ({
      ...object,
      apiVersion,
      spec: rest,
    }));
    t.defer(() => converter.stop());
    const group = `${t.unique('kept')}.kctl.test`;
    const version = (name: string, more: Draft): Draft => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: { spec: { type: 'object', properties: { size: { type: 'integer' }, ...more } } },
        },
      },
    });
    const { clientConfig } = converter;
    await t.crd({
      metadata: { name: `kept.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'kept', singular: 'keep', kind: 'Keep' },
        conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
        versions: [version('v1', {}), version('v2', { tier: { type: 'string', default: 'gold' } })],
      },
    });
    const rules = [rule(group, 'kept', { apiVersions: ['v2'] })];
    const selector = { objectSelector: { matchLabels: { l: 'a' } } };
    await hook.install('Mutating', [
      hook.entry('m.kctl.test', { rules }),
      hook.entry('n.kctl.test', { rules, ...selector }),
    ]);
    hook.answer = ({ url }) =>
      url.startsWith('/m?') ? mutate([{ op: 'add', path: '/metadata/labels', value: { l: 'a' } }]) : allow();
    const body = { apiVersion: `${group}/v1`, kind: 'Keep', metadata: { name: 'a' }, spec: { size: 1 } };
    const made = created(await t.post(`/apis/${group}/v1/namespaces/${ns}/kept`, body));
    same([made.apiVersion, made.metadata.labels, made.spec], [`${group}/v1`, { l: 'a' }, { size: 1 }], 'object');
    same(
      hook.take().map(({ url, request }) => [url.split('?')[0], request.object.apiVersion, request.object.spec]),
      [
        ['/m', `${group}/v2`, { size: 1 }],
        ['/n', `${group}/v2`, { size: 1, tier: 'gold' }],
      ],
      'reviews',
    );
  },
  { needs },
);

spec(44, 'a Scale with the uid of another object, and one that does not decode', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  created(await t.post(widgets.path(ns), widgets.draft('a')));
  created(await t.post(deployments(ns), deploymentDraft('a')));
  for (const path of [widgets.path(ns, 'a', 'scale'), `${deployments(ns, 'a')}/scale`])
    failure(await t.put(path, scaleOf('a', 2, { uid: 'zzz' })), { code: 409, reason: 'Conflict' });
  failure(await t.patch(`${deployments(ns, 'a')}/scale`, MERGE_PATCH, { metadata: { uid: 'zzz' } }), {
    code: 409,
    reason: 'Conflict',
    message: /^Operation cannot be fulfilled on deployments\.apps\/scale "a"|deployments\/scale/,
  });
  const { message } = failure(await t.put(widgets.path(ns, 'a', 'scale'), scaleOf('a', 'x')), {
    code: 400,
    reason: 'BadRequest',
  });
  matches(message, /^no kind is registered for the type v1\.Scale in scheme /);
  const stale = scaleOf('a', -1, { resourceVersion: '1' });
  failure(await t.put(`${deployments(ns, 'a')}/scale`, stale), { code: 422, reason: 'Invalid' });
});

spec(
  57,
  'deletecollection judges its selectors before its body, and deletes a page where one is asked for',
  async (t) => {
    const ns = await t.namespace();
    for (const name of ['a', 'b', 'c']) created(await t.post(secrets(ns), { metadata: { name } }));
    const cut = await t.send('DELETE', `${secrets(ns)}?labelSelector=%3D`, { body: '{"propag' });
    matches(failure(cut, { code: 400, reason: 'BadRequest' }).message, /^found '='/);
    failure(await t.delete(`${secrets(ns)}?resourceVersionMatch=Exact`), { code: 422, reason: 'Invalid' });
    const page = ok(await t.delete(`${secrets(ns)}?limit=2`));
    same([names(page), page.metadata['remainingItemCount']], [['a', 'b'], 1], 'page');
    same(names(ok(await t.get(secrets(ns)))), ['c'], 'left');
  },
);

spec(11, 'the rows of a Table include what is asked for, or the request is refused', async (t) => {
  const ns = await podNamespace(t);
  created(await t.post(pods(ns), podDraft('a')));
  ok(await t.patch(`${pods(ns, 'a')}/status`, MERGE_PATCH, { status: { phase: 'Failed' } }));
  for (const path of [pods(ns), pods(ns, 'a')])
    failure(await t.get(`${path}?includeObject=Zip`, { accept: TABLE }), {
      code: 400,
      reason: 'BadRequest',
      message: `Unable to convert to Table as requested: includeObject: Invalid value: "Zip": must be 'Metadata', 'Object', 'None', or empty`,
    });
  const [row] = ok(await t.get(pods(ns), { accept: TABLE }))['rows'];
  const failed = { type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' };
  same(row.conditions, [failed], 'conditions of a pod that has failed');
  const table = ok(await t.get(configMaps(ns), { accept: TABLE }));
  const described = table['columnDefinitions'].map(({ description }: Json) => String(description).split('.')[0]);
  same(
    described,
    [
      'Name must be unique within a namespace',
      'Data contains the configuration data',
      'CreationTimestamp is a timestamp representing the server time when this object was created',
    ],
    'descriptions',
  );
});

spec(52, 'an apply of a status needs its object first; one that does not decode says where', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const { apiVersion } = widgets;
  const status = { apiVersion, kind: 'Widget', metadata: { name: 'a', managedFields: [] }, status: { ready: 'x' } };
  const how = { query: { fieldManager: 'm' } };
  failure(await t.patch(widgets.path(ns, 'a', 'status'), APPLY_PATCH, status, how), { code: 404, reason: 'NotFound' });
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' }, status: { loadBalancer: {} } };
  failure(await t.patch(`${services(ns, 'a')}/status`, APPLY_PATCH, service, how), { code: 422, reason: 'Invalid' });
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, data: { a: '?' } };
  failure(await t.patch(secrets(ns, 'a'), APPLY_PATCH, secret, how), {
    code: 500,
    reason: undefined,
    message:
      'failed to convert new object (/a; /v1, Kind=Secret) to proper version: unable to convert unstructured object to /v1, Kind=Secret: error decoding from json: illegal base64 data at input byte 0',
  });
});
