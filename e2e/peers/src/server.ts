/** The server that other people's programs are tried on, and its kubeconfig in a folder of its own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiServer, type ApiServer } from '@kctl/apiserver';
import { startRealApiServer } from '@kctl/kube-apiserver';
import type { TargetName } from './result.js';

/** A server as a program sees it. */
export interface Peer extends AsyncDisposable {
  readonly url: string;
  readonly caPem: string;
  /** Of an administrator. */
  readonly token: string;
  readonly kubeconfigPath: string;
  /** For what a program leaves behind. */
  readonly folder: string;
}

export interface PeerServer extends Peer {
  readonly server: ApiServer;
}

/** With roles and bindings, controllers and service accounts of pods: as the real one. */
export async function startPeerServer(): Promise<PeerServer> {
  const folder = await mkdtemp(join(tmpdir(), 'kctl-peers-'));
  const server = createApiServer({ authorization: 'RBAC', serviceAccounts: { podAdmission: true } });
  await server.start();
  const kubeconfigPath = join(folder, 'kubeconfig');
  server.writeKubeconfig(kubeconfigPath);
  return {
    server,
    url: server.url,
    caPem: server.certificateAuthority,
    token: server.token,
    kubeconfigPath,
    folder,
    async [Symbol.asyncDispose]() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startRealPeer(): Promise<Peer> {
  const folder = await mkdtemp(join(tmpdir(), 'kctl-peers-'));
  const server = await startRealApiServer({ controllerManager: true });
  return {
    url: server.url,
    caPem: server.caPem,
    token: server.adminToken,
    kubeconfigPath: server.kubeconfigPath,
    folder,
    async [Symbol.asyncDispose]() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export function startPeer(target: TargetName): Promise<Peer> {
  return target === 'embedded' ? startPeerServer() : startRealPeer();
}
