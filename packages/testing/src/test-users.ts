import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiServer } from '@kctl/apiserver';
import { createHttpClient, type Connection, type HttpClient } from '@kctl/client-http';
import { noopLogger } from '@kctl/telemetry';
import { listOption, requireOptions, shownValue, textOption, type OptionNames } from '@kctl/options';
import { kubeconfigYaml } from './real/kubeconfig.js';
import type { RealApiServer } from './real/real-api-server.js';

/** A user to act as in a test. Mirrors `envtest.User`. */
export interface TestUserOptions {
  readonly name: string;
  /** Such as `system:masters`, which may do everything. @default none */
  readonly groups?: readonly string[];
}

const optionNames: OptionNames<TestUserOptions> = { name: true, groups: listOption('a list of strings', textOption) };

/** A user with a client certificate. Mirrors `envtest.AuthenticatedUser`. */
export interface TestUser {
  readonly name: string;
  readonly groups: readonly string[];
  /** For `createHttpClient`, `createManager` and the like. */
  readonly connection: Connection;
  /** Ends with the environment. */
  readonly client: HttpClient;
  /** For other programs, e.g. kubectl. */
  readonly kubeconfigPath: string;
}

/** The server that issues certificates, real or embedded. */
export interface UserAuthority {
  readonly embedded: ApiServer | undefined;
  readonly real: RealApiServer | undefined;
  readonly connection: Connection;
  readonly kubeconfigPath: string;
}

/**
 * Adds a user. Its rights are those that RBAC grants, on a real server, and on the embedded one with
 * `authorization: 'RBAC'`; a name or group that is not valid is refused.
 *
 * @throws Error if the cluster exists, because its users cannot be added here
 */
export async function addTestUser(server: UserAuthority, options: TestUserOptions, index: number): Promise<TestUser> {
  requireOptions('addUser', options, optionNames);
  const { name, groups = [] } = options;
  if (typeof name !== 'string' || name === '')
    throw new TypeError(`addUser: name ${shownValue(name)} is not valid: expected a non-empty string`);
  const { certificate, key } = await issue(server, name, groups);
  const { server: url, ca = '' } = server.connection;
  const connection: Connection = { server: url, ca, user: { certificate, key } };
  const kubeconfigPath = join(server.kubeconfigPath, '..', `kubeconfig-user-${index}`);
  const text = kubeconfigYaml({
    url,
    caPem: String(ca),
    certificate: { certPem: certificate, keyPem: key },
  });
  await writeFile(kubeconfigPath, text, { mode: 0o600 });
  return { name, groups, connection, client: createHttpClient({ connection, logger: noopLogger }), kubeconfigPath };
}

async function issue(
  { embedded, real }: UserAuthority,
  name: string,
  groups: readonly string[],
): Promise<{ readonly certificate: string; readonly key: string }> {
  if (embedded !== undefined) {
    const { cert, key } = embedded.issueClientCertificate(name, groups);
    return { certificate: cert, key };
  }
  if (real !== undefined) {
    const { certPem, keyPem } = await real.issueClientCertificate({ commonName: name, organizations: groups });
    return { certificate: certPem, key: keyPem };
  }
  throw new Error(
    'addUser: a cluster that exists has users of its own: act as one by the connection, { …connection, user: { …, impersonate } }',
  );
}
