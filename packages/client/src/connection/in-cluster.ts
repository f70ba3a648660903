import { readFileSync } from 'node:fs';
import type { Connection } from './connection.js';
import { KubeConfigError } from './errors.js';
import { objectOption, requireOptions, textOption, withoutUndefined, type OptionNames } from '@kctl/options';
import { textOf } from './fields.js';

/** Options with the place of a service account. */
const serviceAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Options of {@link inClusterConnection}. */
export interface InClusterOptions {
  /** @default process.env */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The directory at which the service account is mounted. @default '/var/run/secrets/kubernetes.io/serviceaccount' */
  readonly directory?: string;
}

const optionNames: OptionNames<InClusterOptions> = { environment: objectOption(), directory: textOption };

/**
 * The connection of a process that runs in a pod, by its service account. Needs no library.
 *
 * @throws KubeConfigError when this process does not run in a pod
 *
 * @example
 * ```ts
 * import { createHttpClient, inClusterConnection } from '@kctl/client-http';
 *
 * const client = createHttpClient({ connection: inClusterConnection() });
 * ```
 */
export function inClusterConnection(options: InClusterOptions = {}): Connection {
  requireOptions('inClusterConnection', options, optionNames);
  const { environment = process.env, directory = serviceAccountDirectory } = options;
  const host = textOf(environment['KUBERNETES_SERVICE_HOST']);
  const port = textOf(environment['KUBERNETES_SERVICE_PORT']);
  if (host === undefined || port === undefined)
    throw new KubeConfigError(
      'inClusterConnection: KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is not set: this process does not run in a pod',
    );
  return withoutUndefined<Connection>({
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    caFile: `${directory}/ca.crt`,
    namespace: readNamespace(`${directory}/namespace`),
    user: { tokenFile: `${directory}/token` },
  });
}

function readNamespace(path: string): string | undefined {
  try {
    return textOf(readFileSync(path, 'utf8').trim());
  } catch {
    return undefined;
  }
}
