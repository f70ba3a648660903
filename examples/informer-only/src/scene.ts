import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { playScene } from '@kctl/scene';

await playScene({
  name: 'informer-only',
  program: new URL('main.ts', import.meta.url),
  async play({ client, namespace, step, line, start }) {
    step('An informer of ConfigMaps, with one that is there before it');
    await client.create(ConfigMap, { metadata: { namespace, name: 'settings' }, data: { color: 'red' } });
    const program = start({ name: 'informer' });
    await program.waitFor(`found ${namespace}/settings`);
    await program.waitFor('in sync: ');

    step('Objects come, change and go; each handler call follows a change of the copy');
    await client.create(ConfigMap, { metadata: { namespace, name: 'limits' }, data: { cpu: '2' } });
    await program.waitFor(`added ${namespace}/limits`);
    await client.patch(
      ConfigMap,
      { namespace, name: 'settings' },
      { type: 'merge', body: { data: { color: 'blue' } } },
    );
    await program.waitFor(`updated ${namespace}/settings: {"color":"blue"}`);
    await client.delete(ConfigMap, { namespace, name: 'limits' });
    await program.waitFor(`deleted ${namespace}/limits`);
    line('the copy is equal to the server again');
  },
});
