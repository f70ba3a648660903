import { createWriteStream } from 'node:fs';
import { chmod, mkdir, stat } from 'node:fs/promises';
import { dirname, join, posix, resolve, sep } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract } from 'tar-stream';
import type { PodsClient } from '../client.js';
import { PodStreamError } from '../errors.js';
import { exec } from '../process/exec.js';
import { describeTarget, resolvePod } from '../target.js';
import type { PodTarget } from '../target.js';
import type { CopyOptions, CopyPaths, CopyResult } from './copy-to-pod.js';

/**
 * Copies a file or a folder of a container, which must have `tar`, to this machine. Mirrors `kubectl cp`: links, devices and
 * sockets are left out. What the container sends is not trusted: a path that leads out of the destination is an error.
 *
 * @throws PodStreamError naming what tar says; what writing throws; as {@link exec}
 */
export async function copyFromPod(
  client: PodsClient,
  target: PodTarget,
  { from, to }: CopyPaths,
  options: CopyOptions = {},
): Promise<CopyResult> {
  const { onFile, onSkipped, ...place } = options;
  const pod = await resolvePod(client, target, options.signal === undefined ? {} : { signal: options.signal });
  const source = posix.normalize(from).replace(/(.)\/+$/, '$1');
  const name = posix.basename(source);
  const isFolder = await stat(to).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const destination = resolve(isFolder ? join(to, name) : to);
  const archive = new PassThrough();
  const counted = { files: 0, bytes: 0 };
  const unpack = async (): Promise<void> => {
    const entries = archive.pipe(extract());
    for await (const entry of entries) {
      const { header } = entry;
      const path = placeOf(destination, name, header.name);
      if (header.type === 'directory') {
        await mkdir(path, { recursive: true });
        entry.resume();
      } else if (header.type === 'file' || header.type === 'contiguous-file') {
        await mkdir(dirname(path), { recursive: true });
        await pipeline(entry, createWriteStream(path));
        if (header.mode !== undefined) await chmod(path, header.mode & 0o777);
        counted.files++;
        counted.bytes += header.size ?? 0;
        onFile?.(path);
      } else {
        onSkipped?.(path);
        entry.resume();
      }
    }
  };
  const left = new AbortController();
  const signal = options.signal === undefined ? left.signal : AbortSignal.any([options.signal, left.signal]);
  const unpacking = unpack().catch((error: unknown) => {
    left.abort(error);
    throw error;
  });
  unpacking.catch(() => undefined);
  const command = ['tar', 'cf', '-', '-C', posix.dirname(source), name];
  const { exitCode, stderr } = await exec(client, pod, command, { ...place, signal, stdout: archive });
  archive.end();
  if (exitCode !== 0)
    throw new PodStreamError(
      `copy from ${describeTarget(pod)}: tar exited with ${exitCode}: ${stderr.trim().slice(0, 1000)}`,
    );
  await unpacking;
  return counted;
}

/** Where an entry goes: its path below the source, below the destination. @throws PodStreamError where it leads out */
function placeOf(destination: string, name: string, entry: string): string {
  const path = posix.normalize(entry).replace(/(.)\/+$/, '$1');
  const isBelow = path === name || path.startsWith(`${name}/`);
  const place = resolve(destination, isBelow ? path.slice(name.length + 1) : path);
  if (isBelow && (place === destination || place.startsWith(`${destination}${sep}`))) return place;
  throw new PodStreamError(`the container sent ${JSON.stringify(entry)}, which is not in ${JSON.stringify(name)}`);
}
