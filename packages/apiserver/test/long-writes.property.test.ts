/** Random writes, made of short objects on one server and of long ones on another: no answer may tell which is which. */
import { settle } from '@kctl/wait/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { harness, widgetCrd, type Answer, type Harness } from './harness.js';

const count = Number(process.env['LONG_WRITES'] ?? 150);
const seed = Number(process.env['LONG_WRITES_SEED'] ?? 20);

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const crd = {
  ...widgetCrd,
  spec: {
    ...widgetCrd.spec,
    versions: ['v1', 'v1beta1'].map((name) => ({
      ...widgetCrd.spec.versions[0],
      name,
      storage: name === 'v1',
      selectableFields: undefined,
      subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.n' } },
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: {
              ...open,
              properties: { size: { type: 'integer', default: 3 }, max: { type: 'integer', maximum: 100 } },
              'x-kubernetes-validations': [
                { rule: '!has(self.max) || self.max > self.size' },
                { rule: '!has(oldSelf.max) || has(self.max)', message: 'max stays' },
              ],
            },
            status: open,
          },
        },
      },
    })),
  },
};

const kinds = {
  configmaps: { apiVersion: 'v1', kind: 'ConfigMap', subresources: [''] },
  services: { apiVersion: 'v1', kind: 'Service', subresources: ['', 'status'] },
  pods: { apiVersion: 'v1', kind: 'Pod', subresources: ['', 'status'] },
  deployments: { apiVersion: 'apps/v1', kind: 'Deployment', subresources: ['', 'status', 'scale'] },
  widgets: { apiVersion: 'ex.io/v1', kind: 'Widget', subresources: ['', 'status', 'scale'] },
  'widgets ': { apiVersion: 'ex.io/v1beta1', kind: 'Widget', subresources: ['', 'status', 'scale'] },
} as const;
type Plural = keyof typeof kinds;

const pathOf = (plural: Plural, name = '', subresource = ''): string => {
  const { apiVersion } = kinds[plural];
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  return [`${root}/namespaces/default/${plural.trim()}`, name, subresource].filter((part) => part !== '').join('/');
};

/** Small integers that decide what a step is: each is read modulo what there is to choose from. */
const step = fc.record({
  verb: fc.constantFrom('create', 'create', 'replace', 'replace', 'patch', 'patch', 'patch', 'delete', 'list', 'purge'),
  plural: fc.constantFrom(...(Object.keys(kinds) as Plural[])),
  name: fc.constantFrom('a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c', 'Bad'),
  subresource: fc.nat(8),
  isPadded: fc.boolean(),
  isGenerated: fc.integer({ min: 0, max: 9 }).map((one) => one === 0),
  isStale: fc.integer({ min: 0, max: 6 }).map((one) => one === 0),
  value: fc.integer({ min: 0, max: 5 }),
  label: fc.constantFrom('x', 'y', 'x', 'y', 'x', 'y', 'not ok!', null),
  finalizers: fc.constantFrom(undefined, undefined, undefined, undefined, [], [], ['ex.io/f'], ['bad one']),
  address: fc.constantFrom(undefined, '10.0.0.7', '10.0.0.8', 'None'),
  port: fc.constantFrom(undefined, undefined, 30_001, 30_002),
  bogus: fc.integer({ min: 0, max: 8 }).map((one) => one === 0),
  type: fc.constantFrom(
    'application/merge-patch+json',
    'application/strategic-merge-patch+json',
    'application/json-patch+json',
    'application/apply-patch+yaml',
  ),
  query: fc.constantFrom('', '', '', 'dryRun=All', 'fieldValidation=Strict', 'fieldManager=other', 'force=true'),
});
type Step = (typeof step extends fc.Arbitrary<infer T> ? T : never) & object;

function metadataOf({ name, isGenerated, label, finalizers }: Step, pad: string | undefined): object {
  return {
    ...(isGenerated ? { generateName: 'g-' } : { name }),
    labels: { l: label },
    ...(finalizers !== undefined && !isGenerated && { finalizers }),
    ...(pad !== undefined && { annotations: { pad } }),
  };
}

function fieldsOf({ plural, value, address, port, bogus }: Step): object {
  const wrong = bogus ? { bogus: { x: 1 } } : {};
  switch (plural) {
    case 'configmaps':
      return { data: { k: String(value) }, ...wrong };
    case 'services':
      return {
        spec: {
          ports: [{ port: 80 + value, ...(port !== undefined && { nodePort: port }) }],
          ...(port !== undefined && { type: 'NodePort' }),
          ...(address !== undefined && { clusterIP: address }),
          ...wrong,
        },
      };
    case 'pods':
      return { spec: { containers: [{ name: 'c', image: `i:${value}`, ...wrong }] } };
    case 'deployments':
      return {
        spec: {
          replicas: value,
          selector: { matchLabels: { a: 'b' } },
          template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i', ...wrong }] } },
        },
      };
    default:
      return { spec: { size: value, ...(value > 2 && { max: value * 2 - 4 }), big: 9007199254740992, ...wrong } };
  }
}

function objectOf(chosen: Step, pad: string | undefined): Record<string, any> {
  const { apiVersion, kind } = kinds[chosen.plural];
  return { apiVersion, kind, metadata: metadataOf(chosen, pad), ...fieldsOf(chosen) };
}

function patchOf(chosen: Step, pad: string | undefined, subresource: string): unknown {
  const { type, value, label, finalizers, plural, name } = chosen;
  if (type.startsWith('application/apply')) {
    const { apiVersion, kind } = kinds[plural];
    if (subresource === 'scale')
      return { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name }, spec: { replicas: value } };
    const metadata = { name, ...(pad !== undefined && { annotations: { pad } }) };
    return { apiVersion, kind, metadata, ...(subresource === 'status' ? { status: { n: value } } : fieldsOf(chosen)) };
  }
  if (type.startsWith('application/json-patch'))
    return [
      { op: 'test', path: '/metadata/name', value: value === 0 ? 'other' : name },
      { op: value === 1 ? 'remove' : 'add', path: '/metadata/labels', value: { l: label } },
      ...(pad === undefined ? [] : [{ op: 'add', path: '/metadata/annotations', value: { pad } }]),
    ];
  if (subresource === 'scale') return { spec: { replicas: value - 1 } };
  if (subresource === 'status') return { status: { n: value, replicas: value } };
  const metadata = { labels: { l: label }, finalizers, ...(pad !== undefined && { annotations: { pad } }) };
  return { metadata, ...fieldsOf(chosen) };
}

/** Makes a step on one server. */
async function play({ call, get }: Harness, chosen: Step, pad: string): Promise<Answer> {
  const { verb, plural, name, isPadded, isStale, query, type } = chosen;
  const own = isPadded ? pad : undefined;
  const { subresources } = kinds[plural];
  const subresource = subresources[chosen.subresource % subresources.length] ?? '';
  const asked = query === '' ? '' : `?${query}`;
  switch (verb) {
    case 'create': {
      const answer = await call('POST', `${pathOf(plural)}${asked}`, objectOf(chosen, own));
      // Random names would come in another order in what follows.
      if (chosen.isGenerated && answer.status === 201)
        await call('DELETE', pathOf(plural, answer.body.metadata.name), { gracePeriodSeconds: 0 });
      return answer;
    }
    case 'replace': {
      const present = (await get(pathOf(plural, name, subresource))).body;
      const wanted =
        present.metadata?.resourceVersion === undefined || subresource === 'scale'
          ? { ...present, spec: { replicas: chosen.value } }
          : { ...present, ...objectOf(chosen, own), metadata: { ...present.metadata, ...metadataOf(chosen, own) } };
      if (isStale && wanted.metadata !== undefined) wanted.metadata.resourceVersion = '1';
      return call('PUT', `${pathOf(plural, name, subresource)}${asked}`, wanted);
    }
    case 'patch': {
      const manager = type.startsWith('application/apply') && !query.includes('fieldManager') ? 'fieldManager=m' : '';
      const parameters = [query, manager].filter((part) => part !== '').join('&');
      const path = `${pathOf(plural, name, subresource)}${parameters === '' ? '' : `?${parameters}`}`;
      return call('PATCH', path, patchOf(chosen, own, subresource), { 'content-type': type });
    }
    case 'delete':
      return call('DELETE', pathOf(plural, name), isStale ? { dryRun: ['All'] } : { gracePeriodSeconds: 0 });
    case 'list':
      return get(`${pathOf(plural)}?labelSelector=l${isStale ? '!' : ''}%3Dx`);
    case 'purge':
      return call('DELETE', `${pathOf(plural)}?labelSelector=l%3Dx`);
  }
}

/** What a client sees, without what is random. */
function shown(text: string, pad: string): string {
  return text
    .replaceAll(pad, 'PAD')
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b/g, 'U')
    .replaceAll(/10\.0\.\d+\.\d+/g, (ip) => (/^10\.0\.0\.[78]$/.test(ip) ? ip : 'IP'))
    .replaceAll(/"nodePort":\d+/g, (port) => (/3000[12]$/.test(port) ? port : '"nodePort":"P"'))
    .replaceAll(/\bg-[a-z0-9]{5}\b/g, 'g-N');
}

function seen({ status, text, headers }: Answer, pad: string): object {
  const body = shown(text, pad);
  const warning = headers.get('warning');
  return {
    status,
    warning: warning === null ? null : shown(warning, pad),
    body: body.startsWith('{') ? (JSON.parse(body) as unknown) : body,
  };
}

test(
  `${count} random writes of long objects are answered as those of short ones`,
  async () => {
    const servers = [await harness(), await harness()] as const;
    for (const { post } of servers) expect((await post(crds, crd)).status).toBe(201);
    await settle();
    // Watches of a new resource begin with the first object.
    const first = { apiVersion: 'ex.io/v1', kind: 'Widget', metadata: { name: 'z' }, spec: {} };
    for (const { post } of servers) expect((await post(pathOf('widgets'), first)).status).toBe(201);
    const [short, long] = servers;
    const start = short.server.revision;
    expect(long.server.revision).toBe(start);
    const pads = ['q7', 'p'.repeat(66_000)] as const;
    const statuses = new Map<number, number>();
    for (const [index, chosen] of fc.sample(step, { seed, numRuns: count }).entries()) {
      const [one, other] = [await play(short, chosen, pads[0]), await play(long, chosen, pads[1])];
      statuses.set(one.status, (statuses.get(one.status) ?? 0) + 1);
      const what = { index, seed, ...chosen };
      expect({ what, ...seen(other, pads[1]) }).toEqual({ what, ...seen(one, pads[0]) });
      expect({ what, revision: long.server.revision }).toEqual({ what, revision: short.server.revision });
    }
    for (const plural of Object.keys(kinds) as Plural[]) {
      const path = pathOf(plural);
      expect(seen(await long.get(path), pads[1])).toEqual(seen(await short.get(path), pads[0]));
      const histories = await Promise.all(
        servers.map(async ({ watch }, side) => {
          const events = await watch(`${path}?watch=true&resourceVersion=${start}`);
          const came = (await events.pending()).map((event) => shown(JSON.stringify(event), pads[side] ?? ''));
          await events.cancel();
          expect(came.length).toBeGreaterThan(0);
          return came.map((text) => JSON.parse(text) as unknown);
        }),
      );
      expect(histories[1]).toEqual(histories[0]);
    }
    // The writes were of all kinds: made, refused and failed.
    expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 201, 404, 409, 422]));
  },
  60_000 + count * 100,
);

test('what other objects hold is respected by a long one: addresses and ports of Services', async () => {
  const { post } = await harness();
  const service = (name: string, spec: object, pad: number): object => ({
    metadata: { name, annotations: { pad: 'p'.repeat(pad) } },
    spec: { ports: [{ port: 80 }], ...spec },
  });
  const path = pathOf('services');
  expect((await post(path, service('a', { clusterIP: '10.0.0.77' }, 1))).status).toBe(201);
  expect(await post(path, service('b', { clusterIP: '10.0.0.77' }, 70_000))).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining('provided IP is already allocated') as string },
  });
  const port = { type: 'NodePort', ports: [{ port: 80, nodePort: 30_077 }] };
  expect((await post(path, service('c', port, 70_000))).status).toBe(201);
  expect(await post(path, service('d', port, 70_000))).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining('provided port is already allocated') as string },
  });
});
