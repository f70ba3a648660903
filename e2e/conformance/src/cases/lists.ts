/** §2.3 GET and LIST. */
import type { Context } from '../harness/context.js';
import type { Doc, Draft, Json } from '../harness/doc.js';
import { check, checkNewer, created, failure, matches, names, ok, same } from '../harness/expect.js';
import { spec } from '../harness/spec.js';
import type { WidgetApi } from '../harness/widgets.js';
import { configMaps, CRDS, createConfigMap, deployments, podDraft, podNamespace, pods, secrets } from './paths.js';

/** A namespace with widgets of these names; the odd ones carry the label l=odd. */
async function widgetsNamed(
  t: Context,
  wanted: readonly string[],
): Promise<{ ns: string; widgets: WidgetApi; path: string; made: Doc[] }> {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const made: Doc[] = [];
  for (const [index, name] of wanted.entries())
    made.push(
      created(
        await t.post(
          widgets.path(ns),
          widgets.draft(name, { size: index }, index % 2 === 1 ? { labels: { l: 'odd', n: String(index) } } : {}),
        ),
      ),
    );
  return { ns, widgets, path: widgets.path(ns), made };
}

const FIVE = ['p0', 'p1', 'p2', 'p3', 'p4'];
const far = (revision: string): string => String(BigInt(revision) + 1_000_000n);

spec(14, 'a missing object answers NotFound with the plural as kind', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  failure(await t.get(widgets.path(ns, 'nope')), {
    code: 404,
    reason: 'NotFound',
    message: `${widgets.resource} "nope" not found`,
    details: { name: 'nope', group: widgets.group, kind: 'widgets' },
    causes: [],
  });
  failure(await t.get(configMaps(ns, 'nope')), {
    code: 404,
    reason: 'NotFound',
    message: 'configmaps "nope" not found',
    details: { name: 'nope', kind: 'configmaps' },
  });
  failure(await t.get(deployments(ns, 'nope')), {
    code: 404,
    reason: 'NotFound',
    message: 'deployments.apps "nope" not found',
    details: { name: 'nope', group: 'apps', kind: 'deployments' },
  });
});

spec(14, 'a missing namespace of an object answers NotFound of the object', async (t) => {
  failure(await t.get(configMaps('no-such-namespace', 'nope')), {
    code: 404,
    reason: 'NotFound',
    message: 'configmaps "nope" not found',
  });
});

spec(15, 'a list is sorted by name, or by namespace and name', async (t) => {
  const { path, ns, widgets } = await widgetsNamed(t, ['b', 'a.x', 'c', 'a', 'a-x']);
  const list = ok(await t.get(path));
  same(names(list), ['a', 'a-x', 'a.x', 'b', 'c'], 'names');
  const other = await t.namespace();
  created(await t.post(widgets.path(other), widgets.draft('0', {}, { labels: { sorted: 'yes' } })));
  created(await t.post(widgets.path(ns), widgets.draft('z', {}, { labels: { sorted: 'yes' } })));
  const everywhere = ok(await t.get(`${widgets.everywhere}?labelSelector=sorted%3Dyes`));
  const found = everywhere.items.map(({ metadata }) => metadata.namespace ?? '');
  same(found, found.toSorted(), 'namespaces');
});

spec(15, 'a list carries the current revision, also when it is empty', async (t) => {
  const ns = await t.namespace();
  const empty = ok(await t.get(configMaps(ns), { query: { labelSelector: 'no=thing' } }));
  same([empty.kind, empty.apiVersion, empty.items], ['ConfigMapList', 'v1', []], 'list');
  const made = await createConfigMap(t, ns, 'a');
  const list = ok(await t.get(configMaps(ns)));
  checkNewer(made.metadata.resourceVersion, empty.metadata.resourceVersion, 'the object after the empty list');
  check(
    !(BigInt(list.metadata.resourceVersion) < BigInt(made.metadata.resourceVersion)),
    'the list is older than its object',
  );
});

spec(15, 'the revision of a list is global: writes of other kinds move it', async (t) => {
  const ns = await t.namespace();
  const before = ok(await t.get(`/apis/batch/v1/namespaces/${ns}/jobs`));
  const made = await createConfigMap(t, ns, 'a');
  const after = ok(await t.get(`/apis/batch/v1/namespaces/${ns}/jobs`));
  checkNewer(made.metadata.resourceVersion, before.metadata.resourceVersion, 'the write');
  check(
    BigInt(after.metadata.resourceVersion) >= BigInt(made.metadata.resourceVersion),
    'the later list is older than the write',
  );
});

spec(15, 'a list of a namespace that does not exist is empty', async (t) => {
  const widgets = await t.widgets();
  for (const path of [configMaps('no-such-namespace'), widgets.path('no-such-namespace')])
    same(ok(await t.get(path)).items, [], path);
});

spec(15, 'items of a built-in list have no kind, those of custom resources have', async (t) => {
  const { ns, path, widgets } = await widgetsNamed(t, ['a']);
  await createConfigMap(t, ns, 'a');
  const builtin = ok(await t.get(configMaps(ns)));
  same([builtin.items[0]?.kind, builtin.items[0]?.apiVersion], [undefined, undefined], 'built-in');
  const custom = ok(await t.get(path));
  same(
    [custom.kind, custom.items[0]?.kind, custom.items[0]?.apiVersion],
    ['WidgetList', 'Widget', widgets.apiVersion],
    'custom resource',
  );
});

spec(16, 'limit: pages with continue and remainingItemCount make the whole list', async (t) => {
  const { path } = await widgetsNamed(t, FIVE);
  const first = ok(await t.get(path, { query: { limit: 2 } }));
  same([names(first), first.metadata.remainingItemCount], [['p0', 'p1'], 3], 'first page');
  const second = ok(await t.get(path, { query: { limit: 2, continue: first.metadata.continue } }));
  same([names(second), second.metadata.remainingItemCount], [['p2', 'p3'], 1], 'second page');
  const third = ok(await t.get(path, { query: { limit: 2, continue: second.metadata.continue } }));
  same(
    [names(third), third.metadata.remainingItemCount, third.metadata.continue ?? ''],
    [['p4'], undefined, ''],
    'third page',
  );
  same(
    [second.metadata.resourceVersion, third.metadata.resourceVersion],
    [first.metadata.resourceVersion, first.metadata.resourceVersion],
    'revisions',
  );
});

spec(16, 'limit: built-in kinds page alike', async (t) => {
  const ns = await t.namespace();
  for (const name of FIVE) await createConfigMap(t, ns, name, { metadata: { labels: { page: 'yes' } } });
  const query = { limit: 2, fieldSelector: 'metadata.name!=kube-root-ca.crt' };
  const first = ok(await t.get(configMaps(ns), { query }));
  const second = ok(await t.get(configMaps(ns), { query: { ...query, continue: first.metadata.continue } }));
  const third = ok(await t.get(configMaps(ns), { query: { ...query, continue: second.metadata.continue } }));
  same([names(first), names(second), names(third)], [['p0', 'p1'], ['p2', 'p3'], ['p4']], 'pages');
});

spec(16, 'limit: with a selector remainingItemCount is absent', async (t) => {
  const { path } = await widgetsNamed(t, FIVE);
  for (const selector of [{ labelSelector: 'l=odd' }, { fieldSelector: 'metadata.name!=p0' }]) {
    const page = ok(await t.get(path, { query: { limit: 1, ...selector } }));
    same(names(page), ['p1'], 'names');
    same('remainingItemCount' in page.metadata, false, 'remainingItemCount');
    check(Boolean(page.metadata.continue), 'no continue');
  }
});

spec(16, 'limit: a later page shows the state of the first page', async (t) => {
  const { path, widgets } = await widgetsNamed(t, FIVE);
  const first = ok(await t.get(path, { query: { limit: 2 } }));
  created(await t.post(path, widgets.draft('p2-later')));
  ok(await t.delete(`${path}/p3`));
  const rest = ok(await t.get(path, { query: { continue: first.metadata.continue } }));
  same([names(rest), rest.metadata.resourceVersion], [['p2', 'p3', 'p4'], first.metadata.resourceVersion], 'rest');
});

spec(16, 'limit of exactly the length has no continue', async (t) => {
  const { path } = await widgetsNamed(t, FIVE);
  const page = ok(await t.get(path, { query: { limit: 5 } }));
  same([page.items.length, page.metadata.continue ?? '', page.metadata.remainingItemCount], [5, '', undefined], 'page');
});

spec(16, 'continue with a resourceVersion answers 400', async (t) => {
  const { path } = await widgetsNamed(t, FIVE);
  const first = ok(await t.get(path, { query: { limit: 2 } }));
  failure(
    await t.get(path, {
      query: { limit: 2, continue: first.metadata.continue, resourceVersion: first.metadata.resourceVersion },
    }),
    {
      code: 400,
      reason: 'BadRequest',
      message: 'specifying resource version is not allowed when using continue',
    },
  );
});

spec(16, 'a continue token that is none answers 400', async (t) => {
  const { path, ns } = await widgetsNamed(t, ['a']);
  for (const list of [path, configMaps(ns)])
    failure(await t.get(list, { query: { limit: 2, continue: 'bm90LWpzb24' } }), {
      code: 400,
      reason: 'BadRequest',
      message: /^invalid continue token: continue key is not valid: invalid character/,
    });
  failure(await t.get(path, { query: { limit: 2, continue: '!!' } }), {
    code: 400,
    reason: 'BadRequest',
    message: /continue key is not valid/,
  });
});

spec(16, 'a negative limit is no limit, and one that is no number answers 400', async (t) => {
  const { path } = await widgetsNamed(t, FIVE);
  same(names(ok(await t.get(path, { query: { limit: -1 } }))), FIVE, 'names');
  failure(await t.get(path, { query: { limit: 'x' } }), { code: 400, reason: 'BadRequest' });
});

spec(17, 'resourceVersion=0 ignores limit', async (t) => {
  const { path } = await widgetsNamed(t, FIVE);
  // Any state that the cache has: wait until it has all five.
  const list = await t.eventually(
    async () => ok(await t.get(path, { query: { resourceVersion: 0, limit: 2 } })),
    (body) => body.items.length === 5,
  );
  same([names(list), list.metadata.continue ?? ''], [FIVE, ''], 'list');
});

spec(17, 'NotOlderThan serves a state at least as new', async (t) => {
  const { path, made } = await widgetsNamed(t, FIVE);
  const newest = made[4]?.metadata.resourceVersion ?? '';
  for (const query of [
    { resourceVersion: newest },
    { resourceVersion: newest, resourceVersionMatch: 'NotOlderThan' },
  ]) {
    const list = ok(await t.get(path, { query }));
    same(names(list), FIVE, 'names');
    check(BigInt(list.metadata.resourceVersion) >= BigInt(newest), 'older than asked for');
  }
  same(ok(await t.get(`${path}/p4`, { query: { resourceVersion: newest } })).metadata.name, 'p4', 'GET');
  same(ok(await t.get(`${path}/p4`, { query: { resourceVersion: 0 } })).metadata.name, 'p4', 'GET at 0');
});

spec(
  17,
  'a revision of the future answers 504 with the cause ResourceVersionTooLarge',
  async (t) => {
    const { path, made } = await widgetsNamed(t, ['a']);
    const future = far(made[0]?.metadata.resourceVersion ?? '');
    const calls = [
      [path, { resourceVersion: future }],
      [path, { resourceVersion: future, resourceVersionMatch: 'NotOlderThan' }],
      [path, { resourceVersion: future, resourceVersionMatch: 'Exact' }],
      [path, { resourceVersion: future, resourceVersionMatch: 'NotOlderThan', limit: 1 }],
      [`${path}/a`, { resourceVersion: future }],
    ] as const;
    await Promise.all(
      calls.map(async ([url, query]) =>
        failure(await t.get(url, { query }), {
          code: 504,
          reason: 'Timeout',
          message: new RegExp(`^Timeout: Too large resource version: ${future}, current: \\d+$`),
          details: { retryAfterSeconds: 1 },
          causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        }),
      ),
    );
  },
  { isSlow: true },
);

spec(18, 'Exact serves the state of that revision, with and without limit', async (t) => {
  const { path, made } = await widgetsNamed(t, FIVE);
  const old = made[2]?.metadata.resourceVersion ?? '';
  ok(await t.delete(`${path}/p0`));
  const list = ok(await t.get(path, { query: { resourceVersion: old, resourceVersionMatch: 'Exact' } }));
  same([names(list), list.metadata.resourceVersion], [['p0', 'p1', 'p2'], old], 'list');
  const page = ok(await t.get(path, { query: { resourceVersion: old, resourceVersionMatch: 'Exact', limit: 2 } }));
  same([names(page), page.metadata.resourceVersion, page.metadata.remainingItemCount], [['p0', 'p1'], old, 1], 'page');
  const rest = ok(await t.get(path, { query: { limit: 2, continue: page.metadata.continue } }));
  same([names(rest), rest.metadata.resourceVersion], [['p2'], old], 'rest');
});

spec(18, 'Exact of a revision before the first object is an empty list', async (t) => {
  const ns = await t.namespace();
  const empty = ok(await t.get(configMaps(ns), { query: { labelSelector: 'exact=yes' } }));
  await createConfigMap(t, ns, 'a', { metadata: { labels: { exact: 'yes' } } });
  const list = ok(
    await t.get(configMaps(ns), {
      query: {
        labelSelector: 'exact=yes',
        resourceVersion: empty.metadata.resourceVersion,
        resourceVersionMatch: 'Exact',
      },
    }),
  );
  same(names(list), [], 'names');
});

spec(18, 'Exact 0, and a match without a revision, answer 422 about ListOptions', async (t) => {
  const { path, ns } = await widgetsNamed(t, []);
  for (const url of [path, configMaps(ns)]) {
    failure(await t.get(url, { query: { resourceVersion: 0, resourceVersionMatch: 'Exact' } }), {
      code: 422,
      reason: 'Invalid',
      message:
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
      details: { group: 'meta.k8s.io', kind: 'ListOptions' },
      causes: [
        {
          reason: 'FieldValueForbidden',
          field: 'resourceVersionMatch',
          message: 'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        },
      ],
    });
    failure(await t.get(url, { query: { resourceVersionMatch: 'Exact' } }), {
      code: 422,
      reason: 'Invalid',
      message:
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
      causes: [{ reason: 'FieldValueForbidden', field: 'resourceVersionMatch' }],
    });
  }
});

spec(18, 'an unknown resourceVersionMatch answers 422', async (t) => {
  const ns = await t.namespace();
  failure(await t.get(configMaps(ns), { query: { resourceVersion: 1, resourceVersionMatch: 'Nearly' } }), {
    code: 422,
    reason: 'Invalid',
    message:
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: "Nearly": supported values: "Exact", "NotOlderThan", ""',
  });
});

spec(18, 'a revision that is no number answers 400', async (t) => {
  const { path, ns } = await widgetsNamed(t, []);
  for (const url of [path, configMaps(ns)])
    failure(await t.get(url, { query: { resourceVersion: 'abc' } }), {
      code: 400,
      reason: 'BadRequest',
      message:
        'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    });
});

spec(
  18,
  'a compacted revision answers 410 Expired',
  async (t) => {
    const { path, made } = await widgetsNamed(t, ['a', 'b']);
    await t.target.compact?.();
    failure(await t.get(path, { query: { resourceVersion: 1, resourceVersionMatch: 'Exact' } }), {
      code: 410,
      reason: 'Expired',
      message: /^The resourceVersion for the provided list is too old\.$/,
    });
    void made;
  },
  { needs: ['expiry'], isExclusive: true },
);

spec(
  19,
  'an expired continue token answers 410 with a token to go on inconsistently',
  async (t) => {
    const { path } = await widgetsNamed(t, FIVE);
    const first = ok(await t.get(path, { query: { limit: 2 } }));
    const token = JSON.parse(Buffer.from(first.metadata.continue ?? '', 'base64url').toString()) as { rv: number };
    await t.target.compact?.();
    // The token of a time that is certainly forgotten, for the same place in the list.
    const expired = Buffer.from(JSON.stringify({ ...token, rv: 1 })).toString('base64url');
    const refused = failure(await t.get(path, { query: { limit: 2, continue: expired } }), {
      code: 410,
      reason: 'Expired',
      message: /^The provided continue parameter is too old to display a consistent list result\./,
    });
    check(Boolean(refused.metadata.continue), 'no token to go on with');
    const rest = ok(await t.get(path, { query: { limit: 2, continue: refused.metadata.continue } }));
    same(names(rest), ['p2', 'p3'], 'names');
  },
  { needs: ['expiry'], isExclusive: true },
);

const labelCases: [string, string[]][] = [
  ['env=prod', ['a']],
  ['env==prod', ['a']],
  ['env!=prod', ['b', 'c', 'd']],
  ['env in (prod,dev)', ['a', 'b']],
  ['env notin (prod,dev)', ['c', 'd']],
  ['env', ['a', 'b', 'c']],
  ['!env', ['d']],
  ['env,tier=back', ['b', 'c']],
  ['env in (dev),tier=back', ['b']],
  ['env in (dev, )', ['b', 'c']],
  ['size>3', ['b']],
  ['size<3', ['a']],
  ['env=', ['c']],
  ['', ['a', 'b', 'c', 'd']],
];
spec(20, 'label selectors', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  const labels: Record<string, Record<string, string>> = {
    a: { env: 'prod', tier: 'front', size: '1' },
    b: { env: 'dev', tier: 'back', size: '5' },
    c: { env: '', tier: 'back' },
    d: {},
  };
  for (const [name, set] of Object.entries(labels))
    created(await t.post(widgets.path(ns), widgets.draft(name, {}, { labels: set })));
  for (const [labelSelector, expected] of labelCases)
    same(names(ok(await t.get(widgets.path(ns), { query: { labelSelector } }))), expected, labelSelector);
});

const badSelectors: [string, string | RegExp][] = [
  ['=x', "found '=', expected: !, identifier, or 'end of string'"],
  ['a in', "unable to parse requirement: found '' expected: '('"],
  ['a in b', "unable to parse requirement: found 'b' expected: '('"],
  ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
  ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
  ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  ['a=b,', "found '', expected: identifier after ','"],
  ['a,,b', "found ',', expected: identifier after ','"],
  ['a=b c', "found 'c', expected: ',' or 'end of string'"],
  ['!a=b', "found '=', expected: ',' or 'end of string'"],
  [
    'a>b',
    "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an integer",
  ],
  ['a/b/c=d', /^unable to parse requirement: <nil>: Invalid value: "a\/b\/c": a valid label key must consist of/],
];
spec(20, 'a label selector that does not parse answers 400', async (t) => {
  const ns = await t.namespace();
  for (const [labelSelector, message] of badSelectors)
    failure(await t.get(configMaps(ns), { query: { labelSelector } }), { code: 400, reason: 'BadRequest', message });
});

const badFieldSelectors: [string, string][] = [
  ['nonsense', `invalid selector: 'nonsense'; can't understand 'nonsense'`],
  ['metadata.name=b,c', `invalid selector: 'metadata.name=b,c'; can't understand 'c'`],
  ['metadata.name=a=b', 'invalid field selector: unescaped character in value: 61'],
];
spec(20, 'a field selector that does not parse answers 400', async (t) => {
  const ns = await t.namespace();
  for (const [fieldSelector, message] of badFieldSelectors)
    failure(await t.get(configMaps(ns), { query: { fieldSelector } }), { code: 400, reason: 'BadRequest', message });
});

spec(20, 'field selectors on name and namespace', async (t) => {
  const { path, ns, widgets } = await widgetsNamed(t, ['a', 'b', 'c']);
  const cases: [string, string[]][] = [
    ['metadata.name=b', ['b']],
    ['metadata.name==b', ['b']],
    ['metadata.name!=b', ['a', 'c']],
    ['metadata.name!=a,metadata.name!=b', ['c']],
    [`metadata.namespace=${ns}`, ['a', 'b', 'c']],
    ['metadata.namespace=other', []],
    ['metadata.name=a,metadata.name=b', []],
    ['', ['a', 'b', 'c']],
  ];
  for (const [fieldSelector, expected] of cases)
    same(names(ok(await t.get(path, { query: { fieldSelector } }))), expected, fieldSelector);
  same(
    names(
      ok(await t.get(widgets.everywhere, { query: { fieldSelector: `metadata.namespace=${ns},metadata.name=c` } })),
    ),
    ['c'],
    'everywhere',
  );
});

spec(20, 'selectable fields of a custom resource', async (t) => {
  const ns = await t.namespace();
  const widgets = await t.widgets();
  created(await t.post(widgets.path(ns), widgets.draft('a', { color: 'red', size: 1 })));
  created(await t.post(widgets.path(ns), widgets.draft('b', { color: 'green', size: 2 })));
  created(await t.post(widgets.path(ns), widgets.draft('c', { size: 2 })));
  const find = async (fieldSelector: string) => names(ok(await t.get(widgets.path(ns), { query: { fieldSelector } })));
  same(await find('spec.color=red'), ['a'], 'red');
  same(await find('spec.color!=red'), ['b', 'c'], 'not red');
  same(await find('spec.size=2'), ['b', 'c'], 'size 2');
  same(await find('spec.size=2,spec.color=blue'), ['c'], 'size 2 and blue');
  failure(await t.get(widgets.path(ns), { query: { fieldSelector: 'spec.note=x' } }), {
    code: 400,
    reason: 'BadRequest',
    message: 'field label not supported: spec.note',
  });
});

spec(20, 'selectable fields are those of the version that is asked', async (t) => {
  const group = `${t.unique('sel')}.kctl.test`;
  const version = (name: string, more: Draft, description = `In ${name}.`): Draft => ({
    name,
    served: true,
    storage: name === 'v1',
    schema: {
      openAPIV3Schema: {
        type: 'object',
        description,
        properties: { spec: { type: 'object', properties: { color: { type: 'string' }, size: { type: 'integer' } } } },
      },
    },
    ...more,
  });
  const definition = (versions: readonly Draft[]): Draft => ({
    metadata: { name: `things.${group}` },
    spec: { group, scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' }, versions },
  });
  const color = { selectableFields: [{ jsonPath: '.spec.color' }] };
  const size = { selectableFields: [{ jsonPath: '.spec.size' }] };
  // A schema that versions share is looked for where theirs are no more, and the other way round.
  failure(await t.post(CRDS, definition([version('v1', color, ''), version('v2', {}, '')])), {
    code: 422,
    reason: 'Invalid',
    causes: [
      {
        reason: 'FieldValueInvalid',
        field: 'spec.versions[0].selectableFields',
        message: 'Invalid value: "": may only be set when `version.schema.openAPIV3Schema` is not included',
      },
    ],
  });
  failure(await t.post(CRDS, definition([version('v1', color), version('v2', color)])), {
    code: 422,
    reason: 'Invalid',
    causes: [
      {
        reason: 'FieldValueInvalid',
        field: 'spec.selectableFields',
        message: 'Invalid value: "": may only be set when validations.schema is included',
      },
    ],
  });
  await t.crd(definition([version('v1', color), version('v2', {}), version('v3', size)]));
  const ns = await t.namespace();
  const path = (name: string): string => `/apis/${group}/${name}/namespaces/${ns}/things`;
  for (const [name, ink, length] of [
    ['a', 'red', 1],
    ['b', 'green', 2],
  ] as const)
    created(
      await t.post(path('v2'), {
        apiVersion: `${group}/v2`,
        kind: 'Thing',
        metadata: { name },
        spec: { color: ink, size: length },
      }),
    );
  const ask = (name: string, fieldSelector: string) => t.get(path(name), { query: { fieldSelector } });
  same(names(ok(await ask('v1', 'spec.color=red'))), ['a'], 'v1');
  same(names(ok(await ask('v3', 'spec.size=2'))), ['b'], 'v3');
  same(names(ok(await ask('v2', 'metadata.name=b'))), ['b'], 'v2');
  for (const [name, field] of [
    ['v1', 'spec.size'],
    ['v2', 'spec.color'],
    ['v2', 'spec.size'],
    ['v3', 'spec.color'],
  ] as const) {
    const refusal = { code: 400, reason: 'BadRequest', message: `field label not supported: ${field}` };
    failure(await ask(name, `${field}=1`), refusal);
    failure(await t.delete(path(name), undefined, { query: { fieldSelector: `${field}=1` } }), refusal);
  }
});

spec(20, 'a field that a built-in does not know answers 400', async (t) => {
  const ns = await t.namespace();
  failure(await t.get(configMaps(ns), { query: { fieldSelector: 'data.a=1' } }), {
    code: 400,
    reason: 'BadRequest',
    message: '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
  });
  failure(await t.get(deployments(ns), { query: { fieldSelector: 'spec.replicas=1' } }), {
    code: 400,
    reason: 'BadRequest',
    message: '"spec.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"',
  });
  failure(await t.get(pods(ns), { query: { fieldSelector: 'spec.image=x' } }), {
    code: 400,
    reason: 'BadRequest',
    message: 'field label not supported: spec.image',
  });
});

spec(20, 'field selectors of pods', async (t) => {
  const ns = await podNamespace(t);
  created(await t.post(pods(ns), podDraft('a', { spec: { nodeName: 'n1', restartPolicy: 'Never' } })));
  created(await t.post(pods(ns), podDraft('b')));
  const find = async (fieldSelector: string) => names(ok(await t.get(pods(ns), { query: { fieldSelector } })));
  same(await find('spec.nodeName=n1'), ['a'], 'spec.nodeName');
  same(await find('spec.nodeName='), ['b'], 'no node');
  same(await find('status.phase=Pending'), ['a', 'b'], 'status.phase');
  same(await find('status.phase=Running'), [], 'status.phase');
  same(await find('spec.restartPolicy=Never'), ['a'], 'spec.restartPolicy');
  same(await find('spec.schedulerName=default-scheduler,spec.nodeName!=n1'), ['b'], 'two');
  for (const field of ['spec.serviceAccountName', 'spec.hostNetwork', 'status.podIP', 'status.nominatedNodeName'])
    await find(`${field}=x`);
  ok(await t.delete(`${pods(ns, 'a')}?gracePeriodSeconds=0`));
});

spec(20, 'field selectors of other built-ins', async (t) => {
  const ns = await t.namespace();
  created(await t.post(secrets(ns), { metadata: { name: 'a' }, type: 'kctl.test/x' }));
  created(await t.post(secrets(ns), { metadata: { name: 'b' } }));
  same(names(ok(await t.get(secrets(ns), { query: { fieldSelector: 'type=kctl.test/x' } }))), ['a'], 'secrets by type');
  const namespaces = ok(
    await t.get('/api/v1/namespaces', { query: { fieldSelector: `status.phase=Active,metadata.name=${ns}` } }),
  );
  same(names(namespaces), [ns], 'namespaces by phase');
  const event = (name: string, reason: string) => ({
    metadata: { name },
    involvedObject: { kind: 'ConfigMap', namespace: ns, name: 'x', uid: 'u' },
    reason,
    type: 'Normal',
  });
  created(await t.post(`/api/v1/namespaces/${ns}/events`, event('e1', 'Made')));
  created(await t.post(`/api/v1/namespaces/${ns}/events`, event('e2', 'Gone')));
  const find = async (fieldSelector: string) =>
    names(ok(await t.get(`/api/v1/namespaces/${ns}/events`, { query: { fieldSelector } })));
  same(await find('reason=Made'), ['e1'], 'events by reason');
  same(
    await find('involvedObject.name=x,involvedObject.kind=ConfigMap,type=Normal,involvedObject.uid=u'),
    ['e1', 'e2'],
    'events by object',
  );
  const jobs = await t.get(`/apis/batch/v1/namespaces/${ns}/jobs`, { query: { fieldSelector: 'status.successful=0' } });
  same(names(ok(jobs)), [], 'jobs by status.successful');
  ok(await t.get('/api/v1/nodes', { query: { fieldSelector: 'spec.unschedulable=true' } }));
});

spec(15, 'GET of a collection of a cluster-scoped kind and of one of its objects', async (t) => {
  const list = ok(await t.get('/api/v1/namespaces'));
  for (const name of ['default', 'kube-node-lease', 'kube-public', 'kube-system'])
    check(names(list).includes(name), `namespace ${name} is missing`);
  const one = ok(await t.get('/api/v1/namespaces/default')) as Json;
  same(
    [one.kind, one.apiVersion, one.metadata.name, one.metadata.namespace, one.status.phase],
    ['Namespace', 'v1', 'default', undefined, 'Active'],
    'default',
  );
  matches(one.metadata.uid as string, /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, 'uid');
});
