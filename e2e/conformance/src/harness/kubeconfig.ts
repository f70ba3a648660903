/** The current context of a kubeconfig, as far as raw HTTPS can use it. */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import type { Json } from './doc.js';
import type { Credentials } from './http.js';

export async function readKubeconfig(
  path: string = join(homedir(), '.kube', 'config'),
): Promise<{ url: string; caPem: string | undefined; credentials: Credentials }> {
  const config = parse(await readFile(path, 'utf8'));
  const find = (list: 'clusters' | 'users' | 'contexts', name: string): Json => {
    const found = (config[list] as { name: string }[]).find((entry) => entry.name === name);
    if (found === undefined) throw new Error(`${path}: no ${JSON.stringify(name)} in ${list}`);
    return found;
  };
  const { context } = find('contexts', config['current-context'] as string);
  const { cluster } = find('clusters', context.cluster as string);
  const { user } = find('users', context.user as string);
  if (user.exec !== undefined || user['auth-provider'] !== undefined)
    throw new Error(
      `${path}: user ${String(context.user)} runs a plug-in for its credentials; the suite needs a token or a certificate`,
    );
  const pem = async (holder: Json, field: string): Promise<string | undefined> => {
    const inline = holder[`${field}-data`] as string | undefined;
    if (inline !== undefined) return Buffer.from(inline, 'base64').toString('utf8');
    const file = holder[field] as string | undefined;
    return file === undefined ? undefined : readFile(resolve(dirname(path), file), 'utf8');
  };
  const certPem = await pem(user, 'client-certificate');
  const keyPem = await pem(user, 'client-key');
  const token = (user.token ?? (user.tokenFile && (await readFile(user.tokenFile as string, 'utf8')))) as
    | string
    | undefined;
  return {
    url: (cluster.server as string).replace(/\/$/, ''),
    caPem: await pem(cluster, 'certificate-authority'),
    credentials: {
      ...(token === undefined ? {} : { token: token.trim() }),
      ...(certPem === undefined || keyPem === undefined ? {} : { certPem, keyPem }),
    },
  };
}
