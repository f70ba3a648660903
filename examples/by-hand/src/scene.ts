import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { playScene } from '@kctl/scene';
import { Greeting, greetingCrd } from './greeting.js';

for (const program of ['by-hand', 'with-builder'])
  await playScene({
    name: program,
    program: new URL(`${program}.ts`, import.meta.url),
    crds: [greetingCrd],
    async play({ client, namespace, step, line, start, until, gone }) {
      const key = { namespace, name: 'world' };
      const textIs = (wanted: string): Promise<void> =>
        until(async () => {
          const { data } = await client.get(ConfigMap, key);
          if (data?.['text'] !== wanted) throw new Error(`the text is ${JSON.stringify(data?.['text'])}`);
          line(`ConfigMap world: ${wanted}`);
        });
      step(`The operator ${program}: a Greeting is created, changed, its ConfigMap broken and deleted`);
      const operator = start({ name: program });
      await client.create(Greeting, { metadata: key, spec: { name: 'world' } });
      await operator.waitFor('world: created');
      await textIs('Hello, world!');
      await client.patch(Greeting, key, { type: 'merge', body: { spec: { name: 'cluster' } } });
      await textIs('Hello, cluster!');
      await client.patch(ConfigMap, key, { type: 'merge', body: { data: { text: 'broken' } } });
      await textIs('Hello, cluster!');
      const { metadata } = await client.get(ConfigMap, key);
      await client.delete(ConfigMap, key);
      await until(async () => {
        const found = await client.get(ConfigMap, key);
        if (found.metadata.uid === metadata.uid) throw new Error('the ConfigMap is not restored');
      });
      line('ConfigMap world is restored');
      await client.delete(Greeting, key);
      await gone(ConfigMap, () => client.get(ConfigMap, key));
      line('ConfigMap world is collected with its Greeting');
    },
  });
