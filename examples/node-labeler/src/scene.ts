import { Node } from '@kctl/apimachinery/kinds/core/v1';
import { playScene } from '@kctl/scene';
import { elasticLabel, joinedByAnnotation } from './labeler.js';

await playScene({
  name: 'node-labeler',
  program: new URL('main.ts', import.meta.url),
  async play({ client, namespace, step, line, start, until }) {
    const name = (suffix: string): string => `${namespace}-${suffix}`;
    const autoscaled = { [joinedByAnnotation]: 'autoscaling' };
    try {
      step('Two nodes, one of which joined by autoscaling, and the labeler');
      await client.create(Node, { metadata: { name: name('a'), annotations: autoscaled } });
      await client.create(Node, { metadata: { name: name('b') } });
      const labeler = start({ name: 'labeler' });
      await labeler.waitFor(`${name('a')} joined by autoscaling: labelled`);
      const { metadata } = await client.get(Node, { name: name('a') });
      line(`labels of ${name('a')}: ${JSON.stringify(metadata.labels)}`);

      step('A node joins, and one loses its label');
      await client.create(Node, { metadata: { name: name('c'), annotations: autoscaled } });
      await labeler.waitFor(`${name('c')} joined by autoscaling: labelled`);
      await client.patch(
        Node,
        { name: name('a') },
        { type: 'merge', body: { metadata: { labels: { [elasticLabel]: null } } } },
      );
      await until(async () => {
        const node = await client.get(Node, { name: name('a') });
        if (node.metadata.labels?.[elasticLabel] !== 'true') throw new Error('the label is not back');
      });
      line(`${name('a')} has its label back`);

      step('A node leaves');
      await client.delete(Node, { name: name('c') });
      await labeler.waitFor(`${name('c')} is gone`);
    } finally {
      for (const suffix of ['a', 'b', 'c']) await client.delete(Node, { name: name(suffix) }).catch(() => undefined);
    }
  },
});
