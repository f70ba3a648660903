/** §2.11 What becomes of the answers of webhooks: denials, failures, warnings, patches. */
import { stage } from '../harness/admission-stage.js';
import { MERGE_PATCH } from '../harness/context.js';
import type { Json } from '../harness/doc.js';
import { created, ok } from '../harness/expect.js';
import { allow, deny, mutate, rule, sorted, steady, transcript, type HookAnswer } from '../harness/hook.js';
import { spec } from '../harness/spec.js';
import { configMaps } from './paths.js';

const needs = ['webhooks'] as const;

spec(
  67,
  'denials keep code, reason, message and causes of the webhook, and warn',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook, log } = await stage(t);
    await hook.install('Validating', [hook.entry('v.kctl.test', { rules: [rule(widgets.group, 'widgets')] })]);
    const answers: readonly (readonly [string, HookAnswer])[] = [
      ['nothing said', deny()],
      ['a message', deny({ message: 'no' })],
      ['a reason', deny({ reason: 'Why' })],
      [
        'all',
        deny({
          code: 422,
          reason: 'Invalid',
          message: 'no',
          status: 'Failure',
          details: {
            name: 'n',
            group: 'g',
            kind: 'k',
            uid: 'u',
            causes: [{ reason: 'FieldValueInvalid', message: 'm', field: 'spec.size' }],
            retryAfterSeconds: 3,
          },
        }),
      ],
      ['success', deny({ code: 200, status: 'Success', message: 'ok' })],
      ['code 418', deny({ code: 418 })],
      ['warnings', deny({ message: 'no' }, { warnings: ['first', 'second', 'first', ''] })],
      ['metadata', deny({ message: 'no', metadata: { resourceVersion: '7' } })],
      ['allowed by nothing', { response: {} }],
      ['allowed with a status', allow({ status: { message: 'well' }, warnings: ['a "quoted" \\ ü text'] })],
    ];
    for (const [what, answer] of answers) {
      hook.answer = () => answer;
      log.answer(what, await t.post(widgets.path(ns), widgets.draft('a'), { query: { dryRun: 'All' } }));
    }
    log.is(`
      nothing said: 400 - admission webhook "v.kctl.test" denied the request without explanation
      a message: 400 - admission webhook "v.kctl.test" denied the request: no
      a reason: 400 Why admission webhook "v.kctl.test" denied the request: Why
      all: 422 Invalid admission webhook "v.kctl.test" denied the request: no {"causes":[{"field":"spec.size","message":"m","reason":"FieldValueInvalid"}],"group":"g","kind":"k","name":"n","retryAfterSeconds":3,"uid":"u"}
      success: 400 - admission webhook "v.kctl.test" denied the request: ok
      code 418: 418 - admission webhook "v.kctl.test" denied the request without explanation
      warnings: 400 - admission webhook "v.kctl.test" denied the request: no
        warning: first
        warning: second
      metadata: 400 - admission webhook "v.kctl.test" denied the request: no
      allowed by nothing: 400 - admission webhook "v.kctl.test" denied the request without explanation
      allowed with a status: 201
        warning: a "quoted" \\ Ã¼ text
    `);
  },
  { needs },
);

spec(
  67,
  'warnings are cut as the server cuts its own',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook, log } = await stage(t);
    await hook.install('Validating', [hook.entry('v.kctl.test', { rules: [rule(widgets.group, 'widgets')] })]);
    const send = async (what: string, warnings: readonly string[]): Promise<void> => {
      hook.answer = () => allow({ warnings });
      const { status, warnings: told } = await t.post(widgets.path(ns), widgets.draft('a'), {
        query: { dryRun: 'All' },
      });
      log.say(`${what}: ${status} ${JSON.stringify(told.map((text) => [text.length, text.slice(0, 3)]))}`);
    };
    await send('one of 300', ['x'.repeat(300)]);
    await send(
      '20 of 300',
      Array.from({ length: 20 }, (_, index) => `${index} ${'x'.repeat(300)}`),
    );
    await send('one of 5000', ['y'.repeat(5000)]);
    log.is(`
      one of 300: 201 [[300,"xxx"]]
      20 of 300: 201 [[256,"0 x"],[256,"1 x"],[256,"2 x"],[256,"3 x"],[256,"4 x"],[256,"5 x"],[256,"6 x"],[256,"7 x"],[256,"8 x"],[256,"9 x"],[256,"10 "],[256,"11 "],[256,"12 "],[256,"13 "],[256,"14 "],[256,"15 "]]
      one of 5000: 201 [[256,"yyy"]]
    `);
  },
  { needs },
);

/** Answers that are no valid review. */
const invalid: readonly (readonly [string, HookAnswer])[] = [
  ['another uid', { response: { uid: 'x', allowed: true } }],
  ['no uid', { response: { uid: undefined, allowed: true } }],
  ['no response', { response: {}, envelope: { response: undefined } }],
  ['null response', { response: {}, envelope: { response: null } }],
  ['a string as response', { response: {}, envelope: { response: 'x' } }],
  ['no kind', { response: { allowed: true }, envelope: { kind: undefined } }],
  ['no apiVersion', { response: { allowed: true }, envelope: { apiVersion: undefined } }],
  ['another kind', { response: { allowed: true }, envelope: { kind: 'Pod' } }],
  ['another group', { response: { allowed: true }, envelope: { apiVersion: 'v1' } }],
  ['v1beta1', { response: { allowed: true }, envelope: { apiVersion: 'admission.k8s.io/v1beta1' } }],
  ['v2', { response: { allowed: true }, envelope: { apiVersion: 'admission.k8s.io/v2' } }],
  ['allowed as text', { response: { allowed: 'yes' } }],
  ['warnings as text', { response: { allowed: true, warnings: 'x' } }],
  ['annotations as a list', { response: { allowed: true, auditAnnotations: [] } }],
  ['status as text', { response: { allowed: false, status: 'x' } }],
  ['code as text', { response: { allowed: false, status: { code: 'x' } } }],
  ['no body', { body: '' }],
  ['text', { body: 'hello' }],
  ['cut JSON', { body: '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{' }],
  ['a list', { body: '[]' }],
  ['a string', { body: '"x"' }],
  ['null', { body: 'null' }],
  ['an empty object', { body: '{}' }],
  ['a Status of success', { body: '{"kind":"Status","apiVersion":"v1","status":"Success"}' }],
  ['a Status of failure', { body: '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","code":403}' }],
  ['HTML', { body: '<html></html>', contentType: 'text/html' }],
  ['500', { body: 'boom', status: 500, contentType: 'text/plain' }],
  ['500 in JSON', { body: '{"a":1}', status: 500 }],
  ['404', { body: '', status: 404 }],
  [
    '400 with a Status',
    { body: '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","code":400}', status: 400 },
  ],
  ['403', { body: 'go away', status: 403, contentType: 'text/plain' }],
  ['409', { body: '', status: 409 }],
  ['415', { body: 'what', status: 415, contentType: 'text/plain' }],
  ['418', { body: 'tea', status: 418, contentType: 'text/plain' }],
  ['422', { body: '', status: 422 }],
  ['503', { body: '', status: 503 }],
  ['204', { body: '', status: 204 }],
  ['201', { response: { allowed: true }, envelope: {} }],
  ['cut', 'cut'],
];

spec(
  67,
  'answers that are no valid review are failures of the call: 500, or ignored',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook, log } = await stage(t);
    await hook.install('Validating', [
      hook.entry('v.kctl.test', {
        rules: [rule(widgets.group, 'widgets')],
        objectSelector: { matchLabels: { policy: 'fail' } },
      }),
    ]);
    await hook.install('Validating', [
      hook.entry('i.kctl.test', {
        rules: [rule(widgets.group, 'widgets')],
        objectSelector: { matchLabels: { policy: 'ignore' } },
        failurePolicy: 'Ignore',
      }),
    ]);
    for (const [what, answer] of invalid) {
      hook.answer = () => answer;
      const send = (policy: string) =>
        t.post(widgets.path(ns), widgets.draft('a', {}, { labels: { policy } }), { query: { dryRun: 'All' } });
      log.answer(what, await send('fail'));
      const ignored = await send('ignore');
      if (ignored.status !== 201) log.answer(`${what}, ignored`, ignored);
    }
    log.is(`
      another uid: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": received invalid webhook response: expected response.uid="UID", got "x" {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": received invalid webhook response: expected response.uid=\\"UID\\", got \\"x\\""}]}
      no uid: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": received invalid webhook response: expected response.uid="UID", got "" {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": received invalid webhook response: expected response.uid=\\"UID\\", got \\"\\""}]}
      no response: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": received invalid webhook response: webhook response was absent {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": received invalid webhook response: webhook response was absent"}]}
      null response: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": received invalid webhook response: webhook response was absent {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": received invalid webhook response: webhook response was absent"}]}
      a string as response: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: json: cannot unmarshal string into Go struct field AdmissionReview.response of type v1.AdmissionResponse {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: json: cannot unmarshal string into Go struct field AdmissionReview.response of type v1.AdmissionResponse"}]}
      no kind: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1, Kind= {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1, Kind="}]}
      no apiVersion: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=AdmissionReview {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=AdmissionReview"}]}
      another kind: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: no kind "Pod" is registered for version "admission.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111" {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: no kind \\"Pod\\" is registered for version \\"admission.k8s.io/v1\\" in scheme \\"pkg/runtime/scheme.go:111\\""}]}
      another group: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: no kind "AdmissionReview" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111" {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: no kind \\"AdmissionReview\\" is registered for version \\"v1\\" in scheme \\"pkg/runtime/scheme.go:111\\""}]}
      v1beta1: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion"}]}
      v2: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: no kind "AdmissionReview" is registered for version "admission.k8s.io/v2" in scheme "pkg/runtime/scheme.go:111" {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: no kind \\"AdmissionReview\\" is registered for version \\"admission.k8s.io/v2\\" in scheme \\"pkg/runtime/scheme.go:111\\""}]}
      allowed as text: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool"}]}
      warnings as text: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: json: cannot unmarshal string into Go struct field AdmissionResponse.response.warnings of type []string {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: json: cannot unmarshal string into Go struct field AdmissionResponse.response.warnings of type []string"}]}
      annotations as a list: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: json: cannot unmarshal array into Go struct field AdmissionResponse.response.auditAnnotations of type map[string]string {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: json: cannot unmarshal array into Go struct field AdmissionResponse.response.auditAnnotations of type map[string]string"}]}
      status as text: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: json: cannot unmarshal string into Go struct field AdmissionResponse.response.status of type v1.Status {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: json: cannot unmarshal string into Go struct field AdmissionResponse.response.status of type v1.Status"}]}
      code as text: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: json: cannot unmarshal string into Go struct field Status.response.status.code of type int32 {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: json: cannot unmarshal string into Go struct field Status.response.status.code of type int32"}]}
      no body: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: 0-length response with status code: 200 and content type: application/json {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: 0-length response with status code: 200 and content type: application/json"}]}
      text: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string \\"json:\\\\\\"apiVersion,omitempty\\\\\\"\\"; Kind string \\"json:\\\\\\"kind,omitempty\\\\\\"\\" }"}]}
      cut JSON: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: couldn't get version/kind; json parse error: unexpected end of JSON input {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: couldn't get version/kind; json parse error: unexpected end of JSON input"}]}
      a list: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string \\"json:\\\\\\"apiVersion,omitempty\\\\\\"\\"; Kind string \\"json:\\\\\\"kind,omitempty\\\\\\"\\" }"}]}
      a string: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string \\"json:\\\\\\"apiVersion,omitempty\\\\\\"\\"; Kind string \\"json:\\\\\\"kind,omitempty\\\\\\"\\" }"}]}
      null: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": received invalid webhook response: webhook response was absent {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": received invalid webhook response: webhook response was absent"}]}
      an empty object: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": received invalid webhook response: webhook response was absent {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": received invalid webhook response: webhook response was absent"}]}
      a Status of success: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: converting (v1.Status) to (v1.AdmissionReview): unknown conversion {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: converting (v1.Status) to (v1.AdmissionReview): unknown conversion"}]}
      a Status of failure: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: converting (v1.Status) to (v1.AdmissionReview): unknown conversion {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: converting (v1.Status) to (v1.AdmissionReview): unknown conversion"}]}
      HTML: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string \\"json:\\\\\\"apiVersion,omitempty\\\\\\"\\"; Kind string \\"json:\\\\\\"kind,omitempty\\\\\\"\\" }"}]}
      500: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: an error on the server ("boom") has prevented the request from succeeding {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: an error on the server (\\"boom\\") has prevented the request from succeeding"}]}
      500 in JSON: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: an error on the server ("unknown") has prevented the request from succeeding {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: an error on the server (\\"unknown\\") has prevented the request from succeeding"}]}
      404: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: the server could not find the requested resource {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: the server could not find the requested resource"}]}
      400 with a Status: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: no {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: no"}]}
      403: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: go away {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: go away"}]}
      409: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: the server reported a conflict {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: the server reported a conflict"}]}
      415: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: what {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: what"}]}
      418: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: the server responded with the status code 418 but did not return more information {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: the server responded with the status code 418 but did not return more information"}]}
      422: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: the server rejected our request due to an error in our request {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: the server rejected our request due to an error in our request"}]}
      503: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: the server is currently unable to handle the request {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: the server is currently unable to handle the request"}]}
      204: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: 0-length response with status code: 204 and content type: application/json {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: 0-length response with status code: 204 and content type: application/json"}]}
      201: 201
      cut: 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": failed to call webhook: Post "https://127.0.0.1:PORT/v?timeout=5s": EOF {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": failed to call webhook: Post \\"https://127.0.0.1:PORT/v?timeout=5s\\": EOF"}]}
    `);
  },
  { needs, timeoutMs: 120_000 },
);

spec(
  67,
  'patches that a webhook must not send, and those of v1beta1',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook, log } = await stage(t);
    const rules = [rule(widgets.group, 'widgets')];
    await hook.install('Mutating', [
      hook.entry('m.kctl.test', { rules, objectSelector: { matchLabels: { to: 'm' } } }),
      hook.entry('i.kctl.test', { rules, objectSelector: { matchLabels: { to: 'i' } }, failurePolicy: 'Ignore' }),
      hook.entry('b.kctl.test', {
        rules,
        objectSelector: { matchLabels: { to: 'b' } },
        admissionReviewVersions: ['v2', 'v1beta1', 'v1'],
      }),
    ]);
    await hook.install('Validating', [
      hook.entry('v.kctl.test', { rules, objectSelector: { matchLabels: { to: 'v' } } }),
      hook.entry('w.kctl.test', {
        rules,
        objectSelector: { matchLabels: { to: 'w' } },
        admissionReviewVersions: ['v1beta1'],
      }),
    ]);
    const good = [{ op: 'add', path: '/spec/note', value: 'hi' }];
    const patch = Buffer.from(JSON.stringify(good)).toString('base64');
    const send = async (what: string, to: string, answer: HookAnswer): Promise<void> => {
      hook.answer = () => answer;
      log.answer(
        `${what} (${to})`,
        await t.post(widgets.path(ns), widgets.draft('a', {}, { labels: { to } }), { query: { dryRun: 'All' } }),
        ({ spec: { note } }) => note ?? null,
      );
    };
    await send('a patch', 'v', mutate(good));
    await send('a type', 'v', allow({ patchType: 'JSONPatch' }));
    await send('a patch', 'w', mutate(good));
    await send('v1beta1 without uid and kind', 'w', {
      response: { uid: undefined, allowed: true },
      envelope: { kind: undefined, apiVersion: undefined },
    });
    await send('no type', 'm', allow({ patch }));
    await send('no patch', 'm', allow({ patchType: 'JSONPatch' }));
    await send('an empty type', 'm', allow({ patch, patchType: '' }));
    await send('a type that does not exist', 'm', allow({ patch, patchType: 'Merge' }));
    await send('a type that does not exist', 'i', allow({ patch, patchType: 'Merge' }));
    await send('a patch with a denial', 'm', { response: { allowed: false, patch, patchType: 'JSONPatch' } });
    await send('no type', 'b', allow({ patch }));
    await send('another type', 'b', allow({ patch, patchType: 'Merge' }));
    await send('null', 'm', mutate('null'));
    await send('an empty list', 'm', mutate('[]'));
    await send('text', 'm', mutate('hello'));
    await send('an object', 'm', mutate('{}'));
    await send('a list of numbers', 'm', mutate('[1]'));
    await send('a list of null', 'm', mutate('[null]'));
    await send('no base64', 'm', allow({ patch: '%%', patchType: 'JSONPatch' }));
    await send('text', 'i', mutate('hello'));
    await send('does not apply', 'i', mutate([{ op: 'remove', path: '/spec/none' }]));
    log.is(`
      a patch (v): 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": received invalid webhook response: validating webhook may not return response.patch {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": received invalid webhook response: validating webhook may not return response.patch"}]}
      a type (v): 500 InternalError Internal error occurred: failed calling webhook "v.kctl.test": received invalid webhook response: validating webhook may not return response.patchType {"causes":[{"message":"failed calling webhook \\"v.kctl.test\\": received invalid webhook response: validating webhook may not return response.patchType"}]}
      a patch (w): 201 null
      v1beta1 without uid and kind (w): 201 null
      no type (m): 500 InternalError Internal error occurred: failed calling webhook "m.kctl.test": received invalid webhook response: webhook returned response.patch but not response.patchType {"causes":[{"message":"failed calling webhook \\"m.kctl.test\\": received invalid webhook response: webhook returned response.patch but not response.patchType"}]}
      no patch (m): 500 InternalError Internal error occurred: failed calling webhook "m.kctl.test": received invalid webhook response: webhook returned response.patchType but not response.patch {"causes":[{"message":"failed calling webhook \\"m.kctl.test\\": received invalid webhook response: webhook returned response.patchType but not response.patch"}]}
      an empty type (m): 500 InternalError Internal error occurred: failed calling webhook "m.kctl.test": received invalid webhook response: webhook returned invalid response.patchType of "" {"causes":[{"message":"failed calling webhook \\"m.kctl.test\\": received invalid webhook response: webhook returned invalid response.patchType of \\"\\""}]}
      a type that does not exist (m): 500 InternalError Internal error occurred: failed calling webhook "m.kctl.test": unsupported patch type "Merge" {"causes":[{"message":"failed calling webhook \\"m.kctl.test\\": unsupported patch type \\"Merge\\""}]}
      a type that does not exist (i): 201 null
      a patch with a denial (m): 400 - admission webhook "m.kctl.test" denied the request without explanation
      no type (b): 201 "hi"
      another type (b): 201 "hi"
      null (m): 201 null
      an empty list (m): 201 null
      text (m): 500 InternalError Internal error occurred: failed calling webhook "m.kctl.test": received undecodable patch in webhook response: invalid character 'h' looking for beginning of value {"causes":[{"message":"failed calling webhook \\"m.kctl.test\\": received undecodable patch in webhook response: invalid character 'h' looking for beginning of value"}]}
      an object (m): 500 InternalError Internal error occurred: failed calling webhook "m.kctl.test": received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type jsonpatch.Patch {"causes":[{"message":"failed calling webhook \\"m.kctl.test\\": received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type jsonpatch.Patch"}]}
      a list of numbers (m): 500 InternalError Internal error occurred: failed calling webhook "m.kctl.test": received undecodable patch in webhook response: json: cannot unmarshal number into Go value of type jsonpatch.Operation {"causes":[{"message":"failed calling webhook \\"m.kctl.test\\": received undecodable patch in webhook response: json: cannot unmarshal number into Go value of type jsonpatch.Operation"}]}
      a list of null (m): 500 InternalError Internal error occurred: Unexpected kind: unknown {"causes":[{"message":"Unexpected kind: unknown"}]}
      no base64 (m): 500 InternalError Internal error occurred: failed calling webhook "m.kctl.test": failed to call webhook: illegal base64 data at input byte 0 {"causes":[{"message":"failed calling webhook \\"m.kctl.test\\": failed to call webhook: illegal base64 data at input byte 0"}]}
      text (i): 201 null
      does not apply (i): 500 InternalError Internal error occurred: error in remove for path: '/spec/none': Unable to remove nonexistent key: none: missing value {"causes":[{"message":"error in remove for path: '/spec/none': Unable to remove nonexistent key: none: missing value"}]}
    `);
  },
  { needs },
);

spec(
  68,
  'patches that do not apply are internal errors in the words of the library',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook, log } = await stage(t);
    await hook.install('Mutating', [hook.entry('m.kctl.test', { rules: [rule(widgets.group, 'widgets')] })]);
    const operations: readonly unknown[] = [
      { op: 'add', path: '/spec/x/y', value: 1 },
      { op: 'add', path: '/spec/parts/5', value: { name: 'z' } },
      { op: 'add', path: '/spec/parts/x', value: { name: 'z' } },
      { op: 'add', value: 1 },
      { op: 'add', path: '', value: 1 },
      { op: 'remove', path: '/spec/none' },
      { op: 'remove', path: '/none/none' },
      { op: 'remove', path: '/spec/parts/7' },
      { op: 'replace', path: '/spec/parts/7', value: {} },
      { op: 'replace', path: '/none/none', value: {} },
      { op: 'replace', path: '', value: 1 },
      { op: 'replace', path: '/spec/note', value: 'new' },
      { op: 'move', from: '/spec/none', path: '/spec/note' },
      { op: 'move', path: '/spec/note' },
      { op: 'copy', from: '/none/none', path: '/spec/note' },
      { op: 'test', path: '/spec/size', value: 9 },
      { op: 'test', path: '/none/size', value: 9 },
      { op: 'bogus', path: '/spec/size' },
      { path: '/spec/size' },
      { op: 1, path: '/spec/size' },
      { op: 'add', path: 7, value: 1 },
    ];
    for (const operation of operations) {
      hook.answer = () => mutate([operation]);
      log.answer(
        JSON.stringify(operation),
        await t.post(widgets.path(ns), widgets.draft('a', { parts: [{ name: 'p' }] }), { query: { dryRun: 'All' } }),
        ({ spec: { note } }) => note ?? null,
      );
    }
    log.is(`
      {"op":"add","path":"/spec/x/y","value":1}: 500 InternalError Internal error occurred: add operation does not apply: doc is missing path: "/spec/x/y": missing value {"causes":[{"message":"add operation does not apply: doc is missing path: \\"/spec/x/y\\": missing value"}]}
      {"op":"add","path":"/spec/parts/5","value":{"name":"z"}}: 500 InternalError Internal error occurred: error in add for path: '/spec/parts/5': Unable to access invalid index: 5: invalid index referenced {"causes":[{"message":"error in add for path: '/spec/parts/5': Unable to access invalid index: 5: invalid index referenced"}]}
      {"op":"add","path":"/spec/parts/x","value":{"name":"z"}}: 500 InternalError Internal error occurred: error in add for path: '/spec/parts/x': value was not a proper array index: 'x': strconv.Atoi: parsing "x": invalid syntax {"causes":[{"message":"error in add for path: '/spec/parts/x': value was not a proper array index: 'x': strconv.Atoi: parsing \\"x\\": invalid syntax"}]}
      {"op":"add","value":1}: 500 InternalError Internal error occurred: add operation failed to decode path: missing value {"causes":[{"message":"add operation failed to decode path: missing value"}]}
      {"op":"add","path":"","value":1}: 500 InternalError Internal error occurred: add operation does not apply: doc is missing path: "": missing value {"causes":[{"message":"add operation does not apply: doc is missing path: \\"\\": missing value"}]}
      {"op":"remove","path":"/spec/none"}: 500 InternalError Internal error occurred: error in remove for path: '/spec/none': Unable to remove nonexistent key: none: missing value {"causes":[{"message":"error in remove for path: '/spec/none': Unable to remove nonexistent key: none: missing value"}]}
      {"op":"remove","path":"/none/none"}: 500 InternalError Internal error occurred: remove operation does not apply: doc is missing path: "/none/none": missing value {"causes":[{"message":"remove operation does not apply: doc is missing path: \\"/none/none\\": missing value"}]}
      {"op":"remove","path":"/spec/parts/7"}: 500 InternalError Internal error occurred: error in remove for path: '/spec/parts/7': Unable to access invalid index: 7: invalid index referenced {"causes":[{"message":"error in remove for path: '/spec/parts/7': Unable to access invalid index: 7: invalid index referenced"}]}
      {"op":"replace","path":"/spec/parts/7","value":{}}: 500 InternalError Internal error occurred: replace operation does not apply: doc is missing key: /spec/parts/7: missing value {"causes":[{"message":"replace operation does not apply: doc is missing key: /spec/parts/7: missing value"}]}
      {"op":"replace","path":"/none/none","value":{}}: 500 InternalError Internal error occurred: replace operation does not apply: doc is missing path: /none/none: missing value {"causes":[{"message":"replace operation does not apply: doc is missing path: /none/none: missing value"}]}
      {"op":"replace","path":"","value":1}: 500 InternalError Internal error occurred: replace operation value must be object or array: %!w(<nil>) {"causes":[{"message":"replace operation value must be object or array: %!w(<nil>)"}]}
      {"op":"replace","path":"/spec/note","value":"new"}: 201 "new"
      {"op":"move","from":"/spec/none","path":"/spec/note"}: 500 InternalError Internal error occurred: error in move for path: 'none': Unable to remove nonexistent key: none: missing value {"causes":[{"message":"error in move for path: 'none': Unable to remove nonexistent key: none: missing value"}]}
      {"op":"move","path":"/spec/note"}: 500 InternalError Internal error occurred: move operation failed to decode from: operation, missing from field: missing value {"causes":[{"message":"move operation failed to decode from: operation, missing from field: missing value"}]}
      {"op":"copy","from":"/none/none","path":"/spec/note"}: 500 InternalError Internal error occurred: copy operation does not apply: doc is missing from path: /none/none: missing value {"causes":[{"message":"copy operation does not apply: doc is missing from path: /none/none: missing value"}]}
      {"op":"test","path":"/spec/size","value":9}: 500 InternalError Internal error occurred: testing value /spec/size failed: test failed {"causes":[{"message":"testing value /spec/size failed: test failed"}]}
      {"op":"test","path":"/none/size","value":9}: 500 InternalError Internal error occurred: test operation does not apply: is missing path: /none/size: missing value {"causes":[{"message":"test operation does not apply: is missing path: /none/size: missing value"}]}
      {"op":"bogus","path":"/spec/size"}: 500 InternalError Internal error occurred: Unexpected kind: bogus {"causes":[{"message":"Unexpected kind: bogus"}]}
      {"path":"/spec/size"}: 500 InternalError Internal error occurred: Unexpected kind: unknown {"causes":[{"message":"Unexpected kind: unknown"}]}
      {"op":1,"path":"/spec/size"}: 500 InternalError Internal error occurred: Unexpected kind: unknown {"causes":[{"message":"Unexpected kind: unknown"}]}
      {"op":"add","path":7,"value":1}: 500 InternalError Internal error occurred: add operation failed to decode path: missing value {"causes":[{"message":"add operation failed to decode path: missing value"}]}
    `);
  },
  { needs },
);

spec(
  68,
  'a mutated custom resource gets its defaults again, is validated and pruned; metadata keeps its rules',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook, log } = await stage(t);
    const rules = [rule(widgets.group, ['widgets', 'widgets/status'])];
    await hook.install('Mutating', [hook.entry('m.kctl.test', { rules }), hook.entry('n.kctl.test', { rules })]);
    await hook.install('Validating', [hook.entry('v.kctl.test', { rules })]);
    const shown = ({
      metadata: { labels, annotations, generation, finalizers, name },
      spec: content,
      status,
    }: Json): Json => ({ name, labels, annotations, generation, finalizers, spec: content, status });
    const change = (operations: readonly unknown[]): void => {
      hook.take();
      hook.answer = ({ url }) => (url.startsWith('/m?') ? mutate(operations) : allow());
    };
    const post = async (what: string, operations: readonly unknown[], name = 'a'): Promise<void> => {
      change(operations);
      log.answer(what, await t.post(widgets.path(ns), widgets.draft(name), { query: { dryRun: 'All' } }), shown);
      log.reviews(hook, ({ request }) => [
        request.operation,
        request.object.spec,
        request.object.metadata?.labels ?? null,
      ]);
    };
    await post('a default removed', [{ op: 'remove', path: '/spec/color' }]);
    await post('a default of null', [{ op: 'add', path: '/spec/color', value: null }]);
    await post('null', [{ op: 'add', path: '/spec/note', value: null }]);
    await post('defaults in a new item', [{ op: 'add', path: '/spec/parts', value: [{ name: 'p' }] }]);
    await post('an unknown field', [
      { op: 'add', path: '/spec/bogus', value: { a: 1 } },
      { op: 'add', path: '/bogus', value: 1 },
    ]);
    await post('an unknown metadata field', [{ op: 'add', path: '/metadata/bogus', value: 1 }]);
    await post('a value of another type', [{ op: 'add', path: '/spec/note', value: 5 }]);
    await post('a value that is not allowed', [{ op: 'add', path: '/spec/color', value: 'pink' }]);
    await post('a label that is not valid', [{ op: 'add', path: '/metadata/labels', value: { a: '-x-' } }]);
    await post('another name', [{ op: 'replace', path: '/metadata/name', value: 'z' }]);
    await post('a name that is not valid', [{ op: 'replace', path: '/metadata/name', value: 'A' }]);
    await post('another namespace', [{ op: 'replace', path: '/metadata/namespace', value: 'other' }]);
    await post('no namespace', [{ op: 'remove', path: '/metadata/namespace' }]);
    await post('no metadata', [{ op: 'remove', path: '/metadata' }]);
    await post('another kind', [{ op: 'replace', path: '/kind', value: 'Other' }]);
    await post('another version', [{ op: 'replace', path: '/apiVersion', value: 'other/v1' }]);
    await post('a list', [{ op: 'replace', path: '', value: [] }]);
    await post('nothing', [{ op: 'replace', path: '', value: {} }]);
    await post('a status', [{ op: 'add', path: '/status', value: { ready: true } }]);
    await post('a finalizer and a generation', [
      { op: 'add', path: '/metadata/finalizers', value: ['kctl.test/f'] },
      { op: 'replace', path: '/metadata/generation', value: 9 },
    ]);
    await post('a uid and a version', [{ op: 'add', path: '/metadata/uid', value: 'x' }]);
    await post('a version', [{ op: 'add', path: '/metadata/resourceVersion', value: '1' }]);
    await post('no owners', [{ op: 'remove', path: '/metadata/managedFields' }]);
    await post('broken owners', [
      { op: 'replace', path: '/metadata/managedFields', value: [{ manager: 'x', operation: 'Bogus' }] },
    ]);
    await post('owners without a type', [
      {
        op: 'replace',
        path: '/metadata/managedFields',
        value: [{ manager: 'x', operation: 'Update', apiVersion: 'v1' }],
      },
    ]);
    log.is(`
      a default removed: 201 {"generation":1,"name":"a","spec":{"color":"blue","replicas":1,"size":1}}
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /n?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /v?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
      a default of null: 201 {"generation":1,"name":"a","spec":{"color":"blue","replicas":1,"size":1}}
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /n?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /v?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
      null: 422 Invalid Widget.GROUP "a" is invalid: spec.note: Invalid value: "null": spec.note in body must be of type string: "null" {"causes":[{"field":"spec.note","message":"Invalid value: \\"null\\": spec.note in body must be of type string: \\"null\\"","reason":"FieldValueTypeInvalid"}],"group":"GROUP","kind":"Widget","name":"a"}
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /n?timeout=5s ["CREATE",{"color":"blue","note":null,"replicas":1,"size":1},null]
      defaults in a new item: 201 {"generation":1,"name":"a","spec":{"color":"blue","parts":[{"name":"p","value":7}],"replicas":1,"size":1}}
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /n?timeout=5s ["CREATE",{"color":"blue","parts":[{"name":"p","value":7}],"replicas":1,"size":1},null]
        /v?timeout=5s ["CREATE",{"color":"blue","parts":[{"name":"p","value":7}],"replicas":1,"size":1},null]
      an unknown field: 201 {"generation":1,"name":"a","spec":{"color":"blue","replicas":1,"size":1}}
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /n?timeout=5s ["CREATE",{"bogus":{"a":1},"color":"blue","replicas":1,"size":1},null]
        /v?timeout=5s ["CREATE",{"bogus":{"a":1},"color":"blue","replicas":1,"size":1},null]
      an unknown metadata field: 201 {"generation":1,"name":"a","spec":{"color":"blue","replicas":1,"size":1}}
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /n?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /v?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
      a value of another type: 422 Invalid Widget.GROUP "a" is invalid: spec.note: Invalid value: "integer": spec.note in body must be of type string: "integer" {"causes":[{"field":"spec.note","message":"Invalid value: \\"integer\\": spec.note in body must be of type string: \\"integer\\"","reason":"FieldValueTypeInvalid"}],"group":"GROUP","kind":"Widget","name":"a"}
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /n?timeout=5s ["CREATE",{"color":"blue","note":5,"replicas":1,"size":1},null]
      a value that is not allowed: 422 Invalid Widget.GROUP "a" is invalid: spec.color: Unsupported value: "pink": supported values: "red", "green", "blue" {"causes":[{"field":"spec.color","message":"Unsupported value: \\"pink\\": supported values: \\"red\\", \\"green\\", \\"blue\\"","reason":"FieldValueNotSupported"}],"group":"GROUP","kind":"Widget","name":"a"}
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /n?timeout=5s ["CREATE",{"color":"pink","replicas":1,"size":1},null]
      a label that is not valid: 422 Invalid Widget.GROUP "a" is invalid: metadata.labels: Invalid value: "-x-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?') {"causes":[{"field":"metadata.labels","message":"Invalid value: \\"-x-\\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')","reason":"FieldValueInvalid"}],"group":"GROUP","kind":"Widget","name":"a"}
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /n?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},{"a":"-x-"}]
      another name: 201 {"generation":1,"name":"z","spec":{"color":"blue","replicas":1,"size":1}}
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /n?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /v?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
      a name that is not valid: 422 Invalid Widget.GROUP "A" is invalid: metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*') {"causes":[{"field":"metadata.name","message":"Invalid value: \\"A\\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')","reason":"FieldValueInvalid"}],"group":"GROUP","kind":"Widget","name":"A"}
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /n?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
      another namespace: 400 BadRequest the namespace of the provided object does not match the namespace sent on the request
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /n?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
      no namespace: 201 {"generation":1,"name":"a","spec":{"color":"blue","replicas":1,"size":1}}
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /n?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /v?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
      no metadata: 422 Invalid Widget.GROUP "" is invalid: metadata.name: Required value: name or generateName is required {"causes":[{"field":"metadata.name","message":"Required value: name or generateName is required","reason":"FieldValueRequired"}],"group":"GROUP","kind":"Widget"}
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /n?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
      another kind: 422 Invalid Other.GROUP "a" is invalid: kind: Invalid value: "Other": must be Widget {"causes":[{"field":"kind","message":"Invalid value: \\"Other\\": must be Widget","reason":"FieldValueInvalid"}],"group":"GROUP","kind":"Other","name":"a"}
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /n?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
      another version: 500 - other/v1, Kind=Widget is unstructured and is not suitable for converting to "GROUP/v1"
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /n?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
      a list: 500 InternalError Internal error occurred: couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } {"causes":[{"message":"couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string \\"json:\\\\\\"apiVersion,omitempty\\\\\\"\\"; Kind string \\"json:\\\\\\"kind,omitempty\\\\\\"\\" }"}]}
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
      nothing: 500 InternalError Internal error occurred: Object 'Kind' is missing in '{}' {"causes":[{"message":"Object 'Kind' is missing in '{}'"}]}
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
      a status: 201 {"generation":1,"name":"a","spec":{"color":"blue","replicas":1,"size":1}}
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /n?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /v?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
      a finalizer and a generation: 201 {"finalizers":["kctl.test/f"],"generation":1,"name":"a","spec":{"color":"blue","replicas":1,"size":1}}
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /n?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /v?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
      a uid and a version: 201 {"generation":1,"name":"a","spec":{"color":"blue","replicas":1,"size":1}}
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /n?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /v?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
      a version: 201 {"generation":1,"name":"a","spec":{"color":"blue","replicas":1,"size":1}}
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /n?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /v?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
      no owners: 201 {"generation":1,"name":"a","spec":{"color":"blue","replicas":1,"size":1}}
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /n?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /v?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
      broken owners: 201 {"generation":1,"name":"a","spec":{"color":"blue","replicas":1,"size":1}}
        warning: .metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: operation must be \`Apply\` or \`Update\`
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /n?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /v?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
      owners without a type: 201 {"generation":1,"name":"a","spec":{"color":"blue","replicas":1,"size":1}}
        warning: .metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: missing fieldsType in managed fields entry 0
        /m?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /n?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
        /v?timeout=5s ["CREATE",{"color":"blue","replicas":1,"size":1},null]
    `);
  },
  { needs },
);

spec(
  68,
  'a mutating webhook on updates: versions, status, owners, no change at all',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook, log } = await stage(t);
    const made = created(await t.post(widgets.path(ns), widgets.draft('a'), { query: { fieldManager: 'f' } }));
    const rules = [rule(widgets.group, ['widgets', 'widgets/status', 'widgets/scale'])];
    await hook.install('Mutating', [hook.entry('m.kctl.test', { rules })]);
    const path = widgets.path(ns, 'a');
    const shown = ({ metadata: { generation, labels, resourceVersion }, spec: content, status }: Json): Json => ({
      generation,
      labels,
      content,
      status,
      moved: resourceVersion !== before,
    });
    let before = made.metadata.resourceVersion;
    const mark = async (): Promise<void> => void (before = ok(await t.get(path)).metadata.resourceVersion);
    const change = (...operations: readonly unknown[]): void => void (hook.answer = () => mutate(operations));
    change({ op: 'replace', path: '/spec/size', value: 1 }, { op: 'remove', path: '/metadata/labels' });
    log.answer(
      'the change taken back',
      await t.patch(path, MERGE_PATCH, { spec: { size: 2 }, metadata: { labels: { a: 'b' } } }),
      shown,
    );
    change({ op: 'replace', path: '/metadata/resourceVersion', value: '1' });
    log.answer('another version', await t.patch(path, MERGE_PATCH, { spec: { size: 2 } }));
    change({ op: 'replace', path: '/metadata/name', value: 'z' });
    log.answer('another name', await t.patch(path, MERGE_PATCH, { spec: { size: 2 } }));
    change({ op: 'replace', path: '/metadata/uid', value: 'z' });
    log.answer('another uid', await t.patch(path, MERGE_PATCH, { spec: { size: 2 } }));
    change({ op: 'replace', path: '/metadata/namespace', value: 'z' });
    log.answer('another namespace', await t.patch(path, MERGE_PATCH, { spec: { size: 2 } }));
    change({ op: 'add', path: '/status', value: { phase: 'x' } });
    log.answer('a status', await t.patch(path, MERGE_PATCH, { spec: { size: 3 } }), shown);
    await mark();
    change({ op: 'replace', path: '/spec/size', value: 7 }, { op: 'add', path: '/metadata/labels', value: { l: 'm' } });
    log.answer(
      'a spec by /status',
      await t.patch(widgets.path(ns, 'a', 'status'), MERGE_PATCH, { status: { ready: true } }),
      shown,
    );
    change({ op: 'replace', path: '/spec/replicas', value: 5 });
    log.answer(
      'another scale',
      await t.patch(widgets.path(ns, 'a', 'scale'), MERGE_PATCH, { spec: { replicas: 2 } }),
      ({ spec: content }) => content,
    );
    change({ op: 'replace', path: '/spec/replicas', value: -1 });
    log.answer(
      'a scale that is not valid',
      await t.patch(widgets.path(ns, 'a', 'scale'), MERGE_PATCH, { spec: { replicas: 3 } }),
    );
    change({ op: 'replace', path: '/spec/replicas', value: 'x' });
    log.answer(
      'a scale of another type',
      await t.patch(widgets.path(ns, 'a', 'scale'), MERGE_PATCH, { spec: { replicas: 3 } }),
    );
    change({ op: 'add', path: '/spec/note', value: 'by webhook' });
    const last = ok(await t.patch(path, MERGE_PATCH, { spec: { size: 4 } }, { query: { fieldManager: 'g' } }));
    const owners = (
      last.metadata.managedFields?.map(({ manager, operation, subresource, fieldsV1 }) => [
        manager,
        operation,
        subresource ?? '',
        fieldsV1['f:spec'] ?? null,
      ]) ?? []
    ).map(sorted);
    log.say(`owners: ${owners.toSorted().join(' ')}`);
    hook.answer = () => mutate([{ op: 'add', path: '/spec/note', value: 'x' }]);
    log.answer('a patch on DELETE', await t.delete(path));
    hook.answer = () => mutate('[]');
    log.answer('an empty one on DELETE', await t.delete(path));
    log.is(`
      the change taken back: 200 {"content":{"color":"blue","replicas":1,"size":1},"generation":1,"moved":true}
      another version: 409 Conflict Operation cannot be fulfilled on widgets.GROUP "a": the object has been modified; please apply your changes to the latest version and try again {"group":"GROUP","kind":"widgets","name":"a"}
      another name: 422 Invalid Widget.GROUP "z" is invalid: metadata.name: Invalid value: "z": field is immutable {"causes":[{"field":"metadata.name","message":"Invalid value: \\"z\\": field is immutable","reason":"FieldValueInvalid"},{"field":"metadata.name","message":"Invalid value: \\"z\\": field is immutable","reason":"FieldValueInvalid"}],"group":"GROUP","kind":"Widget","name":"z"}
      another uid: 422 Invalid Widget.GROUP "a" is invalid: metadata.uid: Invalid value: "z": field is immutable {"causes":[{"field":"metadata.uid","message":"Invalid value: \\"z\\": field is immutable","reason":"FieldValueInvalid"},{"field":"metadata.uid","message":"Invalid value: \\"z\\": field is immutable","reason":"FieldValueInvalid"}],"group":"GROUP","kind":"Widget","name":"a"}
      another namespace: 400 BadRequest the namespace of the provided object does not match the namespace sent on the request
      a status: 200 {"content":{"color":"blue","replicas":1,"size":3},"generation":2,"moved":true}
      a spec by /status: 200 {"content":{"color":"blue","replicas":1,"size":3},"generation":2,"moved":true,"status":{"ready":true}}
      another scale: 200 {"replicas":5}
      a scale that is not valid: 422 Invalid Widget.GROUP "a" is invalid: .spec.replicas: Invalid value: -1: should be a non-negative integer {"causes":[{"field":".spec.replicas","message":"Invalid value: -1: should be a non-negative integer","reason":"FieldValueInvalid"}],"group":"GROUP","kind":"Widget","name":"a"}
      a scale of another type: 500 - unable to convert unstructured object to autoscaling/v1, Kind=Scale: unrecognized type: int32
      owners: ["f","Update","",{".":{},"f:color":{}}] ["g","Update","",{"f:size":{}}] ["unknown","Update","",null] ["unknown","Update","scale",{"f:replicas":{}}] ["unknown","Update","status",null]
      a patch on DELETE: 500 InternalError Internal error occurred: admission webhook "m.kctl.test" attempted to modify the object, which is not supported for this operation {"causes":[{"message":"admission webhook \\"m.kctl.test\\" attempted to modify the object, which is not supported for this operation"}]}
      an empty one on DELETE: 200
    `);
  },
  { needs },
);

spec(
  68,
  'a mutated built-in kind is decoded again',
  async (plain) => {
    const t = steady(plain);
    const { ns, hook, log } = await stage(t);
    await hook.install('Mutating', [hook.entry('m.kctl.test', { rules: [rule('', 'configmaps')] })]);
    const post = async (what: string, operations: readonly unknown[]): Promise<void> => {
      hook.answer = () => mutate(operations);
      log.answer(
        what,
        await t.post(configMaps(ns), { metadata: { name: 'a' }, data: { a: 'b' } }, { query: { dryRun: 'All' } }),
        ({ data, metadata: { name, labels, annotations } }) => ({ data, name, labels, annotations }),
      );
    };
    await post('a value', [{ op: 'add', path: '/data/c', value: 'd' }]);
    await post('an unknown field', [{ op: 'add', path: '/bogus', value: 1 }]);
    await post('a number', [{ op: 'add', path: '/data/c', value: 5 }]);
    await post('a list', [{ op: 'replace', path: '/data', value: [] }]);
    await post('bytes that are none', [{ op: 'add', path: '/binaryData', value: { b: '%%' } }]);
    await post('a key that is not valid', [{ op: 'add', path: '/data/a b', value: 'd' }]);
    await post('a label of another type', [{ op: 'add', path: '/metadata/labels', value: { a: 1 } }]);
    await post('no kind', [{ op: 'remove', path: '/kind' }]);
    await post('a kind that does not exist', [{ op: 'replace', path: '/kind', value: 'Bogus' }]);
    await post('another name', [{ op: 'replace', path: '/metadata/name', value: 'z' }]);
    await post('another namespace', [{ op: 'replace', path: '/metadata/namespace', value: 'z' }]);
    log.is(`
      a value: 201 {"data":{"a":"b","c":"d"},"name":"a"}
      an unknown field: 201 {"data":{"a":"b"},"name":"a"}
      a number: 500 InternalError Internal error occurred: json: cannot unmarshal number into Go struct field ConfigMap.data of type string {"causes":[{"message":"json: cannot unmarshal number into Go struct field ConfigMap.data of type string"}]}
      a list: 500 InternalError Internal error occurred: json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string {"causes":[{"message":"json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string"}]}
      bytes that are none: 500 InternalError Internal error occurred: illegal base64 data at input byte 0 {"causes":[{"message":"illegal base64 data at input byte 0"}]}
      a key that is not valid: 422 Invalid ConfigMap "a" is invalid: data[a b]: Invalid value: "a b": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+') {"causes":[{"field":"data[a b]","message":"Invalid value: \\"a b\\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')","reason":"FieldValueInvalid"}],"kind":"ConfigMap","name":"a"}
      a label of another type: 500 InternalError Internal error occurred: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string {"causes":[{"message":"json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string"}]}
      no kind: 201 {"data":{"a":"b"},"name":"a"}
      a kind that does not exist: 500 InternalError Internal error occurred: no kind "Bogus" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111" {"causes":[{"message":"no kind \\"Bogus\\" is registered for version \\"v1\\" in scheme \\"pkg/runtime/scheme.go:111\\""}]}
      another name: 201 {"data":{"a":"b"},"name":"z"}
      another namespace: 400 BadRequest the namespace of the provided object does not match the namespace sent on the request
    `);
  },
  { needs },
);

spec(
  67,
  'timeouts of the webhook and of the request',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook, log } = await stage(t);
    const rules = [rule(widgets.group, 'widgets')];
    const to = (name: string): object => ({ matchLabels: { to: name } });
    for (const type of ['Mutating', 'Validating'] as const) {
      const letter = type.slice(0, 1).toLowerCase();
      await hook.install(type, [
        hook.entry(`${letter}f.kctl.test`, { rules, objectSelector: to(`${letter}-fail`), timeoutSeconds: 1 }),
        hook.entry(`${letter}i.kctl.test`, {
          rules,
          objectSelector: to(`${letter}-ignore`),
          timeoutSeconds: 1,
          failurePolicy: 'Ignore',
        }),
        hook.entry(`${letter}l.kctl.test`, {
          rules,
          objectSelector: to(`${letter}-late`),
          timeoutSeconds: 20,
          failurePolicy: 'Ignore',
        }),
      ]);
    }
    hook.answer = () => 'hang';
    const send = async (label: string, query: Record<string, string> = {}): Promise<void> => {
      const post = () => t.post(widgets.path(ns), widgets.draft(label, {}, { labels: { to: label } }), { query });
      // At the timeout of a request a real server now and then closes the connection before it has answered.
      const answer = await post().catch(async (error: unknown) => {
        if (query['timeout'] === undefined) throw error;
        hook.take();
        return await post();
      });
      // The Status of a request that ended by its timeout comes without a kind on a real server.
      if (answer.status === 504) log.say(`${label} ${JSON.stringify(query)}: 504 ${answer.body.reason}`);
      else log.answer(`${label} ${JSON.stringify(query)}`, answer);
      log.reviews(hook);
    };
    await send('m-fail');
    await send('m-ignore');
    await send('v-fail');
    await send('v-ignore');
    await send('m-late', { timeout: '1s' });
    await send('v-late', { timeout: '1500ms' });
    const here = ok(await t.get(widgets.path(ns)));
    log.say(`there: ${JSON.stringify(here.items.map(({ metadata }) => metadata.name))}`);
    log.is(`
      m-fail {}: 500 InternalError Internal error occurred: failed calling webhook "mf.kctl.test": failed to call webhook: Post "https://127.0.0.1:PORT/mf?timeout=1s": context deadline exceeded {"causes":[{"message":"failed calling webhook \\"mf.kctl.test\\": failed to call webhook: Post \\"https://127.0.0.1:PORT/mf?timeout=1s\\": context deadline exceeded"}]}
        /mf?timeout=1s CREATE
      m-ignore {}: 201
        /mi?timeout=1s CREATE
      v-fail {}: 500 InternalError Internal error occurred: failed calling webhook "vf.kctl.test": failed to call webhook: Post "https://127.0.0.1:PORT/vf?timeout=1s": context deadline exceeded {"causes":[{"message":"failed calling webhook \\"vf.kctl.test\\": failed to call webhook: Post \\"https://127.0.0.1:PORT/vf?timeout=1s\\": context deadline exceeded"}]}
        /vf?timeout=1s CREATE
      v-ignore {}: 201
        /vi?timeout=1s CREATE
      m-late {"timeout":"1s"}: 504 Timeout
        /ml?timeout=1s CREATE
      v-late {"timeout":"1500ms"}: 504 Timeout
        /vl?timeout=2s CREATE
      there: ["m-ignore","v-ignore"]
    `);
  },
  { needs, isSlow: true },
);

spec(
  67,
  'a webhook that cannot be reached, and certificates that are not trusted',
  async (plain) => {
    const t = steady(plain);
    const { ns, widgets, hook } = await stage(t);
    const log = transcript({ NS: ns, GROUP: widgets.group, PORT: hook.port });
    const rules = [rule(widgets.group, 'widgets')];
    const to = (name: string): object => ({ matchLabels: { to: name } });
    const { caBundle, url } = hook.clientConfig('/x');
    await hook.install('Validating', [
      hook.entry('down.kctl.test', {
        rules,
        objectSelector: to('down'),
        clientConfig: { url: 'https://127.0.0.1:9/x', caBundle },
      }),
      hook.entry('foreign.kctl.test', { rules, objectSelector: to('foreign'), clientConfig: { url } }),
      hook.entry('named.kctl.test', {
        rules,
        objectSelector: to('named'),
        clientConfig: { url: `https://localhost:${hook.port}/x/`, caBundle },
      }),
      hook.entry('other.kctl.test', {
        rules,
        objectSelector: to('other'),
        clientConfig: { url: `https://127.0.0.2:${hook.port}/x`, caBundle },
      }),
      hook.entry('root.kctl.test', {
        rules,
        objectSelector: to('root'),
        clientConfig: { url: `https://127.0.0.1:${hook.port}`, caBundle },
      }),
    ]);
    for (const label of ['down', 'foreign', 'named', 'other', 'root']) {
      log.answer(
        label,
        await t.post(widgets.path(ns), widgets.draft('a', {}, { labels: { to: label } }), { query: { dryRun: 'All' } }),
      );
      log.reviews(hook);
    }
    log.is(`
      down: 500 InternalError Internal error occurred: failed calling webhook "down.kctl.test": failed to call webhook: Post "https://127.0.0.1:9/x?timeout=5s": dial tcp 127.0.0.1:9: connect: connection refused {"causes":[{"message":"failed calling webhook \\"down.kctl.test\\": failed to call webhook: Post \\"https://127.0.0.1:9/x?timeout=5s\\": dial tcp 127.0.0.1:9: connect: connection refused"}]}
        no review
      foreign: 500 InternalError Internal error occurred: failed calling webhook "foreign.kctl.test": failed to call webhook: Post "https://127.0.0.1:PORT/x?timeout=5s": tls: failed to verify certificate: x509: certificate signed by unknown authority {"causes":[{"message":"failed calling webhook \\"foreign.kctl.test\\": failed to call webhook: Post \\"https://127.0.0.1:PORT/x?timeout=5s\\": tls: failed to verify certificate: x509: certificate signed by unknown authority"}]}
        no review
      named: 201
        /x?timeout=5s CREATE
      other: 500 InternalError Internal error occurred: failed calling webhook "other.kctl.test": failed to call webhook: Post "https://127.0.0.2:PORT/x?timeout=5s": dial tcp 127.0.0.2:PORT: connect: connection refused {"causes":[{"message":"failed calling webhook \\"other.kctl.test\\": failed to call webhook: Post \\"https://127.0.0.2:PORT/x?timeout=5s\\": dial tcp 127.0.0.2:PORT: connect: connection refused"}]}
        no review
      root: 201
        /?timeout=5s CREATE
    `);
  },
  { needs },
);
