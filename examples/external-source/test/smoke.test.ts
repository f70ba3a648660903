import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { noopLogger } from '@kctl/runtime';
import { createEnvironment, eventually } from '@kctl/testing';
import { createServer, type AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createDeployer } from '../src/receiver.js';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

it('writes the newest commit of each repository that pushes', async () => {
  await using environment = await createEnvironment();
  const { client, connection } = environment;
  const namespace = await environment.createNamespace('pushes');
  const port = await freePort();
  const stop = new AbortController();
  const deployer = await createDeployer({ manager: { connection, logger: noopLogger }, namespace, port });
  const running = deployer.run(stop.signal);
  const push = async (body: unknown): Promise<number> =>
    (
      await fetch(`http://127.0.0.1:${port}/push`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    ).status;
  try {
    await eventually(async () => expect(await push({ repository: 'shop', commit: 'c0' })).toBe(202));
    for (let commit = 1; commit <= 20; commit++)
      expect(await push({ repository: 'shop', commit: `c${commit}` })).toBe(202);
    expect(await push({ repository: 'blog', commit: 'b1' })).toBe(202);
    expect(await push({ repository: 'blog' })).toBe(400);
    await eventually(async () =>
      expect((await client.get(ConfigMap, { namespace, name: 'shop' })).data).toEqual({ commit: 'c20' }),
    );
    await eventually(async () =>
      expect((await client.get(ConfigMap, { namespace, name: 'blog' })).data).toEqual({ commit: 'b1' }),
    );
  } finally {
    stop.abort();
    await running;
  }
});
