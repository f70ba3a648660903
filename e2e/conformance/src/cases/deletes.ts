/** §2.9 Delete, finalizers, garbage collection, namespaces. */
import { MERGE_PATCH } from '../harness/context.js';
import type { Context } from '../harness/context.js';
import type { Doc, Json } from '../harness/doc.js';
import { check, checkNewer, created, failure, matches, names, ok, same } from '../harness/expect.js';
import { spec } from '../harness/spec.js';
import {
  configMaps,
  createConfigMap,
  deploymentDraft,
  deployments,
  NAMESPACES,
  podDraft,
  podNamespace,
  pods,
  secrets,
} from './paths.js';

const HOLD = 'kctl.test/hold';
const OURS = { fieldSelector: 'metadata.name!=kube-root-ca.crt' };

spec(53, 'without finalizers the object is gone and the answer is a Status', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const made = created(await t.post(widgets.path(ns), widgets.draft('a')));
  same(
    ok(await t.delete(widgets.path(ns, 'a'))),
    {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'a', group: widgets.group, kind: 'widgets', uid: made.metadata.uid },
    },
    'answer',
  );
  failure(await t.get(widgets.path(ns, 'a')), { code: 404, reason: 'NotFound' });
  const configMap = await createConfigMap(t, ns, 'a');
  same(
    ok(await t.delete(configMaps(ns, 'a'))),
    {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'a', kind: 'configmaps', uid: configMap.metadata.uid },
    },
    'answer',
  );
  failure(await t.delete(configMaps(ns, 'a')), { code: 404, reason: 'NotFound', message: 'configmaps "a" not found' });
});

spec(53, 'with finalizers the answer is the object that is being deleted, again and again', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const made = created(await t.post(widgets.path(ns), widgets.draft('a', {}, { finalizers: [HOLD] })));
  const deleted = ok(await t.delete(widgets.path(ns, 'a')));
  matches(deleted.metadata.deletionTimestamp ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, 'deletionTimestamp');
  same(
    [
      deleted.kind,
      deleted.metadata.deletionGracePeriodSeconds,
      deleted.metadata.generation,
      deleted.metadata.finalizers,
    ],
    ['Widget', 0, 2, [HOLD]],
    'object',
  );
  checkNewer(deleted.metadata.resourceVersion, made.metadata.resourceVersion, 'revision');
  same(ok(await t.delete(widgets.path(ns, 'a'))), deleted, 'again');
  const configMap = await createConfigMap(t, ns, 'c', { metadata: { finalizers: [HOLD] } });
  const gone = ok(await t.delete(configMaps(ns, 'c')));
  same(
    [gone.kind, gone.metadata.generation, gone.metadata.deletionGracePeriodSeconds, gone.metadata.uid],
    ['ConfigMap', undefined, 0, configMap.metadata.uid],
    'ConfigMap',
  );
});

spec(54, 'while deleting: no new finalizers, but edits', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  created(await t.post(widgets.path(ns), widgets.draft('a', {}, { finalizers: [HOLD] })));
  ok(await t.delete(widgets.path(ns, 'a')));
  const answer = await t.patch(widgets.path(ns, 'a'), MERGE_PATCH, { metadata: { finalizers: [HOLD, 'kctl.test/b'] } });
  same([answer.status, answer.body.reason], [422, 'Invalid'], 'answer');
  same(
    answer.body.details.causes[0],
    {
      reason: 'FieldValueForbidden',
      field: 'metadata.finalizers',
      message:
        'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"kctl.test/b"}',
    },
    'cause',
  );
  const edited = ok(await t.patch(widgets.path(ns, 'a'), MERGE_PATCH, { spec: { size: 4 } }));
  same([edited.spec.size, edited.metadata.generation], [4, 3], 'edit');
});

spec(
  54,
  'removing the last finalizer removes the object; the answer has the old revision, the event a new one',
  async (t) => {
    const ns = await t.namespace();
    const widgets = await t.widgets();
    created(await t.post(widgets.path(ns), widgets.draft('a', {}, { finalizers: [HOLD] })));
    const deleted = ok(await t.delete(widgets.path(ns, 'a')));
    const watch = await t.watch(widgets.path(ns), { query: { resourceVersion: deleted.metadata.resourceVersion } });
    const last = ok(await t.patch(widgets.path(ns, 'a'), MERGE_PATCH, { metadata: { finalizers: [] } }));
    same(
      [last.metadata.resourceVersion, last.metadata.finalizers],
      [deleted.metadata.resourceVersion, undefined],
      'answer',
    );
    failure(await t.get(widgets.path(ns, 'a')), { code: 404, reason: 'NotFound' });
    const event = await watch.next();
    same([event.type, event.object.metadata.uid], ['DELETED', deleted.metadata.uid], 'event');
    checkNewer(event.object.metadata.resourceVersion, deleted.metadata.resourceVersion, 'revision of the event');
  },
);

spec(54, 'of two finalizers the first to go leaves the object', async (t) => {
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'a', { metadata: { finalizers: [HOLD, 'kctl.test/b'] } });
  ok(await t.delete(configMaps(ns, 'a')));
  const one = ok(await t.get(configMaps(ns, 'a')));
  ok(await t.put(configMaps(ns, 'a'), { ...one, metadata: { ...one.metadata, finalizers: ['kctl.test/b'] } }));
  const other = ok(await t.get(configMaps(ns, 'a')));
  ok(await t.put(configMaps(ns, 'a'), { ...other, metadata: { ...other.metadata, finalizers: [] } }));
  failure(await t.get(configMaps(ns, 'a')), { code: 404, reason: 'NotFound' });
});

spec(54, 'a finalizer without deletion holds nothing back', async (t) => {
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'a', { metadata: { finalizers: [HOLD] } });
  ok(await t.patch(configMaps(ns, 'a'), MERGE_PATCH, { metadata: { finalizers: null } }));
  same(ok(await t.delete(configMaps(ns, 'a'))).kind, 'Status', 'answer');
});

for (const place of ['body', 'query'] as const)
  spec(55, `preconditions and dry run in the ${place}`, async (t) => {
    const ns = await t.namespace();
    const widgets = await t.widgets();
    const path = widgets.path(ns, 'a');
    const made = created(await t.post(widgets.path(ns), widgets.draft('a')));
    if (place === 'body') {
      failure(await t.delete(path, { preconditions: { uid: 'x' } }), {
        code: 409,
        reason: 'Conflict',
        message: `Operation cannot be fulfilled on ${widgets.qualifiedKind} "a": the UID in the precondition (x) does not match the UID in record (${made.metadata.uid}). The object might have been deleted and then recreated`,
        details: { name: 'a', group: widgets.group, kind: 'Widget' },
      });
      failure(await t.delete(path, { preconditions: { resourceVersion: '1' } }), {
        code: 409,
        reason: 'Conflict',
        message: `Operation cannot be fulfilled on ${widgets.qualifiedKind} "a": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${made.metadata.resourceVersion}). The object might have been modified`,
      });
    }
    const dry = place === 'body' ? await t.delete(path, { dryRun: ['All'] }) : await t.delete(`${path}?dryRun=All`);
    same(ok(dry).status, 'Success', 'dry run');
    ok(await t.get(path));
    const { uid, resourceVersion } = made.metadata;
    ok(
      place === 'body'
        ? await t.delete(path, { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion } })
        : await t.delete(`${path}?propagationPolicy=Background`),
    );
    failure(await t.get(path), { code: 404, reason: 'NotFound' });
  });

spec(55, 'preconditions of a built-in', async (t) => {
  const ns = await t.namespace();
  const made = await createConfigMap(t, ns, 'a');
  failure(await t.delete(configMaps(ns, 'a'), { preconditions: { uid: 'x' } }), {
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (x) does not match the UID in record (${made.metadata.uid}). The object might have been deleted and then recreated`,
    details: { name: 'a', kind: 'ConfigMap' },
  });
});

spec(55, 'a propagation policy that is none, or together with orphanDependents, answers 422', async (t) => {
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'a');
  failure(await t.delete(configMaps(ns, 'a'), { propagationPolicy: 'Zip' }), {
    code: 422,
    reason: 'Invalid',
    message:
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Zip": supported values: "Foreground", "Background", "Orphan", "nil"',
    details: { group: 'meta.k8s.io', kind: 'DeleteOptions' },
    causes: [{ reason: 'FieldValueNotSupported', field: 'propagationPolicy' }],
  });
  failure(await t.delete(configMaps(ns, 'a'), { propagationPolicy: 'Foreground', orphanDependents: true }), {
    code: 422,
    reason: 'Invalid',
    message:
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Foreground": orphanDependents and deletionPropagation cannot be both set',
  });
  failure(await t.delete(configMaps(ns, 'a'), { dryRun: ['Some'] }), {
    code: 422,
    reason: 'Invalid',
    message: 'DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
  });
  failure(await t.delete(configMaps(ns, 'a'), '{'), { code: 400, reason: 'BadRequest' });
});

spec(56, 'Foreground and Orphan add their finalizer, a later Background drops it again', async (t) => {
  const ns = await t.namespace();
  const path = (name: string) => configMaps(ns, name);
  for (const [policy, finalizer] of [
    ['Foreground', 'foregroundDeletion'],
    ['Orphan', 'orphan'],
  ] as const) {
    await createConfigMap(t, ns, 'a', { metadata: { finalizers: [HOLD] } });
    const deleted = ok(await t.delete(path('a'), { propagationPolicy: policy }));
    same(deleted.metadata.finalizers?.toSorted(), [finalizer, HOLD].toSorted(), policy);
    const background = ok(await t.delete(path('a'), { propagationPolicy: 'Background' }));
    same(background.metadata.finalizers, [HOLD], `Background after ${policy}`);
    ok(await t.patch(path('a'), MERGE_PATCH, { metadata: { finalizers: [] } }));
  }
});

spec(
  56,
  'Foreground of an object that nobody depends on ends by itself',
  async (t) => {
    const ns = await t.namespace();
    await createConfigMap(t, ns, 'a');
    const deleted = ok(await t.delete(configMaps(ns, 'a'), { propagationPolicy: 'Foreground' }));
    same(
      [deleted.kind, deleted.metadata.finalizers, Boolean(deleted.metadata.deletionTimestamp)],
      ['ConfigMap', ['foregroundDeletion'], true],
      'answer',
    );
    await t.eventually(
      () => t.get(configMaps(ns, 'a')),
      ({ status }) => status === 404,
      { what: 'the object to be gone' },
    );
  },
  { needs: ['garbage-collector'] },
);

spec(56, 'a finalizer without a domain draws a warning on a custom resource', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const answer = await t.post(widgets.path(ns), widgets.draft('a', {}, { finalizers: ['noslash'] }));
  created(answer);
  same(
    answer.warnings,
    [
      'metadata.finalizers: "noslash": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
    ],
    'warnings',
  );
  ok(await t.patch(widgets.path(ns, 'a'), MERGE_PATCH, { metadata: { finalizers: null } }));
  failure(await t.post(configMaps(ns), { metadata: { name: 'a', finalizers: ['noslash'] } }), {
    code: 422,
    reason: 'Invalid',
  });
});

spec(57, 'deletecollection honours selectors and answers the list of what it deleted', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  for (const [name, labels] of [
    ['a', { l: 'x' }],
    ['b', { l: 'x' }],
    ['c', {}],
  ] as const)
    created(await t.post(widgets.path(ns), widgets.draft(name, {}, { labels })));
  created(await t.post(widgets.path(ns), widgets.draft('f', {}, { labels: { l: 'x' }, finalizers: [HOLD] })));
  const list = ok(await t.delete(`${widgets.path(ns)}?labelSelector=l%3Dx`));
  same([list.kind, list.apiVersion, names(list)], ['WidgetList', widgets.apiVersion, ['a', 'b', 'f']], 'answer');
  same(names(ok(await t.get(widgets.path(ns)))), ['c', 'f'], 'left');
  check(Boolean(ok(await t.get(widgets.path(ns, 'f'))).metadata.deletionTimestamp), 'f is not being deleted');
  ok(await t.patch(widgets.path(ns, 'f'), MERGE_PATCH, { metadata: { finalizers: null } }));
  ok(await t.delete(`${widgets.path(ns)}?fieldSelector=metadata.name%3Dzzz`));
  same(names(ok(await t.get(widgets.path(ns)))), ['c'], 'left after a selector that matches nothing');
});

spec(57, 'deletecollection of a built-in', async (t) => {
  const ns = await t.namespace();
  for (const name of ['a', 'b']) created(await t.post(secrets(ns), { metadata: { name } }));
  same(ok(await t.delete(`${secrets(ns)}?dryRun=All`)).items.length, 2, 'dry run');
  const list = ok(await t.delete(secrets(ns)));
  same([list.kind, names(list)], ['SecretList', ['a', 'b']], 'answer');
  same(names(ok(await t.get(secrets(ns)))), [], 'left');
});

spec(58, 'an unscheduled pod is gone at once', async (t) => {
  const ns = await podNamespace(t);
  created(await t.post(pods(ns), podDraft('a')));
  const deleted = ok(await t.delete(pods(ns, 'a')));
  same([deleted.kind, deleted.metadata.deletionGracePeriodSeconds], ['Pod', 0], 'answer');
  failure(await t.get(pods(ns, 'a')), { code: 404, reason: 'NotFound' });
});

spec(58, 'a scheduled pod has its grace period; a shorter one shortens it, zero removes', async (t) => {
  const ns = await podNamespace(t);
  created(await t.post(pods(ns), podDraft('a', { spec: { nodeName: 'n1' } })));
  const first = ok(await t.delete(pods(ns, 'a')));
  const inSeconds = (doc: Doc) => Math.round((Date.parse(doc.metadata.deletionTimestamp ?? '') - Date.now()) / 1000);
  same(first.metadata.deletionGracePeriodSeconds, 30, 'grace');
  check(Math.abs(inSeconds(first) - 30) <= 3, `deletionTimestamp ${String(first.metadata.deletionTimestamp)}`);
  const longer = ok(await t.delete(pods(ns, 'a'), { gracePeriodSeconds: 60 }));
  same(
    [longer.metadata.deletionGracePeriodSeconds, longer.metadata.resourceVersion],
    [30, first.metadata.resourceVersion],
    'a longer one',
  );
  const shorter = ok(await t.delete(`${pods(ns, 'a')}?gracePeriodSeconds=5`));
  same(shorter.metadata.deletionGracePeriodSeconds, 5, 'a shorter one');
  check(inSeconds(shorter) <= 8, `deletionTimestamp ${String(shorter.metadata.deletionTimestamp)}`);
  ok(await t.delete(pods(ns, 'a'), { gracePeriodSeconds: 0 }));
  failure(await t.get(pods(ns, 'a')), { code: 404, reason: 'NotFound' });
});

spec(58, 'gracePeriodSeconds of other kinds changes nothing', async (t) => {
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'a');
  same(ok(await t.delete(configMaps(ns, 'a'), { gracePeriodSeconds: 60 })).kind, 'Status', 'answer');
  failure(await t.get(configMaps(ns, 'a')), { code: 404, reason: 'NotFound' });
});

const owner = (doc: Doc, rest: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: doc.metadata.name,
  uid: doc.metadata.uid,
  ...rest,
});
const gone = (t: Context, path: string) =>
  t.eventually(
    () => t.get(path),
    ({ status }) => status === 404,
    { what: `${path} to be gone`, timeoutMs: 90_000 },
  );

const GC = { needs: ['garbage-collector'], isSlow: true, timeoutMs: 120_000 } as const;

spec(
  59,
  'garbage collection: background',
  async (t) => {
    const ns = await t.namespace();
    const a = await createConfigMap(t, ns, 'owner');
    await createConfigMap(t, ns, 'dependent', { metadata: { ownerReferences: [owner(a)] } });
    same(ok(await t.delete(configMaps(ns, 'owner'))).kind, 'Status', 'answer');
    await gone(t, configMaps(ns, 'dependent'));
  },
  GC,
);

spec(
  59,
  'garbage collection: foreground waits for dependents that block',
  async (t) => {
    const ns = await t.namespace();
    const a = await createConfigMap(t, ns, 'owner');
    await createConfigMap(t, ns, 'dependent', {
      metadata: { ownerReferences: [owner(a, { blockOwnerDeletion: true })], finalizers: [HOLD] },
    });
    ok(await t.delete(configMaps(ns, 'owner'), { propagationPolicy: 'Foreground' }));
    await t.eventually(
      async () => ok(await t.get(configMaps(ns, 'dependent'))),
      ({ metadata }) => metadata.deletionTimestamp !== undefined,
      { what: 'the dependent to be deleted' },
    );
    const waiting = ok(await t.get(configMaps(ns, 'owner')));
    same(waiting.metadata.finalizers, ['foregroundDeletion'], 'owner');
    ok(await t.patch(configMaps(ns, 'dependent'), MERGE_PATCH, { metadata: { finalizers: null } }));
    await gone(t, configMaps(ns, 'owner'));
  },
  GC,
);

spec(
  59,
  'garbage collection: orphan takes the references off',
  async (t) => {
    const ns = await t.namespace();
    const a = await createConfigMap(t, ns, 'owner');
    await createConfigMap(t, ns, 'dependent', { metadata: { ownerReferences: [owner(a)] } });
    // The real collector's graph must know the dependent before its owner goes; a background sibling shows that it does.
    const b = await createConfigMap(t, ns, 'canary-owner');
    await createConfigMap(t, ns, 'canary', { metadata: { ownerReferences: [owner(b)] } });
    ok(await t.delete(configMaps(ns, 'canary-owner')));
    await gone(t, configMaps(ns, 'canary'));
    ok(await t.delete(configMaps(ns, 'owner'), { propagationPolicy: 'Orphan' }));
    await gone(t, configMaps(ns, 'owner'));
    same(ok(await t.get(configMaps(ns, 'dependent'))).metadata.ownerReferences, undefined, 'ownerReferences');
  },
  GC,
);

spec(
  59,
  'garbage collection: an owner that never was',
  async (t) => {
    const ns = await t.namespace();
    await createConfigMap(t, ns, 'dependent', {
      metadata: {
        ownerReferences: [
          { apiVersion: 'v1', kind: 'ConfigMap', name: 'ghost', uid: 'b1f5e8a2-0000-4000-8000-000000000000' },
        ],
      },
    });
    await gone(t, configMaps(ns, 'dependent'));
  },
  GC,
);

spec(
  59,
  'garbage collection: of several owners the last one counts',
  async (t) => {
    const ns = await t.namespace();
    const [a, b] = [await createConfigMap(t, ns, 'a'), await createConfigMap(t, ns, 'b')];
    await createConfigMap(t, ns, 'dependent', { metadata: { ownerReferences: [owner(a), owner(b)] } });
    ok(await t.delete(configMaps(ns, 'a')));
    await t.eventually(
      async () => ok(await t.get(configMaps(ns, 'dependent'))),
      ({ metadata }) => metadata.ownerReferences?.length === 1,
      { what: 'the reference of the owner that is gone to be taken off', timeoutMs: 40_000 },
    );
    ok(await t.delete(configMaps(ns, 'b')));
    await gone(t, configMaps(ns, 'dependent'));
  },
  GC,
);

spec(
  59,
  'garbage collection: an owner of another namespace counts as absent',
  async (t) => {
    const [one, other] = [await t.namespace(), await t.namespace()];
    const a = await createConfigMap(t, other, 'owner');
    await createConfigMap(t, one, 'dependent', { metadata: { ownerReferences: [owner(a)] } });
    await gone(t, configMaps(one, 'dependent'));
  },
  GC,
);

spec(
  59,
  'garbage collection: a chain of kinds',
  async (t) => {
    const ns = await t.namespace();
    const top = created(await t.post(deployments(ns), deploymentDraft('d', { spec: { replicas: 0 } })));
    const middle = created(
      await t.post(secrets(ns), {
        metadata: {
          name: 's',
          ownerReferences: [
            {
              apiVersion: 'apps/v1',
              kind: 'Deployment',
              name: 'd',
              uid: top.metadata.uid,
              controller: true,
              blockOwnerDeletion: true,
            },
          ],
        },
      }),
    );
    await createConfigMap(t, ns, 'c', {
      metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Secret', name: 's', uid: middle.metadata.uid }] },
    });
    ok(await t.delete(deployments(ns, 'd')));
    await gone(t, secrets(ns, 's'));
    await gone(t, configMaps(ns, 'c'));
  },
  GC,
);

spec(
  59,
  'garbage collection: custom resources as owners and dependents',
  async (t) => {
    const ns = await t.namespace();
    const widgets = await t.widgets();
    const a = created(await t.post(widgets.path(ns), widgets.draft('owner')));
    const reference = { apiVersion: widgets.apiVersion, kind: 'Widget', name: 'owner', uid: a.metadata.uid };
    created(await t.post(widgets.path(ns), widgets.draft('dependent', {}, { ownerReferences: [reference] })));
    await createConfigMap(t, ns, 'dependent', { metadata: { ownerReferences: [reference] } });
    ok(await t.delete(widgets.path(ns, 'owner')));
    await gone(t, configMaps(ns, 'dependent'));
    await gone(t, widgets.path(ns, 'dependent'));
  },
  GC,
);

spec(
  59,
  'garbage collection: a cluster-scoped owner of a namespaced object',
  async (t) => {
    const ns = await t.namespace();
    const path = '/apis/scheduling.k8s.io/v1/priorityclasses';
    const a = created(await t.post(path, { metadata: { name: t.unique('pc') }, value: 1 }));
    await createConfigMap(t, ns, 'dependent', {
      metadata: {
        ownerReferences: [
          { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', name: a.metadata.name, uid: a.metadata.uid },
        ],
      },
    });
    ok(await t.delete(`${path}/${a.metadata.name}`));
    await gone(t, configMaps(ns, 'dependent'));
  },
  GC,
);

spec(60, 'a new namespace is Active and has its finalizer and label', async (t) => {
  const name = await t.namespace({ a: 'b' });
  const made = ok(await t.get(`${NAMESPACES}/${name}`));
  same(
    [made.spec, made.status, made.metadata.labels],
    [{ finalizers: ['kubernetes'] }, { phase: 'Active' }, { a: 'b', 'kubernetes.io/metadata.name': name }],
    'namespace',
  );
});

spec(
  60,
  'deleting a namespace: Terminating, nothing new, contents gone, then the namespace',
  async (t) => {
    const ns = await t.namespace();
    const widgets = await t.widgets();
    created(await t.post(widgets.path(ns), widgets.draft('w')));
    await createConfigMap(t, ns, 'held', { metadata: { finalizers: [HOLD] } });
    created(await t.post(secrets(ns), { metadata: { name: 's' } }));
    const deleted = ok(await t.delete(`${NAMESPACES}/${ns}`));
    same(
      [deleted.kind, deleted.status.phase, deleted.spec.finalizers, Boolean(deleted.metadata.deletionTimestamp)],
      ['Namespace', 'Terminating', ['kubernetes'], true],
      'answer',
    );
    failure(await t.post(configMaps(ns), { metadata: { name: 'late' } }), {
      code: 403,
      reason: 'Forbidden',
      message: `configmaps "late" is forbidden: unable to create new content in namespace ${ns} because it is being terminated`,
      details: { name: 'late', kind: 'configmaps' },
      causes: [
        { reason: 'NamespaceTerminating', field: 'metadata.namespace', message: `namespace ${ns} is being terminated` },
      ],
    });
    await gone(t, secrets(ns, 's'));
    await gone(t, widgets.path(ns, 'w'));
    const held = await t.eventually(
      async () => ok(await t.get(`${NAMESPACES}/${ns}`)),
      (doc) =>
        ((doc.status.conditions ?? []) as { type: string; status: string }[]).some(
          ({ type, status }) => type === 'NamespaceFinalizersRemaining' && status === 'True',
        ),
      { what: 'the condition NamespaceFinalizersRemaining', timeoutMs: 30_000 },
    );
    const conditions = held.status.conditions as { type: string; status: string; reason: string; message: string }[];
    same(
      Object.fromEntries(conditions.map(({ type, status, reason }) => [type, [status, reason]])),
      {
        NamespaceDeletionDiscoveryFailure: ['False', 'ResourcesDiscovered'],
        NamespaceDeletionGroupVersionParsingFailure: ['False', 'ParsedGroupVersions'],
        NamespaceDeletionContentFailure: ['False', 'ContentDeleted'],
        NamespaceContentRemaining: ['True', 'SomeResourcesRemain'],
        NamespaceFinalizersRemaining: ['True', 'SomeFinalizersRemain'],
      },
      'conditions',
    );
    same(
      conditions.find(({ type }) => type === 'NamespaceFinalizersRemaining')?.message,
      `Some content in the namespace has finalizers remaining: ${HOLD} in 1 resource instances`,
      'message',
    );
    ok(await t.patch(configMaps(ns, 'held'), MERGE_PATCH, { metadata: { finalizers: null } }));
    await gone(t, `${NAMESPACES}/${ns}`);
  },
  { needs: ['namespace-controller'], isSlow: true, timeoutMs: 90_000 },
);

spec(
  60,
  'an empty namespace goes, and its name can be used again',
  async (t) => {
    const ns = await t.namespace();
    const first = ok(await t.get(`${NAMESPACES}/${ns}`));
    ok(await t.delete(`${NAMESPACES}/${ns}`));
    await gone(t, `${NAMESPACES}/${ns}`);
    const second = created(await t.post(NAMESPACES, { metadata: { name: ns } }));
    check(second.metadata.uid !== first.metadata.uid, 'the same uid');
    same(ok(await t.get(configMaps(ns), { query: OURS })).items, [], 'contents');
  },
  { needs: ['namespace-controller'], isSlow: true },
);

spec(60, 'default, kube-system and kube-public cannot be deleted', async (t) => {
  for (const name of ['default', 'kube-system', 'kube-public'])
    failure(await t.delete(`${NAMESPACES}/${name}`), {
      code: 403,
      reason: 'Forbidden',
      message: `namespaces "${name}" is forbidden: this namespace may not be deleted`,
      details: { name, kind: 'namespaces' },
    });
});

spec(
  60,
  'deleting a namespace twice answers the same',
  async (t) => {
    const ns = await t.namespace();
    await createConfigMap(t, ns, 'held', { metadata: { finalizers: [HOLD] } });
    ok(await t.delete(`${NAMESPACES}/${ns}`));
    const again = await t.delete(`${NAMESPACES}/${ns}`);
    const body = again.body as Json;
    check(again.status === 200 || again.status === 409, again.text);
    if (again.status === 200) same(body.status.phase, 'Terminating', 'phase');
    ok(await t.patch(configMaps(ns, 'held'), MERGE_PATCH, { metadata: { finalizers: null } }));
  },
  { needs: ['namespace-controller'] },
);
