// The rules of the README's table: what is answered 400 or denied. Case by case after controller-runtime v0.25
// pkg/webhook/admission/{http,webhook,defaulter_custom,validator_custom,decode,response}_test.go.
import { StatusError } from '@kctl/apimachinery';
import { describe, expect, it } from 'vitest';
import {
  admissionWebhook,
  allowed,
  chainDefaulters,
  chainValidators,
  defaultingWebhook,
  denied,
  errored,
  invalidError,
  invalidField,
  multiMutatingHandler,
  multiValidatingHandler,
  patched,
  requiredField,
  unsupportedField,
  validatingWebhook,
  withWarnings,
  type AdmissionHandler,
  type WebhookHandler,
} from '../src/index.js';
import { nested, review, Widget, widget } from './fixtures.js';
import { harness } from './in-process.js';

const seen: string[] = [];
const sees = (name: string) => () => {
  seen.push(name);
  return undefined;
};
const validator = (): WebhookHandler =>
  validatingWebhook(Widget, {
    validateCreate: sees('create'),
    validateUpdate: sees('update'),
    validateDelete: sees('delete'),
  });
const empty = (): WebhookHandler => validatingWebhook(Widget, {});
const defaulter = (): WebhookHandler => defaultingWebhook(Widget, sees('default'));
const raw = (): WebhookHandler => admissionWebhook(() => allowed());

const other = { ...widget(), apiVersion: 'ex.io/v2' };
const pod = { ...widget(), kind: 'Pod' };

/** What none of the typed webhooks understands: `[what, body, text of the message]`. */
const refusedByAll: [string, unknown, RegExp][] = [
  ['no review', { kind: 'Pod' }, /not an AdmissionReview/],
  ['a list', [], /not an AdmissionReview/],
  ['null', 'null', /not an AdmissionReview/],
  [
    'another version of reviews',
    review('CREATE', {}, 'admission.k8s.io/v2'),
    /no kind "AdmissionReview" is registered for version "admission.k8s.io\/v2"/,
  ],
  ['a version that is no text', { ...review('CREATE'), apiVersion: 1 }, /for version of type number/],
  ['no request', { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }, /has no request/],
  [
    'a request that is a list',
    { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: [] },
    /has no request/,
  ],
  ['no uid', review('CREATE', { uid: undefined }), /request.uid is not a string/],
  ['a uid that is a number', review('CREATE', { uid: 1 }), /request.uid is not a string/],
  ['no operation', review('CREATE', { operation: undefined }), /unknown operation of type undefined/],
  ['an unknown operation', review('PATCH'), /unknown operation "PATCH"/],
  ['an operation in small letters', review('create'), /unknown operation "create"/],
  ['an operation that is a member of objects', review('constructor'), /unknown operation "constructor"/],
  ['an operation that is a list', review('CREATE', { operation: ['CREATE'] }), /unknown operation/],
  ['an object that is a text', review('CREATE', { object: 'x' }), /request.object is not an object/],
  ['an object that is a list', review('CREATE', { object: [] }), /request.object is not an object/],
  ['a user that is a list', review('CREATE', { userInfo: [] }), /request.userInfo is not an object/],
  ['a name that is an object', review('CREATE', { name: {} }), /request.name is not a string/],
  ['a kind that is a text', review('CREATE', { kind: 'Widget' }), /request.kind is not an object of strings/],
  ['a dry run that is a text', review('CREATE', { dryRun: 'true' }), /request.dryRun is not a boolean/],
  [
    'a body nested 1,001 deep',
    `{"kind":"AdmissionReview","request":${nested(1_000)}}`,
    /nested deeper than 1000 levels/,
  ],
  ['a body nested 9,900 deep', nested(9_900), /nested deeper than 1000 levels/],
  ['half a body', '{"kind":"Admission', /^couldn't get version\/kind; json parse error: unexpected end of JSON input$/],
  ['one brace', '{', /^couldn't get version\/kind; json parse error: unexpected end of JSON input$/],
  ['no JSON', 'canary', /^couldn't get version\/kind; json parse error: the body is not JSON$/],
];

/** What a webhook of one kind does not understand. */
const refusedByTyped: [string, unknown, RegExp][] = [
  [
    'another group',
    review('CREATE', { kind: { group: 'x.io', version: 'v1', kind: 'Widget' } }),
    /serves Widget of "ex.io\/v1", not "Widget" of "x.io\/v1"/,
  ],
  [
    'another version',
    review('CREATE', { kind: { group: 'ex.io', version: 'v2', kind: 'Widget' } }),
    /not "Widget" of "ex.io\/v2"/,
  ],
  [
    'another kind',
    review('CREATE', { kind: { group: 'ex.io', version: 'v1', kind: 'Pod' } }),
    /not "Pod" of "ex.io\/v1"/,
  ],
  ['no kind', review('CREATE', { kind: undefined }), /serves Widget/],
  ['a kind without a version', review('CREATE', { kind: { group: 'ex.io', kind: 'Widget' } }), /serves Widget/],
  ['a creation without object', review('CREATE', { object: undefined }), /there is no content to decode/],
  ['a creation of null', review('CREATE', { object: null }), /there is no content to decode/],
  ['an update without object', review('UPDATE', { object: null }), /request.object is missing in a UPDATE/],
  [
    'an object of another version',
    review('CREATE', { object: other }),
    /unable to decode request.object: it is "ex.io\/v2"/,
  ],
  ['an object of another kind', review('UPDATE', { object: pod }), /Kind="Pod"/],
  [
    'an object whose metadata is a list',
    review('CREATE', { object: { ...widget(), metadata: [] } }),
    /metadata is not an object/,
  ],
];

/** What only a validator needs. */
const refusedByValidators: [string, unknown, RegExp][] = [
  ['an update without oldObject', review('UPDATE', { oldObject: null }), /request.oldObject is missing in a UPDATE/],
  [
    'a deletion without oldObject',
    review('DELETE', { oldObject: undefined }),
    /request.oldObject is missing in a DELETE/,
  ],
  ['an oldObject of another kind', review('UPDATE', { oldObject: pod }), /unable to decode request.oldObject/],
  ['a deleted object of another version', review('DELETE', { oldObject: other }), /unable to decode request.oldObject/],
];

describe('the rules', () => {
  describe.each([
    ['a validator', validator, [...refusedByAll, ...refusedByTyped, ...refusedByValidators]],
    ['a validator without members', empty, [...refusedByAll, ...refusedByTyped, ...refusedByValidators]],
    ['a defaulter', defaulter, [...refusedByAll, ...refusedByTyped]],
    ['a raw handler', raw, refusedByAll],
  ] as const)('%s', (_name, create, cases) => {
    it.each(cases.map((one) => [...one] as const))(
      'refuses %s with 400, and does not show it',
      async (_what, body, message) => {
        seen.length = 0;
        const hook = harness(create());
        const { code, body: answer } = await hook.send(body);
        expect(code).toBe(200);
        expect(answer.response).toMatchObject({ allowed: false, status: { code: 400 } });
        expect(answer.response.status.message).toMatch(message);
        expect(seen).toEqual([]);
        expect(hook.metrics.get('controller_runtime_webhook_panics_total')).toBe(0);
      },
    );
  });

  it.each([
    ['CREATE', 'create'],
    ['UPDATE', 'update'],
    ['DELETE', 'delete'],
  ])('shows a %s to the member of its verb', async (operation, expected) => {
    seen.length = 0;
    const { body } = await harness(validator()).send(review(operation));
    expect(body.response).toEqual({ uid: 'u1', allowed: true, status: { metadata: {}, code: 200 } });
    expect(seen).toEqual([expected]);
  });

  it('lets CONNECT pass a validator unseen, and DELETE a defaulter, as upstream', async () => {
    seen.length = 0;
    expect((await harness(validator()).send(review('CONNECT'))).body.response.allowed).toBe(true);
    expect((await harness(defaulter()).send(review('DELETE'))).body.response.allowed).toBe(true);
    expect(seen).toEqual([]);
  });

  it('takes an object that says nothing of its type, as upstream', async () => {
    const { apiVersion: _apiVersion, kind: _kind, ...bare } = widget();
    expect((await harness(validator()).send(review('CREATE', { object: bare }))).body.response.allowed).toBe(true);
  });
});

describe('HTTP', () => {
  it('refuses an empty body before it looks at the content type', async () => {
    const headers = { 'content-type': 'text/plain' };
    expect((await harness(raw()).send('', { headers })).body.response.status).toMatchObject({
      code: 400,
      message: 'request body is empty',
    });
  });

  it.each(['application/foo', 'application/json; charset=utf-8', ''])('refuses content type %j', async (type) => {
    const { body } = await harness(raw()).send(review('CREATE'), { headers: { 'content-type': type } });
    expect(body.response.status).toEqual({
      metadata: {},
      code: 400,
      message: `contentType=${type}, expected application/json`,
    });
  });

  it.each([0, 1])('reads a body of exactly 7 MiB and refuses %i byte more', async (more) => {
    const text = JSON.stringify(review('CREATE'));
    const { body } = await harness(raw()).send(text + ' '.repeat(7_340_032 - text.length + more));
    if (more === 0) expect(body.response.allowed).toBe(true);
    else
      expect(body.response.status).toMatchObject({
        code: 413,
        message: 'request entity is too large; limit is 7340032 bytes',
      });
  });

  it.each(['admission.k8s.io/v1', 'admission.k8s.io/v1beta1'])('answers a review of %s in kind', async (apiVersion) => {
    const { body } = await harness(raw()).send(review('CREATE', {}, apiVersion));
    expect(body).toMatchObject({ apiVersion, kind: 'AdmissionReview', response: { uid: 'u1', allowed: true } });
  });

  it('takes a review without a type for one of v1', async () => {
    const { request } = review('CREATE') as { request: object };
    expect((await harness(raw()).send({ request })).body).toMatchObject({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { allowed: true },
    });
  });

  it('refuses a body that is not UTF-8', async () => {
    const { answered } = harness(raw()).begin({ body: Buffer.from([0x22, 0xff, 0x22]) });
    expect((await answered).body.response.status.message).toContain('not UTF-8');
  });

  it('hands the HTTP side to handlers', async () => {
    let timeoutMs: number | undefined;
    let header: unknown;
    const hook = harness(
      admissionWebhook((_request, { http }) => {
        timeoutMs = http?.timeoutMs;
        header = http?.headers['x-a'];
        return allowed();
      }),
    );
    for (const [url, expected] of [
      ['/hook?timeout=10s', 10_000],
      ['/hook?timeout=1m30s', 30_000],
      ['/hook?timeout=500ms', 500],
      ['/hook?timeout=1.5s', 1_500],
      ['/hook?timeout=abc', 30_000],
      ['/hook?timeout=0s', 30_000],
      ['/hook', 30_000],
    ] as const) {
      await hook.send(review('CREATE'), { url, headers: { 'x-a': 'b' } });
      expect([url, timeoutMs, header]).toEqual([url, expected, 'b']);
    }
  });

  it('gives a handler the time that the API server waits, then answers for it', async () => {
    let signal: AbortSignal | undefined;
    const entered = Promise.withResolvers<undefined>();
    const hook = harness(
      admissionWebhook((_request, context) => {
        signal = context.signal;
        entered.resolve(undefined);
        return new Promise(() => undefined);
      }),
    );
    const { answered } = hook.begin({ body: JSON.stringify(review('CREATE')), url: '/hook?timeout=2s' });
    await entered.promise;
    hook.clock.advanceSync(2_000);
    expect((await answered).body.response).toMatchObject({ allowed: false, status: { code: 504 } });
    expect(signal?.aborted).toBe(true);
    expect(hook.metrics.get('controller_runtime_webhook_requests_in_flight', { webhook: '/hook' })).toBe(0);
    expect(hook.clock.pendingTimers).toBe(0);
  });
});

describe('panics', () => {
  const panics = 'controller_runtime_webhook_panics_total';

  it.each<[string, WebhookHandler]>([
    [
      'a raw handler that throws',
      admissionWebhook(() => {
        throw new Error('boom');
      }),
    ],
    ['a raw handler that rejects', admissionWebhook(async () => Promise.reject(new Error('boom')))],
    [
      'a validator with a mistake',
      validatingWebhook(Widget, {
        validateCreate: () => {
          throw new TypeError('boom');
        },
      }),
    ],
    [
      'a defaulter with a mistake',
      defaultingWebhook(Widget, () => {
        throw new ReferenceError('boom');
      }),
    ],
  ])('counts %s', async (_what, handler) => {
    const hook = harness(handler);
    const { code, body } = await hook.send(review('CREATE'));
    expect(code).toBe(200);
    expect(body.response).toEqual({
      uid: 'u1',
      allowed: false,
      status: { metadata: {}, code: 500, message: 'panic: boom [recovered]' },
    });
    expect(hook.metrics.get(panics)).toBe(1);
  });

  it.each<[string, WebhookHandler]>([
    [
      'a validator that denies',
      validatingWebhook(Widget, {
        validateCreate: () => {
          throw new Error('no');
        },
      }),
    ],
    [
      'a defaulter that denies',
      defaultingWebhook(Widget, () => {
        throw new Error('no');
      }),
    ],
    ['a handler that denies', admissionWebhook(() => denied('no'))],
  ])('does not count %s', async (_what, handler) => {
    const hook = harness(handler);
    expect((await hook.send(review('CREATE'))).body.response).toMatchObject({
      allowed: false,
      status: { code: 403, reason: 'Forbidden', message: 'no' },
    });
    expect(hook.metrics.get(panics)).toBe(0);
  });

  it('does not count a client that hangs up, within the body or later', async () => {
    const entered = Promise.withResolvers<undefined>();
    const hook = harness(
      admissionWebhook((_request, { signal }) => {
        entered.resolve(undefined);
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('gone'))));
      }),
    );
    const first = hook.begin({ body: 'x', headers: { 'content-length': '100' } });
    first.hangUp();
    await first.answered;
    const second = hook.begin({ body: JSON.stringify(review('CREATE')) });
    await entered.promise;
    second.hangUp();
    await second.answered;
    expect(hook.metrics.get(panics)).toBe(0);
  });

  it.each([undefined, null, 1, 'allowed', {}, { allowed: 'yes' }])(
    'refuses the answer %j of a handler',
    async (value) => {
      const { body } = await harness(admissionWebhook((() => value) as never)).send(review('CREATE'));
      expect(body.response).toMatchObject({ allowed: false, status: { code: 500 } });
    },
  );

  it('answers 500 for an answer that cannot be written', async () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    const hook = harness(admissionWebhook(() => ({ allowed: true, auditAnnotations: cycle as never })));
    const { code, body } = await hook.send(review('CREATE'));
    expect(code).toBe(500);
    expect(body.response).toMatchObject({
      allowed: false,
      status: { code: 500, message: 'unable to encode response' },
    });
  });

  it('survives a defaulter that makes a cycle, or nests without end', async () => {
    const hook = harness(
      defaultingWebhook(Widget, (draft) => {
        Object.assign(draft.spec, { self: draft });
      }),
    );
    expect((await hook.send(review('CREATE'))).body.response).toMatchObject({ allowed: false });
  });
});

describe('verdicts', () => {
  it('passes the whole Status of a StatusError on, with warnings beside the denial', async () => {
    const error = invalidError(Widget, 'w', [
      invalidField('spec.size', 9, 'must not exceed 5'),
      requiredField('spec.color'),
      unsupportedField('spec.mode', 'x', ['a', 'b']),
    ]);
    const hook = harness(
      validatingWebhook(Widget, {
        validateCreate: (_object, { warn }) => {
          warn('spec.size is deprecated');
          throw new Error('outer', { cause: error });
        },
      }),
    );
    const { response } = (await hook.send(review('CREATE'))).body;
    expect(response.warnings).toEqual(['spec.size is deprecated']);
    expect(response.status).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message:
        'Widget.ex.io "w" is invalid: [spec.size: Invalid value: 9: must not exceed 5, spec.color: Required value, spec.mode: Unsupported value: "x": supported values: "a", "b"]',
      details: {
        name: 'w',
        group: 'ex.io',
        kind: 'Widget',
        causes: [
          { reason: 'FieldValueInvalid', field: 'spec.size', message: 'Invalid value: 9: must not exceed 5' },
          { reason: 'FieldValueRequired', field: 'spec.color', message: 'Required value' },
          { reason: 'FieldValueNotSupported', field: 'spec.mode' },
        ],
      },
    });
  });

  it.each<[string, unknown]>([
    ['a TypeError', new TypeError('no such field')],
    ['undefined', undefined],
    ['a text', 'no such field'],
  ])('keeps the warnings where a validator throws %s afterwards', async (_what, error) => {
    const hook = harness(
      validatingWebhook(Widget, {
        validateCreate: (_object, { warn }) => {
          warn('spec.size is deprecated');
          throw error;
        },
      }),
    );
    const { response } = (await hook.send(review('CREATE'))).body;
    expect(response).toMatchObject({ allowed: false, warnings: ['spec.size is deprecated'], status: { code: 500 } });
    expect(response.status.message).toMatch(/^panic: (no such field|undefined) \[recovered\]$/);
    expect(hook.logs.join()).toContain('Observed a panic');
    expect(hook.logs.join()).not.toContain('WarnedPanic');
  });

  it.each(['CREATE', 'UPDATE', 'DELETE'])('passes a Status on from a %s', async (operation) => {
    const fail = () => {
      throw new StatusError({ code: 422, reason: 'Invalid', message: 'some message' });
    };
    const hook = harness(
      validatingWebhook(Widget, { validateCreate: fail, validateUpdate: fail, validateDelete: fail }),
    );
    expect((await hook.send(review(operation))).body.response).toMatchObject({
      allowed: false,
      status: { code: 422, reason: 'Invalid', message: 'some message' },
    });
  });

  it('denies with 403 what carries no code', async () => {
    const hook = harness(
      validatingWebhook(Widget, {
        validateCreate: () => {
          throw new StatusError({ message: 'm' });
        },
      }),
    );
    expect((await hook.send(review('CREATE'))).body.response.status.code).toBe(403);
  });

  it('tells a handler of a dry run, a subresource and the user', async () => {
    let context: unknown;
    const hook = harness(
      validatingWebhook(Widget, {
        validateUpdate: (_old, _new, { isDryRun, subResource, request }) => {
          context = { isDryRun, subResource, user: request.userInfo.username };
          return undefined;
        },
      }),
    );
    await hook.send(review('UPDATE', { dryRun: true, subResource: 'status' }));
    expect(context).toEqual({ isDryRun: true, subResource: 'status', user: 'jane' });
    await hook.send(review('UPDATE'));
    expect(context).toEqual({ isDryRun: false, subResource: undefined, user: 'jane' });
  });

  describe('a subresource whose objects are of another kind', () => {
    const scale = (replicas: number) => ({
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'w', namespace: 'a' },
      spec: { replicas },
    });
    const scaling = (request: Record<string, unknown> = {}) =>
      review('UPDATE', {
        kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
        subResource: 'scale',
        object: scale(9),
        oldObject: scale(1),
        ...request,
      });
    const validating = (subResources?: readonly string[]) =>
      harness(
        validatingWebhook(
          Widget,
          {
            validateUpdate: (old, object, { subResource }) => {
              if (subResource !== 'scale') return undefined;
              throw new Error(`${old.kind} ${JSON.stringify(old.spec)} to ${JSON.stringify(object.spec)}`);
            },
          },
          subResources === undefined ? {} : { registration: { subResources } },
        ),
      );

    it.each([[['scale']], [['status', 'scale']], [['*']]])('reaches a validator that names it: %j', async (names) => {
      const { status } = (await validating(names).send(scaling())).body.response;
      expect(status).toMatchObject({ code: 403, message: 'Scale {"replicas":1} to {"replicas":9}' });
    });

    it('reaches a defaulter', async () => {
      const hook = harness(
        defaultingWebhook(
          Widget,
          (draft, { subResource }) => {
            if (subResource === 'scale') Object.assign(draft.spec, { replicas: 3 });
          },
          { registration: { subResources: ['scale'] } },
        ),
      );
      const { response } = (await hook.send(scaling())).body;
      expect(JSON.parse(Buffer.from(response.patch ?? '', 'base64').toString())).toEqual([
        { op: 'replace', path: '/spec/replicas', value: 3 },
      ]);
    });

    it.each([
      ['that is not named', undefined, {}],
      ['that is another one', ['status'], {}],
      ['of another resource', ['scale'], { resource: { group: 'ex.io', version: 'v1', resource: 'gadgets' } }],
      ['of another version', ['scale'], { resource: { group: 'ex.io', version: 'v2', resource: 'widgets' } }],
      ['when the object is not of the kind that the request names', ['scale'], { object: widget() }],
      ['when the request is about the object itself', ['scale'], { subResource: '' }],
    ])('is refused %s', async (_when, names, request) => {
      const { status, allowed: isAllowed } = (await validating(names).send(scaling(request))).body.response;
      expect({ isAllowed, code: status.code }).toEqual({ isAllowed: false, code: 400 });
    });
  });

  it('patches as little as possible, and keeps fields and big integers that the type does not know', async () => {
    const hook = harness(
      defaultingWebhook(Widget, (draft) => {
        draft.spec.color ??= 'red';
        draft.spec.parts?.splice(1, 0, 'x');
      }),
    );
    const text = JSON.stringify(
      review('CREATE', { object: { ...widget(), spec: { size: 1, parts: ['a', 'b', 'c'], extra: { n: '@' } } } }),
    ).replace('"@"', '9007199254740993');
    const { patch, patchType } = (await hook.send(text)).body.response;
    expect(patchType).toBe('JSONPatch');
    expect(JSON.parse(Buffer.from(patch, 'base64').toString())).toEqual([
      { op: 'add', path: '/spec/parts/1', value: 'x' },
      { op: 'add', path: '/spec/color', value: 'red' },
    ]);
  });

  it('logs with the fields of upstream', async () => {
    const hook = harness(validator());
    await hook.send(review('CREATE'));
    const lines = hook.logs.map((line) => JSON.parse(line));
    expect(lines).toContainEqual(
      expect.objectContaining({
        msg: 'wrote response',
        webhookGroup: 'ex.io',
        webhookKind: 'Widget',
        Widget: { name: 'w', namespace: 'a' },
        namespace: 'a',
        name: 'w',
        user: 'jane',
        requestID: 'u1',
        allowed: true,
        code: 200,
      }),
    );
    const rawHook = harness(raw());
    await rawHook.send(review('CREATE'));
    expect(JSON.parse(rawHook.logs[0] ?? '')).toMatchObject({
      object: { name: 'w', namespace: 'a' },
      resource: { resource: 'widgets' },
    });
  });

  it('measures by the names of upstream', async () => {
    const hook = harness(raw());
    const labels = { webhook: '/hook', code: '200' };
    expect(hook.metrics.get('controller_runtime_webhook_requests_total', labels)).toBe(0);
    expect(hook.metrics.get('controller_runtime_conversion_webhook_panics_total')).toBe(0);
    await hook.send(review('CREATE'));
    expect(hook.metrics.get('controller_runtime_webhook_requests_total', labels)).toBe(1);
    expect(hook.metrics.get('controller_runtime_webhook_latency_seconds_count', { webhook: '/hook' })).toBe(1);
  });
});

describe('chains', () => {
  const decide = async (handler: AdmissionHandler) =>
    (await harness(admissionWebhook(handler)).send(review('CREATE'))).body.response;
  const add =
    (path: string, warning?: string): AdmissionHandler =>
    () =>
      withWarnings(patched([{ op: 'add', path, value: 1 }]), ...(warning === undefined ? [] : [warning]));

  it('joins patches and warnings of mutating handlers', async () => {
    const { patch, warnings } = await decide(multiMutatingHandler(add('/a', 'first'), add('/b', 'second')));
    expect(JSON.parse(Buffer.from(patch, 'base64').toString())).toEqual([
      { op: 'add', path: '/a', value: 1 },
      { op: 'add', path: '/b', value: 1 },
    ]);
    expect(warnings).toEqual(['first', 'second']);
  });

  it('returns no patch with a denial, but the warnings until then', async () => {
    const response = await decide(multiMutatingHandler(add('/a', 'first'), () => denied('no'), add('/b', 'second')));
    expect(response).toMatchObject({ allowed: false, warnings: ['first'], status: { message: 'no' } });
    expect(response).not.toHaveProperty('patch');
  });

  it('denies where one validating handler denies', async () => {
    const warns: AdmissionHandler = () => withWarnings(allowed(), 'careful');
    expect(await decide(multiValidatingHandler(warns, warns))).toMatchObject({
      allowed: true,
      warnings: ['careful', 'careful'],
    });
    expect(await decide(multiValidatingHandler(warns, () => errored(418, 'no')))).toMatchObject({
      allowed: false,
      warnings: ['careful'],
      status: { code: 418 },
    });
    expect(await decide(multiValidatingHandler())).toMatchObject({ allowed: true });
  });

  it('lets a defaulter see what those before it filled in', async () => {
    const hook = harness(
      defaultingWebhook(
        Widget,
        chainDefaulters<Widget>(
          (draft) => void (draft.spec.color = 'red'),
          (draft) => void (draft.spec.parts = [draft.spec.color ?? '']),
        ),
      ),
    );
    const { patch } = (await hook.send(review('CREATE'))).body.response;
    expect(JSON.parse(Buffer.from(patch, 'base64').toString())).toContainEqual({
      op: 'add',
      path: '/spec/parts',
      value: ['red'],
    });
  });

  it('runs validators in order until one denies', async () => {
    const hook = harness(
      validatingWebhook(
        Widget,
        chainValidators<Widget>(
          { validateCreate: () => ['first'] },
          { validateDelete: () => ['not of this verb'] },
          {
            validateCreate: () => {
              throw new Error('second');
            },
          },
          { validateCreate: () => ['third'] },
        ),
      ),
    );
    expect((await hook.send(review('CREATE'))).body.response).toMatchObject({
      allowed: false,
      warnings: ['first'],
      status: { message: 'second' },
    });
  });
});
