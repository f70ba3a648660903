// What handlers, converters, hooks and sinks may do wrong: each costs its own request, and nothing else.
import type { KubeObject } from '@kctl/apimachinery';
import type { Logger, Metrics } from '@kctl/telemetry';
import { describe, expect, it } from 'vitest';
import {
  admissionWebhook,
  allowed,
  chainDefaulters,
  conversionWebhook,
  defaultingWebhook,
  multiMutatingHandler,
  patched,
  standaloneWebhook,
  tokenReviewWebhook,
  validatingWebhook,
  type AdmissionHandler,
  type AdmissionResponse,
  type WebhookHandler,
} from '../src/index.js';
import { conversionReview, nested, review, Widget, widget } from './fixtures.js';
import { harness } from './in-process.js';

const fail = (): never => {
  throw new Error('again');
};
const errorWith = (name: string, descriptor: PropertyDescriptor, error: Error = new Error('x')): Error =>
  Object.defineProperty(error, name, descriptor);
const tokenReview = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 't' } };

describe('what is returned or changed', () => {
  it.each<[string, (draft: Widget) => unknown]>([
    ['a copy', (draft) => ({ ...draft, spec: { ...draft.spec, color: 'red' } })],
    ['a copy beside a change', (draft) => structuredClone(Object.assign(draft, { spec: { color: 'red' } }))],
    ['a copy later', async (draft) => await Promise.resolve({ ...draft })],
    ['a part alone', () => ({ spec: { color: 'red' } })],
  ])('refuses a defaulter that returns %s', async (_what, defaulter) => {
    for (const one of [defaulter, chainDefaulters<Widget>(() => undefined, defaulter)]) {
      const hook = harness(defaultingWebhook(Widget, one));
      const { body } = await hook.send(review('CREATE'));
      expect(body.response).toMatchObject({ allowed: false, status: { code: 500 } });
      expect(body.response.status.message).toContain('the defaulter returned another object: change the draft');
      expect(hook.logs.join('')).toContain('returned another object');
    }
  });

  it.each<[string, (draft: Widget) => unknown]>([
    ['the draft', (draft) => Object.assign(draft, { spec: { color: 'red' } })],
    ['a part of the draft', (draft) => (draft.spec = { color: 'red' })],
    ['a part with metadata', (draft) => Object.assign(draft, { template: { metadata: {}, spec: {} } }).template],
    ['a number', (draft) => Object.keys(Object.assign(draft, { spec: { color: 'red' } })).length],
  ])('takes a defaulter that returns %s', async (_what, defaulter) => {
    const { body } = await harness(defaultingWebhook(Widget, defaulter)).send(review('CREATE'));
    expect(body.response).toMatchObject({ allowed: true, patchType: 'JSONPatch' });
  });

  it.each(['CREATE', 'UPDATE', 'DELETE'])(
    'refuses a validator that changes what it is to check (%s)',
    async (operation) => {
      const change = (object: unknown): undefined => void ((object as Widget).spec.color = 'red');
      const validator = { validateCreate: change, validateUpdate: change, validateDelete: change };
      const { body } = await harness(validatingWebhook(Widget, validator)).send(review(operation));
      expect(body.response).toMatchObject({ allowed: false, status: { code: 500 } });
    },
  );
});

describe('what is thrown', () => {
  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a symbol', Symbol('s')],
    ['a bigint', 1n],
    ['an object without prototype', Object.create(null)],
    ['an error whose message throws', errorWith('message', { get: fail })],
    ['an error whose stack throws', errorWith('stack', { get: fail })],
    ['an error whose cause throws', errorWith('cause', { get: fail })],
    ['an error whose name is a symbol', errorWith('name', { value: Symbol('n') })],
    [
      'an error caused by a SyntaxError whose stack throws',
      new Error('x', { cause: errorWith('stack', { get: fail }, new SyntaxError('canary')) }),
    ],
    ['a proxy that throws', new Proxy(new Error('x'), { get: fail, getPrototypeOf: fail })],
  ])('may be %s: the review is answered, and one panic counted at most', async (_what, thrown) => {
    const thrower = (): never => {
      throw thrown;
    };
    const handlers: [WebhookHandler, object, string][] = [
      [validatingWebhook(Widget, { validateCreate: thrower }), review('CREATE'), ''],
      [defaultingWebhook(Widget, thrower), review('CREATE'), ''],
      [admissionWebhook(thrower), review('CREATE'), ''],
      [conversionWebhook(thrower), conversionReview([widget()]), 'conversion_'],
      [tokenReviewWebhook(thrower), tokenReview, ''],
    ];
    for (const [handler, body, metric] of handlers) {
      const hook = harness(handler);
      const answered = await hook.send(body);
      expect(answered.code).toBe(200);
      const { response = {}, status = {} } = answered.body;
      expect(response.allowed ?? status.authenticated ?? response.result.status).toBeOneOf([false, 'Failure']);
      expect(hook.metrics.get(`controller_runtime_${metric}webhook_panics_total`)).toBeLessThanOrEqual(1);
      expect(answered.text + hook.logs.join('')).not.toContain('canary');
    }
  });
});

describe('what a raw handler returns', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  const add = (value: unknown): object => patched([{ op: 'add', path: '/spec/x', value: value as never }]);

  it.each<[string, object, RegExp]>([
    ['warnings as a text', { ...allowed(), warnings: 'x' }, /warnings that are not a list of strings/],
    ['a warning that is a number', { ...allowed(), warnings: [1] }, /warnings that are not a list of strings/],
    ['annotations as a list', { ...allowed(), auditAnnotations: [] }, /auditAnnotations that are not an object/],
    ['an annotation of another type', { ...allowed(), auditAnnotations: { a: 1 } }, /auditAnnotations that are not/],
    ['patches as an object', { ...allowed(), patches: {} }, /patches that are not a list of JSON patch operations/],
    ['patches that are null', { ...allowed(), patches: null }, /patches that are not a list/],
    ['a promise of patches', { ...allowed(), patches: Promise.resolve([]) }, /patches that are not a list/],
    ['a patch without a path', { ...allowed(), patches: [{ op: 'add' }] }, /patches that are not a list/],
    ['a patch with a cycle', add(cycle), /patches that cannot be written as JSON: it has a cycle/],
    ['a patch with NaN', add({ size: Number.NaN }), /patches that cannot be written as JSON: it holds NaN/],
    ['a code that is a text', { allowed: false, result: { code: '403' } }, /a result that is not a Status/],
    ['members that throw', Object.defineProperty({ allowed: true }, 'patches', { get: fail }), /cannot be read/],
  ])('may be %s: it is refused with 500, and no panic', async (_what, response, message) => {
    for (const wrap of [(handler: AdmissionHandler) => handler, multiMutatingHandler]) {
      const hook = harness(admissionWebhook(wrap(() => response as AdmissionResponse)));
      const { status, ...verdict } = (await hook.send(review('CREATE'))).body.response;
      expect(verdict).toEqual({ uid: 'u1', allowed: false });
      expect(status).toMatchObject({ code: 500, message: expect.stringMatching(message) as unknown });
      expect(hook.metrics.get('controller_runtime_webhook_panics_total')).toBe(0);
    }
  });

  it('refuses a warning of a validator that is not a text', async () => {
    const validator = validatingWebhook(Widget, {
      validateCreate: (_object, { warn }) => {
        warn(undefined as never);
        return undefined;
      },
    });
    const { response } = (await harness(validator).send(review('CREATE'))).body;
    expect(response).toMatchObject({ allowed: false, status: { code: 500 } });
  });
});

describe('what a defaulter makes', () => {
  it.each<[string, (draft: any) => void, RegExp]>([
    ['a cycle', (draft) => (draft.spec.self = draft), /cannot be written as JSON: it has a cycle/],
    ['NaN', (draft) => (draft.spec.size = Number.NaN), /cannot be written as JSON: it holds NaN/],
    ['an invalid Date', (draft) => (draft.spec.at = new Date(Number.NaN)), /an invalid Date/],
  ])('may be %s: it is refused with 500', async (_what, defaulter, message) => {
    const { response } = (await harness(defaultingWebhook(Widget, defaulter)).send(review('CREATE'))).body;
    expect(response.allowed).toBe(false);
    expect(response.status).toMatchObject({ code: 500, message: expect.stringMatching(message) as unknown });
  });

  it('may be a Date, which becomes its text', async () => {
    const hook = harness(defaultingWebhook(Widget, (draft) => void Object.assign(draft.spec, { at: new Date(0) })));
    const { patch } = (await hook.send(review('CREATE'))).body.response;
    expect(JSON.parse(Buffer.from(patch, 'base64').toString())).toEqual([
      { op: 'add', path: '/spec/at', value: '1970-01-01T00:00:00.000Z' },
    ]);
  });
});

describe('what a converter returns', () => {
  const result = (spec: unknown): object => ({ ...widget(), apiVersion: 'ex.io/v2', spec });

  it.each<[string, () => object, RegExp]>([
    [
      'an object that writes itself as nothing',
      () => Object.assign(Object.create({ toJSON: () => undefined }), result({})),
      /toJSON/,
    ],
    ['a member whose toJSON throws', () => result(Object.create({ toJSON: fail })), /toJSON/],
    ['an invalid Date', () => result({ at: new Date(Number.NaN) }), /invalid Date/],
    [
      'a getter that throws',
      () => Object.defineProperty(result({}), 'spec', { get: fail, enumerable: true }),
      /cannot be read/,
    ],
  ])('may be %s: the review fails, naming the object', async (_what, convert, message) => {
    const { code, body } = await harness(conversionWebhook(convert as () => KubeObject)).send(
      conversionReview([widget()]),
    );
    expect(code).toBe(200);
    expect(body.response).toMatchObject({ uid: 'c1', convertedObjects: [], result: { status: 'Failure' } });
    expect(body.response.result.message).toMatch(message);
    expect(body.response.result.message).toMatch(/^Widget a\/w: /);
  });

  it('may be a Date, or one value in two places', async () => {
    const shared = { at: new Date(0) };
    const hook = harness(conversionWebhook(() => result({ a: shared, b: shared }) as KubeObject));
    const [converted] = (await hook.send(conversionReview([widget()]))).body.response.convertedObjects;
    expect(converted.spec).toEqual({ a: { at: '1970-01-01T00:00:00.000Z' }, b: { at: '1970-01-01T00:00:00.000Z' } });
  });
});

describe('bodies at the depth limit', () => {
  const filled = (body: object, depth: number): string =>
    JSON.stringify(body).replace('"spec":{', `"spec":{"deep":${nested(depth)},`);
  const v2 = (object: KubeObject): KubeObject => ({ ...object, apiVersion: 'ex.io/v2' });
  const user = { authenticated: true, user: { username: 'jane' } } as const;

  // 1,000 levels in all: the rest of them are those of the review.
  it.each<[string, WebhookHandler, object, number]>([
    ['validating', validatingWebhook(Widget, {}), review('CREATE'), 996],
    [
      'defaulting',
      defaultingWebhook(Widget, (draft: any) => void (draft.spec.copy = draft.spec.deep)),
      review('CREATE'),
      996,
    ],
    ['conversion', conversionWebhook(v2), conversionReview([widget()]), 995],
    ['token', tokenReviewWebhook(() => user), tokenReview, 998],
  ])('are answered, and one level more is refused (%s)', async (_what, handler, body, depth) => {
    const passes = ({ body: { response = {}, status = {} } }: any): unknown =>
      response.allowed ?? status.authenticated ?? response.result.status === 'Success';
    expect(passes(await harness(handler).send(filled(body, depth)))).toBe(true);
    const refused = await harness(handler).send(filled(body, depth + 1));
    expect(passes(refused)).toBe(false);
    expect(refused.text).toContain('nested deeper than 1000 levels');
  });
});

describe('hooks and sinks that throw', () => {
  const logger: Logger = {
    trace: fail,
    debug: fail,
    info: fail,
    warn: fail,
    error: fail,
    isEnabled: fail,
    child: fail,
  };
  const family = () => ({ with: fail, remove: fail });
  const metrics: Metrics = { counter: family, gauge: family, histogram: family, onCollect: fail };

  it.each<[string, WebhookHandler, unknown]>([
    ['a verdict', validatingWebhook(Widget, {}), review('CREATE')],
    ['a panic', admissionWebhook(fail), review('CREATE')],
    ['a broken body', admissionWebhook(() => allowed()), '{'],
    ['a failed conversion', conversionWebhook(fail), conversionReview([widget()])],
    ['a failed token review', tokenReviewWebhook(fail), tokenReview],
  ])('do not keep %s from its answer', async (_what, handler, body) => {
    const { code, text } = await harness(handler).send(body);
    expect(await harness(handler, logger).send(body)).toMatchObject({ code, text });
    expect(() => standaloneWebhook(handler, { metricsPath: '/hook', metrics, logger })).not.toThrow();
  });

  it('do not keep a review from its answer where the log constructor throws', async () => {
    const hook = harness(validatingWebhook(Widget, {}, { logConstructor: fail }));
    expect((await hook.send(review('CREATE'))).body.response.allowed).toBe(true);
    expect(hook.logs.join('')).toContain('logConstructor failed');
    expect(hook.metrics.get('controller_runtime_webhook_panics_total')).toBe(0);
  });
});
