/** The server that other people's clients are tried on, and its kubeconfig in a folder of its own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiServer, type ApiServer } from '@kctl/apiserver';

export interface PeerServer extends AsyncDisposable {
  readonly server: ApiServer;
  readonly kubeconfigPath: string;
  /** For what a client leaves behind. */
  readonly folder: string;
}

export async function startPeerServer(): Promise<PeerServer> {
  const folder = await mkdtemp(join(tmpdir(), 'kctl-peers-'));
  const server = createApiServer();
  await server.start();
  const kubeconfigPath = join(folder, 'kubeconfig');
  server.writeKubeconfig(kubeconfigPath);
  return {
    server,
    kubeconfigPath,
    folder,
    async [Symbol.asyncDispose]() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
