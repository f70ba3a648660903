import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { playScene } from '@kctl/scene';

await playScene({
  name: 'informer-by-hand',
  program: new URL('main.ts', import.meta.url),
  async play({ client, namespace, step, line, start }) {
    step('Reflector, DeltaFIFO, indexer and handlers, put together by hand');
    await client.create(ConfigMap, {
      metadata: { namespace, name: 'settings', labels: { team: 'shop' } },
      data: { color: 'red' },
    });
    const program = start({ name: 'by hand' });
    await program.waitFor(`found ${namespace}/settings`);
    await program.waitFor('in sync: ');

    step('Objects come, change and go: each delta passes the queue, then the indexer, then the handlers');
    await client.create(ConfigMap, { metadata: { namespace, name: 'limits' }, data: { cpu: '2' } });
    await program.waitFor(`added ${namespace}/limits {"cpu":"2"}`);
    await client.patch(
      ConfigMap,
      { namespace, name: 'settings' },
      { type: 'merge', body: { data: { color: 'blue' } } },
    );
    await program.waitFor(`updated ${namespace}/settings {"color":"blue"}`);
    await client.delete(ConfigMap, { namespace, name: 'limits' });
    await program.waitFor(`deleted ${namespace}/limits`);

    step('It ends with the same objects as a shared informer beside it');
    await program.stop();
    await program.waitFor('equal to the shared informer');
    line('the parts do what the whole does');
  },
});
