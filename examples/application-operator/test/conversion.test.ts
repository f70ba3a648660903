import type { KubeObject } from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { noopLogger } from '@kctl/runtime';
import { createEnvironment, eventually } from '@kctl/testing';
import { roundTripProblems } from '@kctl/webhook';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Application } from '../src/application.js';
import { ApplicationV2, bothVersions } from '../src/application-v2.js';
import { applicationConverter, joinImage, splitImage, stageAnnotation } from '../src/conversion.js';
import { convertibleCrd, webhookOn } from '../src/conversion-webhook.js';
import { freePort } from '../src/demo-steps.js';
import { createOperator } from '../src/operator.js';

const apiVersions = [Application.apiVersion, ApplicationV2.apiVersion];
const word = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,8}$/);
const repository = fc.oneof(
  word,
  fc.tuple(word, word).map((parts) => parts.join('/')),
  fc.tuple(word, word).map(([host, name]) => `${host}:5000/${name}`),
  word.map((name) => `${name}@sha256:0123456789abcdef`),
);
const tag = fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,8}$/);
const metadata = fc.record(
  {
    name: word,
    namespace: word,
    uid: fc.uuid(),
    labels: fc.dictionary(word, word),
    annotations: fc.dictionary(word, word, { minKeys: 1 }),
    finalizers: fc.array(word),
  },
  { requiredKeys: ['name', 'namespace', 'uid'] },
);
const common = {
  replicas: fc.integer({ min: 0, max: 100 }),
  port: fc.integer({ min: 1, max: 65_535 }),
};
const status = fc.record(
  { readyReplicas: fc.nat(), address: fc.webUrl(), observedGeneration: fc.nat() },
  { requiredKeys: [] },
);
/** Every v1 that the schema allows; the annotation of the stage included. */
const first = fc.record(
  {
    apiVersion: fc.constant(Application.apiVersion),
    kind: fc.constant(Application.kind),
    metadata: fc.oneof(
      metadata,
      fc
        .tuple(metadata, fc.constantFrom('staging', 'production', 'other', ''))
        .map(([meta, stage]) => ({ ...meta, annotations: { ...meta.annotations, [stageAnnotation]: stage } })),
    ),
    spec: fc.record(
      { image: fc.oneof(fc.string({ minLength: 1 }), repository), ...common },
      { requiredKeys: ['image'] },
    ),
    status,
  },
  { requiredKeys: ['apiVersion', 'kind', 'metadata', 'spec'] },
);
/** Every v2 that the schema allows. */
const second = fc.record(
  {
    apiVersion: fc.constant(ApplicationV2.apiVersion),
    kind: fc.constant(ApplicationV2.kind),
    metadata,
    spec: fc.record(
      {
        image: fc.oneof(
          fc.record({ repository }),
          fc.record({ repository: repository.filter((text) => !text.includes('@')), tag }),
        ),
        stage: fc.constantFrom('staging', 'production'),
        ...common,
      },
      { requiredKeys: ['image'] },
    ),
    status,
  },
  { requiredKeys: ['apiVersion', 'kind', 'metadata', 'spec'] },
);

describe('the conversion between the versions of Application', () => {
  it.each<[string, fc.Arbitrary<KubeObject>]>([
    ['v1', first],
    ['v2', second],
  ])('loses nothing of %s on the way to the other version and back', async (_version, objects) => {
    await fc.assert(
      fc.asyncProperty(objects, async (object) => {
        expect(await roundTripProblems(applicationConverter, object, apiVersions)).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it.each<[string, fc.Arbitrary<KubeObject>]>([
    ['v1', first],
    ['v2', second],
  ])('loses nothing of parts of %s, which the API server converts while it prunes', async (_version, objects) => {
    const gaps = fc.subarray(['metadata', 'spec', 'status', 'image', 'stage']);
    await fc.assert(
      fc.asyncProperty(objects, gaps, async (object, missing) => {
        const without = (value: object): object =>
          Object.fromEntries(Object.entries(value).filter(([name]) => !missing.includes(name)));
        const { apiVersion, kind, ...fields } = { spec: {}, ...object };
        const part = { apiVersion, kind, ...without({ ...fields, spec: without(fields.spec) }) };
        expect(await roundTripProblems(applicationConverter, part as never, apiVersions)).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('finds the tag behind a port, and none in a digest', () => {
    expect(splitImage('host:5000/shop:1.0')).toEqual({ repository: 'host:5000/shop', tag: '1.0' });
    expect(splitImage('host:5000/shop')).toEqual({ repository: 'host:5000/shop' });
    expect(splitImage('shop@sha256:00ff')).toEqual({ repository: 'shop@sha256:00ff' });
    expect(joinImage({ repository: 'shop', tag: '1.0' })).toBe('shop:1.0');
  });

  it('is declared for both versions', () => {
    expect(bothVersions().spec.versions.map(({ name, storage }) => [name, storage])).toEqual([
      ['v1', true],
      ['v2', false],
    ]);
  });
});

// The webhook is on this machine: another machine's API server does not reach it.
it.skipIf(process.env['KCTL_TEST_SERVER'] === 'existing')(
  'serves both versions: what is created as v2 is reconciled as v1, and read and changed as either',
  async () => {
    const port = await freePort();
    await using environment = await createEnvironment({ crds: [convertibleCrd(`https://localhost:${port}`)] });
    const { client, connection } = environment;
    const namespace = await environment.createNamespace('conversion');
    const stop = new AbortController();
    const manager = await createOperator({
      connection,
      logger: noopLogger,
      webhook: webhookOn(namespace, { port, host: '127.0.0.1' }),
    });
    const running = manager.run(stop.signal);
    try {
      const key = { namespace, name: 'shop' };
      const spec = { image: { repository: 'shop', tag: '1.0' }, stage: 'staging' } as const;
      // The API server trusts the webhook once the operator has written its CA into the definition.
      await eventually(() => client.create(ApplicationV2, { metadata: key, spec }), { timeoutMs: 30_000 });
      const asFirst = await client.get(Application, key);
      expect(asFirst.spec).toEqual({ image: 'shop:1.0', replicas: 1, port: 8080 });
      expect(asFirst.metadata.annotations).toEqual({ [stageAnnotation]: 'staging' });
      const deployment = await eventually(() => client.get(Deployment, key), { timeoutMs: 30_000 });
      expect(deployment.spec?.template.spec?.containers[0]?.image).toBe('shop:1.0');

      await client.patch(Application, key, { type: 'merge', body: { spec: { image: 'shop:1.1' } } });
      const asSecond = await client.get(ApplicationV2, key);
      expect(asSecond.spec).toMatchObject({ image: { repository: 'shop', tag: '1.1' }, stage: 'staging' });
      expect((await client.list(ApplicationV2, { namespace })).items.map(({ spec: { stage } }) => stage)).toEqual([
        'staging',
      ]);
      await client.patch(ApplicationV2, key, { type: 'merge', body: { spec: { image: { tag: '1.2' } } } });
      await eventually(async () => {
        const { spec: deployed } = await client.get(Deployment, key);
        expect(deployed?.template.spec?.containers[0]?.image).toBe('shop:1.2');
      });
    } finally {
      stop.abort();
      await running;
    }
  },
);
