import { mkdir, stat } from 'node:fs/promises';
import { dirname, join, posix, resolve, sep } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { anySignal } from '@kctl/wait';
import { extract } from 'tar-stream';
import type { PodsClient } from '../client.js';
import { PodStreamError } from '../errors.js';
import { exec } from '../process/exec.js';
import { describeTarget, resolvePod } from '../target.js';
import type { PodTarget } from '../target.js';
import { checkCopy } from './copy-options.js';
import type { CopyOptions, CopyPaths, CopyResult } from './copy-options.js';
import { limitHeaders } from './limit-headers.js';
import { untilClosed } from './until-closed.js';
import { createFile, makeFolder } from './write-below.js';
import { requireTransportTo } from '../require-target.js';

/**
 * Copies a file or a folder of a container, which must have `tar`, to this machine. Mirrors `kubectl cp`, so links,
 * devices and sockets are left out. A file has the mode that it has in the container, without the bits of this process'
 * umask. The container's output is not trusted, so a path that leads out of the destination is an error, as is a
 * symbolic link on this machine that a path would lead through.
 *
 * @throws PodStreamError with tar's message; errors of writing; as {@link exec}
 */
export async function copyFromPod(
  client: PodsClient,
  target: PodTarget,
  paths: CopyPaths,
  options: CopyOptions = {},
): Promise<CopyResult> {
  requireTransportTo('copyFromPod', client, target);
  checkCopy('copyFromPod', paths, options);
  const { from, to } = paths;
  const { onFile, onSkipped, ...place } = options;
  const pod = await resolvePod(client, target, options.signal === undefined ? {} : { signal: options.signal });
  const { folder, name } = splitSource(from);
  const isFolder = await stat(to).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const destination = resolve(isFolder ? join(to, name) : to);
  // Path named by the caller, below which no link is followed.
  const root = isFolder ? resolve(to) : dirname(destination);
  await mkdir(root, { recursive: true });
  const archive = new PassThrough();
  const counted = { files: 0, bytes: 0 };
  const unpack = async (): Promise<void> => {
    const entries = extract();
    archive.once('error', (error) => entries.destroy(error));
    let failure: unknown;
    entries.once('error', (error) => {
      failure = error;
    });
    const limited = limitHeaders();
    limited.once('error', (error) => entries.destroy(error));
    archive.once('error', (error) => limited.destroy(error));
    for await (const entry of archive.pipe(limited).pipe(entries)) {
      const { header } = entry;
      const path = placeOf(destination, name, header.name);
      if (header.type === 'directory') {
        await makeFolder(root, path);
        entry.resume();
      } else if (header.type === 'file' || header.type === 'contiguous-file') {
        const handle = await createFile(root, path, header.mode ?? 0o666);
        const file = handle.createWriteStream();
        // A stream that ended meanwhile emits no further events for a pipeline.
        if (entry.destroyed) {
          await untilClosed(
            file,
            Promise.resolve(file.destroy()).then(() => undefined),
          );
          throw failure;
        }
        await untilClosed(file, pipeline(entry, file));
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
  using link = anySignal([options.signal, left.signal]);
  const unpacking = unpack().catch((error: unknown) => {
    left.abort(error);
    throw error;
  });
  unpacking.catch(() => undefined);
  const command = ['tar', 'cf', '-', '-C', folder, name.startsWith('-') ? `./${name}` : name];
  try {
    const { exitCode, stderr } = await exec(client, pod, command, { ...place, signal: link.signal, stdout: archive });
    archive.end();
    if (exitCode !== 0)
      throw new PodStreamError(
        `copy from ${describeTarget(pod)}: tar exited with ${exitCode}: ${stderr.trim().slice(0, 1000)}`,
      );
    await unpacking;
    return counted;
  } catch (error) {
    archive.destroy(error instanceof Error ? error : new Error(String(error)));
    // Until then a file is open.
    await unpacking.catch(() => undefined);
    throw error;
  }
}

/**
 * The folder in which tar runs, and the path it packs there. For a path without a name, such as `/` or `..`, that is
 * all of its content.
 */
function splitSource(from: string): { readonly folder: string; readonly name: string } {
  const source = posix.normalize(from).replace(/(.)\/+$/, '$1');
  const name = posix.basename(source);
  return name === '' || name === '.' || name === '..'
    ? { folder: source, name: '.' }
    : { folder: posix.dirname(source), name };
}

/**
 * Destination of an entry, which is its path below the source, below the destination. @throws PodStreamError if it
 * leads out
 */
function placeOf(destination: string, name: string, entry: string): string {
  const path = posix.normalize(entry).replace(/(.)\/+$/, '$1');
  const isAll = name === '.';
  const isBelow = isAll ? !posix.isAbsolute(path) : path === name || path.startsWith(`${name}/`);
  const place = resolve(destination, isBelow && !isAll ? path.slice(name.length + 1) : path);
  if (
    isBelow &&
    (place === destination || place.startsWith(destination.endsWith(sep) ? destination : `${destination}${sep}`))
  )
    return place;
  throw new PodStreamError(`the container sent ${JSON.stringify(entry)}, which is not in ${JSON.stringify(name)}`);
}
