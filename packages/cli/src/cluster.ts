import { builtInKinds } from '@kctl/apimachinery/kinds/built-in';
import type { Connection } from '@kctl/client/internal/connection';
import {
  createHttpClient,
  createRestMapper,
  type HttpClient,
  type HttpClientOptions,
  type RestMapper,
} from '@kctl/client-http';
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

/** Opens the cluster of a kubeconfig; its warnings are printed. @throws KubeConfigError if there is no kubeconfig */
export async function openClient(io: CliIo, options: ClusterOptions): Promise<OpenCluster> {
  return await openCluster(options, printWarnings(io));
}

/** Prints each warning of an API server once, as kubectl does. */
export function printWarnings(io: Pick<CliIo, 'err'>): NonNullable<HttpClientOptions['onWarning']> {
  const printed = new Set<string>();
  return ({ text }) => {
    if (printed.has(text)) return;
    printed.add(text);
    io.err(`Warning: ${text}\n`);
  };
}

/** {@link openClient}, in a process without a command line. @throws KubeConfigError if there is no kubeconfig */
export async function openCluster(
  { kubeconfig, context }: ClusterOptions,
  onWarning?: HttpClientOptions['onWarning'],
): Promise<OpenCluster> {
  const connection = await loadConnection({
    ...(kubeconfig === undefined ? {} : { path: kubeconfig }),
    ...(context === undefined ? {} : { context }),
  });
  // A person waits, so do not retry ten times against an unreachable server.
  const client = createHttpClient({
    connection,
    maxRetries: 2,
    program: 'kctl',
    ...(onWarning === undefined ? {} : { onWarning }),
  });
  const mapper = createRestMapper({ transport: client.transport, kinds: builtInKinds });
  return { connection, client, mapper, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() };
}
