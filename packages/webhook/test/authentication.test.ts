// Case by case after controller-runtime v0.25 pkg/webhook/authentication/{http,response,webhook}_test.go.
import { expect, it } from 'vitest';
import { authenticated, tokenReviewWebhook, unauthenticated, type TokenAuthenticator } from '../src/index.js';
import { harness } from './in-process.js';

const review = (spec: unknown, apiVersion = 'authentication.k8s.io/v1') => ({ apiVersion, kind: 'TokenReview', spec });
const good: TokenAuthenticator = (_token, { audiences }) =>
  authenticated({ username: 'jane', groups: ['a'] }, audiences);
const send = async (authenticate: TokenAuthenticator, body: unknown, headers: Record<string, string> = {}) => {
  const hook = harness(tokenReviewWebhook(authenticate));
  return { ...(await hook.send(body, { headers })), hook };
};

it.each(['authentication.k8s.io/v1', 'authentication.k8s.io/v1beta1'])('answers %s in kind', async (apiVersion) => {
  const { code, body } = await send(good, review({ token: 't', audiences: ['x'] }, apiVersion));
  expect(code).toBe(200);
  expect(body).toEqual({
    apiVersion,
    kind: 'TokenReview',
    status: { authenticated: true, user: { username: 'jane', groups: ['a'] }, audiences: ['x'] },
  });
});

it('takes a review without a type for one of v1', async () => {
  expect((await send(good, { spec: { token: 'foobar' } })).body).toMatchObject({
    apiVersion: 'authentication.k8s.io/v1',
    status: { authenticated: true },
  });
});

it.each<[string, unknown, string]>([
  ['an empty body', '', 'request body is empty'],
  ['half a body', '{', "couldn't get version/kind; json parse error: unexpected end of JSON input"],
  ['an empty token', review({ token: '' }), 'token is empty'],
  ['no token', review({}), 'token is empty'],
  ['a token that is a number', review({ token: 1 }), 'token is empty'],
  ['no spec', review(undefined), 'token is empty'],
  ['audiences that are a text', review({ token: 't', audiences: 'x' }), 'spec.audiences is not a list of strings'],
  ['another kind', { kind: 'Pod', spec: { token: 't' } }, 'the body is not a TokenReview'],
  [
    'another version',
    review({ token: 't' }, 'authentication.k8s.io/v2'),
    'apiVersion "authentication.k8s.io/v2" is not known: known are authentication.k8s.io/v1 and authentication.k8s.io/v1beta1',
  ],
  ['a body that is too large', ' '.repeat(1_048_577), 'request entity is too large; limit is 1048576 bytes'],
])('does not authenticate %s', async (_what, body, error) => {
  const { body: answer } = await send(good, body);
  expect(answer.status).toEqual({ authenticated: false, error });
});

it('refuses another content type', async () => {
  const { body } = await send(good, review({ token: 't' }), { 'content-type': 'application/foo' });
  expect(body.status.error).toBe('contentType=application/foo, expected application/json');
});

it.each<[unknown]>([
  [undefined],
  [null],
  [{}],
  [{ authenticated: 'yes' }],
  [{ authenticated: 1, user: { username: 'a' } }],
  [{ authenticated: true }],
  [{ authenticated: true, user: {} }],
  [{ authenticated: true, user: { username: '' } }],
  [{ authenticated: true, user: { username: 'a' }, audiences: 'x' }],
])('does not authenticate by the verdict %j', async (verdict) => {
  const { body } = await send((() => verdict) as never, review({ token: 't' }));
  expect(body.status.authenticated).toBe(false);
});

it('passes the reason of a refusal on', async () => {
  expect((await send(() => unauthenticated('expired'), review({ token: 't' }))).body.status).toEqual({
    authenticated: false,
    error: 'expired',
  });
});

it('shows no token, wherever an authenticator puts it, and counts one that throws', async () => {
  const token = 'canary-token-1';
  const fail = (text: string): never => {
    throw new Error(`bad ${text}`, { cause: new Error(text) });
  };
  const thrown = await send((text) => fail(text), review({ token }));
  expect(thrown.body.status).toEqual({ authenticated: false, error: 'the token could not be judged' });
  expect(thrown.hook.metrics.get('controller_runtime_webhook_panics_total')).toBe(1);
  const parsed = await send((text) => JSON.parse(text), review({ token }));
  const refused = await send((text) => unauthenticated(`no ${text}`), review({ token }));
  for (const { text, hook } of [thrown, parsed, refused]) expect([text, ...hook.logs].join()).not.toContain('canary');
});
