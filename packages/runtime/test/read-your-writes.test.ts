import { compareResourceVersions, formatKey, isNotFound } from '@kctl/apimachinery';
import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createCache } from '@kctl/cache';
import { mergePatch } from '@kctl/client';
import { createDelegatingClient } from '@kctl/client-delegating';
import type { DelegatingClient } from '@kctl/client-delegating';
import { createEnvironment } from '@kctl/testing';
import type { TestEnvironment } from '@kctl/testing';
import { afterAll, describe, expect, it } from 'vitest';

// The whole stack: delegating client, cache, informer, HTTP, server. KCTL_TEST_SERVER names another kind of server than
// the embedded one.
const environment = await createEnvironment();
afterAll(() => environment.stop());

const workers = 8;
const stepsPerWorker = Number(process.env['KCTL_STEPS'] ?? '150');
const seed = Number(process.env['KCTL_SEED'] ?? '1');

/** Small, fast, and the same for every run with this seed. */
function randomFrom(start: number): (below: number) => number {
  let state = start >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

interface Worker {
  readonly client: DelegatingClient;
  readonly namespace: string;
  readonly label: Record<string, string>;
  /** What was written last, by name: this worker is the only one who writes these names. */
  readonly written: Map<string, DeepReadonly<ConfigMap>>;
  readonly random: (below: number) => number;
}

const versionOf = ({ metadata }: DeepReadonly<KubeObject>): string => metadata.resourceVersion ?? '';

async function step(worker: Worker, n: number): Promise<void> {
  const { client, namespace, label, written, random } = worker;
  const key = { namespace, name: `${label['worker'] ?? ''}-${random(4)}` };
  const known = written.get(key.name);
  const remember = (object: ConfigMap): void => void written.set(key.name, object);
  switch (random(8)) {
    case 0:
    case 1: {
      if (known === undefined)
        remember(await client.create(ConfigMap, { metadata: { ...key, labels: label }, data: { n: String(n) } }));
      else remember(await client.update(ConfigMap, { ...known, data: { n: String(n) } }));
      return;
    }
    case 2: {
      if (known !== undefined) remember(await client.patch(ConfigMap, key, mergePatch({ data: { n: String(n) } })));
      return;
    }
    case 3: {
      if (known === undefined) return;
      await client.delete(ConfigMap, key);
      written.delete(key.name);
      return;
    }
    case 4: {
      if (random(10) > 0) return;
      await client.deleteAllOf(ConfigMap, { namespace, labelSelector: label });
      written.clear();
      return;
    }
    case 5: {
      const { items } = await client.list(ConfigMap, { namespace, labelSelector: label });
      const seen = items.map((item) => `${item.metadata.name ?? ''} ${versionOf(item)}`).sort();
      expect(seen).toEqual([...written].map(([name, object]) => `${name} ${versionOf(object)}`).sort());
      return;
    }
    default: {
      const read = await client.get(ConfigMap, key).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
      expect(read === undefined ? undefined : [versionOf(read), read.data]).toEqual(
        known === undefined ? undefined : [versionOf(known), known.data],
      );
    }
  }
}

/** Somebody else, who changes what the client reads; no read may go back behind what was read before. */
async function watchForeign(
  client: DelegatingClient,
  { client: live }: TestEnvironment,
  namespace: string,
): Promise<void> {
  const key = { namespace, name: 'foreign' };
  await live.create(ConfigMap, { metadata: key, data: { n: '0' } });
  let last = '';
  for (let n = 1; n <= stepsPerWorker; n++) {
    if (n % 3 === 0) await live.patch(ConfigMap, key, mergePatch({ data: { n: String(n) } }));
    if (n % 5 === 0) last = versionOf(await client.patch(ConfigMap, key, mergePatch({ data: { own: String(n) } })));
    const read = await client.get(ConfigMap, key).catch((error: unknown) => {
      if (isNotFound(error) && last === '') return undefined;
      throw error;
    });
    if (read === undefined) continue;
    if (last !== '') expect(compareResourceVersions(versionOf(read), last), formatKey(key)).not.toBe('older');
    last = versionOf(read);
  }
}

async function soak(mode: 'overlay' | 'barrier', unrest?: (environment: TestEnvironment) => void): Promise<number> {
  const namespace = await environment.createNamespace('writes');
  const { client: live } = environment;
  unrest?.(environment);
  const cache = createCache({ client: live, byObject: [{ kind: ConfigMap }] });
  const controller = new AbortController();
  const done = cache.run(controller.signal);
  try {
    await cache.waitForSync({ timeoutMs: 30_000 });
    const client = createDelegatingClient({ cache, client: live, readYourWrites: mode });
    const running = Array.from({ length: workers }, async (_, index) => {
      const label = { worker: `w${index}` };
      const worker = {
        client,
        namespace,
        label,
        written: new Map<string, ConfigMap>(),
        random: randomFrom(seed + index),
      };
      for (let n = 0; n < stepsPerWorker; n++) await step(worker, n);
    });
    await Promise.all([...running, watchForeign(client, environment, namespace)]);
    return client.pendingWrites;
  } finally {
    environment.embedded?.faults.clear();
    controller.abort();
    await done;
  }
}

/** Every watch meets one of these sooner or later; the informer resumes, or lists again. */
function disturbWatches({ embedded }: TestEnvironment): void {
  const match = { verb: 'watch', resource: 'configmaps', probability: 0.4 } as const;
  embedded?.faults.add({ match, action: { type: 'duplicateEvent' } });
  embedded?.faults.add({ match, action: { type: 'dropWatch', how: 'destroy', afterEvents: 30 } });
  embedded?.faults.add({ match, action: { type: 'tearEvent', afterEvents: 20 } });
  embedded?.faults.add({ match, action: { type: 'expireWatch', afterEvents: 40 } });
}

describe(`${workers} workers, ${stepsPerWorker} random steps each (seed ${seed})`, () => {
  it('always read what they have written', async () => {
    expect(await soak('overlay')).toBeLessThanOrEqual(workers * 4 + workers);
  });

  it('always read what they have written when reads wait for the cache', async () => {
    await soak('barrier');
  });

  it.runIf(environment.server === 'embedded')(
    'always read what they have written while watches lag, repeat and break',
    async () => {
      await soak('overlay', disturbWatches);
    },
    240_000,
  );
});
