// A secret that enters with a request comes out nowhere: not in an answer that refuses it, and not in a log, at any level.
import { describe, expect, it } from 'vitest';
import {
  admissionWebhook,
  allowed,
  conversionWebhook,
  defaultingWebhook,
  tokenReviewWebhook,
  validatingWebhook,
  type WebhookHandler,
} from '../src/index.js';
import { conversionReview, nested, review, Widget, widget } from './fixtures.js';
import { harness } from './in-process.js';

const canary = 'c4n4ry s3cr3t';
const secret = { ...widget(), data: { password: canary }, stringData: { [canary]: canary } };

const handlers: Readonly<Record<string, () => WebhookHandler>> = {
  validator: () =>
    validatingWebhook(Widget, {
      validateCreate: () => {
        throw new TypeError('mistake');
      },
    }),
  defaulter: () =>
    defaultingWebhook(
      Widget,
      (draft) => void JSON.parse(String(Reflect.get(Reflect.get(draft, 'data') as object, 'password'))),
    ),
  raw: () =>
    admissionWebhook(({ object }) =>
      JSON.parse(String(Reflect.get(Reflect.get(object ?? {}, 'data') ?? {}, 'password'))),
    ),
  conversion: () =>
    conversionWebhook((object) => JSON.parse(String(Reflect.get(Reflect.get(object, 'data') as object, 'password')))),
  token: () =>
    tokenReviewWebhook((token) => {
      throw new Error(`no ${token}`, { cause: token });
    }),
};

/** Every way that a canary can come in and be refused. */
const bodies: readonly unknown[] = [
  canary,
  `"${canary}`,
  `{"kind":"${canary}"}`,
  `{"a":${canary}}`,
  `{"a":"b"} ${canary}`,
  `{"kind":"AdmissionReview","request":${nested(2_000).replace('1', `"${canary}"`)}}`,
  review('CREATE', { object: secret }),
  review(canary, { object: secret }),
  review('CREATE', { object: { ...secret, kind: canary } }),
  review('CREATE', { object: { ...secret, apiVersion: canary } }),
  review('CREATE', { object: canary }),
  review('CREATE', { kind: { group: canary, version: canary, kind: canary } }),
  review('CREATE', { kind: canary, resource: canary, userInfo: canary }),
  review('UPDATE', { object: secret, oldObject: null }),
  { ...review('CREATE'), apiVersion: canary },
  conversionReview([secret]),
  conversionReview([
    { ...secret, kind: canary },
    { ...secret, metadata: { name: canary, namespace: canary } },
  ]),
  conversionReview([secret], canary),
  conversionReview(canary),
  { apiVersion: canary, kind: 'ConversionReview', request: { uid: 'x', desiredAPIVersion: 'a/b', objects: [] } },
  { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: canary } },
  { apiVersion: canary, kind: 'TokenReview', spec: { token: canary } },
  { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'x', audiences: canary } },
];

describe.each(Object.keys(handlers))('a %s webhook', (name) => {
  it('answers and logs nothing of a secret', async () => {
    const hook = harness((handlers[name] ?? (() => admissionWebhook(() => allowed())))());
    for (const body of bodies) {
      const answers = [await hook.send(body), await hook.send(JSON.stringify(body).slice(0, -1))];
      for (const { text } of answers) expect(text, JSON.stringify(body)).not.toContain('c4n4ry');
    }
    expect(hook.logs.length).toBeGreaterThan(bodies.length);
    expect(hook.logs.filter((line) => line.includes('c4n4ry'))).toEqual([]);
  });
});
