/** Webhooks that fail closed while their operator is down: what stops, and what must not, or it could not come back. */
import { ConfigMap, Pod, Secret } from '@kctl/apimachinery/kinds/core/v1';
import { Lease } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1';
import { createEnvironment, eventually } from '@kctl/testing';
import { createWebhookServer, defaultingWebhook, validatingWebhook, webhookConfigurations } from '@kctl/webhook';
import { expect, it } from 'vitest';

it('lets the cluster run on and the operator come back while its webhooks are down', async () => {
  await using environment = await createEnvironment({});
  const { client } = environment;
  const [own, other] = [await environment.createNamespace('operators'), await environment.createNamespace('apps')];
  const serving = await environment.prepareWebhooks();
  // Of the worst kind that is not refused at definition: each pod and each ConfigMap of the cluster waits for them.
  const registration = { confirm: ['core-kinds'], timeoutSeconds: 1 } as const;
  const refuse = (name = ''): undefined => {
    if (name.startsWith('bad')) throw new Error(`${name} is bad`);
    return undefined;
  };
  const webhooks = [
    ['/pods', validatingWebhook(Pod, { validateCreate: ({ metadata }) => refuse(metadata.name) }, { registration })],
    [
      '/configmaps',
      defaultingWebhook(ConfigMap, (draft) => void ((draft.data ??= {})['seen'] = 'yes'), { registration }),
    ],
  ] as const;
  const start = async (): Promise<() => Promise<void>> => {
    const server = createWebhookServer({ host: serving.host, port: serving.port, certDir: serving.certDir });
    for (const [path, handler] of webhooks) server.register(path, handler);
    const stop = new AbortController();
    const running = server.run(stop.signal);
    await eventually(() => server.checkStarted());
    return async () => {
      stop.abort();
      await running;
    };
  };
  const pod = (namespace: string, name: string) => ({
    metadata: { namespace, name },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  });

  const stop = await start();
  await environment.installWebhooks(
    webhookConfigurations(webhooks, { name: 'recovery', address: { service: { name: 'operator', namespace: own } } }),
  );
  await expect(client.create(Pod, pod(other, 'bad'))).rejects.toThrow('bad is bad');
  await client.create(Pod, pod(other, 'good'));
  await stop();

  // What has a webhook waits for it; everything else goes on, also with what is there already.
  await expect(client.create(Pod, pod(other, 'waits'))).rejects.toThrow('failed calling webhook');
  await expect(client.create(ConfigMap, { metadata: { namespace: other, name: 'waits' } })).rejects.toThrow(
    'failed calling webhook',
  );
  await client.create(Secret, { metadata: { namespace: other, name: 'goes-on' } });
  await client.patch(
    Pod,
    { namespace: other, name: 'good' },
    { type: 'merge', body: { metadata: { labels: { a: 'b' } } } },
  );
  await client.delete(Pod, { namespace: other, name: 'good' }, { gracePeriodSeconds: 0 });

  // What an operator needs to come back, in its namespace: its pod, its lease, its certificates, its settings.
  await client.create(Pod, pod(own, 'operator'));
  await client.create(Lease, { metadata: { namespace: own, name: 'leader' }, spec: { holderIdentity: 'operator' } });
  await client.create(Secret, { metadata: { namespace: own, name: 'certificates' } });
  const settings = await client.create(ConfigMap, { metadata: { namespace: own, name: 'settings' } });
  expect(settings.data).toBeUndefined();

  const stopAgain = await start();
  try {
    const made = await eventually(() => client.create(ConfigMap, { metadata: { namespace: other, name: 'waits' } }));
    expect(made.data).toEqual({ seen: 'yes' });
    await expect(client.create(Pod, pod(other, 'bad'))).rejects.toThrow('bad is bad');
  } finally {
    await stopAgain();
  }
});
