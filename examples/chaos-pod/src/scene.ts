import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import { playScene } from '@kctl/scene';
import { ChaosPod, chaosPodCrd } from './chaos-pod.js';

await playScene({
  name: 'chaos-pod',
  program: new URL('main.ts', import.meta.url),
  crds: [chaosPodCrd],
  env: { PERIOD_MS: '2000' },
  async play({ client, namespace, step, line, start, until, gone }) {
    const key = { namespace, name: 'victim' };
    step('A ChaosPod whose pod lives for two seconds at most');
    const operator = start({ name: 'operator' });
    await client.create(ChaosPod, {
      metadata: key,
      spec: { template: { spec: { containers: [{ name: 'web', image: 'web:1' }] } } },
    });
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

    step('The ChaosPod is deleted: its pod is collected');
    await client.delete(ChaosPod, key);
    await gone(Pod, () => client.get(Pod, key));
    line('the pod is gone');
  },
});
