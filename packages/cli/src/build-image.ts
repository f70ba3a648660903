import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { CliError } from './errors.js';
import type { CliIo } from './io.js';
import type { Project } from './project.js';
import { ownCommand } from './own-command.js';

/** Programs that build an image from a Dockerfile with the same arguments, in the order in which they are looked for. */
const engines = ['docker', 'podman', 'nerdctl', 'buildah'] as const;

/**
 * Builds the image of a project from its Dockerfile, with the container engine of this machine.
 *
 * @throws CliError if there is no Dockerfile or no engine, or if the build fails
 */
export async function buildImage(io: CliIo, { folder }: Pick<Project, 'folder'>, reference: string): Promise<void> {
  if (!existsSync(join(folder, 'Dockerfile')))
    throw new CliError(`there is no Dockerfile: ${ownCommand('update')} writes the one of npm create @kctl`);
  const engine = engines.find((name) => isInstalled(name, io.environment));
  if (engine === undefined)
    throw new CliError(
      `there is no container engine: install one of ${engines.join(', ')}, or build the Dockerfile where there is one`,
    );
  io.err(`building ${reference} by ${engine}\n`);
  const child = spawn(engine, ['build', '--tag', reference, folder], {
    env: { ...io.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: io.signal,
  });
  // The output is progress, since the result is the image.
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => io.err(text));
  const how = await new Promise<string>((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.once('close', (code, signal) => resolve(code === 0 ? '' : (signal ?? `code ${code ?? ''}`)));
  });
  if (how !== '') throw new CliError(`${engine} build of ${reference} ended with ${how}: see its output`);
}

/** Whether the PATH has a program. */
function isInstalled(name: string, environment: CliIo['environment']): boolean {
  const path = environment['PATH'] ?? environment['Path'] ?? '';
  const names = process.platform === 'win32' ? [`${name}.exe`] : [name];
  return path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .some((folder) => names.some((each) => statSync(join(folder, each), { throwIfNoEntry: false })?.isFile() === true));
}
