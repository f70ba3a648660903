import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { Directory } from '@kctl/example-application-operator/directory.js';

/** What happened to the directory, in order. */
export interface DirectoryEntry {
  readonly name: string;
  /** undefined: the entry was removed. */
  readonly address?: string;
}

/** The history of a directory file. */
export function readDirectory(path: string): DirectoryEntry[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as DirectoryEntry);
}

/** What is in the directory after all of its history. */
export function replayDirectory(history: readonly DirectoryEntry[]): Map<string, string> {
  const entries = new Map<string, string>();
  for (const { name, address } of history)
    if (address === undefined) entries.delete(name);
    else entries.set(name, address);
  return entries;
}

/** A directory that outlives its process: each change is one line, written by one call, so that kill -9 tears none. */
export function createFileDirectory(path: string): Directory {
  const entries = replayDirectory(readDirectory(path));
  const append = (entry: DirectoryEntry): void => appendFileSync(path, `${JSON.stringify(entry)}\n`);
  return {
    register: (name, address) => {
      if (entries.get(name) === address) return Promise.resolve(false);
      append({ name, address });
      entries.set(name, address);
      return Promise.resolve(true);
    },
    deregister: (name) => {
      if (!entries.has(name)) return Promise.resolve(false);
      append({ name });
      return Promise.resolve(entries.delete(name));
    },
  };
}
