/** §2.11 What webhooks are asked, and by which writes. */
import { APPLY_PATCH, JSON_PATCH, MERGE_PATCH } from '../harness/context.js';
import { stage } from '../harness/admission-stage.js';
import type { Json } from '../harness/doc.js';
import { created, ok, same } from '../harness/expect.js';
import { allow, mutate, rule, sorted, startHook, steady, transcript, type Review } from '../harness/hook.js';
import { spec } from '../harness/spec.js';
import { configMaps, deploymentDraft, deployments, NAMESPACES, podDraft, podNamespace, pods } from './paths.js';

const needs = ['webhooks'] as const;

/** What a webhook sees of an object: its content, and which metadata it has. */
function shownObject(object: Json): Json {
  if (object === null || object === undefined) return object;
  const { metadata, apiVersion: _version, kind: _kind, ...rest } = object;
  const {
    managedFields,
    uid,
    creationTimestamp,
    resourceVersion,
    name: _name,
    namespace: _namespace,
    ...meta
  } = metadata;
  const has = { uid, creationTimestamp, resourceVersion, managedFields };
  const present = Object.entries(has).filter(([, value]) => value !== undefined && value !== null);
  return { ...rest, metadata: { ...meta, has: present.map(([name]) => name[0]).join('') } };
}

const ofResource = ({ group, version, resource }: Json): string => `${group}/${version} ${resource}`;
const ofKind = ({ group, version, kind }: Json): string => `${group}/${version} ${kind}`;

/** The facts of a request in one line; of what is asked and what was requested only where they differ. */
function shownRequest({ request }: Review): string {
  const { operation, resource, subResource, requestSubResource, kind, requestResource, requestKind } = request;
  const { name, namespace, dryRun, options, object, oldObject } = request;
  const { kind: optionsKind, apiVersion, ...given } = options;
  return [
    operation,
    `${ofResource(resource)}${subResource === undefined ? '' : `/${subResource}`} (${ofKind(kind)})`,
    ...(ofResource(resource) === ofResource(requestResource) && subResource === requestSubResource
      ? []
      : [`requested as ${ofResource(requestResource)}/${requestSubResource}`]),
    ...(ofKind(kind) === ofKind(requestKind) ? [] : [`requested as ${ofKind(requestKind)}`]),
    `${namespace ?? '-'}/${name ?? '-'}`,
    `${apiVersion} ${optionsKind} ${sorted(given)}`,
    ...(dryRun ? ['dry run'] : []),
    `new ${sorted(shownObject(object))}`,
    `old ${sorted(shownObject(oldObject))}`,
  ].join(', ');
}

const sizes = (review: Review): unknown => [
  review.request.operation,
  review.request.subResource ?? '',
  review.request.name ?? '-',
  review.request.object?.spec?.size ?? null,
  review.request.oldObject?.spec?.size ?? null,
];

spec(
  66,
  'a webhook is asked by POST, with the timeout of its configuration and facts of the request',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook } = await stage(t);
    await hook.install('Validating', [hook.entry('v.kctl.test', { rules: [rule(widgets.group, 'widgets')] })]);
    created(await t.post(widgets.path(ns), widgets.draft('a')));
    const [review] = hook.take();
    same(
      [
        review?.url,
        review?.headers['content-type'],
        review?.headers['user-agent'],
        review?.headers['accept'],
        Object.keys(review?.review as object).toSorted(),
        review?.review.kind,
        review?.review.apiVersion,
      ],
      [
        '/v?timeout=5s',
        'application/json',
        'kube-apiserver-admission',
        'application/json, */*',
        ['apiVersion', 'kind', 'request'],
        'AdmissionReview',
        'admission.k8s.io/v1',
      ],
      'request',
    );
    same(review?.request.userInfo.groups.includes('system:authenticated'), true, 'groups');
  },
  { needs },
);

spec(
  66,
  'what a webhook sees of creates, updates and patches of a custom resource',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook, log } = await stage(t);
    await hook.install('Mutating', [hook.entry('m.kctl.test', { rules: [rule(widgets.group, 'widgets')] })]);
    await hook.install('Validating', [hook.entry('v.kctl.test', { rules: [rule(widgets.group, 'widgets')] })]);
    const query = { fieldManager: 'f' };
    const show = (): void => log.reviews(hook, shownRequest);
    const made = log.answer(
      'POST',
      await t.post(widgets.path(ns), widgets.draft('a', { unknown: 1 }, { uid: 'x', generation: 7 }), { query }),
    ).body;
    show();
    log.answer('PUT', await t.put(widgets.path(ns, 'a'), { ...made, spec: { size: 2 } }, { query }));
    show();
    log.answer(
      'merge patch',
      await t.patch(
        widgets.path(ns, 'a'),
        MERGE_PATCH,
        { spec: { size: 3 } },
        { query: { ...query, fieldValidation: 'Strict' } },
      ),
    );
    show();
    log.answer(
      'JSON patch',
      await t.patch(widgets.path(ns, 'a'), JSON_PATCH, [{ op: 'replace', path: '/spec/size', value: 4 }]),
    );
    show();
    log.answer(
      'apply',
      await t.patch(
        widgets.path(ns, 'a'),
        APPLY_PATCH,
        { ...widgets.draft('a'), spec: { size: 5 } },
        { query: { fieldManager: 'g', force: true } },
      ),
    );
    show();
    log.answer(
      'apply of something new',
      await t.patch(widgets.path(ns, 'b'), APPLY_PATCH, widgets.draft('b'), {
        query: { fieldManager: 'g', dryRun: 'All' },
      }),
    );
    show();
    log.answer(
      'generateName',
      await t.post(widgets.path(ns), { ...widgets.draft('c'), metadata: { generateName: 'g-' } }),
    );
    log.reviews(hook, ({ request }) => [
      request.operation,
      request.name === undefined ? '-' : 'name',
      request.object.metadata.name === undefined ? '-' : 'name',
    ]);
    log.is(`
      POST: 201
        warning: unknown field "spec.unknown"
        /m?timeout=5s CREATE, GROUP/v1 widgets (GROUP/v1 Widget), NS/a, meta.k8s.io/v1 CreateOptions {"fieldManager":"f"}, new {"metadata":{"generation":7,"has":"m"},"spec":{"color":"blue","replicas":1,"size":1}}, old null
        /v?timeout=5s CREATE, GROUP/v1 widgets (GROUP/v1 Widget), NS/a, meta.k8s.io/v1 CreateOptions {"fieldManager":"f"}, new {"metadata":{"generation":1,"has":"ucm"},"spec":{"color":"blue","replicas":1,"size":1}}, old null
      PUT: 200
        /m?timeout=5s UPDATE, GROUP/v1 widgets (GROUP/v1 Widget), NS/a, meta.k8s.io/v1 UpdateOptions {"fieldManager":"f"}, new {"metadata":{"generation":1,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":2}}, old {"metadata":{"generation":1,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":1}}
        /v?timeout=5s UPDATE, GROUP/v1 widgets (GROUP/v1 Widget), NS/a, meta.k8s.io/v1 UpdateOptions {"fieldManager":"f"}, new {"metadata":{"generation":2,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":2}}, old {"metadata":{"generation":1,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":1}}
      merge patch: 200
        /m?timeout=5s UPDATE, GROUP/v1 widgets (GROUP/v1 Widget), NS/a, meta.k8s.io/v1 UpdateOptions {"fieldManager":"f","fieldValidation":"Strict"}, new {"metadata":{"generation":2,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":3}}, old {"metadata":{"generation":2,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":2}}
        /v?timeout=5s UPDATE, GROUP/v1 widgets (GROUP/v1 Widget), NS/a, meta.k8s.io/v1 UpdateOptions {"fieldManager":"f","fieldValidation":"Strict"}, new {"metadata":{"generation":3,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":3}}, old {"metadata":{"generation":2,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":2}}
      JSON patch: 200
        /m?timeout=5s UPDATE, GROUP/v1 widgets (GROUP/v1 Widget), NS/a, meta.k8s.io/v1 UpdateOptions {}, new {"metadata":{"generation":3,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":4}}, old {"metadata":{"generation":3,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":3}}
        /v?timeout=5s UPDATE, GROUP/v1 widgets (GROUP/v1 Widget), NS/a, meta.k8s.io/v1 UpdateOptions {}, new {"metadata":{"generation":4,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":4}}, old {"metadata":{"generation":3,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":3}}
      apply: 200
        /m?timeout=5s UPDATE, GROUP/v1 widgets (GROUP/v1 Widget), NS/a, meta.k8s.io/v1 UpdateOptions {"fieldManager":"g"}, new {"metadata":{"generation":4,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":5}}, old {"metadata":{"generation":4,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":4}}
        /v?timeout=5s UPDATE, GROUP/v1 widgets (GROUP/v1 Widget), NS/a, meta.k8s.io/v1 UpdateOptions {"fieldManager":"g"}, new {"metadata":{"generation":5,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":5}}, old {"metadata":{"generation":4,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":4}}
      apply of something new: 201
        /m?timeout=5s CREATE, GROUP/v1 widgets (GROUP/v1 Widget), NS/b, meta.k8s.io/v1 CreateOptions {"dryRun":["All"],"fieldManager":"g"}, dry run, new {"metadata":{"has":"m"},"spec":{"color":"blue","replicas":1,"size":1}}, old null
        /v?timeout=5s CREATE, GROUP/v1 widgets (GROUP/v1 Widget), NS/b, meta.k8s.io/v1 CreateOptions {"dryRun":["All"],"fieldManager":"g"}, dry run, new {"metadata":{"generation":1,"has":"ucm"},"spec":{"color":"blue","replicas":1,"size":1}}, old null
      generateName: 201
        /m?timeout=5s ["CREATE","-","-"]
        /v?timeout=5s ["CREATE","name","name"]
    `);
  },
  { needs },
);

spec(
  66,
  'what a webhook sees of /status and /scale',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook, log } = await stage(t);
    const made = created(await t.post(widgets.path(ns), widgets.draft('a')));
    await hook.install('Mutating', [
      hook.entry('m.kctl.test', { rules: [rule(widgets.group, ['widgets/status', 'widgets/scale'])] }),
    ]);
    await hook.install('Validating', [hook.entry('v.kctl.test', { rules: [rule(widgets.group, 'widgets/*')] })]);
    const show = (): void => log.reviews(hook, shownRequest);
    log.answer(
      'PUT /status',
      await t.put(widgets.path(ns, 'a', 'status'), { ...made, spec: { size: 9 }, status: { ready: true } }),
    );
    show();
    log.answer(
      'patch /status',
      await t.patch(widgets.path(ns, 'a', 'status'), MERGE_PATCH, { spec: { size: 8 }, status: { phase: 'x' } }),
    );
    show();
    log.answer('patch /scale', await t.patch(widgets.path(ns, 'a', 'scale'), MERGE_PATCH, { spec: { replicas: 3 } }));
    show();
    const scale = ok(await t.get(widgets.path(ns, 'a', 'scale')));
    log.answer('PUT /scale', await t.put(widgets.path(ns, 'a', 'scale'), { ...scale, spec: { replicas: 4 } }));
    show();
    log.answer(
      'PUT',
      await t.put(widgets.path(ns, 'a'), { ...ok(await t.get(widgets.path(ns, 'a'))), spec: { size: 1 } }),
    );
    show();
    log.is(`
      PUT /status: 200
        /m?timeout=5s UPDATE, GROUP/v1 widgets/status (GROUP/v1 Widget), NS/a, meta.k8s.io/v1 UpdateOptions {}, new {"metadata":{"generation":1,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":9},"status":{"ready":true}}, old {"metadata":{"generation":1,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":1}}
        /v?timeout=5s UPDATE, GROUP/v1 widgets/status (GROUP/v1 Widget), NS/a, meta.k8s.io/v1 UpdateOptions {}, new {"metadata":{"generation":1,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":1},"status":{"ready":true}}, old {"metadata":{"generation":1,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":1}}
      patch /status: 200
        /m?timeout=5s UPDATE, GROUP/v1 widgets/status (GROUP/v1 Widget), NS/a, meta.k8s.io/v1 UpdateOptions {}, new {"metadata":{"generation":1,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":8},"status":{"phase":"x","ready":true}}, old {"metadata":{"generation":1,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":1},"status":{"ready":true}}
        /v?timeout=5s UPDATE, GROUP/v1 widgets/status (GROUP/v1 Widget), NS/a, meta.k8s.io/v1 UpdateOptions {}, new {"metadata":{"generation":1,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":1},"status":{"phase":"x","ready":true}}, old {"metadata":{"generation":1,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":1},"status":{"ready":true}}
      patch /scale: 200
        /m?timeout=5s UPDATE, GROUP/v1 widgets/scale (autoscaling/v1 Scale), NS/a, meta.k8s.io/v1 UpdateOptions {}, new {"metadata":{"has":"ucrm"},"spec":{"replicas":3},"status":{"replicas":0}}, old {"metadata":{"has":"ucrm"},"spec":{"replicas":1},"status":{"replicas":0}}
        /v?timeout=5s UPDATE, GROUP/v1 widgets/scale (autoscaling/v1 Scale), NS/a, meta.k8s.io/v1 UpdateOptions {}, new {"metadata":{"has":"ucr"},"spec":{"replicas":3},"status":{"replicas":0}}, old {"metadata":{"has":"ucr"},"spec":{"replicas":1},"status":{"replicas":0}}
      PUT /scale: 200
        /m?timeout=5s UPDATE, GROUP/v1 widgets/scale (autoscaling/v1 Scale), NS/a, meta.k8s.io/v1 UpdateOptions {}, new {"metadata":{"has":"ucrm"},"spec":{"replicas":4},"status":{"replicas":0}}, old {"metadata":{"has":"ucrm"},"spec":{"replicas":3},"status":{"replicas":0}}
        /v?timeout=5s UPDATE, GROUP/v1 widgets/scale (autoscaling/v1 Scale), NS/a, meta.k8s.io/v1 UpdateOptions {}, new {"metadata":{"has":"ucr"},"spec":{"replicas":4},"status":{"replicas":0}}, old {"metadata":{"has":"ucr"},"spec":{"replicas":3},"status":{"replicas":0}}
      PUT: 200
        /v?timeout=5s UPDATE, GROUP/v1 widgets (GROUP/v1 Widget), NS/a, meta.k8s.io/v1 UpdateOptions {}, new {"metadata":{"generation":4,"has":"ucrm"},"spec":{"color":"blue","replicas":1,"size":1},"status":{"phase":"x","ready":true}}, old {"metadata":{"generation":3,"has":"ucrm"},"spec":{"color":"blue","replicas":4,"size":1},"status":{"phase":"x","ready":true}}
    `);
  },
  { needs },
);

spec(
  66,
  'what a webhook sees of deletions',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook, log } = await stage(t);
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      created(await t.post(widgets.path(ns), widgets.draft(name, {}, { labels: { app: name } })));
    const held = created(await t.post(widgets.path(ns), widgets.draft('f', {}, { finalizers: ['kctl.test/x'] })));
    await hook.install('Mutating', [hook.entry('m.kctl.test', { rules: [rule(widgets.group, 'widgets')] })]);
    await hook.install('Validating', [hook.entry('v.kctl.test', { rules: [rule(widgets.group, 'widgets')] })]);
    const show = (): void => log.reviews(hook, shownRequest);
    const brief = (): void =>
      log.reviews(hook, ({ request }) => [
        request.operation,
        request.name ?? '-',
        request.oldObject?.metadata.name,
        request.options,
        Boolean(request.oldObject?.metadata.deletionTimestamp),
      ]);
    log.answer('DELETE', await t.delete(widgets.path(ns, 'a')));
    show();
    log.answer(
      'DELETE with options',
      await t.delete(widgets.path(ns, 'b'), {
        propagationPolicy: 'Background',
        gracePeriodSeconds: 0,
        preconditions: { uid: ok(await t.get(widgets.path(ns, 'b'))).metadata.uid },
      }),
    );
    brief();
    log.answer('DELETE with other uid', await t.delete(widgets.path(ns, 'c'), { preconditions: { uid: 'other' } }));
    brief();
    log.answer('DELETE dry run', await t.delete(widgets.path(ns, 'c'), undefined, { query: { dryRun: 'All' } }));
    brief();
    log.answer('DELETE with a finalizer', await t.delete(widgets.path(ns, 'f')));
    brief();
    log.answer('DELETE again', await t.delete(widgets.path(ns, 'f')));
    brief();
    log.answer(
      'last finalizer taken off',
      await t.patch(widgets.path(ns, 'f'), MERGE_PATCH, { metadata: { finalizers: null } }),
    );
    brief();
    log.answer('GET', await t.get(widgets.path(ns, 'f')));
    same(held.metadata.name, 'f', 'held');
    log.answer('DELETE of what is not there', await t.delete(widgets.path(ns, 'none')));
    brief();
    log.answer(
      'deletecollection',
      await t.delete(widgets.path(ns), undefined, { query: { labelSelector: 'app in (d,e)' } }),
      ({ items }) => items.map(({ metadata }) => metadata.name),
    );
    brief();
    log.is(`
      DELETE: 200
        /m?timeout=5s DELETE, GROUP/v1 widgets (GROUP/v1 Widget), NS/a, meta.k8s.io/v1 DeleteOptions {}, new null, old {"metadata":{"generation":1,"has":"ucrm","labels":{"app":"a"}},"spec":{"color":"blue","replicas":1,"size":1}}
        /v?timeout=5s DELETE, GROUP/v1 widgets (GROUP/v1 Widget), NS/a, meta.k8s.io/v1 DeleteOptions {}, new null, old {"metadata":{"generation":1,"has":"ucrm","labels":{"app":"a"}},"spec":{"color":"blue","replicas":1,"size":1}}
      DELETE with options: 200
        /m?timeout=5s ["DELETE","b","b",{"apiVersion":"meta.k8s.io/v1","gracePeriodSeconds":0,"kind":"DeleteOptions","preconditions":{"uid":"UID"},"propagationPolicy":"Background"},false]
        /v?timeout=5s ["DELETE","b","b",{"apiVersion":"meta.k8s.io/v1","gracePeriodSeconds":0,"kind":"DeleteOptions","preconditions":{"uid":"UID"},"propagationPolicy":"Background"},false]
      DELETE with other uid: 409 Conflict Operation cannot be fulfilled on Widget.GROUP "c": the UID in the precondition (other) does not match the UID in record (UID). The object might have been deleted and then recreated {"group":"GROUP","kind":"Widget","name":"c"}
        no review
      DELETE dry run: 200
        /m?timeout=5s ["DELETE","c","c",{"apiVersion":"meta.k8s.io/v1","dryRun":["All"],"kind":"DeleteOptions"},false]
        /v?timeout=5s ["DELETE","c","c",{"apiVersion":"meta.k8s.io/v1","dryRun":["All"],"kind":"DeleteOptions"},false]
      DELETE with a finalizer: 200
        /m?timeout=5s ["DELETE","f","f",{"apiVersion":"meta.k8s.io/v1","kind":"DeleteOptions"},false]
        /v?timeout=5s ["DELETE","f","f",{"apiVersion":"meta.k8s.io/v1","kind":"DeleteOptions"},false]
      DELETE again: 200
        /m?timeout=5s ["DELETE","f","f",{"apiVersion":"meta.k8s.io/v1","kind":"DeleteOptions"},true]
        /v?timeout=5s ["DELETE","f","f",{"apiVersion":"meta.k8s.io/v1","kind":"DeleteOptions"},true]
      last finalizer taken off: 200
        /m?timeout=5s ["UPDATE","f","f",{"apiVersion":"meta.k8s.io/v1","kind":"UpdateOptions"},true]
        /v?timeout=5s ["UPDATE","f","f",{"apiVersion":"meta.k8s.io/v1","kind":"UpdateOptions"},true]
      GET: 404 NotFound widgets.GROUP "f" not found {"group":"GROUP","kind":"widgets","name":"f"}
      DELETE of what is not there: 404 NotFound widgets.GROUP "none" not found {"group":"GROUP","kind":"widgets","name":"none"}
        no review
      deletecollection: 200 ["d","e"]
        /m?timeout=5s ["DELETE","-","d",{"apiVersion":"meta.k8s.io/v1","kind":"DeleteOptions"},false]
        /v?timeout=5s ["DELETE","-","d",{"apiVersion":"meta.k8s.io/v1","kind":"DeleteOptions"},false]
        /m?timeout=5s ["DELETE","-","e",{"apiVersion":"meta.k8s.io/v1","kind":"DeleteOptions"},false]
        /v?timeout=5s ["DELETE","-","e",{"apiVersion":"meta.k8s.io/v1","kind":"DeleteOptions"},false]
    `);
  },
  { needs },
);

spec(
  66,
  'what a webhook sees of pods: deletion, eviction, binding',
  async (plain) => {
    const t = steady(plain);
    const ns = await podNamespace(t);
    const hook = await startHook(t, ns);
    const log = transcript({ NS: ns, PORT: hook.port });
    for (const name of ['a', 'b', 'c', 'd']) created(await t.post(pods(ns), podDraft(name)));
    await hook.install('Validating', [
      hook.entry('v.kctl.test', { rules: [rule('', ['pods', 'pods/eviction', 'pods/binding'])] }),
    ]);
    const brief = (): void =>
      log.reviews(hook, ({ request }) => {
        const { object, oldObject } = request;
        const { metadata } = oldObject ?? {};
        return [
          request.operation,
          request.name ?? '-',
          ofKind(request.kind),
          ofResource(request.resource),
          request.subResource ?? '',
          request.options,
          object?.kind ?? null,
          object?.target ?? null,
          Boolean(metadata?.deletionTimestamp),
          metadata?.deletionGracePeriodSeconds ?? null,
        ];
      });
    log.answer('DELETE', await t.delete(pods(ns, 'a')));
    brief();
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'b' }, target: { kind: 'Node', name: 'n' } };
    log.answer('binding', await t.post(`${pods(ns, 'b')}/binding`, binding));
    brief();
    log.answer('DELETE with grace', await t.delete(pods(ns, 'b')));
    brief();
    log.answer('DELETE again', await t.delete(pods(ns, 'b')));
    brief();
    log.answer('DELETE at once', await t.delete(pods(ns, 'b'), { gracePeriodSeconds: 0 }));
    brief();
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'c', namespace: ns } };
    log.answer('eviction', await t.post(`${pods(ns, 'c')}/eviction`, eviction));
    brief();
    log.answer('DELETE dry run', await t.delete(pods(ns, 'd'), undefined, { query: { dryRun: 'All' } }));
    brief();
    log.answer('deletecollection', await t.delete(pods(ns)));
    brief();
    log.is(`
      DELETE: 200
        /v?timeout=5s ["DELETE","a","/v1 Pod","/v1 pods","",{"apiVersion":"meta.k8s.io/v1","gracePeriodSeconds":0,"kind":"DeleteOptions"},null,null,false,null]
        /v?timeout=5s ["DELETE","a","/v1 Pod","/v1 pods","",{"apiVersion":"meta.k8s.io/v1","gracePeriodSeconds":0,"kind":"DeleteOptions"},null,null,true,0]
      binding: 201
        /v?timeout=5s ["CREATE","b","/v1 Binding","/v1 pods","binding",{"apiVersion":"meta.k8s.io/v1","kind":"CreateOptions"},"Binding",{"kind":"Node","name":"n"},false,null]
      DELETE with grace: 200
        /v?timeout=5s ["DELETE","b","/v1 Pod","/v1 pods","",{"apiVersion":"meta.k8s.io/v1","gracePeriodSeconds":30,"kind":"DeleteOptions"},null,null,false,null]
      DELETE again: 200
        no review
      DELETE at once: 200
        /v?timeout=5s ["DELETE","b","/v1 Pod","/v1 pods","",{"apiVersion":"meta.k8s.io/v1","gracePeriodSeconds":0,"kind":"DeleteOptions"},null,null,true,30]
        /v?timeout=5s ["DELETE","b","/v1 Pod","/v1 pods","",{"apiVersion":"meta.k8s.io/v1","gracePeriodSeconds":0,"kind":"DeleteOptions"},null,null,true,0]
      eviction: 201
        /v?timeout=5s ["CREATE","c","policy/v1 Eviction","/v1 pods","eviction",{"apiVersion":"meta.k8s.io/v1","kind":"CreateOptions"},"Eviction",null,false,null]
      DELETE dry run: 200
        /v?timeout=5s ["DELETE","d","/v1 Pod","/v1 pods","",{"apiVersion":"meta.k8s.io/v1","dryRun":["All"],"gracePeriodSeconds":0,"kind":"DeleteOptions"},null,null,false,null]
      deletecollection: 200
        /v?timeout=5s ["DELETE","-","/v1 Pod","/v1 pods","",{"apiVersion":"meta.k8s.io/v1","kind":"DeleteOptions"},null,null,false,null]
        /v?timeout=5s ["DELETE","-","/v1 Pod","/v1 pods","",{"apiVersion":"meta.k8s.io/v1","kind":"DeleteOptions"},null,null,true,0]
    `);
  },
  { needs },
);

spec(
  66,
  'what a webhook sees of built-in kinds: defaults, scale, namespaces',
  async (plain) => {
    const t = steady(plain);
    const { ns, hook, log } = await stage(t);
    await hook.install('Mutating', [
      hook.entry('m.kctl.test', {
        rules: [rule('', 'configmaps'), rule('apps', ['deployments', 'deployments/scale'])],
      }),
    ]);
    const show = (): void => log.reviews(hook, shownRequest);
    log.answer('ConfigMap', await t.post(configMaps(ns), { metadata: { name: 'a' }, data: { a: 'b' } }));
    show();
    log.answer('Deployment', await t.post(deployments(ns), deploymentDraft('d')));
    show();
    log.answer('scale', await t.patch(`${deployments(ns, 'd')}/scale`, MERGE_PATCH, { spec: { replicas: 0 } }));
    show();
    log.is(`
      ConfigMap: 201
        /m?timeout=5s CREATE, /v1 configmaps (/v1 ConfigMap), NS/a, meta.k8s.io/v1 CreateOptions {}, new {"data":{"a":"b"},"metadata":{"has":"m"}}, old null
      Deployment: 201
        /m?timeout=5s CREATE, apps/v1 deployments (apps/v1 Deployment), NS/d, meta.k8s.io/v1 CreateOptions {}, new {"metadata":{"has":"m"},"spec":{"progressDeadlineSeconds":600,"replicas":1,"revisionHistoryLimit":10,"selector":{"matchLabels":{"app":"d"}},"strategy":{"rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"},"type":"RollingUpdate"},"template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[{"image":"i","imagePullPolicy":"Always","name":"c","resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],"dnsPolicy":"ClusterFirst","restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30}}},"status":{}}, old null
      scale: 200
        /m?timeout=5s UPDATE, apps/v1 deployments/scale (autoscaling/v1 Scale), NS/d, meta.k8s.io/v1 UpdateOptions {}, new {"metadata":{"has":"ucr"},"spec":{},"status":{"replicas":0,"selector":"app=d"}}, old {"metadata":{"has":"ucrm"},"spec":{"replicas":1},"status":{"replicas":0,"selector":"app=d"}}
    `);
  },
  { needs },
);

spec(
  66,
  'namespaces are cluster-scoped, and their own labels decide',
  async (plain) => {
    const t = steady(plain);
    const ns = await t.namespace();
    const hook = await startHook(t, ns);
    const name = t.unique('own');
    const log = transcript({ NS: ns, OWN: name, PORT: hook.port });
    await hook.install('Validating', [
      hook.entry('v.kctl.test', {
        rules: [rule('', 'namespaces', { scope: 'Cluster' })],
        namespaceSelector: { matchLabels: { own: name } },
      }),
      hook.entry('n.kctl.test', {
        rules: [rule('', 'namespaces', { scope: 'Namespaced' })],
        namespaceSelector: { matchLabels: { own: name } },
      }),
    ]);
    const brief = (): void =>
      log.reviews(hook, ({ request }) => [
        request.operation,
        request.name ?? '-',
        request.namespace ?? '-',
        request.object?.metadata.labels ?? null,
        request.options,
      ]);
    t.defer(() => t.delete(`${NAMESPACES}/${name}`));
    log.answer('POST', await t.post(NAMESPACES, { metadata: { name, labels: { own: name } } }));
    brief();
    log.answer('other', await t.post(NAMESPACES, { metadata: { name: `${name}-x` } }, { query: { dryRun: 'All' } }));
    brief();
    log.answer(
      'label off',
      await t.patch(`${NAMESPACES}/${name}`, MERGE_PATCH, { metadata: { labels: { own: null } } }),
    );
    brief();
    log.answer(
      'label on',
      await t.patch(`${NAMESPACES}/${name}`, MERGE_PATCH, { metadata: { labels: { own: name } } }),
    );
    brief();
    log.answer('DELETE', await t.delete(`${NAMESPACES}/${name}`), ({ metadata }) =>
      Object.keys(metadata).includes('deletionTimestamp'),
    );
    log.say(
      JSON.stringify(
        hook
          .take()
          .filter(({ request }) => request.operation === 'DELETE')
          .map(({ request }) => [request.name, request.namespace, Object.keys(request.options as object).toSorted()]),
      ),
    );
    log.is(`
      POST: 201
        /v?timeout=5s ["CREATE","OWN","OWN",{"kubernetes.io/metadata.name":"OWN","own":"OWN"},{"apiVersion":"meta.k8s.io/v1","kind":"CreateOptions"}]
      other: 201
        no review
      label off: 200
        no review
      label on: 200
        /v?timeout=5s ["UPDATE","OWN","OWN",{"kubernetes.io/metadata.name":"OWN","own":"OWN"},{"apiVersion":"meta.k8s.io/v1","kind":"UpdateOptions"}]
      DELETE: 200 true
      [["OWN","OWN",["apiVersion","kind","preconditions"]]]
    `);
  },
  { needs },
);

spec(
  66,
  'writes that change nothing, and writes that fail, are asked about too',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook, log } = await stage(t);
    const made = created(await t.post(widgets.path(ns), widgets.draft('a')));
    await hook.install('Mutating', [hook.entry('m.kctl.test', { rules: [rule(widgets.group, 'widgets')] })]);
    await hook.install('Validating', [hook.entry('v.kctl.test', { rules: [rule(widgets.group, 'widgets')] })]);
    const show = (): void => log.reviews(hook, sizes);
    log.answer(
      'PUT of the same',
      await t.put(widgets.path(ns, 'a'), made),
      ({ metadata }) => metadata.resourceVersion === made.metadata.resourceVersion,
    );
    show();
    ok(await t.patch(widgets.path(ns, 'a'), MERGE_PATCH, { spec: { size: 2 } }));
    show();
    log.answer('PUT with a stale version', await t.put(widgets.path(ns, 'a'), { ...made, spec: { size: 3 } }));
    show();
    log.answer(
      'patch with a stale version',
      await t.patch(widgets.path(ns, 'a'), MERGE_PATCH, {
        metadata: { resourceVersion: made.metadata.resourceVersion },
        spec: { size: 3 },
      }),
    );
    show();
    log.answer(
      'PUT with another uid',
      await t.put(widgets.path(ns, 'a'), { ...made, metadata: { ...made.metadata, uid: 'x', resourceVersion: '' } }),
    );
    show();
    log.answer('PUT without a version', await t.put(widgets.path(ns, 'a'), widgets.draft('a', { size: 3 })));
    show();
    log.answer('PUT of what is not there', await t.put(widgets.path(ns, 'none'), widgets.draft('none')));
    show();
    log.answer('invalid', await t.post(widgets.path(ns), widgets.draft('b', { size: -1 })));
    show();
    log.answer('taken', await t.post(widgets.path(ns), widgets.draft('a')));
    show();
    log.answer('another namespace', await t.post(widgets.path(ns), widgets.draft('b', {}, { namespace: 'other' })));
    show();
    log.answer('with a version', await t.post(widgets.path(ns), widgets.draft('b', {}, { resourceVersion: '7' })));
    show();
    log.answer(
      'apply in conflict',
      await t.patch(widgets.path(ns, 'a'), APPLY_PATCH, widgets.draft('a', { size: 7 }), {
        query: { fieldManager: 'g' },
      }),
    );
    show();
    log.answer(
      'bad patch',
      await t.patch(widgets.path(ns, 'a'), JSON_PATCH, [{ op: 'test', path: '/spec/size', value: 99 }]),
    );
    show();
    log.answer('no namespace', await t.post(widgets.path('none'), widgets.draft('b')));
    show();
    log.is(`
      PUT of the same: 200 true
        /m?timeout=5s ["UPDATE","","a",1,1]
        /v?timeout=5s ["UPDATE","","a",1,1]
        /m?timeout=5s ["UPDATE","","a",2,1]
        /v?timeout=5s ["UPDATE","","a",2,1]
      PUT with a stale version: 409 Conflict Operation cannot be fulfilled on widgets.GROUP "a": the object has been modified; please apply your changes to the latest version and try again {"group":"GROUP","kind":"widgets","name":"a"}
        /m?timeout=5s ["UPDATE","","a",3,2]
      patch with a stale version: 409 Conflict Operation cannot be fulfilled on widgets.GROUP "a": the object has been modified; please apply your changes to the latest version and try again {"group":"GROUP","kind":"widgets","name":"a"}
        /m?timeout=5s ["UPDATE","","a",3,2]
      PUT with another uid: 409 Conflict Operation cannot be fulfilled on widgets.GROUP "a": StorageError: invalid object, Code: 4, Key: /registry/GROUP/widgets/NS/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: x, UID in object meta: UID {"group":"GROUP","kind":"widgets","name":"a"}
        no review
      PUT without a version: 422 Invalid widgets.GROUP "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update {"causes":[{"field":"metadata.resourceVersion","message":"Invalid value: 0: must be specified for an update","reason":"FieldValueInvalid"}],"group":"GROUP","kind":"widgets","name":"a"}
        /m?timeout=5s ["UPDATE","","a",3,2]
      PUT of what is not there: 404 NotFound widgets.GROUP "none" not found {"group":"GROUP","kind":"widgets","name":"none"}
        no review
      invalid: 422 Invalid Widget.GROUP "b" is invalid: spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0 {"causes":[{"field":"spec.size","message":"Invalid value: -1: spec.size in body should be greater than or equal to 0","reason":"FieldValueInvalid"}],"group":"GROUP","kind":"Widget","name":"b"}
        /m?timeout=5s ["CREATE","","b",-1,null]
      taken: 409 AlreadyExists widgets.GROUP "a" already exists {"group":"GROUP","kind":"widgets","name":"a"}
        /m?timeout=5s ["CREATE","","a",1,null]
        /v?timeout=5s ["CREATE","","a",1,null]
      another namespace: 400 BadRequest the namespace of the provided object does not match the namespace sent on the request
        no review
      with a version: 500 - resourceVersion should not be set on objects to be created
        /m?timeout=5s ["CREATE","","b",1,null]
        /v?timeout=5s ["CREATE","","b",1,null]
      apply in conflict: 409 Conflict Apply failed with 1 conflict: conflict with "unknown" using GROUP/v1: .spec.size {"causes":[{"field":".spec.size","message":"conflict with \\"unknown\\" using GROUP/v1","reason":"FieldManagerConflict"}]}
        no review
      bad patch: 422 Invalid the server rejected our request due to an error in our request {}
        no review
      no namespace: 404 NotFound namespaces "none" not found {"kind":"namespaces","name":"none"}
        no review
    `);
  },
  { needs },
);

spec(
  66,
  'a write that loses a race while its webhook is asked is asked about again',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook, log } = await stage(t);
    created(await t.post(widgets.path(ns), widgets.draft('a')));
    await hook.install('Validating', [
      hook.entry('v.kctl.test', {
        rules: [rule(widgets.group, 'widgets')],
        objectSelector: { matchLabels: { outer: 'yes' } },
      }),
    ]);
    let calls = 0;
    hook.answer = async () => {
      if (++calls === 1)
        ok(await t.patch(widgets.path(ns, 'a', 'status'), MERGE_PATCH, { status: { phase: 'inner' } }));
      return allow();
    };
    const path = widgets.path(ns, 'a');
    const shown = ({ metadata, status }: Json): unknown => [metadata.labels, status];
    log.answer('patch', await t.patch(path, MERGE_PATCH, { metadata: { labels: { outer: 'yes' } } }), shown);
    log.reviews(hook, ({ request }) => [request.operation, request.object.status ?? null]);
    calls = 0;
    const present = ok(await t.get(path));
    log.answer('PUT with a version', await t.put(path, { ...present, spec: { size: 5 } }), shown);
    log.reviews(hook, ({ request }) => [request.operation, request.object.status ?? null]);
    calls = 0;
    hook.answer = async () => {
      if (++calls === 1) ok(await t.delete(path));
      return allow();
    };
    log.answer('patch of what goes', await t.patch(path, MERGE_PATCH, { spec: { size: 6 } }));
    calls = 0;
    hook.take();
    hook.answer = async () => {
      if (++calls === 1) created(await t.post(widgets.path(ns), widgets.draft('b')));
      return allow();
    };
    log.answer(
      'POST of what comes',
      await t.post(widgets.path(ns), widgets.draft('b', {}, { labels: { outer: 'yes' } })),
    );
    log.reviews(hook, sizes);
    calls = 0;
    hook.answer = async () => {
      if (++calls === 1) created(await t.post(widgets.path(ns), widgets.draft('c')));
      return allow();
    };
    log.answer(
      'apply of what comes',
      await t.patch(widgets.path(ns, 'c'), APPLY_PATCH, widgets.draft('c', { size: 4 }, { labels: { outer: 'yes' } }), {
        query: { fieldManager: 'g', force: true },
      }),
      ({ spec }) => spec,
    );
    log.reviews(hook, sizes);
    log.is(`
      patch: 200 [{"outer":"yes"},{"phase":"inner"}]
        /v?timeout=5s ["UPDATE",null]
        /v?timeout=5s ["UPDATE",{"phase":"inner"}]
      PUT with a version: 200 [{"outer":"yes"},{"phase":"inner"}]
        /v?timeout=5s ["UPDATE",{"phase":"inner"}]
      patch of what goes: 404 NotFound widgets.GROUP "a" not found {"group":"GROUP","kind":"widgets","name":"a"}
      POST of what comes: 409 AlreadyExists widgets.GROUP "b" already exists {"group":"GROUP","kind":"widgets","name":"b"}
        /v?timeout=5s ["CREATE","","b",1,null]
      apply of what comes: 200 {"color":"blue","replicas":1,"size":4}
        /v?timeout=5s ["CREATE","","c",4,null]
        /v?timeout=5s ["UPDATE","","c",4,1]
    `);
  },
  { needs },
);

spec(
  66,
  'nothing that configures admission is asked about',
  async (plain) => {
    const t = steady(plain);
    const { hook, log } = await stage(t);
    await hook.install('Validating', [
      hook.entry('v.kctl.test', { rules: [rule('admissionregistration.k8s.io', '*')] }),
    ]);
    await hook.install('Mutating', [
      hook.entry('m.kctl.test', { rules: [rule('admissionregistration.k8s.io', '*/*')] }),
    ]);
    hook.answer = () => mutate('[]');
    await hook.install('Validating', []);
    log.say('asked:');
    log.reviews(hook);
    log.is(`
      asked:
        no review
    `);
  },
  { needs },
);
