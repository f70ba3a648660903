/** §2.10, statement 63: rules in CEL (`x-kubernetes-validations`). */
import type { Context } from '../harness/context.js';
import { APPLY_PATCH, JSON_PATCH, MERGE_PATCH } from '../harness/context.js';
import type { Draft, Json } from '../harness/doc.js';
import { check, created, failure, ok, same } from '../harness/expect.js';
import { spec } from '../harness/spec.js';
import { CRDS } from './paths.js';

type Rule = Readonly<Record<string, unknown>>;

const rule = (text: string, more: Rule = {}): Draft => ({ 'x-kubernetes-validations': [{ rule: text, ...more }] });
const object = (properties: Draft, more: Draft = {}): Draft => ({ type: 'object', properties, ...more });
const inSpec = (properties: Draft, more: Draft = {}): Draft => object({ spec: object(properties, more) });
const text = { type: 'string' };
const int = { type: 'integer' };

function definition(group: string, schema: Draft, subresources?: Draft): Draft {
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: schema },
    ...(subresources && { subresources }),
  };
  return {
    metadata: { name: `things.${group}` },
    spec: { group, scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' }, versions: [version] },
  };
}

/** A definition with the schema, and a place for its objects. */
async function things(t: Context, schema: Draft, subresources?: Draft) {
  const group = `${t.unique('cel')}.kctl.test`;
  await t.crd(definition(group, schema, subresources));
  const ns = await t.namespace();
  const path = (name?: string): string =>
    [`/apis/${group}/v1/namespaces/${ns}/things`, name].filter((part) => part !== undefined).join('/');
  const thing = (name: string, fields: object): Draft => ({
    apiVersion: `${group}/v1`,
    kind: 'Thing',
    metadata: { name },
    ...fields,
  });
  return { path, thing, post: (name: string, fields: object) => t.post(path(), thing(name, fields)) };
}

const refused = (field: string, message: string | RegExp, reason = 'FieldValueInvalid') => ({
  code: 422,
  reason: 'Invalid',
  causes: [{ reason, field, message }],
});

const evaluated: [
  title: string,
  schema: Draft,
  good: Json,
  bad: Json,
  field: string,
  message: string | RegExp,
  reason?: string,
][] = [
  [
    'a message',
    inSpec({ a: int, b: int }, rule('self.a <= self.b', { message: 'a must be <= b' })),
    { a: 1, b: 2 },
    { a: 3, b: 2 },
    'spec',
    'Invalid value: a must be <= b',
  ],
  [
    'no message',
    inSpec({ a: { ...text, ...rule("self != 'x'") } }),
    { a: 'y' },
    { a: 'x' },
    'spec.a',
    `Invalid value: "x": failed rule: self != 'x'`,
  ],
  [
    'messageExpression',
    inSpec({ a: { ...text, maxLength: 9 } }, rule('self.a != "bad"', { messageExpression: '"a is " + self.a' })),
    { a: 'good' },
    { a: 'bad' },
    'spec',
    'Invalid value: a is bad',
  ],
  [
    'a messageExpression that fails',
    inSpec({ a: int }, rule('self.a < 5', { message: 'm', messageExpression: 'string(self.a / 0)' })),
    { a: 1 },
    { a: 7 },
    'spec',
    'Invalid value: m',
  ],
  [
    'reason and fieldPath',
    inSpec(
      { a: int, b: object({ c: int }) },
      rule('self.a < 5', { message: 'm', reason: 'FieldValueForbidden', fieldPath: '.b.c' }),
    ),
    { a: 1 },
    { a: 7 },
    'spec.b.c',
    'Forbidden: m',
    'FieldValueForbidden',
  ],
  [
    'reason Required',
    inSpec({ a: int, b: int }, rule('has(self.b)', { message: 'm', reason: 'FieldValueRequired', fieldPath: '.b' })),
    { b: 1 },
    { a: 7 },
    'spec.b',
    'Required value: m',
    'FieldValueRequired',
  ],
  [
    'reason Duplicate',
    inSpec({ a: { ...text, ...rule('self != "x"', { reason: 'FieldValueDuplicate' }) } }),
    { a: 'y' },
    { a: 'x' },
    'spec.a',
    'Duplicate value: "x"',
    'FieldValueDuplicate',
  ],
  [
    'an error of evaluation',
    inSpec({ a: int, b: int }, rule('self.a < self.b')),
    { a: 1, b: 2 },
    { a: 7 },
    'spec',
    'Invalid value: "object": no such key: b evaluating rule: self.a < self.b',
  ],
  [
    'int-or-string',
    inSpec({
      p: { 'x-kubernetes-int-or-string': true, ...rule('type(self) == int ? self < 100 : self.endsWith("%")') },
    }),
    { p: '80%' },
    { p: 100 },
    'spec.p',
    'Invalid value: 100: failed rule: type(self) == int ? self < 100 : self.endsWith("%")',
  ],
  [
    'an overload that is missing at run time',
    inSpec({ p: { 'x-kubernetes-int-or-string': true } }, rule('self.p < 5')),
    { p: 1 },
    { p: 'x' },
    'spec',
    `Invalid value: "object": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.p < 5`,
  ],
  [
    'a rule in a list',
    inSpec({
      l: { type: 'array', items: { ...text, maxLength: 10, ...rule('self.size() < 3', { message: 'long' }) } },
    }),
    { l: ['a'] },
    { l: ['a', 'abcd'] },
    'spec.l[1]',
    'Invalid value: "abcd": long',
  ],
  [
    'a rule in a map',
    inSpec({ m: { type: 'object', additionalProperties: { ...int, ...rule('self > 0') } } }),
    { m: { a: 1 } },
    { m: { 'b.c': 0 } },
    'spec.m[b.c]',
    'Invalid value: 0: failed rule: self > 0',
  ],
  [
    'a rule of the whole object',
    object(
      { spec: object({ a: int }) },
      rule('self.metadata.name.startsWith("good") || self.spec.a == 1', { message: 'm' }),
    ),
    { a: 1 },
    { a: 2 },
    '<nil>',
    'Invalid value: m',
  ],
  [
    'escaped names',
    inSpec(
      { 'a-b': text, namespace: text, 'c.d/e': text, f__g: text },
      rule('self.a__dash__b == self.__namespace__ && self.c__dot__d__slash__e == self.f__underscores__g', {
        message: 'm',
      }),
    ),
    { 'a-b': 'x', namespace: 'x', 'c.d/e': 'y', f__g: 'y' },
    { 'a-b': 'x', namespace: 'y', 'c.d/e': 'y', f__g: 'y' },
    'spec',
    'Invalid value: m',
  ],
  [
    'times, durations and bytes',
    inSpec(
      { at: { ...text, format: 'date-time' }, wait: { ...text, format: 'duration' }, raw: { ...text, format: 'byte' } },
      rule('self.at.getFullYear() == 2024 && self.wait > duration("1m") && self.raw == b"hi"', { message: 'm' }),
    ),
    { at: '2024-01-01T00:00:00Z', wait: '2m', raw: 'aGk=' },
    { at: '2023-01-01T00:00:00Z', wait: '2m', raw: 'aGk=' },
    'spec',
    'Invalid value: m',
  ],
  [
    'sets in any order',
    inSpec(
      {
        s: { type: 'array', 'x-kubernetes-list-type': 'set', maxItems: 5, items: text },
        t: { type: 'array', 'x-kubernetes-list-type': 'set', maxItems: 5, items: text },
      },
      rule('self.s == self.t', { message: 'm' }),
    ),
    { s: ['a', 'b'], t: ['b', 'a'] },
    { s: ['a', 'b'], t: ['b', 'c'] },
    'spec',
    'Invalid value: m',
  ],
  [
    'numbers of two kinds',
    inSpec(
      { i: int, d: { type: 'number' } },
      rule('self.i < self.d && double(self.i) + 0.5 == self.d', { message: 'm' }),
    ),
    { i: 1, d: 1.5 },
    { i: 2, d: 1.5 },
    'spec',
    'Invalid value: m',
  ],
  [
    "Kubernetes' libraries",
    inSpec(
      {
        ip: { ...text, maxLength: 40 },
        q: { ...text, maxLength: 20 },
        u: { ...text, maxLength: 100 },
        v: { ...text, maxLength: 20 },
      },
      rule(
        'cidr("10.0.0.0/8").containsIP(self.ip) && quantity(self.q).isLessThan(quantity("1Gi")) && url(self.u).getScheme() == "https" && semver(self.v).major() == 1 && !format.dns1123Label().validate(self.v.replace(".", "-")).hasValue()',
        { message: 'm' },
      ),
    ),
    { ip: '10.1.2.3', q: '5Mi', u: 'https://a.b/c', v: '1.2.3' },
    { ip: '11.1.2.3', q: '5Mi', u: 'https://a.b/c', v: '1.2.3' },
    'spec',
    'Invalid value: m',
  ],
  [
    'optionals and two variables',
    inSpec(
      { m: { type: 'object', maxProperties: 4, additionalProperties: { ...text, maxLength: 4 } }, a: int },
      rule('self.?a.orValue(3) == 3 && self.m.all(k, v, k == v)', { message: 'm' }),
    ),
    { m: { a: 'a' } },
    { m: { a: 'b' } },
    'spec',
    'Invalid value: m',
  ],
  [
    'a regular expression in linear time',
    inSpec({ a: { ...text, maxLength: 5000 } }, rule('self.a.matches("^(a+)+$")', { message: 'm' })),
    { a: 'aaaa' },
    { a: `${'a'.repeat(4000)}!` },
    'spec',
    'Invalid value: m',
  ],
];

for (const [title, schema, good, bad, field, message, reason] of evaluated) {
  spec(63, `a rule: ${title}`, async (t) => {
    const { post } = await things(t, schema);
    created(await post('good', { spec: good }));
    failure(await post('bad', { spec: bad }), refused(field, message, reason));
  });
}

spec(63, 'transition rules: on each kind of write, and not on create', async (t) => {
  const { post, path, thing } = await things(
    t,
    inSpec({ a: { ...text, ...rule('self == oldSelf', { message: 'fixed' }) }, b: int }),
  );
  created(await post('x', { spec: { a: 'one' } }));
  const expected = refused('spec.a', 'Invalid value: "two": fixed');
  const got = ok(await t.get(path('x')));
  failure(await t.put(path('x'), { ...got, spec: { a: 'two' } }), expected);
  failure(await t.patch(path('x'), MERGE_PATCH, { spec: { a: 'two' } }), expected);
  failure(await t.patch(path('x'), JSON_PATCH, [{ op: 'replace', path: '/spec/a', value: 'two' }]), expected);
  failure(
    await t.patch(`${path('x')}?fieldManager=m&force=true`, APPLY_PATCH, thing('x', { spec: { a: 'two' } })),
    expected,
  );
  ok(await t.patch(path('x'), MERGE_PATCH, { spec: { b: 1 } }));
  ok(await t.patch(path('x'), MERGE_PATCH, { spec: { a: null } }));
  ok(await t.patch(path('x'), MERGE_PATCH, { spec: { a: 'two' } }));
});

spec(63, 'transition rules: optionalOldSelf', async (t) => {
  const { post, path } = await things(
    t,
    inSpec({
      a: {
        ...text,
        ...rule('oldSelf.hasValue() ? oldSelf.value() == self : self != "no"', { message: 'm', optionalOldSelf: true }),
      },
    }),
  );
  failure(await post('x', { spec: { a: 'no' } }), refused('spec.a', 'Invalid value: "no": m'));
  created(await post('x', { spec: { a: 'yes' } }));
  failure(
    await t.patch(path('x'), MERGE_PATCH, { spec: { a: 'maybe' } }),
    refused('spec.a', 'Invalid value: "maybe": m'),
  );
});

spec(63, 'transition rules: items of lists of type map correspond by their keys', async (t) => {
  const items = object(
    { k: text, v: { ...int, ...rule('self >= oldSelf', { message: 'shrinks' }) } },
    { required: ['k'] },
  );
  const { post, path } = await things(
    t,
    inSpec({ l: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'], items } }),
  );
  created(
    await post('x', {
      spec: {
        l: [
          { k: 'a', v: 2 },
          { k: 'b', v: 1 },
        ],
      },
    }),
  );
  ok(
    await t.patch(path('x'), MERGE_PATCH, {
      spec: {
        l: [
          { k: 'b', v: 1 },
          { k: 'a', v: 2 },
          { k: 'c', v: 0 },
        ],
      },
    }),
  );
  failure(
    await t.patch(path('x'), MERGE_PATCH, {
      spec: {
        l: [
          { k: 'c', v: 0 },
          { k: 'a', v: 1 },
        ],
      },
    }),
    refused('spec.l[1].v', 'Invalid value: 1: shrinks'),
  );
});

spec(63, 'ratcheting: what an update does not change is a warning', async (t) => {
  const group = `${t.unique('cel')}.kctl.test`;
  const loose = inSpec({ a: text, l: { type: 'array', items: text }, b: int });
  await t.crd(definition(group, loose));
  const ns = await t.namespace();
  const path = `/apis/${group}/v1/namespaces/${ns}/things`;
  created(
    await t.post(path, {
      apiVersion: `${group}/v1`,
      kind: 'Thing',
      metadata: { name: 'x' },
      spec: { a: 'bad', l: ['bad'], b: 1 },
    }),
  );
  const strict = inSpec({
    a: { ...text, ...rule('self != "bad"', { message: 'a is bad' }) },
    l: { type: 'array', items: { ...text, maxLength: 5, ...rule('self != "bad"', { message: 'item is bad' }) } },
    b: int,
  });
  ok(
    await t.patch(`${CRDS}/things.${group}`, JSON_PATCH, [
      { op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value: strict },
    ]),
  );
  await t.eventually(
    () =>
      t.post(path, {
        apiVersion: `${group}/v1`,
        kind: 'Thing',
        metadata: { name: t.unique('probe') },
        spec: { a: 'bad' },
      }),
    (answer) => answer.status === 422,
    { what: 'the new schema' },
  );
  const answer = await t.patch(`${path}/x`, MERGE_PATCH, { spec: { b: 2 } });
  ok(answer);
  same(
    [...answer.warnings].sort(),
    ['spec.a: Invalid value: "bad": a is bad', 'spec.l[0]: Invalid value: "bad": item is bad'],
    'warnings',
  );
  failure(
    await t.patch(`${path}/x`, MERGE_PATCH, { spec: { l: ['bad', 'good'] } }),
    refused('spec.l[0]', 'Invalid value: "bad": item is bad'),
  );
});

spec(
  63,
  'ratcheting: an unknown field that is kept, and a key that is missing, are changes; order is not',
  async (t) => {
    const group = `${t.unique('cel')}.kctl.test`;
    const more = { 'x-kubernetes-preserve-unknown-fields': true };
    const list = (keys: string[], rest: Draft = {}): Draft => ({
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': keys,
      items: object({ k: text, p: { ...text } }, { required: keys }),
      ...rest,
    });
    const schema = (limit: Draft, keys: string[]): Draft =>
      inSpec({
        open: object({ a: text }, { ...more, ...limit }),
        map: { type: 'object', additionalProperties: text, ...limit },
        parts: list(
          ['k'],
          'maxProperties' in limit ? { maxItems: 1, ...rule('self.size() < 2', { message: 'm' }) } : {},
        ),
        pairs: list(keys, 'maxProperties' in limit ? { maxItems: 1 } : {}),
        b: int,
      });
    await t.crd(definition(group, schema({}, ['k'])));
    const ns = await t.namespace();
    const path = `/apis/${group}/v1/namespaces/${ns}/things`;
    const thing = (name: string, fields: Draft): Draft => ({
      apiVersion: `${group}/v1`,
      kind: 'Thing',
      metadata: { name },
      spec: fields,
    });
    const two = [{ k: 'x' }, { k: 'y' }];
    created(await t.post(path, thing('known', { open: { a: 'a' }, map: { a: 'a', b: 'b' } })));
    created(await t.post(path, thing('unknown', { open: { a: 'a', z: 'z' } })));
    created(await t.post(path, thing('parts', { parts: two })));
    created(await t.post(path, thing('pairs', { pairs: two })));
    const limit = { maxProperties: 0 };
    const strict = schema(limit, ['k', 'p']);
    ok(
      await t.patch(`${CRDS}/things.${group}`, JSON_PATCH, [
        { op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value: strict },
      ]),
    );
    await t.eventually(
      () => t.post(path, thing(t.unique('probe'), { map: { a: 'a' } })),
      (answer) => answer.status === 422,
      { what: 'the new schema' },
    );
    const write = (name: string, fields: Draft) =>
      t.patch(`${path}/${name}`, MERGE_PATCH, { spec: { ...fields, b: 2 } });
    ok(await write('known', {}));
    failure(await write('unknown', {}), {
      code: 422,
      reason: 'Invalid',
      causes: [
        { reason: 'FieldValueTooMany', field: 'spec.open', message: 'Too many: 2: must have at most 0 items' },
        { reason: 'FieldValueInvalid', field: '<nil>', message: /^Invalid value: null: some validation rules/ },
      ],
    });
    ok(await write('parts', { parts: [...two].reverse() }));
    check((await write('pairs', {})).status === 422, 'items without one of their keys do not count as unchanged');
  },
);

spec(63, 'rules hold for the status too', async (t) => {
  const { post, path } = await things(
    t,
    object({ spec: object({ a: int }), status: object({ b: { ...int, ...rule('self < 5', { message: 'm' }) } }) }),
    { status: {} },
  );
  created(await post('x', { spec: { a: 1 }, status: { b: 9 } }));
  ok(await t.patch(`${path('x')}/status`, MERGE_PATCH, { status: { b: 1 } }));
  failure(
    await t.patch(`${path('x')}/status`, MERGE_PATCH, { status: { b: 9 } }),
    refused('status.b', 'Invalid value: 9: m'),
  );
});

spec(63, 'rules are not looked at where the object has the wrong types', async (t) => {
  const { post } = await things(t, inSpec({ a: int, b: text }, rule('self.a < 5')));
  const body = failure(await post('x', { spec: { a: 7, b: 1 } }), { code: 422, reason: 'Invalid' });
  const causes = body.details.causes as Json[];
  same(
    causes.map(({ field }) => field),
    ['spec.b', '<nil>'],
    'fields',
  );
  check(String(causes[1].message).includes('some validation rules were not checked'), JSON.stringify(causes[1]));
});

const printed = (text: string, more: Rule = {}): string =>
  JSON.stringify({
    Rule: text,
    Message: more['message'] ?? '',
    MessageExpression: more['messageExpression'] ?? '',
    Reason: more['reason'] ?? null,
    FieldPath: more['fieldPath'] ?? '',
    OptionalOldSelf: more['optionalOldSelf'] ?? null,
  })
    .replaceAll('<', '\\u003c')
    .replaceAll('>', '\\u003e')
    .replaceAll('&', '\\u0026');

const at = 'spec.validation.openAPIV3Schema.properties[spec]';
const first = `${at}.x-kubernetes-validations[0]`;
const compiled = (text: string, problem: string): string =>
  `Invalid value: ${printed(text)}: compilation failed: ERROR: <input>:${problem}`;

const refusedRules: [
  title: string,
  schema: Draft,
  causes: { reason: string; field: string; message: string | RegExp }[],
][] = [
  [
    'an undefined field',
    inSpec({ a: int }, rule('self.b > 1')),
    [
      {
        reason: 'FieldValueInvalid',
        field: `${first}.rule`,
        message: compiled('self.b > 1', "1:5: undefined field 'b'\n | self.b > 1\n | ....^"),
      },
    ],
  ],
  [
    'types that do not go together',
    inSpec({ a: int }, rule("self.a == 'x'")),
    [
      {
        reason: 'FieldValueInvalid',
        field: `${first}.rule`,
        message: compiled(
          "self.a == 'x'",
          "1:8: found no matching overload for '_==_' applied to '(int, string)'\n | self.a == 'x'\n | .......^",
        ),
      },
    ],
  ],
  [
    'a syntax error',
    inSpec({ a: int }, rule('self.a ==')),
    [
      {
        reason: 'FieldValueInvalid',
        field: `${first}.rule`,
        message: /compilation failed: ERROR: <input>:1:10: Syntax error: mismatched input '<EOF>' expecting/,
      },
    ],
  ],
  [
    'a rule that is no bool',
    inSpec({ a: int }, rule('self.a')),
    [
      {
        reason: 'FieldValueInvalid',
        field: `${first}.rule`,
        message: `Invalid value: ${printed('self.a')}: cel expression must evaluate to a bool`,
      },
    ],
  ],
  [
    'a messageExpression that is no string',
    inSpec({ a: int }, rule('true', { messageExpression: 'self.a' })),
    [
      {
        reason: 'FieldValueInvalid',
        field: `${first}.messageExpression`,
        message: `Invalid value: ${printed('true', { messageExpression: 'self.a' })}: messageExpression must evaluate to a string`,
      },
    ],
  ],
  [
    'a messageExpression that does not compile',
    inSpec({ a: int }, rule('true', { messageExpression: 'self.b' })),
    [
      {
        reason: 'FieldValueInvalid',
        field: `${first}.messageExpression`,
        message: /: messageExpression compilation failed: ERROR: <input>:1:5: undefined field 'b'/,
      },
    ],
  ],
  [
    'an empty rule',
    inSpec({ a: int }, rule('  ')),
    [{ reason: 'FieldValueRequired', field: `${first}.rule`, message: 'Required value: rule is not specified' }],
  ],
  [
    'a message of several lines',
    inSpec({ a: int }, rule('true', { message: 'a\nb' })),
    [
      {
        reason: 'FieldValueInvalid',
        field: `${first}.message`,
        message: 'Invalid value: "a\\nb": must not contain line breaks',
      },
    ],
  ],
  [
    'a fieldPath that leads nowhere',
    inSpec({ a: int }, rule('true', { fieldPath: '.zz' })),
    [
      {
        reason: 'FieldValueInvalid',
        field: `${first}.fieldPath`,
        message: 'Invalid value: ".zz": must be a valid path',
      },
    ],
  ],
  [
    'optionalOldSelf without oldSelf',
    inSpec({ a: int }, rule('true', { optionalOldSelf: true })),
    [
      {
        reason: 'FieldValueInvalid',
        field: `${first}.optionalOldSelf`,
        message: 'Invalid value: true: may not be set if oldSelf is not used in rule',
      },
    ],
  ],
  [
    'oldSelf in a list that does not correspond',
    inSpec({ l: { type: 'array', maxItems: 3, items: { ...text, maxLength: 5, ...rule('self == oldSelf') } } }),
    [
      {
        reason: 'FieldValueInvalid',
        field: `${at}.properties[l].items.x-kubernetes-validations[0].rule`,
        message: `Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${at}.properties[l]`,
      },
    ],
  ],
  [
    'a rule that may cost too much',
    inSpec({ l: { type: 'array', items: text, ...rule('self.all(x, self.all(y, x == y))') } }),
    [
      {
        reason: 'FieldValueForbidden',
        field: `${at}.properties[l].x-kubernetes-validations[0].rule`,
        message:
          'Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      },
      {
        reason: 'FieldValueForbidden',
        field: `${at}.properties[l].x-kubernetes-validations[0].rule`,
        message: 'Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      },
      {
        reason: 'FieldValueForbidden',
        field: 'spec.validation.openAPIV3Schema',
        message:
          'Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      },
    ],
  ],
  [
    'a rule just above its budget',
    inSpec({
      l: {
        type: 'array',
        maxItems: 1200,
        items: { ...text, maxLength: 20 },
        ...rule('self.all(x, self.all(y, x == y))'),
      },
    }),
    [
      {
        reason: 'FieldValueForbidden',
        field: `${at}.properties[l].x-kubernetes-validations[0].rule`,
        message: /^Forbidden: estimated rule cost exceeds budget by factor of 1\.\d+x \(try/,
      },
    ],
  ],
  [
    'a rule that is cheap, in a list that is long',
    inSpec({ l: { type: 'array', items: { ...text, ...rule('self.contains("x")') } } }),
    [
      {
        reason: 'FieldValueForbidden',
        field: `${at}.properties[l].items.x-kubernetes-validations[0].rule`,
        message: /^Forbidden: estimated rule cost exceeds budget by factor of more than 100x/,
      },
      {
        reason: 'FieldValueForbidden',
        field: `${at}.properties[l].items.x-kubernetes-validations[0].rule`,
        message: /^Forbidden: contributed/,
      },
      {
        reason: 'FieldValueForbidden',
        field: 'spec.validation.openAPIV3Schema',
        message: /^Forbidden: x-kubernetes-validations estimated/,
      },
    ],
  ],
  [
    'a rule inside of allOf',
    inSpec({ a: int }, { allOf: [rule('self.a > 1')] }),
    [
      {
        reason: 'FieldValueForbidden',
        field: `${at}.allOf[0].x-kubernetes-validations`,
        message: 'Forbidden: must be empty to be structural',
      },
    ],
  ],
];

for (const [title, schema, causes] of refusedRules) {
  spec(63, `a definition is refused: ${title}`, async (t) => {
    const group = `${t.unique('cel')}.kctl.test`;
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      ...definition(group, schema),
    };
    failure(await t.post(CRDS, crd), { code: 422, reason: 'Invalid', causes });
  });
}
