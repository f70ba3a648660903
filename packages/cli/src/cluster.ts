import { builtInKinds } from '@kctl/apimachinery/kinds/built-in';
import type { Connection } from '@kctl/client/connection';
import { createHttpClient, createRestMapper, type HttpClient, type RestMapper } from '@kctl/client-http';
import { loadConnection } from '@kctl/kubeconfig';
import type { CliIo } from './io.js';

/** Which cluster a command works on. */
export interface ClusterOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** A client of a cluster, and what kinds it has. */
export interface OpenCluster extends AsyncDisposable {
  readonly connection: Connection;
  readonly client: HttpClient;
  readonly mapper: RestMapper;
}

/** Opens the cluster of a kubeconfig. @throws KubeConfigError if there is no kubeconfig */
export async function openClient(_io: CliIo, options: ClusterOptions): Promise<OpenCluster> {
  return await openCluster(options);
}

/** {@link openClient}, in a process without a command line. @throws KubeConfigError if there is no kubeconfig */
export async function openCluster({ kubeconfig, context }: ClusterOptions): Promise<OpenCluster> {
  const connection = await loadConnection({
    ...(kubeconfig === undefined ? {} : { path: kubeconfig }),
    ...(context === undefined ? {} : { context }),
  });
  // A person waits, so do not retry ten times against an unreachable server.
  const client = createHttpClient({ connection, maxRetries: 2, program: 'kctl' });
  const mapper = createRestMapper({ transport: client.transport, kinds: builtInKinds });
  return { connection, client, mapper, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() };
}
