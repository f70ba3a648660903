/** §2.8 Patch. */
import { APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH } from '../harness/context.js';
import type { Context } from '../harness/context.js';
import type { Doc, Json } from '../harness/doc.js';
import { checkNewer, created, failure, ok, same } from '../harness/expect.js';
import { spec } from '../harness/spec.js';
import type { WidgetApi } from '../harness/widgets.js';
import { configMaps, createConfigMap, deploymentDraft, deployments, services } from './paths.js';

async function widget(
  t: Context,
  specification: Record<string, unknown> = {},
  metadata: Record<string, unknown> = {},
): Promise<{ ns: string; widgets: WidgetApi; path: string; made: Doc }> {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const made = created(await t.post(widgets.path(ns), widgets.draft('p', specification, metadata)));
  return { ns, widgets, path: widgets.path(ns, 'p'), made };
}

spec(46, 'a patch of a type that is not known answers 415 with the known ones', async (t) => {
  const { path, ns } = await widget(t);
  for (const contentType of ['application/json', 'text/plain', STRATEGIC_PATCH])
    failure(await t.patch(path, contentType, {}), {
      code: 415,
      reason: 'UnsupportedMediaType',
      message:
        /^the body of the request was in an unknown format - accepted media types include: application\/json-patch\+json, application\/merge-patch\+json, application\/apply-patch\+yaml/,
    });
  await createConfigMap(t, ns, 'a');
  failure(await t.patch(configMaps(ns, 'a'), 'application/json', {}), {
    code: 415,
    reason: 'UnsupportedMediaType',
    message: '415: Unsupported Media Type',
    details: {},
  });
});

spec(46, 'a missing object answers 404', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  for (const [type, body] of [
    [JSON_PATCH, []],
    [MERGE_PATCH, {}],
    [STRATEGIC_PATCH, {}],
  ] as const)
    failure(await t.patch(configMaps(ns, 'nope'), type, body), {
      code: 404,
      reason: 'NotFound',
      message: 'configmaps "nope" not found',
    });
  failure(await t.patch(widgets.path(ns, 'nope'), MERGE_PATCH, {}), { code: 404, reason: 'NotFound' });
});

spec(46, 'force on a patch that is no apply answers 422', async (t) => {
  const { path } = await widget(t);
  failure(await t.patch(`${path}?force=true`, MERGE_PATCH, {}), {
    code: 422,
    reason: 'Invalid',
    message: 'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
    details: { group: 'meta.k8s.io', kind: 'PatchOptions' },
    causes: [
      { reason: 'FieldValueForbidden', field: 'force', message: 'Forbidden: may not be specified for non-apply patch' },
    ],
  });
});

spec(
  46,
  'apply makes the object',
  async (t) => {
    const ns = await t.namespace();
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: '1' } };
    const made = created(await t.patch(configMaps(ns, 'a'), APPLY_PATCH, body, { query: { fieldManager: 'm' } }));
    same(made.data, { a: '1' }, 'data');
    same(
      ok(await t.patch(configMaps(ns, 'a'), APPLY_PATCH, body, { query: { fieldManager: 'm' } })).metadata
        .resourceVersion,
      made.metadata.resourceVersion,
      'revision of the same again',
    );
  },
  { needs: ['server-side-apply'] },
);

spec(
  46,
  'apply conflicts with what another manager owns',
  async (t) => {
    const ns = await t.namespace();
    const body = (a: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a } });
    created(await t.patch(configMaps(ns, 'a'), APPLY_PATCH, body('1'), { query: { fieldManager: 'm1' } }));
    failure(await t.patch(configMaps(ns, 'a'), APPLY_PATCH, body('2'), { query: { fieldManager: 'm2' } }), {
      code: 409,
      reason: 'Conflict',
      message: 'Apply failed with 1 conflict: conflict with "m1": .data.a',
      causes: [{ reason: 'FieldManagerConflict', field: '.data.a', message: 'conflict with "m1"' }],
    });
    same(
      ok(await t.patch(configMaps(ns, 'a'), APPLY_PATCH, body('2'), { query: { fieldManager: 'm2', force: true } }))
        .data,
      { a: '2' },
      'forced',
    );
  },
  { needs: ['server-side-apply'] },
);

const START = {
  size: 1,
  parts: [
    { name: 'a', value: 1 },
    { name: 'b', value: 2 },
  ],
  map: { x: '1' },
  tags: ['t'],
};
const REJECTED = {
  code: 422,
  reason: 'Invalid',
  message: 'the server rejected our request due to an error in our request',
  details: {},
} as const;

type Operations = readonly Record<string, unknown>[];
const accepted: [string, Operations, (spec: Json) => unknown, unknown][] = [
  ['add to a map', [{ op: 'add', path: '/spec/map/y', value: '2' }], (s) => s.map, { x: '1', y: '2' }],
  ['add replaces what is there', [{ op: 'add', path: '/spec/size', value: 5 }], (s) => s.size, 5],
  [
    'add at an index',
    [{ op: 'add', path: '/spec/parts/1', value: { name: 'n' } }],
    (s) => s.parts.map(({ name }: Json) => name),
    ['a', 'n', 'b'],
  ],
  ['add at the end', [{ op: 'add', path: '/spec/tags/-', value: 'u' }], (s) => s.tags, ['t', 'u']],
  ['remove', [{ op: 'remove', path: '/spec/map/x' }], (s) => s.map, {}],
  [
    'remove at a negative index',
    [{ op: 'remove', path: '/spec/parts/-1' }],
    (s) => s.parts.map(({ name }: Json) => name),
    ['a'],
  ],
  ['replace', [{ op: 'replace', path: '/spec/parts/0/value', value: 9 }], (s) => s.parts[0].value, 9],
  ['move', [{ op: 'move', from: '/spec/map/x', path: '/spec/map/z' }], (s) => s.map, { z: '1' }],
  ['copy', [{ op: 'copy', from: '/spec/map/x', path: '/spec/map/z' }], (s) => s.map, { x: '1', z: '1' }],
  [
    'test that holds',
    [
      { op: 'test', path: '/spec/map', value: { x: '1' } },
      { op: 'replace', path: '/spec/size', value: 2 },
    ],
    (s) => s.size,
    2,
  ],
  ['test of an absent path against null', [{ op: 'test', path: '/spec/map/none', value: null }], (s) => s.size, 1],
  ['test of an absent path without a value', [{ op: 'test', path: '/spec/map/none' }], (s) => s.size, 1],
  [
    'a path with ~0 and ~1',
    [{ op: 'add', path: '/spec/map/a~1b~0c', value: 'v' }],
    (s) => s.map,
    { 'a/b~c': 'v', x: '1' },
  ],
  ['a float that is an integer', [{ op: 'replace', path: '/spec/size', value: 3 }], (s) => s.size, 3],
  [
    'replace of a missing member makes it',
    [{ op: 'replace', path: '/spec/map/none', value: '1' }],
    (s) => s.map,
    { none: '1', x: '1' },
  ],
  [
    'an index with a leading zero',
    [{ op: 'replace', path: '/spec/parts/01', value: { name: 'n' } }],
    (s) => s.parts.map(({ name }: Json) => name),
    ['a', 'n'],
  ],
  [
    'copy of a missing member copies null',
    [{ op: 'copy', from: '/spec/none', path: '/spec/note' }],
    (s) => s.note ?? null,
    null,
  ],
  ['add without a value adds null', [{ op: 'add', path: '/spec/maybe' }], (s) => s.maybe, null],
  ['an empty list', [], (s) => s.size, 1],
];
for (const [title, operations, pick, expected] of accepted)
  spec(47, `JSON patch: ${title}`, async (t) => {
    const { path } = await widget(t, START);
    same(pick(ok(await t.patch(path, JSON_PATCH, operations)).spec), expected, 'result');
  });

const rejected: [string, Operations][] = [
  [
    'test that fails',
    [
      { op: 'replace', path: '/spec/size', value: 2 },
      { op: 'test', path: '/spec/size', value: 9 },
    ],
  ],
  ['test of null against a value', [{ op: 'test', path: '/spec/size', value: null }]],
  ['remove of a missing member', [{ op: 'remove', path: '/spec/map/none' }]],
  ['replace under a missing parent', [{ op: 'replace', path: '/spec/none/x', value: '1' }]],
  ['an unknown operation', [{ op: 'bogus', path: '/spec/size' }]],
  ['an operation without a path', [{ op: 'add', value: 1 }]],
  ['test under a missing parent', [{ op: 'test', path: '/spec/none/deep', value: null }]],
  ['add under a missing parent', [{ op: 'add', path: '/spec/none/x', value: '1' }]],
  ['an index out of range', [{ op: 'add', path: '/spec/parts/3', value: { name: 'n' } }]],
  ['a path without a slash', [{ op: 'replace', path: 'spec', value: {} }]],
  ['copy from under a missing parent', [{ op: 'copy', from: '/spec/none/x', path: '/spec/map/z' }]],
  ['remove of the whole document', [{ op: 'remove', path: '' }]],
  ['move from nowhere', [{ op: 'move', from: '/spec/none', path: '/spec/map/z' }]],
];
for (const [title, operations] of rejected)
  spec(47, `JSON patch: ${title} answers 422 and changes nothing`, async (t) => {
    const { path, made } = await widget(t, START);
    failure(await t.patch(path, JSON_PATCH, operations), REJECTED);
    same(ok(await t.get(path)), made, 'object');
  });

spec(47, 'JSON patch: a document that is no patch answers 400', async (t) => {
  const { path, ns } = await widget(t, START);
  await createConfigMap(t, ns, 'a', { data: { a: '1' } });
  for (const url of [path, configMaps(ns, 'a')]) {
    const attempt = async (body: unknown, message: string) =>
      failure(await t.patch(url, JSON_PATCH, body), {
        code: 400,
        reason: 'BadRequest',
        message: `error decoding patch: ${message}`,
      });
    await attempt({ op: 'add' }, 'json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp');
    await attempt([1], 'json: cannot unmarshal number into Go value of type handlers.jsonPatchOp');
    await attempt('[{', 'unexpected end of JSON input');
  }
});

spec(47, 'JSON patch: more than 10,000 operations answer 413', async (t) => {
  const { path } = await widget(t, START);
  const operations = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/spec/size', value: 1 }));
  failure(await t.patch(path, JSON_PATCH, operations), {
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
  });
});

spec(47, 'JSON patch of a built-in', async (t) => {
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'a', { data: { a: '1' } });
  same(
    ok(
      await t.patch(configMaps(ns, 'a'), JSON_PATCH, [
        { op: 'add', path: '/data/b', value: '2' },
        { op: 'remove', path: '/data/a' },
      ]),
    ).data,
    { b: '2' },
    'data',
  );
  failure(await t.patch(configMaps(ns, 'a'), JSON_PATCH, [{ op: 'remove', path: '/data/none' }]), REJECTED);
  failure(await t.patch(configMaps(ns, 'a'), JSON_PATCH, [{ op: 'add', path: '/data/c', value: 1 }]), {
    code: 422,
    reason: 'Invalid',
    message:
      /^ "" is invalid: patch: Invalid value: ".*": json: cannot unmarshal number into Go struct field ConfigMap\.data of type string$/,
    causes: [{ reason: 'FieldValueInvalid', field: 'patch' }],
  });
});

spec(47, 'JSON patch that replaces the root loses the revision', async (t) => {
  const { path, widgets } = await widget(t, START);
  failure(await t.patch(path, JSON_PATCH, [{ op: 'replace', path: '', value: widgets.draft('p') }]), {
    code: 422,
    reason: 'Invalid',
    message: `${widgets.resource} "p" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
  });
});

spec(48, 'merge patch: sets, deletes by null, replaces lists', async (t) => {
  const { path, made } = await widget(t, START, { labels: { a: '1', b: '2' } });
  const patched = ok(
    await t.patch(path, MERGE_PATCH, {
      metadata: { labels: { a: null, c: '3' } },
      spec: { map: { x: null, y: '2' }, parts: [{ name: 'z' }], note: 'n' },
    }),
  );
  same(patched.metadata.labels, { b: '2', c: '3' }, 'labels');
  same(
    [patched.spec.map, patched.spec.parts, patched.spec.note, patched.spec.size],
    [{ y: '2' }, [{ name: 'z', value: 7 }], 'n', 1],
    'spec',
  );
  checkNewer(patched.metadata.resourceVersion, made.metadata.resourceVersion, 'revision');
});

spec(48, 'merge patch: nothing to change keeps the revision', async (t) => {
  const { path, made } = await widget(t, START);
  for (const body of [{}, { spec: { size: 1 } }, { spec: { note: null } }, { metadata: { labels: null } }])
    same(
      ok(await t.patch(path, MERGE_PATCH, body)).metadata.resourceVersion,
      made.metadata.resourceVersion,
      JSON.stringify(body),
    );
});

spec(48, 'merge patch: a revision in the body is a precondition', async (t) => {
  const { path, made, widgets, ns } = await widget(t, START);
  const patched = ok(
    await t.patch(path, MERGE_PATCH, {
      metadata: { resourceVersion: made.metadata.resourceVersion },
      spec: { size: 2 },
    }),
  );
  failure(
    await t.patch(path, MERGE_PATCH, {
      metadata: { resourceVersion: made.metadata.resourceVersion },
      spec: { size: 3 },
    }),
    {
      code: 409,
      reason: 'Conflict',
      message: `Operation cannot be fulfilled on ${widgets.resource} "p": the object has been modified; please apply your changes to the latest version and try again`,
    },
  );
  ok(
    await t.patch(path, MERGE_PATCH, {
      metadata: { resourceVersion: patched.metadata.resourceVersion },
      spec: { size: 3 },
    }),
  );
  const configMap = await createConfigMap(t, ns, 'a');
  ok(await t.patch(configMaps(ns, 'a'), MERGE_PATCH, { data: { a: '1' } }));
  failure(
    await t.patch(configMaps(ns, 'a'), MERGE_PATCH, {
      metadata: { resourceVersion: configMap.metadata.resourceVersion },
      data: { a: '2' },
    }),
    { code: 409, reason: 'Conflict' },
  );
});

spec(48, 'merge patch: concurrent patches of different fields all succeed', async (t) => {
  const { path } = await widget(t, { size: 1 });
  const fields = ['a', 'b', 'c', 'd'];
  for (const answer of await Promise.all(
    fields.map((field) => t.patch(path, MERGE_PATCH, { spec: { map: { [field]: field } } })),
  ))
    ok(answer);
  same(ok(await t.get(path)).spec.map, { a: 'a', b: 'b', c: 'c', d: 'd' }, 'map');
});

spec(48, 'merge patch: a changed name answers 400, changed immutables 422', async (t) => {
  const { path } = await widget(t);
  failure(await t.patch(path, MERGE_PATCH, { metadata: { name: 'other' } }), {
    code: 400,
    reason: 'BadRequest',
    message: 'the name of the object (other) does not match the name on the URL (p)',
  });
  failure(await t.patch(path, MERGE_PATCH, { metadata: { namespace: 'other' } }), {
    code: 400,
    reason: 'BadRequest',
    message: 'the namespace of the provided object does not match the namespace sent on the request',
  });
  const before = ok(await t.get(path));
  const after = ok(
    await t.patch(path, MERGE_PATCH, { metadata: { creationTimestamp: null, generation: 9, selfLink: '/x' } }),
  );
  same(
    [after.metadata.creationTimestamp, after.metadata.generation, after.metadata.resourceVersion],
    [before.metadata.creationTimestamp, 1, before.metadata.resourceVersion],
    'metadata',
  );
});

spec(48, 'merge patch: what is not an object answers 400', async (t) => {
  const { path, ns } = await widget(t);
  await createConfigMap(t, ns, 'a');
  const cases: [string, string][] = [
    ['[]', 'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}'],
    ['"x"', 'error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}'],
    ['{', 'error decoding patch: unexpected end of JSON input'],
    ['', 'error decoding patch: unexpected end of JSON input'],
    ['null', 'Invalid JSON Patch'],
  ];
  for (const [body, message] of cases)
    for (const url of [path, configMaps(ns, 'a')])
      failure(await t.patch(url, MERGE_PATCH, body), { code: 400, reason: 'BadRequest', message });
});

spec(48, 'merge patch: the result is validated and defaulted', async (t) => {
  const { path } = await widget(t);
  failure(await t.patch(path, MERGE_PATCH, { spec: { size: 'x' } }), {
    code: 422,
    reason: 'Invalid',
    causes: [{ reason: 'FieldValueTypeInvalid', field: 'spec.size' }],
  });
  failure(await t.patch(path, MERGE_PATCH, { spec: { size: null } }), {
    code: 422,
    reason: 'Invalid',
    causes: [{ reason: 'FieldValueRequired', field: 'spec.size' }],
  });
  same(
    ok(await t.patch(path, MERGE_PATCH, { spec: { color: null, bogus: 1 } })).spec,
    { size: 1, color: 'blue', replicas: 1 },
    'spec',
  );
});

async function deployment(
  t: Context,
  containers: object[],
): Promise<{ path: string; patch: (body: unknown) => Promise<Json> }> {
  const ns = await t.namespace();
  const draft = deploymentDraft('d', {
    spec: { template: { metadata: { labels: { app: 'd' } }, spec: { containers } } },
  });
  created(await t.post(deployments(ns), draft));
  const path = deployments(ns, 'd');
  return { path, patch: async (body) => ok(await t.patch(path, STRATEGIC_PATCH, body)).spec.template.spec };
}

const podSpec = (body: object) => ({ spec: { template: { spec: body } } });
const C1 = { name: 'c1', image: 'i1', env: [{ name: 'A', value: '1' }], args: ['x'], ports: [{ containerPort: 80 }] };
const C2 = { name: 'c2', image: 'i2' };
const containerNames = (s: Json): string[] => s.containers.map(({ name }: Json) => name);

spec(49, 'strategic merge: items merge by their key, new ones come first', async (t) => {
  const { patch } = await deployment(t, [C1]);
  const added = await patch(podSpec({ containers: [{ name: 'c2', image: 'i2' }] }));
  same(containerNames(added), ['c2', 'c1'], 'containers');
  const changed = await patch(
    podSpec({ containers: [{ name: 'c1', image: 'new', env: [{ name: 'B', value: '2' }] }] }),
  );
  const c1 = changed.containers.find(({ name }: Json) => name === 'c1');
  same(
    [c1.image, c1.args, c1.env],
    [
      'new',
      ['x'],
      [
        { name: 'B', value: '2' },
        { name: 'A', value: '1' },
      ],
    ],
    'c1',
  );
});

spec(49, 'strategic merge: $patch delete of an item', async (t) => {
  const { patch } = await deployment(t, [C1, C2]);
  same(containerNames(await patch(podSpec({ containers: [{ name: 'c1', $patch: 'delete' }] }))), ['c2'], 'containers');
});

spec(49, 'strategic merge: $patch replace of a list and of a map', async (t) => {
  const { patch } = await deployment(t, [C1, C2]);
  same(
    containerNames(await patch(podSpec({ containers: [{ $patch: 'replace' }, { name: 'n', image: 'i' }] }))),
    ['n'],
    'list',
  );
  const replaced = await patch(
    podSpec({ containers: [{ name: 'n', image: 'j', resources: { limits: { cpu: '1' } } }] }),
  );
  same(replaced.containers[0].resources, { limits: { cpu: '1' } }, 'merged');
  const map = await patch(
    podSpec({ containers: [{ name: 'n', resources: { limits: { memory: '1Gi', $patch: 'replace' } } }] }),
  );
  same(map.containers[0].resources, { limits: { memory: '1Gi' } }, 'map');
});

spec(49, 'strategic merge: $setElementOrder', async (t) => {
  const { patch } = await deployment(t, [C1, C2]);
  const ordered = await patch(
    podSpec({
      '$setElementOrder/containers': [{ name: 'c2' }, { name: 'c1' }],
      containers: [{ name: 'c1', image: 'x' }],
    }),
  );
  same(
    ordered.containers.map(({ name, image }: Json) => [name, image]),
    [
      ['c2', 'i2'],
      ['c1', 'x'],
    ],
    'containers',
  );
});

spec(49, 'strategic merge: $setElementOrder as kubectl set image sends it', async (t) => {
  const { patch } = await deployment(t, [C1, C2]);
  const ordered = await patch(
    podSpec({
      '$setElementOrder/containers': [{ name: 'c1' }, { name: 'c2' }, { name: 'c3' }],
      containers: [{ name: 'c3', image: 'x' }],
    }),
  );
  same(containerNames(ordered), ['c1', 'c2', 'c3'], 'containers');
});

spec(49, 'strategic merge: $deleteFromPrimitiveList and merging of primitive lists', async (t) => {
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'a', { metadata: { finalizers: ['kctl.test/a', 'kctl.test/b'] } });
  const patch = async (body: object) =>
    ok(await t.patch(configMaps(ns, 'a'), STRATEGIC_PATCH, body)).metadata.finalizers;
  same(
    await patch({ metadata: { finalizers: ['kctl.test/c'] } }),
    ['kctl.test/c', 'kctl.test/a', 'kctl.test/b'],
    'merged',
  );
  same(
    await patch({ metadata: { '$deleteFromPrimitiveList/finalizers': ['kctl.test/b'] } }),
    ['kctl.test/c', 'kctl.test/a'],
    'deleted from',
  );
  same(
    await patch({ metadata: { '$setElementOrder/finalizers': ['kctl.test/a', 'kctl.test/c'] } }),
    ['kctl.test/a', 'kctl.test/c'],
    'ordered',
  );
});

spec(49, 'strategic merge: $retainKeys', async (t) => {
  const { path } = await deployment(t, [C1]);
  const patched = ok(
    await t.patch(path, STRATEGIC_PATCH, { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }),
  );
  same(patched.spec.strategy, { type: 'Recreate' }, 'strategy');
});

spec(49, 'strategic merge: null deletes, atomic lists are replaced', async (t) => {
  const { patch, path } = await deployment(t, [C1]);
  const changed = await patch(podSpec({ containers: [{ name: 'c1', args: ['y', 'z'], env: null }] }));
  same([changed.containers[0].args, changed.containers[0].env], [['y', 'z'], undefined], 'container');
  same(
    ok(await t.patch(path, STRATEGIC_PATCH, { metadata: { annotations: { a: '1' } } })).metadata.annotations,
    { a: '1' },
    'annotations',
  );
});

spec(49, 'strategic merge: ports of a Service merge by port', async (t) => {
  const ns = await t.namespace();
  created(
    await t.post(services(ns), {
      metadata: { name: 's' },
      spec: {
        ports: [
          { name: 'a', port: 80 },
          { name: 'b', port: 81 },
        ],
      },
    }),
  );
  const patched = ok(
    await t.patch(services(ns, 's'), STRATEGIC_PATCH, {
      spec: {
        ports: [
          { port: 81, targetPort: 9 },
          { port: 82, name: 'c' },
        ],
      },
    }),
  );
  same(
    Object.fromEntries(patched.spec.ports.map(({ port, targetPort }: Json) => [port, targetPort])),
    { 80: 80, 81: 9, 82: 82 },
    'ports',
  );
});

spec(49, 'strategic merge: nothing to change keeps the revision, an old revision answers Conflict', async (t) => {
  const ns = await t.namespace();
  const made = await createConfigMap(t, ns, 'a', { data: { a: '1' } });
  same(
    ok(await t.patch(configMaps(ns, 'a'), STRATEGIC_PATCH, { data: { a: '1' } })).metadata.resourceVersion,
    made.metadata.resourceVersion,
    'revision',
  );
  ok(await t.patch(configMaps(ns, 'a'), STRATEGIC_PATCH, { data: { b: '2', a: null } }));
  failure(
    await t.patch(configMaps(ns, 'a'), STRATEGIC_PATCH, {
      metadata: { resourceVersion: made.metadata.resourceVersion },
    }),
    { code: 409, reason: 'Conflict' },
  );
});

spec(49, 'strategic merge: what cannot be merged', async (t) => {
  const { path } = await deployment(t, [C1]);
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'a', { data: { a: '1' } });
  const attempt = async (
    body: unknown,
    expected: { code: number; reason: string | undefined; message: string | RegExp },
  ) => failure(await t.patch(configMaps(ns, 'a'), STRATEGIC_PATCH, body), expected);
  failure(await t.patch(path, STRATEGIC_PATCH, podSpec({ containers: [{ name: 'c1', $patch: 'bogus' }] })), {
    code: 500,
    reason: undefined,
    message: 'unknown patch type: bogus in map: map[$patch:bogus name:c1]',
  });
  same(
    (await t.patch(path, STRATEGIC_PATCH, podSpec({ containers: [{ image: 'no-name' }] }))).status,
    500,
    'an item without its key',
  );
  await attempt(
    { data: { $patch: 'bogus' } },
    { code: 500, reason: undefined, message: 'unknown patch type: bogus in map: map[$patch:bogus]' },
  );
  await attempt('{', { code: 400, reason: 'BadRequest', message: 'unexpected end of JSON input' });
  await attempt('[]', {
    code: 400,
    reason: 'BadRequest',
    message: 'json: cannot unmarshal array into Go value of type map[string]interface {}',
  });
  await attempt(
    { data: { a: 1 } },
    {
      code: 422,
      reason: 'Invalid',
      message: ' "" is invalid: patch: Invalid value: "map[data:map[a:1]]": cannot convert int64 to string',
    },
  );
  await attempt(
    { data: 'x' },
    {
      code: 422,
      reason: 'Invalid',
      message: ' "" is invalid: patch: Invalid value: "map[data:x]": cannot restore map from string',
    },
  );
  await attempt(
    { metadata: { finalizers: 'x' } },
    {
      code: 422,
      reason: 'Invalid',
      message:
        ' "" is invalid: patch: Invalid value: "map[metadata:map[finalizers:x]]": cannot restore slice from string',
    },
  );
  same(ok(await t.patch(configMaps(ns, 'a'), STRATEGIC_PATCH, 'null')).data, { a: '1' }, 'null');
});

spec(49, 'strategic merge of /scale and of /status', async (t) => {
  const { path } = await deployment(t, [C1]);
  const patched = ok(
    await t.patch(`${path}/status`, STRATEGIC_PATCH, {
      status: { conditions: [{ type: 'Available', status: 'True' }] },
    }),
  );
  same(
    patched.status.conditions.map(({ type }: Json) => type),
    ['Available'],
    'conditions',
  );
  const more = ok(
    await t.patch(`${path}/status`, STRATEGIC_PATCH, {
      status: {
        conditions: [
          { type: 'Available', status: 'False' },
          { type: 'Progressing', status: 'True' },
        ],
      },
    }),
  );
  same(
    Object.fromEntries(more.status.conditions.map(({ type, status }: Json) => [type, status])),
    { Available: 'False', Progressing: 'True' },
    'conditions',
  );
  same(ok(await t.patch(`${path}/scale`, STRATEGIC_PATCH, { spec: { replicas: 4 } })).spec, { replicas: 4 }, 'scale');
});
