import { defineKind } from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { expect, it } from 'vitest';
import type { PodsClient } from './client.js';
import { proxyRequest } from './proxy/proxy-request.js';
import { resolvePod, resolvePods } from './target.js';

it.each([[{ matchLabels: {} }], [{ matchLabels: null, matchExpressions: [] }]])(
  'takes no pod for the selector %j, which would select all of the namespace',
  async (selector) => {
    const metadata = { namespace: 'shop', name: 'web' };
    const client = {
      get: async () => ({ metadata, spec: { selector } }),
      list: async () => ({ metadata: {}, items: [{ metadata: { ...metadata, name: 'of-another' } }] }),
    } as unknown as Pick<PodsClient, 'get' | 'list'>;
    await expect(resolvePods(client, { kind: Deployment, ...metadata })).rejects.toThrow(
      'Deployment shop/web has an empty selector: name a pod',
    );
  },
);

it('reads a pod of which the metadata alone is there, and takes one that is whole as it is', async () => {
  const metadata = { namespace: 'shop', name: 'web-0', uid: 'u', resourceVersion: '1' };
  const whole = { metadata, spec: { containers: [{ name: 'app' }] } };
  const asked: unknown[] = [];
  const client = {
    get: async (_kind: unknown, key: unknown) => {
      asked.push(key);
      return whole;
    },
    list: () => Promise.reject(new Error('not asked for')),
  } as unknown as Pick<PodsClient, 'get' | 'list'>;
  expect(await resolvePod(client, { metadata })).toBe(whole);
  expect(await resolvePod(client, { metadata, spec: { containers: [] } })).toBe(whole);
  expect(asked).toEqual(Array.from({ length: 2 }, () => ({ namespace: 'shop', name: 'web-0' })));
  expect(await resolvePod(client, whole)).toBe(whole);
  expect(asked).toHaveLength(2);
});

it.each(['.', '..', 'web/../../secrets', 'web%2flog', '\ud800'])(
  'refuses %j, which leaves its place in the path',
  async (name) => {
    const asked = (): Promise<never> => Promise.reject(new Error('asked'));
    const client = { get: asked, list: asked, transport: { send: asked } } as unknown as PodsClient;
    const expected = /^resolvePod: the (name|namespace) of the target ".*" is not valid: expected a string/;
    for (const target of [
      { namespace: 'shop', name },
      { namespace: name, name: 'web' },
      { metadata: { namespace: 'shop', name } },
    ])
      await expect(resolvePod(client, target as never)).rejects.toThrow(expected);
  },
);

it('takes a Service of another group for none of the core', async () => {
  const asked: unknown[] = [];
  const client = {
    get: async (kind: { readonly group: string }) => {
      asked.push(kind.group);
      return { metadata: { namespace: 'shop', name: 'web' }, spec: { template: {} } };
    },
    list: () => Promise.reject(new Error('not asked for')),
    transport: { send: () => Promise.reject(new Error('sent')) },
  } as unknown as PodsClient;
  const kind = defineKind({ group: 'serving.knative.dev', version: 'v1', kind: 'Service', scope: 'Namespaced' });
  await expect(proxyRequest(client, { kind, namespace: 'shop', name: 'web' })).rejects.toThrow(
    'Service shop/web has no selector: name a pod',
  );
  expect(asked).toEqual(['serving.knative.dev']);
});
