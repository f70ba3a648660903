import { createReadStream } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { basename, join, posix, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { pack } from 'tar-stream';
import type { Pack } from 'tar-stream';
import type { PodsClient } from '../client.js';
import { PodStreamError } from '../errors.js';
import { checkCopy } from './copy-options.js';
import type { CopyOptions, CopyPaths, CopyResult } from './copy-options.js';
import { untilClosed } from './until-closed.js';
import { exec } from '../process/exec.js';
import { describeTarget, resolvePod } from '../target.js';
import type { PodTarget } from '../target.js';
import { requireTransportTo } from '../require-target.js';

/**
 * Copies a file or a folder of this machine into a container, which must have `tar`. Mirrors `kubectl cp`, so symbolic
 * links are left out, and a destination that is a folder gets the source by its name.
 *
 * @throws PodStreamError with tar's message; errors of reading the source; as {@link exec}
 */
export async function copyToPod(
  client: PodsClient,
  target: PodTarget,
  paths: CopyPaths,
  options: CopyOptions = {},
): Promise<CopyResult> {
  requireTransportTo('copyToPod', client, target);
  checkCopy('copyToPod', paths, options);
  const { from, to } = paths;
  const { onFile, onSkipped, ...place } = options;
  await lstat(from);
  const pod = await resolvePod(client, target, options.signal === undefined ? {} : { signal: options.signal });
  const isFolder = await exec(client, pod, ['test', '-d', to], place);
  const destination = isFolder.exitCode === 0 ? posix.join(to, basename(resolve(from))) : to;
  const archive = pack();
  const counted = { files: 0, bytes: 0 };
  const packing = add(archive, from, posix.basename(destination), {
    onFile: (name, bytes) => {
      counted.files++;
      counted.bytes += bytes;
      onFile?.(posix.join(posix.dirname(destination), name));
    },
    onSkipped: (path) => onSkipped?.(path),
  }).then(
    () => archive.finalize(),
    (error: unknown) => archive.destroy(error instanceof Error ? error : new Error(String(error))),
  );
  const folder = posix.dirname(destination);
  const input = new PassThrough();
  archive.on('error', (error) => input.destroy(error));
  archive.pipe(input);
  try {
    const { exitCode, stderr } = await exec(client, pod, ['tar', '-xmf', '-', '-C', folder], {
      ...place,
      stdin: input,
    });
    if (exitCode !== 0)
      throw new PodStreamError(
        `copy to ${describeTarget(pod)}: tar exited with ${exitCode}: ${stderr.trim().slice(0, 1000)}`,
      );
    return counted;
  } finally {
    // Destroys unread entries, because until then a file is open.
    archive.destroy();
    await packing;
  }
}

interface Notes {
  readonly onFile: (name: string, bytes: number) => void;
  readonly onSkipped: (path: string) => void;
}

async function add(archive: Pack, path: string, name: string, notes: Notes): Promise<void> {
  const stat = await lstat(path);
  const header = { name, mode: stat.mode & 0o7777, mtime: stat.mtime };
  if (stat.isDirectory()) {
    await entryOf(archive, { ...header, type: 'directory' });
    for (const child of (await readdir(path)).sort())
      await add(archive, join(path, child), posix.join(name, child), notes);
    return;
  }
  if (!stat.isFile()) {
    notes.onSkipped(path);
    return;
  }
  const entry = archive.entry({ ...header, type: 'file', size: stat.size });
  // A file that grows meanwhile is cut at the size that was announced.
  if (stat.size === 0) await pipeline([], entry);
  else {
    const file = createReadStream(path, { end: stat.size - 1 });
    await untilClosed(file, pipeline(file, entry));
  }
  notes.onFile(name, stat.size);
}

function entryOf(archive: Pack, header: { name: string; mode: number; mtime: Date; type: 'directory' }): Promise<void> {
  return new Promise((resolve, reject) => {
    archive.entry(header, (error) => {
      if (error === undefined || error === null) resolve();
      else reject(error);
    });
  });
}
