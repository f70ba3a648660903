import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { playScene } from '@kctl/scene';

const port = 18_088;

await playScene({
  name: 'external-source',
  program: new URL('main.ts', import.meta.url),
  env: { PORT: String(port) },
  async play({ client, namespace, step, line, start, until }) {
    const push = async (body: unknown): Promise<string> => {
      const response = await fetch(`http://127.0.0.1:${port}/push`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return `${response.status} ${(await response.text()).trim()}`.trim();
    };
    const commitOf = (name: string, commit: string): Promise<void> =>
      until(async () => {
        const { data } = await client.get(ConfigMap, { namespace, name });
        if (data?.['commit'] !== commit) throw new Error(`${name} is not at ${commit}`);
      });

    step('A deployer that listens for pushes of a source-code host');
    start({ name: 'deployer' });
    await until(() => push({ repository: 'shop', commit: 'c0' }));

    step('Twenty pushes in a row: the newest wins, and few runs are enough');
    for (let commit = 1; commit <= 20; commit++) await push({ repository: 'shop', commit: `c${commit}` });
    await commitOf('shop', 'c20');
    line('ConfigMap shop is at c20');

    step('A push that is malformed, then one of another repository');
    line(`POST /push {"repository":"blog"} → ${await push({ repository: 'blog' })}`);
    await push({ repository: 'blog', commit: 'b1' });
    await commitOf('blog', 'b1');
    line('ConfigMap blog is at b1');
  },
});
