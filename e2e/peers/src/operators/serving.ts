/** Certificates that webhook servers read from files. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PemPair } from '@kctl/webhook';

/** Writes `tls.crt` and `tls.key` into a folder of that name; returns both paths. */
export async function writePair(folder: string, name: string, pair: PemPair): Promise<readonly [string, string]> {
  const target = join(folder, name);
  await mkdir(target, { recursive: true });
  const files = [join(target, 'tls.crt'), join(target, 'tls.key')] as const;
  await writeFile(files[0], pair.cert);
  await writeFile(files[1], pair.key, { mode: 0o600 });
  return files;
}
