import { once } from 'node:events';
import { createServer } from 'node:net';
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import { playScene } from '@kctl/scene';
import { ChaosPod, chaosPodCrd } from './chaos-pod.js';
import { annotation } from './webhooks.js';

/** What makes the operator serve its webhooks on this machine, and register them. */
async function webhookEnvironment(namespace: string): Promise<Record<string, string>> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  server.close();
  return {
    WEBHOOK_NAMESPACE: namespace,
    WEBHOOK_PORT: String(port),
    WEBHOOK_URL: `https://localhost:${port}`,
  };
}

await playScene({
  name: 'chaos-pod',
  program: new URL('main.ts', import.meta.url),
  crds: [chaosPodCrd],
  env: { PERIOD_MS: '2000' },
  async play({ client, namespace, isCluster, step, line, start, until, gone }) {
    const key = { namespace, name: 'victim' };
    step('A ChaosPod whose pod lives for two seconds at most');
    const operator = start({ name: 'operator', env: isCluster ? {} : await webhookEnvironment(namespace) });
    // The webhooks refuse until the operator serves them, and the API server trusts its certificate.
    if (!isCluster) await until(() => client.get(ValidatingWebhookConfiguration, { name: 'chaos-pod-validating' }));
    const { metadata } = await until(() =>
      client.create(ChaosPod, {
        metadata: key,
        spec: { template: { spec: { containers: [{ name: 'web', image: 'web:1' }] } } },
      }),
    );
    if (!isCluster) line(`annotated by the operator's webhook: ${JSON.stringify(metadata.annotations)}`);
    await operator.waitFor('brought the pod back');
    const first = await until(() => client.get(Pod, key));
    line(`pod ${first.metadata.name}, uid ${first.metadata.uid}`);

    step('Its time comes: it is stopped and brought back');
    const second = await until(async () => {
      const pod = await client.get(Pod, key);
      if (pod.metadata.uid === first.metadata.uid) throw new Error('the pod is still the first');
      return pod;
    });
    line(`pod ${second.metadata.name}, uid ${second.metadata.uid}`);

    step('The pod is deleted by hand: it comes back at once, not when its time has come');
    await client.delete(Pod, key, { gracePeriodSeconds: 0 });
    await until(async () => {
      const { metadata } = await client.get(Pod, key);
      if (metadata.uid === second.metadata.uid) throw new Error('the pod is not back');
    });
    const { status } = await until(async () => {
      const chaosPod = await client.get(ChaosPod, key);
      if ((chaosPod.status?.runs ?? 0) < 3) throw new Error('fewer than three runs are counted');
      return chaosPod;
    });
    line(`status: ${JSON.stringify(status)}`);

    if (!isCluster) {
      step('An annotation that the mutating webhook does not put right: the validating one refuses it');
      await client.delete(MutatingWebhookConfiguration, { name: 'chaos-pod-mutating' });
      const wrong = { metadata: { annotations: { [annotation]: 'bar' } } };
      const refused = await client.patch(ChaosPod, key, { type: 'merge', body: wrong }).then(
        () => 'accepted',
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      line(refused);
      if (!refused.includes('did not have value')) throw new Error('the webhook did not refuse it');
    }

    step('The ChaosPod is deleted: its pod is collected');
    await client.delete(ChaosPod, key);
    await gone(Pod, () => client.get(Pod, key));
    line('the pod is gone');
  },
});
