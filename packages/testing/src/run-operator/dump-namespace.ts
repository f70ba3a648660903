import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRestMapper, type HttpClient } from '@kctl/client-http';
import { writeYaml } from '@kctl/yaml';

/**
 * Writes every object of a namespace as YAML, a file for each kind, without managed fields; Secrets without their values.
 * A kind that cannot be listed is noted in the file that has its name.
 *
 * @returns the files, in order
 */
export async function dumpNamespace(client: HttpClient, namespace: string, folder: string): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const mapper = createRestMapper({ transport: client.transport });
  const resources = (await mapper.resources()).filter(
    ({ scope, verbs }) => scope === 'Namespaced' && verbs.includes('list'),
  );
  const files: string[] = [];
  const seen = new Set<string>();
  for (const { group, kind, plural } of resources) {
    const name = group === '' ? plural : `${plural}.${group}`;
    // The server's preferred version is the first.
    if (seen.has(name)) continue;
    seen.add(name);
    const text = await listed(async () => {
      const { items } = await client.list(await mapper.kindFor({ group, kind }), { namespace });
      return items.map(shownObject);
    });
    if (text === '') continue;
    const file = join(folder, `${name}.yaml`);
    await writeFile(file, text, { mode: 0o600 });
    files.push(file);
  }
  return files.toSorted();
}

async function listed(list: () => Promise<unknown[]>): Promise<string> {
  try {
    return (await list()).map((object) => `---\n${writeYaml(object)}`).join('');
  } catch (error) {
    return `# cannot be listed: ${error instanceof Error ? error.message : String(error)}\n`;
  }
}

function shownObject(object: object): object {
  const shown: Record<string, unknown> = structuredClone({ ...object });
  const metadata = shown['metadata'];
  if (typeof metadata === 'object' && metadata !== null) Reflect.deleteProperty(metadata, 'managedFields');
  if (shown['kind'] === 'Secret')
    for (const field of ['data', 'stringData']) {
      const values = shown[field];
      if (typeof values === 'object' && values !== null)
        shown[field] = Object.fromEntries(Object.keys(values).map((key) => [key, '(not shown)']));
    }
  return shown;
}
