import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { isManifest, type ManifestObject } from './apply-objects.js';
import type { CliIo } from './io.js';
import type { Project } from './project.js';

const program = `
const { operator } = await import(process.env.KCTL_MAIN);
process.send(operator.resources.map(({ manifest }) => manifest), () => process.exit());
`;

/**
 * The CRDs of an operator as its files are now: in another process, since modules that this one has imported stay as they
 * were. Undefined where it cannot be imported: a person may be in the middle of an edit, and the operator says why.
 */
export async function reloadCrds(
  { environment, signal }: CliIo,
  { main, folder }: Project,
): Promise<readonly ManifestObject[] | undefined> {
  const child = spawn(process.execPath, [...process.execArgv, '--input-type=module', '--eval', program], {
    cwd: folder,
    env: { ...environment, KCTL_MAIN: pathToFileURL(main).href },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    signal,
    killSignal: 'SIGKILL',
  });
  const manifests = await new Promise<unknown>((resolve) => {
    child.once('message', resolve);
    for (const event of ['error', 'disconnect']) child.once(event, () => resolve(undefined));
  });
  return Array.isArray(manifests) ? manifests.filter((each) => isManifest(each)) : undefined;
}
