import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { CliIo } from '../io.js';

/** State of an object before it led to this machine; `absent` is an object that this machine has created. */
export type Original =
  | 'absent'
  | { readonly inject?: string; readonly webhooks?: unknown; readonly conversion?: unknown };

/** One object that a run of `kctl dev` on this machine has changed. */
export interface Noted {
  /** The run. */
  readonly session: string;
  readonly original: Original;
}

/**
 * The objects that runs of `kctl dev` on this machine have changed, by uid. It is the only proof that an object may be
 * restored or deleted, because annotations and labels of the cluster can be written by others.
 */
export interface DevRecord {
  find(uid: string): Noted | undefined;
  /** Written before the object changes, or as soon as a created object has a uid. */
  note(uid: string, noted: Noted): void;
  forget(uid: string): void;
}

/** A record in the state folder of the user, one file per object. Files that cannot be read count as absent. */
export function openDevRecord(environment: CliIo['environment']): DevRecord {
  const folder = join(environment['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'kctl', 'dev');
  const fileOf = (uid: string): string => join(folder, `${encodeURIComponent(uid)}.json`);
  return {
    find: (uid) => {
      try {
        return notedOf(JSON.parse(readFileSync(fileOf(uid), 'utf8')));
      } catch {
        return undefined;
      }
    },
    note: (uid, noted) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const file = fileOf(uid);
      const temporary = `${file}.${process.pid}.tmp`;
      writeFileSync(temporary, JSON.stringify(noted), { mode: 0o600 });
      renameSync(temporary, file);
    },
    forget: (uid) => rmSync(fileOf(uid), { force: true }),
  };
}

function notedOf(value: unknown): Noted | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const session: unknown = Reflect.get(value, 'session');
  const original: unknown = Reflect.get(value, 'original');
  if (typeof session !== 'string') return undefined;
  if (original === 'absent') return { session, original };
  return typeof original === 'object' && original !== null && !Array.isArray(original)
    ? { session, original }
    : undefined;
}
