import { join } from 'node:path';
import { createApiServer } from '@kctl/apiserver';
import { createHttpClient, createRestMapper } from '@kctl/client-http';
import { builtInKinds } from '@kctl/apimachinery/kinds/built-in';
import { listContexts } from '@kctl/kubeconfig';
import { openClient, printWarnings, type ClusterOptions, type OpenCluster } from '../cluster.js';
import type { CliIo } from '../io.js';
import { linkKubeconfig } from './link-kubeconfig.js';

/** The API server of `kctl dev`. */
export interface DevServer extends AsyncDisposable {
  /** Whether it runs in this process, so nothing of it is left after exit. */
  readonly isEmbedded: boolean;
  /** Of the kubeconfig. */
  readonly context: string | undefined;
  readonly cluster: OpenCluster;
  /** Of the operator, so that it finds the server. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Where the kubeconfig of a server in this process is. */
export interface ServerPlaces {
  /** Written here, and removed with it. */
  readonly folder: string;
  /** Folder of the project, in which a link to it has the same path at each start. */
  readonly project: string;
}

/** Opens the cluster that is named, or starts a server in this process, whose kubeconfig is written to a folder. */
export async function openServer(
  io: CliIo,
  options: ClusterOptions,
  { folder, project }: ServerPlaces,
): Promise<DevServer> {
  if (options.kubeconfig !== undefined || options.context !== undefined) return await existingServer(io, options);
  const server = createApiServer();
  await server.start();
  const kubeconfig = join(folder, 'kubeconfig');
  server.writeKubeconfig(kubeconfig);
  const connection = { server: server.url, ca: server.certificateAuthority, user: { token: server.token } };
  const client = createHttpClient({ connection, program: 'kctl', onWarning: printWarnings(io) });
  const mapper = createRestMapper({ transport: client.transport, kinds: builtInKinds });
  const close = async (): Promise<void> => {
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  };
  io.err(`API server at ${server.url}; for kubectl: export KUBECONFIG=${linkKubeconfig(project, kubeconfig)}\n`);
  return {
    cluster: { connection, client, mapper, [Symbol.asyncDispose]: close },
    environment: { KUBECONFIG: kubeconfig },
    isEmbedded: true,
    context: undefined,
    [Symbol.asyncDispose]: close,
  };
}

async function existingServer(io: CliIo, options: ClusterOptions): Promise<DevServer> {
  const cluster = await openClient(io, options);
  const contexts = await listContexts(options.kubeconfig === undefined ? {} : { path: options.kubeconfig });
  return {
    cluster,
    environment: {
      ...(options.kubeconfig === undefined ? {} : { KUBECONFIG: options.kubeconfig }),
      ...(options.context === undefined ? {} : { CONTEXT: options.context }),
    },
    isEmbedded: false,
    context: options.context ?? contexts.find(({ isCurrent }) => isCurrent)?.name,
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}
