import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiServer } from '@kctl/apiserver';
import { createHttpClient, createRestMapper } from '@kctl/client-http';
import type { Operator } from '@kctl/operator';
import { builtInKinds } from '@kctl/apimachinery/kinds/built-in';
import { createSelfSignedCertificate } from '@kctl/webhook';
import { parseAllDocuments } from 'yaml';
import { applyObjects, isManifest, waitEstablished, type ManifestObject } from '../apply-objects.js';
import { openClient, type ClusterOptions, type OpenCluster } from '../cluster.js';
import { CliError, explain } from '../errors.js';
import type { CliIo } from '../io.js';
import { loadOperator, readProject, type Project } from '../project.js';
import { reloadCrds } from '../reload-crds.js';
import { runAndRestart } from '../run-and-restart.js';

/** Options of {@link dev}. */
export interface DevOptions extends ClusterOptions {
  readonly main?: string;
  /** Folder of objects that are applied at the start. @default deploy/samples, where it is there */
  readonly samples?: string;
  /** Arguments for the operator. */
  readonly arguments: readonly string[];
}

/**
 * Runs the operator against an API server in this process, or the cluster that `context` or `kubeconfig` names, and
 * restarts it when a file of its folder changes; the server keeps its state. Resolves when the signal is aborted.
 */
export async function dev(io: CliIo, options: DevOptions): Promise<void> {
  const project = readProject(io.cwd, options);
  const operator = await loadOperator(project);
  const folder = mkdtempSync(join(tmpdir(), 'kctl-dev-'));
  try {
    await using server = await openServer(io, options, folder);
    const crds = operator.resources.map(({ manifest }): unknown => manifest).filter((each) => isManifest(each));
    await installCrds(io, server.cluster, crds);
    await applyObjects(io, server.cluster, samplesOf(project, options));
    const environment = { ...(await webhookEnvironment(io, operator, folder)), ...server.environment };
    let installed = JSON.stringify(crds);
    const beforeRestart = async (): Promise<void> => {
      const changed = await reloadCrds(io, project);
      if (changed === undefined || JSON.stringify(changed) === installed) return;
      try {
        await installCrds(io, server.cluster, changed);
        installed = JSON.stringify(changed);
      } catch (error) {
        if (!io.signal.aborted) io.err(`kctl: ${explain(error)}\n`);
      }
    };
    await runAndRestart(io, project, { arguments: options.arguments, environment, beforeRestart });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function installCrds(io: CliIo, cluster: OpenCluster, crds: readonly ManifestObject[]): Promise<void> {
  await applyObjects(io, cluster, crds);
  await waitEstablished(io, cluster, crds);
  cluster.mapper.invalidate();
}

interface DevServer extends AsyncDisposable {
  readonly cluster: OpenCluster;
  readonly environment: Readonly<Record<string, string>>;
}

async function openServer(io: CliIo, options: DevOptions, folder: string): Promise<DevServer> {
  if (options.kubeconfig !== undefined || options.context !== undefined) {
    const cluster = await openClient(io, options);
    const environment = {
      ...(options.kubeconfig === undefined ? {} : { KUBECONFIG: options.kubeconfig }),
      ...(options.context === undefined ? {} : { CONTEXT: options.context }),
    };
    return { cluster, environment, [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose]() };
  }
  const server = createApiServer();
  await server.start();
  const kubeconfig = join(folder, 'kubeconfig');
  server.writeKubeconfig(kubeconfig);
  const connection = { server: server.url, ca: server.certificateAuthority, user: { token: server.token } };
  const client = createHttpClient({ connection, program: 'kctl' });
  const mapper = createRestMapper({ transport: client.transport, kinds: builtInKinds });
  const close = async (): Promise<void> => {
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  };
  io.err(`API server at ${server.url}; for kubectl: export KUBECONFIG=${kubeconfig}\n`);
  const cluster = { connection, client, mapper, [Symbol.asyncDispose]: close };
  return { cluster, environment: { KUBECONFIG: kubeconfig }, [Symbol.asyncDispose]: close };
}

/** A certificate for the webhooks of the operator, which do not start without one; a setting of the user's wins. */
async function webhookEnvironment(
  { environment, err }: CliIo,
  operator: Operator,
  folder: string,
): Promise<Readonly<Record<string, string>>> {
  const { webhooks } = await operator.graph();
  if ([...webhooks].length === 0 || (environment['WEBHOOK_CERT_DIR'] ?? '') !== '') return {};
  const certificates = join(folder, 'serving-certs');
  const { cert, key } = await createSelfSignedCertificate();
  mkdirSync(certificates);
  writeFileSync(join(certificates, 'tls.crt'), cert);
  writeFileSync(join(certificates, 'tls.key'), key, { mode: 0o600 });
  err(
    'webhooks have a self-signed certificate, and the API server does not call them; --webhook-cert-dir names others\n',
  );
  return { WEBHOOK_CERT_DIR: certificates };
}

function samplesOf({ folder, output }: Project, { samples }: DevOptions): ManifestObject[] {
  const path = samples === undefined ? join(output, 'samples') : join(folder, samples);
  if (!existsSync(path)) {
    if (samples === undefined) return [];
    throw new CliError(`${samples} does not exist: name a folder of YAML files by --samples`);
  }
  return readdirSync(path)
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .flatMap((name) =>
      parseAllDocuments(readFileSync(join(path, name), 'utf8')).map((document): unknown => document.toJS() as unknown),
    )
    .filter((each) => isManifest(each));
}
