// Two replicas of the operator; the leader is killed in the middle of its work.
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { Lease } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1';
import { playScene, type Stage } from '@kctl/scene';
import { Application, applicationCrd } from './application.js';

const lease = 'application-operator';

await playScene({
  name: 'failover',
  program: new URL('main.ts', import.meta.url),
  crds: [applicationCrd],
  env: { HEALTH_PORT: '0', METRICS_PORT: '0', LEASE_DURATION_MS: '4000' },
  async play(stage) {
    const { client, namespace, step, line, start, until } = stage;
    step('Two replicas: one leads, the other keeps its caches warm');
    const first = start({ name: 'first ' });
    await first.waitFor('successfully acquired lease');
    const second = start({ name: 'second' });
    await second.waitFor('attempting to acquire leader lease');
    line(`the Lease is held by ${await holder(stage)}`);
    await client.create(Application, {
      metadata: { namespace, name: 'shop' },
      spec: { image: 'shop:1.0', replicas: 2 },
    });
    await until(() => client.get(Deployment, { namespace, name: 'shop' }));
    line('Deployment shop is there');

    step('The leader is killed; meanwhile the specification changes and the Deployment is deleted');
    const before = await holder(stage);
    await first.kill();
    line('first: killed');
    const killedAt = performance.now();
    await client.patch(
      Application,
      { namespace, name: 'shop' },
      { type: 'merge', body: { spec: { image: 'shop:1.1', replicas: 3 } } },
    );
    await client.delete(Deployment, { namespace, name: 'shop' });
    line('the Deployment stays deleted until the lease has expired');

    step('The other replica takes over');
    await second.waitFor('successfully acquired lease');
    line(
      `after ${((performance.now() - killedAt) / 1000).toFixed(1)} s the Lease is held by ${await holder(stage)} (was ${before})`,
    );
    await until(async () => {
      const { spec } = await client.get(Deployment, { namespace, name: 'shop' });
      if (spec?.replicas !== 3) throw new Error('the Deployment does not follow');
    });
    line('Deployment shop is back, with three replicas');
  },
});

async function holder({ client, namespace }: Stage): Promise<string> {
  return (await client.get(Lease, { namespace, name: lease })).spec?.holderIdentity ?? '';
}
