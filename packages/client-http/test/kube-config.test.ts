// A KubeConfig of @kubernetes/client-node in place of a connection, and files through the optional peer.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { defineKind } from '@kctl/apimachinery';
import { createHttpClient, isKubeConfigError, loadConnection } from '../src/index.js';

const Node = defineKind({ group: '', version: 'v1', kind: 'Node', scope: 'Cluster' });
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kctl-kube-config-'));
});
afterEach(() => rm(directory, { recursive: true }));

const configOf = (user: string, authProvider = ''): string => `
apiVersion: v1
kind: Config
current-context: main
clusters: [{ name: c, cluster: { server: 'https://127.0.0.1:1' } }]
contexts: [{ name: main, context: { cluster: c, user: ${user} } }]
users: [{ name: u, user: { ${authProvider} } }]
`;

it('refuses a context whose user is missing when the client is made', () => {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(configOf('missing'));
  expect(() => createHttpClient({ kubeConfig })).toThrow(
    'context "main" names the user "missing", which does not exist: add it to users, or correct the context',
  );
});

it.each(['{ name: openstack }', '{ name: openstack, config: { a: b } }', '{ config: {} }', '{ name: "" }'])(
  'refuses the auth provider %s before any request',
  async (provider) => {
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromString(configOf('u', `auth-provider: ${provider}`));
    await using client = createHttpClient({ kubeConfig });
    await expect(client.get(Node, { name: 'n' })).rejects.toThrow(/auth-provider "(openstack)?" is not known/);
  },
);

it('reads files through @kctl/kubeconfig', async () => {
  const path = join(directory, 'config');
  await writeFile(path, configOf('u', 'token: t'));
  expect(await loadConnection({ path })).toMatchObject({ server: 'https://127.0.0.1:1', user: { token: 't' } });
  const error = await loadConnection({ environment: { HOME: directory } }).catch((reason: unknown) => reason);
  expect(isKubeConfigError(error)).toBe(true);
});
