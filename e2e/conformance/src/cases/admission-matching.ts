/** §2.11 Which webhooks are asked, in which order, and how often. */
import { stage } from '../harness/admission-stage.js';
import { MERGE_PATCH } from '../harness/context.js';
import type { Json } from '../harness/doc.js';
import { created, ok } from '../harness/expect.js';
import {
  allow,
  deny,
  mutate,
  registration,
  rule,
  startHook,
  steady,
  transcript,
  type Review,
} from '../harness/hook.js';
import { spec } from '../harness/spec.js';
import { configMaps, deploymentDraft, deployments, pods } from './paths.js';

const needs = ['webhooks'] as const;
/** Path of the webhook and operation. */
const who = ({ request }: Review): string =>
  `${request.operation} ${request.resource.resource}${request.subResource === undefined ? '' : `/${request.subResource}`}`;

spec(
  66,
  'rules: groups, versions, operations, resources and their subresources, scope',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook, log } = await stage(t);
    const { group } = widgets;
    const entry = (name: string, ...rules: readonly object[]): Record<string, unknown> =>
      hook.entry(`${name}.kctl.test`, { rules });
    await hook.install('Validating', [
      entry('exact', rule(group, 'widgets', { apiVersions: ['v1'] })),
      entry('other-version', rule(group, 'widgets', { apiVersions: ['v2'] })),
      entry('other-group', rule('other.kctl.test', 'widgets')),
      entry('any-group', rule('*', 'widgets')),
      entry('create', rule(group, 'widgets', { operations: ['CREATE'] })),
      entry('update-delete', rule(group, 'widgets', { operations: ['UPDATE', 'DELETE'] })),
      entry('any', rule(group, '*')),
      entry('any-any', rule(group, '*/*')),
      entry('status', rule(group, 'widgets/status')),
      entry('any-status', rule(group, '*/status')),
      entry('sub', rule(group, 'widgets/*')),
      entry('two', rule('other.kctl.test', 'x'), rule(group, ['x', 'widgets/scale'])),
      entry('cluster', rule(group, '*/*', { scope: 'Cluster' })),
      entry('namespaced', rule(group, '*/*', { scope: 'Namespaced' })),
      entry('connect', rule(group, '*/*', { operations: ['CONNECT'] })),
      hook.entry('none.kctl.test'),
    ]);
    const show = (): void => {
      const asked = hook.take().map((review) => `${review.url.slice(1).split('?')[0] ?? ''}: ${who(review)}`);
      for (const line of asked.toSorted()) log.say(`  ${line}`);
    };
    log.answer('POST', await t.post(widgets.path(ns), widgets.draft('a')));
    show();
    log.answer('patch', await t.patch(widgets.path(ns, 'a'), MERGE_PATCH, { spec: { size: 2 } }));
    show();
    log.answer('status', await t.patch(widgets.path(ns, 'a', 'status'), MERGE_PATCH, { status: { ready: true } }));
    show();
    log.answer('scale', await t.patch(widgets.path(ns, 'a', 'scale'), MERGE_PATCH, { spec: { replicas: 2 } }));
    show();
    log.answer('DELETE', await t.delete(widgets.path(ns, 'a')));
    show();
    log.is(`
      POST: 201
        any-any: CREATE widgets
        any-group: CREATE widgets
        any: CREATE widgets
        create: CREATE widgets
        exact: CREATE widgets
        namespaced: CREATE widgets
        sub: CREATE widgets
      patch: 200
        any-any: UPDATE widgets
        any-group: UPDATE widgets
        any: UPDATE widgets
        exact: UPDATE widgets
        namespaced: UPDATE widgets
        sub: UPDATE widgets
        update-delete: UPDATE widgets
      status: 200
        any-any: UPDATE widgets/status
        any-status: UPDATE widgets/status
        namespaced: UPDATE widgets/status
        status: UPDATE widgets/status
        sub: UPDATE widgets/status
      scale: 200
        any-any: UPDATE widgets/scale
        namespaced: UPDATE widgets/scale
        sub: UPDATE widgets/scale
        two: UPDATE widgets/scale
      DELETE: 200
        any-any: DELETE widgets
        any-group: DELETE widgets
        any: DELETE widgets
        exact: DELETE widgets
        namespaced: DELETE widgets
        sub: DELETE widgets
        update-delete: DELETE widgets
    `);
  },
  { needs },
);

spec(
  66,
  'selectors: the namespace, and the object as it was or as it is to be',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook, log } = await stage(t);
    const rules = [rule(widgets.group, 'widgets')];
    const red = { matchLabels: { color: 'red' } };
    await hook.install('Mutating', [
      hook.entry('red.kctl.test', { rules, objectSelector: red }),
      hook.entry('paint.kctl.test', {
        rules,
        objectSelector: { matchExpressions: [{ key: 'paint', operator: 'Exists' }] },
      }),
      hook.entry('after.kctl.test', { rules, objectSelector: red }),
      hook.entry('elsewhere.kctl.test', {
        rules,
        namespaceSelector: {
          matchExpressions: [
            { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [ns] },
            { key: 'kubernetes.io/metadata.name', operator: 'In', values: [`${ns}-x`] },
          ],
        },
      }),
    ]);
    hook.answer = ({ url, request }) =>
      url.startsWith('/paint?') && request.object !== null
        ? mutate([{ op: 'add', path: '/metadata/labels/color', value: 'red' }])
        : allow();
    const path = widgets.path(ns, 'a');
    const show = (): void => log.reviews(hook, who);
    log.answer('no label', await t.post(widgets.path(ns), widgets.draft('a')));
    show();
    log.answer('label on', await t.patch(path, MERGE_PATCH, { metadata: { labels: { color: 'red' } } }));
    show();
    log.answer('label off', await t.patch(path, MERGE_PATCH, { metadata: { labels: { color: null } } }));
    show();
    log.answer(
      'label given by a webhook',
      await t.patch(path, MERGE_PATCH, { metadata: { labels: { paint: 'yes' } } }),
    );
    show();
    log.answer('DELETE', await t.delete(path));
    show();
    log.is(`
      no label: 201
        no review
      label on: 200
        /red?timeout=5s UPDATE widgets
        /after?timeout=5s UPDATE widgets
      label off: 200
        /red?timeout=5s UPDATE widgets
        /after?timeout=5s UPDATE widgets
      label given by a webhook: 200
        /paint?timeout=5s UPDATE widgets
        /after?timeout=5s UPDATE widgets
      DELETE: 200
        /red?timeout=5s DELETE widgets
        /paint?timeout=5s DELETE widgets
        /after?timeout=5s DELETE widgets
    `);
  },
  { needs },
);

spec(
  66,
  'matchPolicy: equivalent versions of a custom resource, converted both ways',
  async (plain) => {
    const t = steady(plain);
    const ns = await t.namespace();
    const hook = await startHook(t, ns);
    const group = `${t.unique('g')}.kctl.test`;
    const version = (name: string, extra: object): object => ({
      name,
      served: true,
      storage: name === 'v1',
      subresources: { status: {} },
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: { type: 'object', properties: { size: { type: 'integer' }, ...extra } },
            status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
      },
    });
    await t.crd({
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'things', singular: 'thing', kind: 'Thing' },
        versions: [
          version('v1', { one: { type: 'string', default: 'one' } }),
          version('v2', { two: { type: 'string', default: 'two' } }),
        ],
      },
    });
    const log = transcript({ NS: ns, GROUP: group, PORT: hook.port });
    const on = (apiVersions: readonly string[], fields: object = {}): Record<string, unknown> => ({
      rules: [rule(group, ['things', 'things/status'], { apiVersions })],
      ...fields,
    });
    await hook.install('Mutating', [
      hook.entry('v2m.kctl.test', on(['v2'])),
      hook.entry('v1m.kctl.test', on(['v1'])),
      hook.entry('exact.kctl.test', on(['v2'], { matchPolicy: 'Exact' })),
    ]);
    await hook.install('Validating', [
      hook.entry('both.kctl.test', on(['v1', 'v2'])),
      hook.entry('v2v.kctl.test', on(['v2'])),
      hook.entry('v3v.kctl.test', on(['v3'])),
    ]);
    const show = (): void =>
      log.reviews(
        hook,
        ({ request }) => [
          request.operation,
          request.kind.version,
          request.resource.version,
          request.requestKind.version,
          request.requestResource.version,
          request.object?.apiVersion ?? null,
          request.object?.spec ?? null,
          request.oldObject?.apiVersion ?? null,
        ],
        { isSorted: true },
      );
    hook.answer = ({ url, request }) =>
      url.startsWith('/v2m?') && request.object !== null
        ? mutate([{ op: 'add', path: '/spec/size', value: Number(request.object.spec.size ?? 0) + 10 }])
        : allow();
    const path = (v: string, name?: string): string =>
      `/apis/${group}/${v}/namespaces/${ns}/things${name === undefined ? '' : `/${name}`}`;
    const draft = (v: string, name: string): Json => ({
      apiVersion: `${group}/${v}`,
      kind: 'Thing',
      metadata: { name },
      spec: { size: 1 },
    });
    log.answer('POST v1', await t.post(path('v1'), draft('v1', 'a')), ({ apiVersion, spec: content }) => [
      apiVersion,
      content,
    ]);
    show();
    log.answer('POST v2', await t.post(path('v2'), draft('v2', 'b')), ({ apiVersion, spec: content }) => [
      apiVersion,
      content,
    ]);
    show();
    log.answer(
      'patch v1 /status',
      await t.patch(`${path('v1', 'a')}/status`, MERGE_PATCH, { status: { a: 1 } }),
      ({ spec: content }) => content,
    );
    show();
    log.answer('DELETE v1', await t.delete(path('v1', 'a')));
    show();
    log.is(`
      POST v1: 201 ["GROUP/v1",{"one":"one","size":11}]
        /both?timeout=5s ["CREATE","v1","v1","v1","v1","GROUP/v1",{"one":"one","size":11,"two":"two"},null]
        /v1m?timeout=5s ["CREATE","v1","v1","v1","v1","GROUP/v1",{"one":"one","size":11,"two":"two"},null]
        /v2m?timeout=5s ["CREATE","v2","v2","v1","v1","GROUP/v2",{"one":"one","size":1},null]
        /v2v?timeout=5s ["CREATE","v2","v2","v1","v1","GROUP/v2",{"one":"one","size":11,"two":"two"},null]
      POST v2: 201 ["GROUP/v2",{"size":11}]
        /both?timeout=5s ["CREATE","v2","v2","v2","v2","GROUP/v2",{"size":11,"two":"two"},null]
        /exact?timeout=5s ["CREATE","v2","v2","v2","v2","GROUP/v2",{"size":11,"two":"two"},null]
        /v1m?timeout=5s ["CREATE","v1","v1","v2","v2","GROUP/v1",{"size":11,"two":"two"},null]
        /v2m?timeout=5s ["CREATE","v2","v2","v2","v2","GROUP/v2",{"size":1,"two":"two"},null]
        /v2v?timeout=5s ["CREATE","v2","v2","v2","v2","GROUP/v2",{"size":11,"two":"two"},null]
      patch v1 /status: 200 {"one":"one","size":11}
        /both?timeout=5s ["UPDATE","v1","v1","v1","v1","GROUP/v1",{"one":"one","size":11},"GROUP/v1"]
        /v1m?timeout=5s ["UPDATE","v1","v1","v1","v1","GROUP/v1",{"one":"one","size":21,"two":"two"},"GROUP/v1"]
        /v2m?timeout=5s ["UPDATE","v2","v2","v1","v1","GROUP/v2",{"one":"one","size":11},"GROUP/v2"]
        /v2v?timeout=5s ["UPDATE","v2","v2","v1","v1","GROUP/v2",{"one":"one","size":11},"GROUP/v2"]
      DELETE v1: 200
        /both?timeout=5s ["DELETE","v1","v1","v1","v1",null,null,"GROUP/v1"]
        /v1m?timeout=5s ["DELETE","v1","v1","v1","v1",null,null,"GROUP/v1"]
        /v2m?timeout=5s ["DELETE","v2","v2","v1","v1",null,null,"GROUP/v2"]
        /v2v?timeout=5s ["DELETE","v2","v2","v1","v1",null,null,"GROUP/v2"]
    `);
  },
  { needs },
);

spec(
  66,
  'matchPolicy: equivalent versions of built-in kinds',
  async (plain) => {
    const t = steady(plain);
    const { ns, hook, log } = await stage(t);
    await hook.install('Mutating', [
      hook.entry('hpa.kctl.test', {
        rules: [rule('autoscaling', 'horizontalpodautoscalers', { apiVersions: ['v2'] })],
      }),
      hook.entry('scale.kctl.test', { rules: [rule('apps', 'deployments/scale', { apiVersions: ['v1'] })] }),
      hook.entry('beta.kctl.test', { rules: [rule('extensions', 'deployments', { apiVersions: ['v1beta1'] })] }),
      hook.entry('events.kctl.test', { rules: [rule('events.k8s.io', 'events', { apiVersions: ['v1'] })] }),
    ]);
    const show = (): void =>
      log.reviews(hook, ({ request }) => [
        request.operation,
        request.kind,
        request.resource,
        request.requestKind,
        request.requestResource,
        request.object?.apiVersion ?? null,
        Object.keys((request.object?.spec ?? {}) as object).toSorted(),
      ]);
    const autoscaler = {
      metadata: { name: 'a' },
      spec: {
        maxReplicas: 2,
        scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
        targetCPUUtilizationPercentage: 50,
      },
    };
    log.answer(
      'HPA v1',
      await t.post(`/apis/autoscaling/v1/namespaces/${ns}/horizontalpodautoscalers`, autoscaler),
      ({ apiVersion }) => apiVersion,
    );
    show();
    created(await t.post(deployments(ns), deploymentDraft('d')));
    show();
    log.answer('scale', await t.patch(`${deployments(ns, 'd')}/scale`, MERGE_PATCH, { spec: { replicas: 2 } }));
    show();
    log.answer(
      'Event',
      await t.post(`/api/v1/namespaces/${ns}/events`, {
        metadata: { name: 'e', namespace: ns },
        involvedObject: { namespace: ns, kind: 'Pod', name: 'p' },
        reason: 'R',
        message: 'm',
        type: 'Normal',
        reportingComponent: 'c',
      }),
    );
    log.reviews(hook, ({ request }) => [
      request.operation,
      request.kind,
      request.requestKind,
      request.object?.note ?? null,
      request.object?.regarding ?? null,
    ]);
    log.is(`
      HPA v1: 201 "autoscaling/v1"
        /hpa?timeout=5s ["CREATE",{"group":"autoscaling","kind":"HorizontalPodAutoscaler","version":"v2"},{"group":"autoscaling","resource":"horizontalpodautoscalers","version":"v2"},{"group":"autoscaling","kind":"HorizontalPodAutoscaler","version":"v1"},{"group":"autoscaling","resource":"horizontalpodautoscalers","version":"v1"},"autoscaling/v2",["maxReplicas","metrics","minReplicas","scaleTargetRef"]]
        no review
      scale: 200
        /scale?timeout=5s ["UPDATE",{"group":"autoscaling","kind":"Scale","version":"v1"},{"group":"apps","resource":"deployments","version":"v1"},{"group":"autoscaling","kind":"Scale","version":"v1"},{"group":"apps","resource":"deployments","version":"v1"},"autoscaling/v1",["replicas"]]
      Event: 201
        /events?timeout=5s ["CREATE",{"group":"events.k8s.io","kind":"Event","version":"v1"},{"group":"","kind":"Event","version":"v1"},"m",{"kind":"Pod","name":"p","namespace":"NS"}]
    `);
  },
  { needs },
);

spec(
  66,
  'mutating webhooks are asked in order of their configurations, and again where they want it',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook, log } = await stage(t);
    const rules = [rule(widgets.group, 'widgets')];
    const again = { rules, reinvocationPolicy: 'IfNeeded' };
    const name = t.unique('order');
    await hook.install(
      'Mutating',
      [hook.entry('c.kctl.test', again), hook.entry('d.kctl.test', { rules })],
      `${name}-b`,
    );
    await hook.install(
      'Mutating',
      [hook.entry('a.kctl.test', again), hook.entry('b.kctl.test', { rules })],
      `${name}-a`,
    );
    const notes: Record<string, string> = {};
    hook.answer = ({ url, request }) => {
      const letter = url.slice(1, 2);
      const note: string = request.object.spec.note ?? '';
      return notes[letter] === undefined
        ? allow()
        : mutate([{ op: 'add', path: '/spec/note', value: `${note}${notes[letter]}` }]);
    };
    const send = async (what: string, wanted: Record<string, string>): Promise<void> => {
      for (const letter of Object.keys(notes)) Reflect.deleteProperty(notes, letter);
      Object.assign(notes, wanted);
      log.answer(
        what,
        await t.post(widgets.path(ns), widgets.draft('x'), { query: { dryRun: 'All' } }),
        ({ spec: { note } }) => note ?? null,
      );
      log.reviews(hook, ({ request }) => (request.object.spec.note as string | undefined) ?? '-');
    };
    await send('nothing changed', {});
    await send('a changes', { a: 'a' });
    await send('b changes', { b: 'b' });
    await send('c changes', { c: 'c' });
    await send('d changes', { d: 'd' });
    await send('all change', { a: 'a', b: 'b', c: 'c', d: 'd' });
    log.is(`
      nothing changed: 201 null
        /a?timeout=5s -
        /b?timeout=5s -
        /c?timeout=5s -
        /d?timeout=5s -
      a changes: 201 "a"
        /a?timeout=5s -
        /b?timeout=5s a
        /c?timeout=5s a
        /d?timeout=5s a
      b changes: 201 "b"
        /a?timeout=5s -
        /b?timeout=5s -
        /c?timeout=5s b
        /d?timeout=5s b
        /a?timeout=5s b
      c changes: 201 "c"
        /a?timeout=5s -
        /b?timeout=5s -
        /c?timeout=5s -
        /d?timeout=5s c
        /a?timeout=5s c
      d changes: 201 "d"
        /a?timeout=5s -
        /b?timeout=5s -
        /c?timeout=5s -
        /d?timeout=5s -
        /a?timeout=5s d
        /c?timeout=5s d
      all change: 201 "abcdac"
        /a?timeout=5s -
        /b?timeout=5s a
        /c?timeout=5s ab
        /d?timeout=5s abc
        /a?timeout=5s abcd
        /c?timeout=5s abcda
    `);
  },
  { needs },
);

spec(
  66,
  'a webhook is not asked for the first time in the second round',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook, log } = await stage(t);
    const rules = [rule(widgets.group, 'widgets')];
    await hook.install('Mutating', [
      hook.entry('late.kctl.test', {
        rules,
        reinvocationPolicy: 'IfNeeded',
        objectSelector: { matchLabels: { painted: 'yes' } },
      }),
      hook.entry('paint.kctl.test', { rules, reinvocationPolicy: 'IfNeeded' }),
      hook.entry('more.kctl.test', { rules }),
    ]);
    hook.answer = ({ url, request }) => {
      if (url.startsWith('/paint?'))
        return mutate([{ op: 'add', path: '/metadata/labels', value: { painted: 'yes' } }]);
      return url.startsWith('/more?') && request.object.spec.note === undefined
        ? mutate([{ op: 'add', path: '/spec/note', value: 'x' }])
        : allow();
    };
    log.answer('POST', await t.post(widgets.path(ns), widgets.draft('x'), { query: { dryRun: 'All' } }));
    log.reviews(hook, ({ request }) => [request.object.metadata.labels ?? null, request.object.spec.note ?? null]);
    log.is(`
      POST: 201
        /paint?timeout=5s [null,null]
        /more?timeout=5s [{"painted":"yes"},null]
        /paint?timeout=5s [{"painted":"yes"},"x"]
    `);
  },
  { needs },
);

spec(
  66,
  'validating webhooks are all asked at once, and the first refusal to come is the answer',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook, log } = await stage(t);
    const rules = [rule(widgets.group, 'widgets')];
    await hook.install(
      'Validating',
      ['slow', 'quick', 'fine'].map((name) => hook.entry(`${name}.kctl.test`, { rules })),
    );
    hook.answer = async ({ url }) => {
      if (url.startsWith('/fine?')) return allow({ warnings: ['fine'] });
      if (url.startsWith('/slow?')) await new Promise((resolve) => setTimeout(resolve, 300));
      return deny({ message: url.slice(1, 6) }, { warnings: [url.slice(1, 5)] });
    };
    const answer = await t.post(widgets.path(ns), widgets.draft('x'));
    log.say(`${answer.status} ${answer.body.message} ${JSON.stringify(answer.warnings.toSorted())}`);
    log.say(
      JSON.stringify(
        hook
          .take()
          .map(({ url }) => url)
          .toSorted(),
      ),
    );
    log.is(`
      400 admission webhook "quick.kctl.test" denied the request: quick ["fine","quic","slow"]
      ["/fine?timeout=5s","/quick?timeout=5s","/slow?timeout=5s"]
    `);
  },
  { needs },
);

spec(
  66,
  'a deletecollection ends at the first refusal',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook, log } = await stage(t);
    for (const name of ['a', 'b', 'c']) created(await t.post(widgets.path(ns), widgets.draft(name)));
    await hook.install('Validating', [
      hook.entry('v.kctl.test', { rules: [rule(widgets.group, 'widgets', { operations: ['DELETE'] })] }),
    ]);
    hook.answer = ({ request }) => (request.oldObject.metadata.name === 'b' ? deny({ message: 'not b' }) : allow());
    log.answer('deletecollection', await t.delete(widgets.path(ns)));
    log.reviews(hook, ({ request }) => request.oldObject.metadata.name as string);
    log.say(JSON.stringify(ok(await t.get(widgets.path(ns))).items.map(({ metadata }) => metadata.name)));
    log.answer('DELETE', await t.delete(widgets.path(ns, 'b')));
    hook.answer = () => allow();
    log.is(`
      deletecollection: 400 - admission webhook "v.kctl.test" denied the request: not b
        /v?timeout=5s a
        /v?timeout=5s b
      ["b","c"]
      DELETE: 400 - admission webhook "v.kctl.test" denied the request: not b
    `);
  },
  { needs },
);

spec(
  66,
  'configurations get their defaults and are validated',
  async (plain) => {
    const t = steady(plain);
    const hook = await startHook(t, 'default');
    const log = transcript({ PORT: hook.port });
    const good = {
      name: 'v.kctl.test',
      clientConfig: { url: 'https://example.com/x' },
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      rules: [rule('', 'pods')],
    };
    const send = async (what: string, fields: object | readonly object[], type = 'Validating'): Promise<void> => {
      const webhooks = Array.isArray(fields) ? fields : [{ ...good, ...fields }];
      const body = {
        kind: `${type}WebhookConfiguration`,
        apiVersion: 'admissionregistration.k8s.io/v1',
        metadata: { name: 'conf' },
        webhooks,
      };
      log.answer(
        what,
        await t.post(`${registration}/${type.toLowerCase()}webhookconfigurations`, body, { query: { dryRun: 'All' } }),
        ({ webhooks: shown, metadata: { generation } }) => [generation, shown],
      );
    };
    await send('good', {});
    await send('good, mutating', {}, 'Mutating');
    await send('a service', { clientConfig: { service: { name: 's', namespace: 'n' } } });
    await send('no name', { name: '' });
    await send('a short name', { name: 'a.b' });
    await send('a name that is not valid', { name: 'A.b.c' });
    await send('twice', [good, good]);
    await send('no side effects', { sideEffects: undefined });
    await send('some', { sideEffects: 'Some' });
    await send('policies', { failurePolicy: 'x', matchPolicy: 'x', timeoutSeconds: 31 });
    await send('timeout 0', { timeoutSeconds: 0 });
    await send('reinvocation', { reinvocationPolicy: 'x' }, 'Mutating');
    await send('no versions', { admissionReviewVersions: [] });
    await send('unknown versions', { admissionReviewVersions: ['v2', 'V', 'v2'] });
    await send('no address', { clientConfig: {} });
    await send('two addresses', { clientConfig: { url: 'https://a', service: { name: 's', namespace: 'n' } } });
    await send('a url', { clientConfig: { url: 'http://u:p@/x?y=z#f' } });
    await send('a service that is not valid', {
      clientConfig: { service: { name: '', namespace: '', port: 0, path: '/a//B' } },
    });
    await send('a bundle', { clientConfig: { url: 'https://a', caBundle: Buffer.from('x').toString('base64') } });
    await send('an empty rule', { rules: [{}] });
    await send('wildcards', {
      rules: [
        rule('', ['*', 'pods'], { apiGroups: ['*', 'a'], apiVersions: ['*', 'v1'], operations: ['*', 'CREATE'] }),
      ],
    });
    await send('more wildcards', {
      rules: [rule('', ['*/*', 'pods']), rule('', ['pods/*', 'pods/status']), rule('', ['*/status', 'pods/status'])],
    });
    await send('empty values', { rules: [rule('', ['']), rule('', 'pods', { apiVersions: [''] })] });
    await send('operations and scope', { rules: [rule('', 'pods', { operations: ['GET'], scope: 'x' })] });
    await send('selectors', {
      namespaceSelector: { matchLabels: { 'a b': 'c d' } },
      objectSelector: {
        matchExpressions: [
          { key: 'a', operator: 'In' },
          { key: 'a', operator: 'X' },
        ],
      },
    });
    await send('no rules', { rules: undefined });
    await send('no webhooks', []);
    log.is(`
      good: 201 [1,[{"admissionReviewVersions":["v1"],"clientConfig":{"url":"https://example.com/x"},"failurePolicy":"Fail","matchPolicy":"Equivalent","name":"v.kctl.test","namespaceSelector":{},"objectSelector":{},"rules":[{"apiGroups":[""],"apiVersions":["*"],"operations":["*"],"resources":["pods"],"scope":"*"}],"sideEffects":"None","timeoutSeconds":10}]]
      good, mutating: 201 [1,[{"admissionReviewVersions":["v1"],"clientConfig":{"url":"https://example.com/x"},"failurePolicy":"Fail","matchPolicy":"Equivalent","name":"v.kctl.test","namespaceSelector":{},"objectSelector":{},"reinvocationPolicy":"Never","rules":[{"apiGroups":[""],"apiVersions":["*"],"operations":["*"],"resources":["pods"],"scope":"*"}],"sideEffects":"None","timeoutSeconds":10}]]
      a service: 201 [1,[{"admissionReviewVersions":["v1"],"clientConfig":{"service":{"name":"s","namespace":"n","port":443}},"failurePolicy":"Fail","matchPolicy":"Equivalent","name":"v.kctl.test","namespaceSelector":{},"objectSelector":{},"rules":[{"apiGroups":[""],"apiVersions":["*"],"operations":["*"],"resources":["pods"],"scope":"*"}],"sideEffects":"None","timeoutSeconds":10}]]
      no name: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: webhooks[0].name: Required value {"causes":[{"field":"webhooks[0].name","message":"Required value","reason":"FieldValueRequired"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      a short name: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: webhooks[0].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots {"causes":[{"field":"webhooks[0].name","message":"Invalid value: \\"a.b\\": should be a domain with at least three segments separated by dots","reason":"FieldValueInvalid"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      a name that is not valid: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: webhooks[0].name: Invalid value: "A.b.c": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*') {"causes":[{"field":"webhooks[0].name","message":"Invalid value: \\"A.b.c\\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')","reason":"FieldValueInvalid"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      twice: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: webhooks[1].name: Duplicate value: "v.kctl.test" {"causes":[{"field":"webhooks[1].name","message":"Duplicate value: \\"v.kctl.test\\"","reason":"FieldValueDuplicate"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      no side effects: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun {"causes":[{"field":"webhooks[0].sideEffects","message":"Required value: must specify one of None, NoneOnDryRun","reason":"FieldValueRequired"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      some: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun" {"causes":[{"field":"webhooks[0].sideEffects","message":"Unsupported value: \\"Some\\": supported values: \\"None\\", \\"NoneOnDryRun\\"","reason":"FieldValueNotSupported"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      policies: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: [webhooks[0].failurePolicy: Unsupported value: "x": supported values: "Fail", "Ignore", webhooks[0].matchPolicy: Unsupported value: "x": supported values: "Equivalent", "Exact", webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds] {"causes":[{"field":"webhooks[0].failurePolicy","message":"Unsupported value: \\"x\\": supported values: \\"Fail\\", \\"Ignore\\"","reason":"FieldValueNotSupported"},{"field":"webhooks[0].matchPolicy","message":"Unsupported value: \\"x\\": supported values: \\"Equivalent\\", \\"Exact\\"","reason":"FieldValueNotSupported"},{"field":"webhooks[0].timeoutSeconds","message":"Invalid value: 31: the timeout value must be between 1 and 30 seconds","reason":"FieldValueInvalid"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      timeout 0: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: webhooks[0].timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds {"causes":[{"field":"webhooks[0].timeoutSeconds","message":"Invalid value: 0: the timeout value must be between 1 and 30 seconds","reason":"FieldValueInvalid"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      reinvocation: 422 Invalid MutatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: webhooks[0].reinvocationPolicy: Unsupported value: "x": supported values: "IfNeeded", "Never" {"causes":[{"field":"webhooks[0].reinvocationPolicy","message":"Unsupported value: \\"x\\": supported values: \\"IfNeeded\\", \\"Never\\"","reason":"FieldValueNotSupported"}],"group":"admissionregistration.k8s.io","kind":"MutatingWebhookConfiguration","name":"conf"}
      no versions: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1 {"causes":[{"field":"webhooks[0].admissionReviewVersions","message":"Required value: must specify one of v1, v1beta1","reason":"FieldValueRequired"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      unknown versions: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: [webhooks[0].admissionReviewVersions[1]: Invalid value: "V": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?'), webhooks[0].admissionReviewVersions[2]: Invalid value: "v2": duplicate version, webhooks[0].admissionReviewVersions: Invalid value: ["v2","V","v2"]: must include at least one of v1, v1beta1] {"causes":[{"field":"webhooks[0].admissionReviewVersions[1]","message":"Invalid value: \\"V\\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')","reason":"FieldValueInvalid"},{"field":"webhooks[0].admissionReviewVersions[2]","message":"Invalid value: \\"v2\\": duplicate version","reason":"FieldValueInvalid"},{"field":"webhooks[0].admissionReviewVersions","message":"Invalid value: [\\"v2\\",\\"V\\",\\"v2\\"]: must include at least one of v1, v1beta1","reason":"FieldValueInvalid"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      no address: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: webhooks[0].clientConfig: Required value: exactly one of url or service is required {"causes":[{"field":"webhooks[0].clientConfig","message":"Required value: exactly one of url or service is required","reason":"FieldValueRequired"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      two addresses: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: webhooks[0].clientConfig: Required value: exactly one of url or service is required {"causes":[{"field":"webhooks[0].clientConfig","message":"Required value: exactly one of url or service is required","reason":"FieldValueRequired"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      a url: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: [webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path], webhooks[0].clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path], webhooks[0].clientConfig.url: Invalid value: "u:p": user information is not permitted in the URL, webhooks[0].clientConfig.url: Invalid value: "f": fragments are not permitted in the URL, webhooks[0].clientConfig.url: Invalid value: "y=z": query parameters are not permitted in the URL] {"causes":[{"field":"webhooks[0].clientConfig.url","message":"Invalid value: \\"http\\": 'https' is the only allowed URL scheme; desired format: https://host[/path]","reason":"FieldValueInvalid"},{"field":"webhooks[0].clientConfig.url","message":"Invalid value: \\"\\": host must be specified; desired format: https://host[/path]","reason":"FieldValueInvalid"},{"field":"webhooks[0].clientConfig.url","message":"Invalid value: \\"u:p\\": user information is not permitted in the URL","reason":"FieldValueInvalid"},{"field":"webhooks[0].clientConfig.url","message":"Invalid value: \\"f\\": fragments are not permitted in the URL","reason":"FieldValueInvalid"},{"field":"webhooks[0].clientConfig.url","message":"Invalid value: \\"y=z\\": query parameters are not permitted in the URL","reason":"FieldValueInvalid"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      a service that is not valid: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: [webhooks[0].clientConfig.service.name: Required value, webhooks[0].clientConfig.service.namespace: Required value, webhooks[0].clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive, webhooks[0].clientConfig.service.path: Invalid value: "/a//B": segment[1] may not be empty, webhooks[0].clientConfig.service.path: Invalid value: "/a//B": segment[2]: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')] {"causes":[{"field":"webhooks[0].clientConfig.service.name","message":"Required value","reason":"FieldValueRequired"},{"field":"webhooks[0].clientConfig.service.namespace","message":"Required value","reason":"FieldValueRequired"},{"field":"webhooks[0].clientConfig.service.port","message":"Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive","reason":"FieldValueInvalid"},{"field":"webhooks[0].clientConfig.service.path","message":"Invalid value: \\"/a//B\\": segment[1] may not be empty","reason":"FieldValueInvalid"},{"field":"webhooks[0].clientConfig.service.path","message":"Invalid value: \\"/a//B\\": segment[2]: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')","reason":"FieldValueInvalid"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      a bundle: 201 [1,[{"admissionReviewVersions":["v1"],"clientConfig":{"caBundle":"eA==","url":"https://a"},"failurePolicy":"Fail","matchPolicy":"Equivalent","name":"v.kctl.test","namespaceSelector":{},"objectSelector":{},"rules":[{"apiGroups":[""],"apiVersions":["*"],"operations":["*"],"resources":["pods"],"scope":"*"}],"sideEffects":"None","timeoutSeconds":10}]]
      an empty rule: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: [webhooks[0].rules[0].operations: Required value, webhooks[0].rules[0].apiGroups: Required value, webhooks[0].rules[0].apiVersions: Required value, webhooks[0].rules[0].resources: Required value] {"causes":[{"field":"webhooks[0].rules[0].operations","message":"Required value","reason":"FieldValueRequired"},{"field":"webhooks[0].rules[0].apiGroups","message":"Required value","reason":"FieldValueRequired"},{"field":"webhooks[0].rules[0].apiVersions","message":"Required value","reason":"FieldValueRequired"},{"field":"webhooks[0].rules[0].resources","message":"Required value","reason":"FieldValueRequired"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      wildcards: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: [webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations, webhooks[0].rules[0].apiGroups: Invalid value: ["*","a"]: if '*' is present, must not specify other API groups, webhooks[0].rules[0].apiVersions: Invalid value: ["*","v1"]: if '*' is present, must not specify other API versions, webhooks[0].rules[0].resources: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources without subresources] {"causes":[{"field":"webhooks[0].rules[0].operations","message":"Invalid value: [\\"*\\",\\"CREATE\\"]: if '*' is present, must not specify other operations","reason":"FieldValueInvalid"},{"field":"webhooks[0].rules[0].apiGroups","message":"Invalid value: [\\"*\\",\\"a\\"]: if '*' is present, must not specify other API groups","reason":"FieldValueInvalid"},{"field":"webhooks[0].rules[0].apiVersions","message":"Invalid value: [\\"*\\",\\"v1\\"]: if '*' is present, must not specify other API versions","reason":"FieldValueInvalid"},{"field":"webhooks[0].rules[0].resources","message":"Invalid value: [\\"*\\",\\"pods\\"]: if '*' is present, must not specify other resources without subresources","reason":"FieldValueInvalid"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      more wildcards: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: [webhooks[0].rules[0].resources: Invalid value: ["*/*","pods"]: if '*/*' is present, must not specify other resources, webhooks[0].rules[1].resources[1]: Invalid value: "pods/status": if 'pods/*' is present, must not specify pods/status, webhooks[0].rules[2].resources[1]: Invalid value: "pods/status": if '*/status' is present, must not specify pods/status] {"causes":[{"field":"webhooks[0].rules[0].resources","message":"Invalid value: [\\"*/*\\",\\"pods\\"]: if '*/*' is present, must not specify other resources","reason":"FieldValueInvalid"},{"field":"webhooks[0].rules[1].resources[1]","message":"Invalid value: \\"pods/status\\": if 'pods/*' is present, must not specify pods/status","reason":"FieldValueInvalid"},{"field":"webhooks[0].rules[2].resources[1]","message":"Invalid value: \\"pods/status\\": if '*/status' is present, must not specify pods/status","reason":"FieldValueInvalid"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      empty values: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: [webhooks[0].rules[0].resources[0]: Required value, webhooks[0].rules[1].apiVersions[0]: Required value] {"causes":[{"field":"webhooks[0].rules[0].resources[0]","message":"Required value","reason":"FieldValueRequired"},{"field":"webhooks[0].rules[1].apiVersions[0]","message":"Required value","reason":"FieldValueRequired"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      operations and scope: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: [webhooks[0].rules[0].operations[0]: Unsupported value: "GET": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE", webhooks[0].rules[0].scope: Unsupported value: "x": supported values: "*", "Cluster", "Namespaced"] {"causes":[{"field":"webhooks[0].rules[0].operations[0]","message":"Unsupported value: \\"GET\\": supported values: \\"*\\", \\"CONNECT\\", \\"CREATE\\", \\"DELETE\\", \\"UPDATE\\"","reason":"FieldValueNotSupported"},{"field":"webhooks[0].rules[0].scope","message":"Unsupported value: \\"x\\": supported values: \\"*\\", \\"Cluster\\", \\"Namespaced\\"","reason":"FieldValueNotSupported"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      selectors: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: [webhooks[0].namespaceSelector.matchLabels: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), webhooks[0].namespaceSelector.matchLabels: Invalid value: "c d": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?'), webhooks[0].objectSelector.matchExpressions[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn', webhooks[0].objectSelector.matchExpressions[1].operator: Invalid value: "X": not a valid selector operator] {"causes":[{"field":"webhooks[0].namespaceSelector.matchLabels","message":"Invalid value: \\"a b\\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')","reason":"FieldValueInvalid"},{"field":"webhooks[0].namespaceSelector.matchLabels","message":"Invalid value: \\"c d\\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')","reason":"FieldValueInvalid"},{"field":"webhooks[0].objectSelector.matchExpressions[0].values","message":"Required value: must be specified when \`operator\` is 'In' or 'NotIn'","reason":"FieldValueRequired"},{"field":"webhooks[0].objectSelector.matchExpressions[1].operator","message":"Invalid value: \\"X\\": not a valid selector operator","reason":"FieldValueInvalid"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      no rules: 201 [1,[{"admissionReviewVersions":["v1"],"clientConfig":{"url":"https://example.com/x"},"failurePolicy":"Fail","matchPolicy":"Equivalent","name":"v.kctl.test","namespaceSelector":{},"objectSelector":{},"sideEffects":"None","timeoutSeconds":10}]]
      no webhooks: 201 [1,null]
    `);
  },
  { needs },
);

spec(
  66,
  'a configuration applies to what it names from then on, and no longer when it has gone',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook, log } = await stage(t);
    const made = await hook.install('Validating', [
      hook.entry('v.kctl.test', { rules: [rule(widgets.group, 'widgets')] }),
    ]);
    hook.answer = () => deny();
    const path = `${registration}/validatingwebhookconfigurations/${made.metadata.name}`;
    const send = () => t.post(widgets.path(ns), widgets.draft('a'), { query: { dryRun: 'All' } });
    log.answer('as it is', await send());
    ok(
      await t.patch(path, MERGE_PATCH, {
        webhooks: [hook.entry('v.kctl.test', { rules: [rule(widgets.group, 'others')] })],
      }),
    );
    log.answer('changed', await t.eventually(send, ({ status }) => status === 201));
    ok(
      await t.patch(path, MERGE_PATCH, {
        webhooks: [hook.entry('v.kctl.test', { rules: [rule(widgets.group, 'widgets')] })],
      }),
    );
    log.answer('changed back', await t.eventually(send, ({ status }) => status === 400));
    ok(await t.delete(path));
    log.answer('gone', await t.eventually(send, ({ status }) => status === 201));
    log.is(`
      as it is: 400 - admission webhook "v.kctl.test" denied the request without explanation
      changed: 201
      changed back: 400 - admission webhook "v.kctl.test" denied the request without explanation
      gone: 201
    `);
  },
  { needs },
);

spec(
  66,
  'a dry run, and pods and ConfigMaps beside custom resources',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook, log } = await stage(t);
    await hook.install('Validating', [
      hook.entry('v.kctl.test', { rules: [rule('*', ['widgets', 'configmaps', 'pods'])], sideEffects: 'NoneOnDryRun' }),
    ]);
    const show = (): void => log.reviews(hook, (review) => [who(review), review.request.dryRun]);
    log.answer('widget', await t.post(widgets.path(ns), widgets.draft('a'), { query: { dryRun: 'All' } }));
    show();
    log.answer('ConfigMap', await t.post(configMaps(ns), { metadata: { name: 'c' } }));
    show();
    log.answer('ConfigMap deleted', await t.delete(configMaps(ns, 'c'), undefined, { query: { dryRun: 'All' } }));
    show();
    log.answer('no pod', await t.delete(pods(ns, 'none')));
    show();
    log.is(`
      widget: 201
        /v?timeout=5s ["CREATE widgets",true]
      ConfigMap: 201
        /v?timeout=5s ["CREATE configmaps",false]
      ConfigMap deleted: 200
        /v?timeout=5s ["DELETE configmaps",true]
      no pod: 404 NotFound pods "none" not found {"kind":"pods","name":"none"}
        no review
    `);
  },
  { needs },
);

spec(
  66,
  'match conditions: all must hold; what fails refuses, or skips where failures are ignored',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook, log } = await stage(t);
    const rules = [rule(widgets.group, 'widgets')];
    const entry = (name: string, conditions: readonly string[], fields: object = {}): Record<string, unknown> =>
      hook.entry(`${name}.kctl.test`, {
        rules,
        objectSelector: { matchLabels: { to: name } },
        matchConditions: conditions.map((expression, index) => ({ name: `c${index}`, expression })),
        ...fields,
      });
    const entries = [
      entry('yes', ['object.spec.size > 0', 'oldObject == null']),
      entry('no', ['object.spec.size > 0', 'object.spec.size > 5']),
      entry('facts', [
        'request.operation == "CREATE" && request.kind.kind == "Widget" && request.resource.resource == "widgets" && request.dryRun',
        'request.userInfo.groups.exists(group, group == "system:authenticated") && request.options.kind == "CreateOptions"',
        'request.name == object.metadata.name && request.namespace == object.metadata.namespace && !has(request.subResource)',
      ]),
      entry('error', ['object.spec.none == 1']),
      entry('errors', ['object.spec.none == 1', 'object.spec.other == 1', 'true']),
      entry('error-and-no', ['object.spec.none == 1', 'false']),
      entry('ignored', ['object.spec.none == 1'], { failurePolicy: 'Ignore' }),
      entry('costly', [
        '[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, [1,2,3,4,5,6,7,8,9,10].all(f, [1,2,3,4,5,6,7,8,9,10].all(g, true)))))))',
      ]),
    ];
    await hook.install('Mutating', entries);
    await hook.install('Validating', entries);
    for (const label of ['yes', 'no', 'facts', 'error', 'errors', 'error-and-no', 'ignored', 'costly']) {
      log.answer(
        label,
        await t.post(widgets.path(ns), widgets.draft('a', {}, { labels: { to: label } }), { query: { dryRun: 'All' } }),
      );
      log.reviews(hook);
    }
    log.is(`
      yes: 201
        /yes?timeout=5s CREATE
      no: 201
        no review
      facts: 201
        /facts?timeout=5s CREATE
      error: 403 Forbidden widgets.GROUP "a" is forbidden: expression 'object.spec.none == 1' resulted in error: no such key: none {"group":"GROUP","kind":"widgets","name":"a"}
        no review
      errors: 403 Forbidden widgets.GROUP "a" is forbidden: [expression 'object.spec.none == 1' resulted in error: no such key: none, expression 'object.spec.other == 1' resulted in error: no such key: other] {"group":"GROUP","kind":"widgets","name":"a"}
        no review
      error-and-no: 201
        no review
      ignored: 201
        no review
      costly: 403 Forbidden widgets.GROUP "a" is forbidden: expression '[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, [1,2,3,4,5,6,7,8,9,10].all(f, [1,2,3,4,5,6,7,8,9,10].all(g, true)))))))' resulted in error: operation cancelled: actual cost limit exceeded {"group":"GROUP","kind":"widgets","name":"a"}
        no review
    `);
  },
  { needs, isSlow: true },
);

spec(
  66,
  'match conditions are validated',
  async (plain) => {
    const t = steady(plain);
    const hook = await startHook(t, 'default');
    const log = transcript({ PORT: hook.port });
    const send = async (what: string, conditions: readonly object[]): Promise<void> => {
      const webhooks = [
        {
          name: 'v.kctl.test',
          clientConfig: { url: 'https://example.com/x' },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          rules: [rule('', 'pods')],
          matchConditions: conditions,
        },
      ];
      const body = {
        kind: 'ValidatingWebhookConfiguration',
        apiVersion: 'admissionregistration.k8s.io/v1',
        metadata: { name: 'conf' },
        webhooks,
      };
      log.answer(
        what,
        await t.post(`${registration}/validatingwebhookconfigurations`, body, { query: { dryRun: 'All' } }),
        ({ webhooks: shown }) => shown[0].matchConditions,
      );
    };
    await send('good', [{ name: 'a', expression: 'true' }]);
    await send('no name', [{ name: '', expression: 'true' }]);
    await send('a name that is not valid', [{ name: 'a b', expression: 'true' }]);
    await send('no expression', [{ name: 'a', expression: ' ' }]);
    await send('twice', [
      { name: 'a', expression: 'true' },
      { name: 'a', expression: 'false' },
    ]);
    await send('another type', [{ name: 'a', expression: '"x"' }]);
    await send('an unknown name', [{ name: 'a', expression: 'params.x == 1' }]);
    await send('an unknown field of the request', [{ name: 'a', expression: 'request.bogus == "x"' }]);
    await send('the authorizer', [
      { name: 'a', expression: 'authorizer.group("").resource("pods").check("get").allowed()' },
    ]);
    await send('dyn', [{ name: 'a', expression: 'object.spec.on' }]);
    await send(
      '65',
      Array.from({ length: 65 }, (_, index) => ({ name: `a${index}`, expression: 'true' })),
    );
    log.is(`
      good: 201 [{"expression":"true","name":"a"}]
      no name: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: webhooks[0].matchConditions[0].name: Required value {"causes":[{"field":"webhooks[0].matchConditions[0].name","message":"Required value","reason":"FieldValueRequired"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      a name that is not valid: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: webhooks[0].matchConditions[0].name: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') {"causes":[{"field":"webhooks[0].matchConditions[0].name","message":"Invalid value: \\"a b\\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')","reason":"FieldValueInvalid"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      no expression: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: webhooks[0].matchConditions[0].expression: Required value {"causes":[{"field":"webhooks[0].matchConditions[0].expression","message":"Required value","reason":"FieldValueRequired"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      twice: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: webhooks[0].matchConditions[1].name: Duplicate value: "a" {"causes":[{"field":"webhooks[0].matchConditions[1].name","message":"Duplicate value: \\"a\\"","reason":"FieldValueDuplicate"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      another type: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: webhooks[0].matchConditions[0].expression: Invalid value: "\\"x\\"": must evaluate to bool but got string {"causes":[{"field":"webhooks[0].matchConditions[0].expression","message":"Invalid value: \\"\\\\\\"x\\\\\\"\\": must evaluate to bool but got string","reason":"FieldValueInvalid"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      an unknown name: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: webhooks[0].matchConditions[0].expression: Invalid value: "params.x == 1": compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')
       | params.x == 1
       | ^ {"causes":[{"field":"webhooks[0].matchConditions[0].expression","message":"Invalid value: \\"params.x == 1\\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\\n | params.x == 1\\n | ^","reason":"FieldValueInvalid"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      an unknown field of the request: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: webhooks[0].matchConditions[0].expression: Invalid value: "request.bogus == \\"x\\"": compilation failed: ERROR: <input>:1:8: undefined field 'bogus'
       | request.bogus == "x"
       | .......^ {"causes":[{"field":"webhooks[0].matchConditions[0].expression","message":"Invalid value: \\"request.bogus == \\\\\\"x\\\\\\"\\": compilation failed: ERROR: <input>:1:8: undefined field 'bogus'\\n | request.bogus == \\"x\\"\\n | .......^","reason":"FieldValueInvalid"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      the authorizer: 201 [{"expression":"authorizer.group(\\"\\").resource(\\"pods\\").check(\\"get\\").allowed()","name":"a"}]
      dyn: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: webhooks[0].matchConditions[0].expression: Invalid value: "object.spec.on": must evaluate to bool but got dyn {"causes":[{"field":"webhooks[0].matchConditions[0].expression","message":"Invalid value: \\"object.spec.on\\": must evaluate to bool but got dyn","reason":"FieldValueInvalid"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
      65: 422 Invalid ValidatingWebhookConfiguration.admissionregistration.k8s.io "conf" is invalid: webhooks[0].matchConditions: Too many: 65: must have at most 64 items {"causes":[{"field":"webhooks[0].matchConditions","message":"Too many: 65: must have at most 64 items","reason":"FieldValueTooMany"}],"group":"admissionregistration.k8s.io","kind":"ValidatingWebhookConfiguration","name":"conf"}
    `);
  },
  { needs },
);
