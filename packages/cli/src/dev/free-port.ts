import { createServer } from 'node:net';

/** A port that no program of this machine listens on now. @param host @default every address of the machine */
export async function freePort(host?: string): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: 0, ...(host === undefined ? {} : { host }) }, resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address === 'object' && address !== null) return address.port;
  throw new TypeError('unreachable: a TCP server has an address with a port');
}
