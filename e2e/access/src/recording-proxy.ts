import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OperatorAccess } from '@kctl/testing';

/** Where a program of its own process sends its requests: they go on with the identity of an operator, and are recorded. */
export interface RecordingProxy extends AsyncDisposable {
  readonly kubeconfigPath: string;
}

/** Starts a proxy for the identity of `access`, on the loopback interface. */
export async function startRecordingProxy({ connection, namespace }: OperatorAccess): Promise<RecordingProxy> {
  const { server: target, ca, user, observe } = connection;
  const { token, impersonate } = user ?? {};
  if (typeof token !== 'string') throw new TypeError('the connection has no token: the proxy speaks for it');
  const authority = ca === undefined ? undefined : Buffer.from(ca);
  const identity: OutgoingHttpHeaders = {
    authorization: `Bearer ${token}`,
    'impersonate-user': impersonate?.userName,
    'impersonate-group': [...(impersonate?.groups ?? [])],
  };
  const proxy = createServer((incoming, outgoing) => {
    const { method = 'GET', url: path = '/' } = incoming;
    const url = new URL(path, target);
    const sent = request(url, { method, headers: { ...forwarded(incoming.headers), ...identity }, ca: authority });
    sent.on('response', (answer) => {
      const { statusCode = 502, headers } = answer;
      observe?.({ method, path, status: statusCode });
      outgoing.writeHead(statusCode, headers);
      outgoing.flushHeaders(); // a watch has no event for a long time
      answer.pipe(outgoing);
      answer.on('error', () => outgoing.destroy());
    });
    sent.on('error', () => outgoing.destroy());
    outgoing.on('close', () => sent.destroy());
    incoming.pipe(sent);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  const folder = await mkdtemp(join(tmpdir(), 'kctl-access-'));
  const kubeconfigPath = join(folder, 'kubeconfig');
  // client-node takes plain HTTP only from those that ask for it.
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'it',
    clusters: [{ name: 'it', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'it', user: {} }],
    contexts: [{ name: 'it', context: { cluster: 'it', user: 'it', namespace } }],
  };
  await writeFile(kubeconfigPath, JSON.stringify(config));
  return {
    kubeconfigPath,
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Without what concerns the connection to the proxy alone. */
function forwarded({ host: _host, connection: _connection, ...headers }: IncomingHttpHeaders): OutgoingHttpHeaders {
  return headers;
}
