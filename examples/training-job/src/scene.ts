import { isConditionTrue } from '@kctl/apimachinery';
import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import { playScene } from '@kctl/scene';
import { TrainingJob, trainingJobCrd } from './training-job.js';

await playScene({
  name: 'training-job',
  program: new URL('main.ts', import.meta.url),
  crds: [trainingJobCrd],
  async play({ client, namespace, step, line, start, until }) {
    const key = { namespace, name: 'resnet' };
    const show = async (): Promise<void> => {
      const { status } = await client.get(TrainingJob, key);
      const { conditions = [], ...counts } = status ?? {};
      line(`status: ${JSON.stringify(counts)} ${conditions.map(({ type, status: is }) => `${type}=${is}`).join(' ')}`);
    };
    const condition = (type: string, wanted: boolean): Promise<void> =>
      until(async () => {
        const { status } = await client.get(TrainingJob, key);
        if (isConditionTrue(status?.conditions, type) !== wanted) throw new Error(`${type} is not ${wanted}`);
      });
    const pods = (count: number): Promise<string[]> =>
      until(async () => {
        const { items } = await client.list(Pod, { namespace });
        if (items.length !== count) throw new Error(`${items.length} pods, not ${count}`);
        return items.map(({ metadata }) => metadata.name).sort();
      });
    /** Plays the kubelet. */
    const phase = async (names: readonly string[], value: string, ready: boolean): Promise<void> => {
      const status = { phase: value, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] };
      for (const name of names)
        await client.status(Pod).patch({ namespace, name }, { type: 'merge', body: { status } });
      line(`${names.join(', ')}: ${value}`);
    };

    step('A job with three workers');
    start({ name: 'operator' });
    await client.create(TrainingJob, { metadata: key, spec: { image: 'trainer:1', workers: 3 } });
    const workers = await pods(3);
    line(`pods: ${workers.join(', ')}`);

    step('All of them become ready: the gang can begin');
    await phase(workers, 'Running', true);
    await condition('GangReady', true);
    await show();

    step('One fails: it is replaced');
    await phase(['resnet-1-0'], 'Failed', false);
    await condition('GangReady', false);
    line(`pods: ${(await pods(4)).join(', ')}`);

    step('All ranks succeed');
    await phase(['resnet-0-0', 'resnet-1-1', 'resnet-2-0'], 'Succeeded', false);
    await condition('Complete', true);
    await show();
  },
});
