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

/** Whether no program of this machine listens on a port now. */
export async function isFree(port: number, host: string): Promise<boolean> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
