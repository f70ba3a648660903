import { ConfigMap, Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { playScene } from '@kctl/scene';

await playScene({
  name: 'from-client-node',
  program: new URL('main.ts', import.meta.url),
  async play({ client, namespace, step, line, start, until }) {
    const contactIs = (wanted: string): Promise<void> =>
      until(async () => {
        const { data } = await client.get(ConfigMap, { namespace, name: 'contact' });
        if (data?.['contact'] !== wanted) throw new Error(`the contact is ${JSON.stringify(data?.['contact'])}`);
        line(`ConfigMap ${namespace}/contact: ${wanted}`);
      });
    const label = (team: string): Promise<unknown> =>
      client.patch(Namespace, { name: namespace }, { type: 'merge', body: { metadata: { labels: { team } } } });

    await client.create(ConfigMap, {
      metadata: { namespace: 'default', name: 'teams' },
      data: { tea: 'tea@example.com', rice: 'rice@example.com' },
    });
    step('The controller that was written by hand leads, and reconciles a Namespace');
    const byHand = start({ name: 'by hand', env: { STEP: '0-by-hand' } });
    await byHand.waitFor('leads');
    await label('tea');
    await contactIs('tea@example.com');
    step('The ported controller competes for the same Lease, and takes over when the other stops');
    const ported = start({ name: 'ported', env: { STEP: '5-manager' } });
    await byHand.stop();
    await ported.waitFor('leads');
    await label('rice');
    await contactIs('rice@example.com');
    await client.delete(ConfigMap, { namespace: 'default', name: 'teams' });
  },
});
