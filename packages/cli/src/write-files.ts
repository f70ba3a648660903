import { lstatSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CliError } from './errors.js';

/** A file to write, or to remove. */
export interface FileChange {
  readonly target: string;
  /** For errors. */
  readonly shown: string;
  /** @default the file is removed */
  readonly content?: string;
}

/**
 * Writes and removes files, or none of them if one cannot be.
 *
 * @throws CliError naming every folder in place of a file, and every file in place of a folder
 */
export function changeFiles(changes: readonly FileChange[]): void {
  const problems = changes.flatMap(({ target, shown }) => problemAt(target, shown) ?? []);
  if (problems.length > 0)
    throw new CliError(`${problems.join('; ')}: nothing was changed: move what stands there away`);
  for (const { target, content } of changes) {
    if (content === undefined) rmSync(target, { force: true });
    else {
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, content);
    }
  }
}

function problemAt(target: string, shown: string): string | undefined {
  if (statOf(target) === 'folder') return `${shown} is a folder: expected a file`;
  let folder = dirname(target);
  for (;;) {
    const found = statOf(folder);
    if (found !== undefined)
      return found === 'folder' ? undefined : `${folder} is not a folder: ${shown} is to be in it`;
    const parent = dirname(folder);
    if (parent === folder) return undefined;
    folder = parent;
  }
}

function statOf(path: string): 'folder' | 'other' | undefined {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'other';
  } catch {
    // Nothing, or below a file; a link that leads nowhere is there.
    return existsAsLink(path) ? 'other' : undefined;
  }
}

function existsAsLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}
