// Object in, status out, against an API server.
import { StatusError, isNotFound } from '@kctl/apimachinery';
import { Deployment, StatefulSet } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap, Namespace, Pod, Secret } from '@kctl/apimachinery/kinds/core/v1';
import type { Client } from '@kctl/client';
import { intercept } from '@kctl/client';
import { noopLogger } from '@kctl/telemetry';
import { createEnvironment, eventually } from '@kctl/testing';
import type { TestEnvironment } from '@kctl/testing';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { controllerManagedBy, createManager, reconcileObject } from '../src/index.js';
import type { ObjectReconcileFunction, ReconcileContext } from '../src/index.js';

let environment: TestEnvironment;
let client: Client;
let namespace: string;
beforeAll(async () => {
  environment = await createEnvironment();
  client = environment.client;
  namespace = await environment.createNamespace('objects');
});
afterAll(() => environment.stop());

const abort = new AbortController();
const context: ReconcileContext = {
  signal: abort.signal,
  superseded: abort.signal,
  isSuperseded: false,
  logger: noopLogger,
  span: { setAttribute: () => undefined } as never,
  reconcileId: 'r',
  attempt: 1,
  isLastAttempt: false,
  priority: 0,
  reasons: ['test'],
};
const template = (name: string) => ({
  metadata: { labels: { app: name } },
  spec: { containers: [{ name: 'main', image: 'web' }] },
});
const create = (name: string, replicas = 1) =>
  client.create(Deployment, {
    metadata: { namespace, name },
    spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name) },
  });
const get = (name: string) => client.get(Deployment, { namespace, name });
const run = (
  name: string,
  reconcile: ObjectReconcileFunction<typeof Deployment>,
  through: Client = client,
  finalizers?: Parameters<typeof reconcileObject<typeof Deployment>>[0]['finalizers'],
) =>
  reconcileObject({
    client: through,
    kind: Deployment,
    fieldOwner: 'web',
    reconcile,
    ...(finalizers === undefined ? {} : { finalizers }),
  })({ namespace, name }, context);
/** Counts what is written. */
const counting = (inner: Client = client): { readonly writes: string[]; readonly through: Client } => {
  const writes: string[] = [];
  const through = intercept(inner, (next) => ({
    patch: (kind, key, patch, options) => {
      writes.push(`patch ${kind.kind}`);
      return next.patch(kind, key, patch, options);
    },
    subResource: (kind, name) => ({
      patch: (key, patch, options) => {
        writes.push(`patch ${kind.kind}/${name}`);
        return next.subResource(kind, name).patch(key, patch, options) as never;
      },
    }),
  }));
  return { writes, through };
};

describe('reconcileObject', () => {
  it('hands over the object, applies children owned by it, and writes the status', async () => {
    const owner = await create('web', 3);
    const result = await run('web', async ({ metadata, spec }, { apply, attempt, reasons }) => {
      expect([attempt, reasons]).toEqual([1, ['test']]);
      const child = await apply(ConfigMap, { metadata: { name: metadata.name }, data: { n: String(spec?.replicas) } });
      expectTypeOf(child.metadata.uid).toEqualTypeOf<string>();
      return { status: { replicas: 3, observedGeneration: metadata.generation ?? 0 }, requeueAfterMs: 5 };
    });
    expect(result).toEqual({ requeueAfterMs: 5 });
    const child = await client.get(ConfigMap, { namespace, name: 'web' });
    expect(child.data).toEqual({ n: '3' });
    expect(child.metadata.ownerReferences).toMatchObject([
      { kind: 'Deployment', uid: owner.metadata.uid, controller: true, blockOwnerDeletion: true },
    ]);
    expect(child.metadata.managedFields).toMatchObject([{ manager: 'web', operation: 'Apply' }]);
    expect((await get('web')).status).toEqual({ replicas: 3, observedGeneration: 1 });
  });

  it('refuses a status that is not an object, and sends nothing: the answer would have the whole object in it', async () => {
    await create('odd');
    const { writes, through } = counting();
    for (const status of [5, 'ready', true, [], [{ replicas: 1 }]] as never[])
      await expect(run('odd', async () => ({ status }), through)).rejects.toThrow(/^reconcile: status is .*: expected/);
    expect(writes).toEqual([]);
  });

  it('writes nothing where nothing changed, and removes what the status leaves out', async () => {
    await create('steady');
    const { writes, through } = counting();
    const reconcile =
      (status: object): ObjectReconcileFunction<typeof Deployment> =>
      async ({ metadata }, { apply }) => {
        await apply(ConfigMap, { metadata: { name: metadata.name }, data: { a: '1' } });
        return { status };
      };
    await run('steady', reconcile({ replicas: 1, readyReplicas: 1 }), through);
    await run('steady', reconcile({ replicas: 1, readyReplicas: 1 }), through);
    expect(writes).toEqual(['patch ConfigMap', 'patch Deployment/status']);
    await run('steady', reconcile({ replicas: 1 }), through);
    expect((await get('steady')).status).toEqual({ replicas: 1 });
    await run('steady', async () => undefined, through);
    expect(writes).toHaveLength(3);
  });

  it('repeats the status where labels were written meanwhile, and leaves it where the spec was', async () => {
    await create('busy');
    await run('busy', async (object) => {
      await client.patch(Deployment, object, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } });
      return { status: { replicas: 1 } };
    });
    expect((await get('busy')).status).toEqual({ replicas: 1 });
    await run('busy', async (object) => {
      await client.patch(Deployment, object, { type: 'merge', body: { spec: { replicas: 7 } } });
      return { status: { replicas: 2 } };
    });
    expect((await get('busy')).status).toEqual({ replicas: 1 });
  });

  it('writes no status of an object that was deleted, or deleted and made anew', async () => {
    await create('gone');
    await run('gone', async (object) => {
      await client.delete(Deployment, object);
      return { status: { replicas: 1 } };
    });
    await expect(get('gone')).rejects.toSatisfy(isNotFound);
    await create('anew');
    await run('anew', async (object) => {
      await client.delete(Deployment, object);
      await create('anew');
      return { status: { replicas: 1 } };
    });
    expect((await get('anew')).status).toEqual({});
  });

  it('reports a status that cannot be written', async () => {
    await create('refused');
    const through = intercept(client, () => ({
      subResource: () => ({
        patch: () => Promise.reject(new StatusError({ code: 403, reason: 'Forbidden', message: 'no' })),
      }),
    }));
    await expect(run('refused', async () => ({ status: { replicas: 1 } }), through)).rejects.toThrow('no');
    const conflicts = intercept(client, () => ({
      subResource: () => ({
        patch: () => Promise.reject(new StatusError({ code: 409, reason: 'Conflict', message: 'again' })),
      }),
    }));
    await expect(run('refused', async () => ({ status: { replicas: 1 } }), conflicts)).rejects.toThrow('again');
  });

  it('is not called for what does not exist or is being deleted; with a finalizer the clean-up is', async () => {
    const never: ObjectReconcileFunction<typeof Deployment> = () => expect.unreachable();
    expect(await run('absent', never)).toEqual({});
    const cleaned: string[] = [];
    const finalizers = [
      {
        name: 'example.com/bucket',
        cleanup: async ({ metadata }: { metadata: { name: string } }) => void cleaned.push(metadata.name),
      },
    ];
    await create('kept');
    await run(
      'kept',
      async ({ metadata }) => {
        expect(metadata.finalizers).toEqual(['example.com/bucket']);
      },
      client,
      finalizers,
    );
    await client.delete(Deployment, { namespace, name: 'kept' });
    expect(await run('kept', never)).toEqual({});
    expect(cleaned).toEqual([]);
    await run('kept', never, client, finalizers);
    expect(cleaned).toEqual(['kept']);
    await expect(get('kept')).rejects.toSatisfy(isNotFound);
  });

  it('applies unowned children anywhere, and says why an owned one cannot be', async () => {
    await create('outside');
    await run('outside', async (_object, { apply }) => {
      await apply(Namespace, { metadata: { name: `${namespace}-child` } }, { owned: false });
      await expect(apply(Namespace, { metadata: { name: `${namespace}-child` } })).rejects.toThrow(
        'cluster-scoped object',
      );
      await expect(apply(ConfigMap, { metadata: { name: 'x', namespace: 'default' } })).rejects.toThrow(
        'another namespace',
      );
    });
    const child = await client.get(Namespace, { name: `${namespace}-child` });
    expect(child.metadata.ownerReferences).toBeUndefined();
  });

  it('takes fields over, unless it is not to', async () => {
    await create('forced');
    await client.patch(
      ConfigMap,
      { namespace, name: 'shared' },
      {
        type: 'apply',
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shared' }, data: { a: 'theirs' } },
      },
      { fieldOwner: 'other' },
    );
    await run('forced', async (_object, { apply }) => {
      const ours = { metadata: { name: 'shared' }, data: { a: 'ours' } };
      await expect(apply(ConfigMap, ours, { force: false })).rejects.toThrow('others own .data.a (other)');
      expect((await apply(ConfigMap, ours)).data).toEqual({ a: 'ours' });
    });
  });

  it('refuses results and options that are not valid', async () => {
    await create('typo');
    expect(() => reconcileObject({ client, kind: Pod, fieldOwner: 'x' } as never)).toThrow(
      'reconcile is of type undefined',
    );
    expect(() =>
      reconcileObject({ client, kind: Pod, fieldOwner: 'x', reconcile: async () => undefined, finalizer: [] } as never),
    ).toThrow('did you mean "finalizers"?');
    const five = await run('typo', (async () => 5) as never);
    expect(five).toBe(5);
    // @ts-expect-error -- a status is of the kind's type
    const typed: ObjectReconcileFunction<typeof Deployment> = async () => ({ status: { replicas: 'three' } });
    await expect(run('typo', typed)).rejects.toThrow();
  });
});

describe('controllerManagedBy(…).reconcile', () => {
  it('runs with the manager, typed by the kind of for', async () => {
    const manager = await createManager({ connection: environment.connection, logger: noopLogger });
    controllerManagedBy(manager)
      .for(Deployment)
      .owns(ConfigMap)
      .named('built')
      .reconcile(async ({ metadata, spec }, { apply }) => {
        if (metadata.name !== 'by-builder') return {};
        expectTypeOf(spec?.replicas).toEqualTypeOf<number | undefined>();
        await apply(ConfigMap, { metadata: { name: 'by-builder' }, data: { replicas: String(spec?.replicas) } });
        return { status: { replicas: spec?.replicas ?? 0 } };
      });
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    await create('by-builder', 4);
    await eventually(async () => {
      expect((await get('by-builder')).status).toEqual({ replicas: 4 });
    });
    await client.delete(ConfigMap, { namespace, name: 'by-builder' });
    await eventually(async () => {
      const child = await client.get(ConfigMap, { namespace, name: 'by-builder' });
      expect(child.metadata.managedFields?.[0]?.manager).toBe('built');
    });
    stop.abort();
    await running;
  });

  it('sends one patch per changed child, and none for a change that leads to the same child', async () => {
    const manager = await createManager({ connection: environment.connection, logger: noopLogger });
    const { writes, through } = counting(manager.client);
    const runs: (string | undefined)[] = [];
    controllerManagedBy(manager)
      .for(Deployment)
      .owns(ConfigMap)
      .owns(Secret)
      .owns(StatefulSet)
      .named('counted')
      .complete(
        reconcileObject({
          client: through,
          kind: Deployment,
          fieldOwner: 'counted',
          reconcile: async ({ metadata, spec }, { apply }) => {
            if (metadata.name !== 'counted') return;
            const replicas = String(spec?.replicas);
            await apply(ConfigMap, { metadata: { name: 'counted' }, data: { replicas } });
            await apply(Secret, { metadata: { name: 'counted' }, stringData: { replicas } });
            await apply(StatefulSet, {
              metadata: { name: 'counted' },
              spec: {
                replicas: Number(replicas),
                serviceName: 'counted',
                selector: { matchLabels: { app: 'counted' } },
                template: template('counted'),
              },
            });
            runs.push(metadata.labels?.['run']);
          },
        }),
      );
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    const relabelled = async (run: string): Promise<void> => {
      await client.patch(
        Deployment,
        { namespace, name: 'counted' },
        { type: 'merge', body: { metadata: { labels: { run } } } },
      );
      await eventually(() => expect(runs).toContain(run));
    };
    await create('counted', 1);
    for (const [index, replicas] of [2, 3, 4].entries()) {
      await client.patch(Deployment, { namespace, name: 'counted' }, { type: 'merge', body: { spec: { replicas } } });
      await relabelled(`spec-${index}`);
    }
    const sent = writes.length;
    await relabelled('label-only');
    expect(writes).toHaveLength(sent);
    // One of each child per value at most: runs may skip values.
    expect(writes.length).toBeLessThanOrEqual(3 * 4);
    // The status of a child is not applied, so that its changes need no patch.
    const child = { namespace, name: 'counted' };
    await client.status(StatefulSet).patch(child, { type: 'merge', body: { status: { replicas: 4 } } });
    await eventually(async () => expect((await manager.client.get(StatefulSet, child)).status?.replicas).toBe(4));
    await relabelled('status-only');
    expect(writes).toHaveLength(sent);
    stop.abort();
    await running;
  });

  it('names what is missing', async () => {
    const manager = await createManager({ connection: environment.connection, logger: noopLogger });
    expect(() =>
      controllerManagedBy(manager)
        .named('x')
        .reconcile(async () => ({})),
    ).toThrow('reconcile() can only be used together with for()');
    expect(() =>
      controllerManagedBy(manager)
        .for(Pod)
        .reconcile(undefined as never),
    ).toThrow('reconcile() takes a function');
    expect(() =>
      controllerManagedBy(manager)
        .for(Pod)
        .reconcile(async () => ({}), { finalizer: [] } as never),
    ).toThrow('did you mean "finalizers"?');
  });
});
