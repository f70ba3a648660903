/** §2.9 and §2.11: options that cannot be read are refused, at every verb and entrance, and nothing is done. */
import { MERGE_PATCH, type Context } from '../harness/context.js';
import { created, failure, ok, status } from '../harness/expect.js';
import type { Answer } from '../harness/http.js';
import { spec } from '../harness/spec.js';
import { configMaps, createConfigMap, podDraft, podNamespace, pods } from './paths.js';

const ONE = 'fieldSelector=metadata.name=a';
const noObject = (kind: string): string =>
  `couldn't get version/kind; json parse error: json: cannot unmarshal ${kind} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
const noKind = (field: string, given: string): string =>
  `couldn't get version/kind; json parse error: json: cannot unmarshal ${given} into Go struct field .${field} of type string`;
const noField = (shown: string, field: string, type: string): string =>
  `json: cannot unmarshal ${shown} into Go struct field ${field} of type ${type}`;

/** Bodies of a DELETE that do not decode, with the message. */
const undecodable: readonly (readonly [body: string, message: string])[] = [
  ['5', noObject('number')],
  ['[]', noObject('array')],
  ['"x"', noObject('string')],
  ['true', noObject('bool')],
  ['{"kind":5}', noKind('kind', 'number')],
  ['{"kind":{},"apiVersion":"v1"}', noKind('kind', 'object')],
  ['{"kind":"DeleteOptions","apiVersion":[]}', noKind('apiVersion', 'array')],
  ['{"kind":"DeleteOptions","apiVersion":"a/b/c"}', 'unexpected GroupVersion string: a/b/c'],
  [
    '{"kind":"Pod","apiVersion":"v1"}',
    'no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
  ],
  ['{"kind":"Pod"}', 'no kind "Pod" is registered for version "meta.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"'],
  ['{"kind":"ListOptions"}', 'converting (v1.ListOptions) to (v1.DeleteOptions): unknown conversion'],
  [
    '{"kind":"ListOptions","apiVersion":"v1"}',
    'no kind "ListOptions" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
  ],
  ['{"kind":"Status","apiVersion":"v1"}', 'converting (v1.Status) to (v1.DeleteOptions): unknown conversion'],
  ['{"dryRun":"All"}', noField('string', 'DeleteOptions.dryRun', '[]string')],
  ['{"dryRun":{}}', noField('object', 'DeleteOptions.dryRun', '[]string')],
  ['{"dryRun":[5]}', noField('number', 'DeleteOptions.dryRun', 'string')],
  ['{"preconditions":[]}', noField('array', 'DeleteOptions.preconditions', 'v1.Preconditions')],
  ['{"preconditions":"x"}', noField('string', 'DeleteOptions.preconditions', 'v1.Preconditions')],
  ['{"preconditions":{"uid":5}}', noField('number', 'Preconditions.preconditions.uid', 'types.UID')],
  [
    '{"preconditions":{"resourceVersion":5}}',
    noField('number', 'Preconditions.preconditions.resourceVersion', 'string'),
  ],
  ['{"gracePeriodSeconds":1.5}', noField('number 1.5', 'DeleteOptions.gracePeriodSeconds', 'int64')],
  ['{"gracePeriodSeconds":"5"}', noField('string', 'DeleteOptions.gracePeriodSeconds', 'int64')],
  ['{"gracePeriodSeconds":true}', noField('bool', 'DeleteOptions.gracePeriodSeconds', 'int64')],
  [
    '{"gracePeriodSeconds":9223372036854775808}',
    noField('number 9223372036854775808', 'DeleteOptions.gracePeriodSeconds', 'int64'),
  ],
  ['{"orphanDependents":"true"}', noField('string', 'DeleteOptions.orphanDependents', 'bool')],
  ['{"propagationPolicy":5}', noField('number', 'DeleteOptions.propagationPolicy', 'v1.DeletionPropagation')],
  [
    '{"ignoreStoreReadErrorWithClusterBreakingPotential":"x"}',
    noField('string', 'DeleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential', 'bool'),
  ],
];
/** Numbers that YAML does not keep as they are written. */
const undecodableJson: typeof undecodable = [
  ['{"gracePeriodSeconds":1.0}', noField('number 1.0', 'DeleteOptions.gracePeriodSeconds', 'int64')],
  ['{"gracePeriodSeconds":1e2}', noField('number 1e2', 'DeleteOptions.gracePeriodSeconds', 'int64')],
];

/** Sends a deletion of the config map `a` by its name and by its collection; both must leave it. */
async function refusedDeletions(
  t: Context,
  ns: string,
  deletion: { readonly query?: string; readonly body?: string; readonly contentType?: string },
  check: (answer: Answer) => void,
): Promise<void> {
  const { query, body, contentType = 'application/json' } = deletion;
  const options = { contentType };
  check(await t.delete(`${configMaps(ns, 'a')}${query === undefined ? '' : `?${query}`}`, body, options));
  check(await t.delete(`${configMaps(ns)}?${ONE}${query === undefined ? '' : `&${query}`}`, body, options));
  ok(await t.get(configMaps(ns, 'a')));
}

for (const [format, bodies] of [
  ['json', [...undecodable, ...undecodableJson]],
  ['yaml', undecodable],
] as const)
  spec(53, `bodies in ${format} that are not DeleteOptions answer 400 and delete nothing`, async (t) => {
    const ns = await t.namespace();
    await createConfigMap(t, ns, 'a');
    for (const [body, message] of bodies)
      await refusedDeletions(t, ns, { body, contentType: `application/${format}` }, (answer) =>
        failure(answer, { code: 400, reason: 'BadRequest', message }),
      );
  });

spec(53, 'protobuf that is not DeleteOptions answers 400 and deletes nothing', async (t) => {
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'a');
  for (const body of [
    Uint8Array.of(1, 2, 3),
    Uint8Array.of(0x6b, 0x38, 0x73, 0),
    Uint8Array.of(0x6b, 0x38, 0x73, 0, 0xff),
  ])
    for (const path of [configMaps(ns, 'a'), `${configMaps(ns)}?${ONE}`])
      failure(await t.delete(path, body, { contentType: 'application/vnd.kubernetes.protobuf' }), {
        code: 400,
        reason: 'BadRequest',
      });
  ok(await t.get(configMaps(ns, 'a')));
});

spec(53, 'empty dryRun and empty preconditions are not absent ones', async (t) => {
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'a');
  const dryRun = (answer: Answer): void => {
    failure(answer, { code: 422, reason: 'Invalid', causes: [{ reason: 'FieldValueNotSupported', field: 'dryRun' }] });
  };
  for (const body of ['{"dryRun":[""]}', '{"dryRun":[null]}', '{"dryRun":["All",""]}', '{"dryRun":["all"]}'])
    await refusedDeletions(t, ns, { body }, dryRun);
  for (const query of ['dryRun=', 'dryRun', 'dryRun=All&dryRun=', 'dryRun=&dryRun=All'])
    await refusedDeletions(t, ns, { query }, dryRun);
  const conflict = (answer: Answer): void => {
    failure(answer, { code: 409, reason: 'Conflict', message: /in the precondition \((zz)?\) does not match/ });
  };
  for (const name of ['uid', 'resourceVersion']) {
    await refusedDeletions(t, ns, { body: JSON.stringify({ preconditions: { [name]: '' } }) }, conflict);
    // deletecollection takes the parameter as the revision of its list, too.
    conflict(await t.delete(`${configMaps(ns, 'a')}?${name}=zz`));
  }
  await refusedDeletions(t, ns, { query: 'uid=zz' }, conflict);
});

const outOfRange = '9223372036854775808';
const parsed = (text: string): string =>
  `strconv.ParseInt: parsing "${text}": ${text === outOfRange ? 'value out of range' : 'invalid syntax'}`;
const badIntegers = ['', 'x', '1.5', '0x10', '1_0', outOfRange];

spec(53, 'gracePeriodSeconds that is not an int64 answers 400 and deletes nothing', async (t) => {
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'a');
  for (const text of badIntegers)
    await refusedDeletions(t, ns, { query: `gracePeriodSeconds=${text}` }, (answer) =>
      failure(answer, { code: 400, reason: 'BadRequest', message: parsed(text) }),
    );
});

spec(
  20,
  'limit and timeoutSeconds that are not an int64 answer 400 to a list, a watch and a deletecollection',
  async (t) => {
    const ns = await t.namespace();
    await createConfigMap(t, ns, 'a');
    for (const name of ['limit', 'timeoutSeconds'])
      for (const text of badIntegers) {
        const expected = { code: 400, reason: 'BadRequest', message: parsed(text) };
        failure(await t.get(`${configMaps(ns)}?${name}=${text}`), expected);
        failure(await t.get(`${configMaps(ns)}?watch=1&${name}=${text}`), expected);
        failure(await t.delete(`${configMaps(ns)}?${ONE}&${name}=${text}`), expected);
      }
    ok(await t.get(configMaps(ns, 'a')));
  },
);

spec(20, 'a resourceVersion that is not a uint64: 400 to a list, 500 to a get and a watch', async (t) => {
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'a');
  for (const text of ['x', '-1', '1.5', '0x1', '18446744073709551616']) {
    const why = text === '18446744073709551616' ? 'value out of range' : 'invalid syntax';
    const message = `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": ${why}`;
    const query = `resourceVersion=${text}`;
    const listed = { code: 400, reason: 'BadRequest', message: `invalid resource version: ${message}` };
    failure(await t.get(`${configMaps(ns)}?${query}`), listed);
    failure(await t.delete(`${configMaps(ns)}?${ONE}&${query}`), listed);
    failure(await t.get(`${configMaps(ns, 'a')}?${query}`), { code: 500, reason: undefined, message });
    failure(await t.get(`${configMaps(ns)}?watch=1&${query}`), { code: 500, reason: undefined, message });
  }
  ok(await t.get(configMaps(ns, 'a')));
});

spec(23, 'a continue token that is not base64 answers 400 with the position', async (t) => {
  const ns = await t.namespace();
  await createConfigMap(t, ns, 'a');
  for (const [text, position] of [
    ['x', 0],
    ['abcd%00', 4],
    ['abcde', 4],
    ['ab%3D%3D', 2],
  ] as const) {
    const message = `invalid continue token: continue key is not valid: illegal base64 data at input byte ${position}`;
    failure(await t.get(`${configMaps(ns)}?continue=${text}`), { code: 400, reason: 'BadRequest', message });
    failure(await t.delete(`${configMaps(ns)}?continue=${text}`), { code: 400, reason: 'BadRequest', message });
  }
  ok(await t.get(configMaps(ns, 'a')));
});

spec(69, 'an empty dryRun, and a fieldValidation that is not known, are refused by every write', async (t) => {
  const ns = await podNamespace(t);
  await createConfigMap(t, ns, 'a');
  const one = configMaps(ns, 'a');
  const writes: readonly (readonly [kind: string, send: (query: string) => Promise<Answer>])[] = [
    ['CreateOptions', (query) => t.post(`${configMaps(ns)}?${query}`, { metadata: { name: 'b' } })],
    ['UpdateOptions', (query) => t.put(`${one}?${query}`, { metadata: { name: 'a' }, data: { a: '1' } })],
    ['PatchOptions', (query) => t.patch(`${one}?${query}`, MERGE_PATCH, { data: { a: '1' } })],
    [
      'PatchOptions',
      (query) =>
        t.patch(`${one}?fieldManager=m&${query}`, 'application/apply-patch+yaml', {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'a' },
          data: { a: '1' },
        }),
    ],
    ['CreateOptions', (query) => t.post(`${pods(ns, 'none')}/binding?${query}`, { target: { name: 'n' } })],
    ['CreateOptions', (query) => t.post(`${pods(ns, 'none')}/eviction?${query}`, { metadata: { name: 'none' } })],
    [
      'CreateOptions',
      (query) => t.post(`/api/v1/namespaces/${ns}/serviceaccounts/default/token?${query}`, { spec: {} }),
    ],
  ];
  for (const [kind, send] of writes)
    for (const [query, field] of [
      ['dryRun=', 'dryRun'],
      ['dryRun=All&dryRun=', 'dryRun'],
      ['fieldValidation=strict', 'fieldValidation'],
    ] as const)
      failure(await send(query), {
        code: 422,
        reason: 'Invalid',
        details: { group: 'meta.k8s.io', kind },
        causes: [{ reason: 'FieldValueNotSupported', field }],
      });
  failure(await t.get(configMaps(ns, 'b')), { code: 404, reason: 'NotFound' });
});

spec(59, 'an eviction with options that cannot be read evicts nothing', async (t) => {
  const ns = await podNamespace(t);
  created(await t.post(pods(ns), podDraft('p')));
  const evict = (deleteOptions: string, query = ''): Promise<Answer> =>
    t.post(`${pods(ns, 'p')}/eviction${query}`, `{"metadata":{"name":"p"},"deleteOptions":${deleteOptions}}`);
  const head = 'Eviction in version "v1" cannot be handled as a Eviction: ';
  for (const [given, message] of [
    ['5', noField('number', 'Eviction.deleteOptions', 'v1.DeleteOptions')],
    ['{"dryRun":"All"}', noField('string', 'DeleteOptions.deleteOptions.dryRun', '[]string')],
    ['{"gracePeriodSeconds":1.0}', noField('number 1.0', 'DeleteOptions.deleteOptions.gracePeriodSeconds', 'int64')],
    [
      '{"gracePeriodSeconds":9223372036854775808}',
      noField('number 9223372036854775808', 'DeleteOptions.deleteOptions.gracePeriodSeconds', 'int64'),
    ],
  ] as const)
    failure(await evict(given), { code: 400, reason: 'BadRequest', message: head + message });
  const unsafe = 'ignoreStoreReadErrorWithClusterBreakingPotential';
  failure(await evict(`{"${unsafe}":true}`), {
    code: 422,
    reason: 'Invalid',
    causes: [{ reason: 'FieldValueInvalid', field: `deleteOptions.${unsafe}` }],
  });
  failure(await evict('{"preconditions":{"resourceVersion":""}}', '?dryRun=All'), { code: 409, reason: 'Conflict' });
  for (const [given, shown] of [
    ['[""]', '[]'],
    ['["all"]', '[all]'],
    ['["All","x"]', '[All x]'],
  ] as const)
    failure(await evict(`{"dryRun":${given}}`, '?dryRun=All'), {
      code: 500,
      reason: undefined,
      message: `Non-matching dry-run options in request and content: [All] and ${shown}`,
    });
  status(await t.get(pods(ns, 'p')), 200);
});
