import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pod, Service } from '@kctl/apimachinery/kinds/core/v1';
import { playScene } from '@kctl/scene';
import { scrapeAnnotation } from './targets.js';

const folder = await mkdtemp(join(tmpdir(), 'kctl-targets-'));
const file = join(folder, 'targets.json');

await playScene({
  name: 'service-discovery',
  program: new URL('main.ts', import.meta.url),
  env: { TARGETS_FILE: file },
  async play({ client, namespace, isCluster, step, line, start, until }) {
    const contains = (...addresses: string[]): Promise<void> =>
      until(async () => {
        const text = await readFile(file, 'utf8').catch(() => '[]');
        if (addresses.some((address) => !text.includes(address))) throw new Error(`${file} does not follow`);
        if (addresses.length === 0 && text.includes(namespace)) throw new Error(`${file} does not follow`);
      });
    const show = async (): Promise<void> => {
      for (const text of (await readFile(file, 'utf8')).trim().split('\n')) line(`  ${text}`);
    };
    step('A Service that asks to be scraped, and two running Pods behind it');
    const discovery = start({ name: 'discovery' });
    await discovery.waitFor('Starting workers');
    await client.create(Service, {
      metadata: { namespace, name: 'web', annotations: { [scrapeAnnotation]: 'true' } },
      spec: { selector: { app: 'web' }, ports: [{ port: 8080 }] },
    });
    for (const [name, podIP] of [
      ['web-1', '10.1.0.1'],
      ['web-2', '10.1.0.2'],
    ] as const) {
      await client.create(Pod, {
        metadata: { namespace, name, labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image: 'web:1' }] },
      });
      const status = { phase: 'Running', podIP, podIPs: [{ ip: podIP }] };
      if (!isCluster) await client.status(Pod).patch({ namespace, name }, { type: 'merge', body: { status } });
    }
    if (!isCluster) await contains('10.1.0.1:8080', '10.1.0.2:8080');
    await show();

    step('A Pod is deleted');
    await client.delete(Pod, { namespace, name: 'web-1' }, { gracePeriodSeconds: 0 });
    if (!isCluster) await contains('10.1.0.2:8080');

    step('The Service no longer asks to be scraped');
    await client.patch(
      Service,
      { namespace, name: 'web' },
      { type: 'merge', body: { metadata: { annotations: { [scrapeAnnotation]: null } } } },
    );
    await contains();
    await show();
  },
});
await rm(folder, { recursive: true, force: true });
