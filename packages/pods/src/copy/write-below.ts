import { constants } from 'node:fs';
import { lstat, mkdir, open, unlink, type FileHandle } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { PodStreamError } from '../errors.js';

/**
 * Makes the folders of a path below a root that the caller trusts.
 *
 * @throws PodStreamError naming a symbolic link or a file on the way, since nothing is written through a link
 */
export async function makeFolder(root: string, path: string): Promise<void> {
  let place = root;
  for (const part of relative(root, path).split(sep).filter(Boolean)) {
    place = join(place, part);
    const found = await lstatOf(place);
    if (found === undefined) await mkdir(place);
    else if (found.isSymbolicLink()) throw linkAt(place);
    else if (!found.isDirectory()) throw new PodStreamError(`${place} is a file on this machine: expected a folder`);
  }
}

/**
 * Creates a file below a root, in place of one that is there. The mode is that of the container without the bits of this
 * process' umask, and the file has it from the start.
 *
 * @throws PodStreamError naming a symbolic link or a folder at the path
 */
export async function createFile(root: string, path: string, mode: number): Promise<FileHandle> {
  await makeFolder(root, dirname(path));
  const found = await lstatOf(path);
  if (found?.isSymbolicLink() === true) throw linkAt(path);
  if (found?.isDirectory() === true)
    throw new PodStreamError(`${path} is a folder on this machine: the container sent a file`);
  if (found !== undefined) await unlink(path);
  const { O_WRONLY, O_CREAT, O_EXCL } = constants;
  // Exclusive, so a link that appears meanwhile is not followed.
  return await open(path, O_WRONLY | O_CREAT | O_EXCL, mode & 0o777);
}

async function lstatOf(path: string): Promise<Awaited<ReturnType<typeof lstat>> | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function linkAt(place: string): PodStreamError {
  return new PodStreamError(`${place} is a symbolic link on this machine: nothing is written through it`);
}
