import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loggable, wholeObject } from './index.js';

const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'demo', name: 'db', resourceVersion: '7', annotations: { note: 'canary' } },
  data: { password: 'canary' },
};
const summary = { apiVersion: 'v1', kind: 'Secret', namespace: 'demo', name: 'db', resourceVersion: '7' };
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    managedFields: [{ manager: 'kubectl' }],
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 'long', team: 'a' },
  },
  spec: { template: { metadata: { name: 'pod' }, spec: { containers: [{ image: 'nginx' }] } } },
};

describe('a Kubernetes object in a log field', () => {
  it('is written as kind, namespace, name and resourceVersion', () => {
    expect(loggable(secret)).toEqual(summary);
  });

  it.each([
    ['inside an object', { found: { secret } }],
    ['in an array', [1, secret]],
    ['in a Map', new Map([['a', secret]])],
    ['in a Set', new Set([secret])],
    ['in a list', { apiVersion: 'v1', kind: 'SecretList', metadata: {}, items: [secret] }],
    ['in a watch event', { type: 'ADDED', object: secret }],
    ['in an admission request', { request: { object: secret, oldObject: secret } }],
    ['made by toJSON', { toJSON: () => secret }],
    ['frozen', Object.freeze({ ...secret })],
    ['without a kind', { metadata: secret.metadata, data: secret.data }],
    ['new, with generateName', { metadata: { generateName: 'db-' }, stringData: secret.data }],
    ['with a kind alone', { apiVersion: 'v1', kind: 'Secret', metadata: {}, data: secret.data }],
    ['whose metadata throws', Object.defineProperty({ ...secret }, 'data', { get: () => 'canary', enumerable: true })],
  ])('is not written whole %s', (_where, value) => {
    expect(JSON.stringify(loggable(value))).not.toContain('canary');
  });

  it('is written whole on request, without managed fields and the last-applied annotation', () => {
    expect(loggable({ desired: wholeObject(deployment) })).toEqual({
      desired: {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web', annotations: { team: 'a' } },
        spec: deployment.spec,
      },
    });
  });

  it.each([
    ['a Secret', secret],
    ['a list of Secrets', { apiVersion: 'v1', kind: 'SecretList', metadata: {}, items: [secret] }],
    ['a List with a Secret', { apiVersion: 'v1', kind: 'List', metadata: {}, items: [secret] }],
    ['an object without a kind', { metadata: secret.metadata, data: secret.data }],
    ['an array of objects without a kind', [{ metadata: secret.metadata, data: secret.data }]],
  ])('the request for the contents of %s is refused, with the reason', (_what, value) => {
    const line = JSON.stringify(loggable({ value: wholeObject(value) }));
    expect(line).not.toContain('canary');
    expect(line).toContain('not logged');
  });

  it('is still an object key when it has no metadata', () => {
    expect(loggable({ namespace: 'demo', name: 'db' })).toEqual({ namespace: 'demo', name: 'db' });
  });
});

describe('any other value in a log field', () => {
  const shared = { a: 1 };
  const cyclic: Record<string, unknown> = { name: 'outer' };
  cyclic['self'] = cyclic;
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();

  it.each([
    ['a shared object', [shared, shared], [{ a: 1 }, { a: 1 }]],
    ['a cycle', cyclic, { name: 'outer', self: '[contains itself]' }],
    ['numbers that JSON does not have', [Number.NaN, Infinity, 2n ** 64n], ['NaN', 'Infinity', '18446744073709551616']],
    ['a Date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['bytes', Buffer.from('canary'), '[6 bytes]'],
    ['a URL with a password', new URL('https://user:canary@host/path'), 'https://host/path'],
    [
      'a toJSON that throws',
      {
        toJSON: () => {
          throw new Error('broken');
        },
      },
      '[cannot be logged: broken]',
    ],
    [
      'a getter that throws',
      Object.defineProperty({}, 'x', {
        enumerable: true,
        get: () => {
          throw new Error('no');
        },
      }),
      '[cannot be logged: no]',
    ],
    ['no prototype', Object.assign(Object.create(null) as object, { a: 1 }), { a: 1 }],
    ['a key __proto__', JSON.parse('{"__proto__":{"x":1}}'), JSON.parse('{"__proto__":{"x":1}}')],
    ['a function', { call: expect }, { call: expect.stringContaining('function') }],
  ])('%s', (_what, value, expected) => {
    expect(loggable(value)).toEqual(expected);
  });

  it('survives a revoked proxy', () => {
    expect(loggable(revoked.proxy)).toContain('cannot be logged');
  });

  it('describes errors of another realm', () => {
    const foreign: unknown = runInNewContext('new TypeError("elsewhere")');
    expect(loggable(foreign)).toMatchObject({ name: 'TypeError', message: 'elsewhere' });
  });

  it('is bounded in depth and size', () => {
    let deep: unknown = 'bottom';
    for (let depth = 0; depth < 10_000; depth += 1) deep = { deep };
    expect(JSON.stringify(loggable(deep)).length).toBeLessThan(300);
    expect(JSON.stringify(loggable(Array.from({ length: 100_000 }, () => 1))).length).toBeLessThan(1000);
    expect(JSON.stringify(loggable('x'.repeat(1_000_000))).length).toBeLessThan(40_000);
  });

  it('never throws, and is always JSON', () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withNullPrototype: true,
          withObjectString: true,
          withSet: true,
          withSparseArray: true,
          withTypedArray: true,
        }),
        (value) => {
          expect(() => JSON.stringify({ value: loggable(value) })).not.toThrow();
        },
      ),
    );
  });
});
