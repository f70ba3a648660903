import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { UntypedObject } from '@kctl/apimachinery';
import { jsonText } from '@kctl/crd/internal/engine';
import { CorruptStoreError, StoreLockedError } from './errors.js';
import { objectText } from './long-object.js';
import type { LogRecord } from './store.js';

/** A file of the directory: `log-<revision>.jsonl` holds what came after that revision, `snapshot-<revision>.jsonl` all that lived at it. */
export interface StoreFile {
  readonly path: string;
  readonly type: 'log' | 'snapshot';
  readonly revision: number;
}

const namePattern = /^(log|snapshot)-(\d+)\.jsonl$/;

/** Files of a data directory, oldest first. */
export function storeFiles(directory: string): StoreFile[] {
  const files: StoreFile[] = [];
  for (const name of readdirSync(directory)) {
    const match = namePattern.exec(name);
    if (match === null) continue;
    files.push({
      path: join(directory, name),
      type: match[1] === 'log' ? 'log' : 'snapshot',
      revision: Number(match[2]),
    });
  }
  return files.sort((a, b) => a.revision - b.revision);
}

/** One record as a line. */
export function recordLine({ object, ...record }: LogRecord): string {
  const text = jsonText(record);
  return object === undefined ? `${text}\n` : `${text.slice(0, -1)},"object":${objectText(object)}}\n`;
}

function isRecord(value: unknown): value is LogRecord {
  if (typeof value !== 'object' || value === null) return false;
  const has = (name: string, type: string): boolean => name in value && typeof Reflect.get(value, name) === type;
  return has('revision', 'number') && has('table', 'string') && has('key', 'string');
}

/** An object read back, in which the fields written by the server itself are trusted to be there. */
export function isStoredObject(value: unknown): value is UntypedObject {
  return typeof value === 'object' && value !== null && 'metadata' in value && typeof value.metadata === 'object';
}

/**
 * Reads the records of a file. A last line without its end is the rest of a killed process. It was never acknowledged,
 * so it is cut off. Any other damage is an error.
 */
export function readRecords(path: string, parse: (text: string) => unknown): LogRecord[] {
  const bytes = readFileSync(path);
  const end = bytes.lastIndexOf(0x0a) + 1;
  if (end < bytes.length) truncateTo(path, end);
  const records: LogRecord[] = [];
  for (const [index, line] of bytes.toString('utf8', 0, end).split('\n').entries()) {
    if (line === '') continue;
    const record = parseLine(path, index + 1, () => parse(line));
    if (!isRecord(record)) throw new CorruptStoreError(path, `line ${index + 1} is not a record`);
    records.push(record);
  }
  return records;
}

function parseLine(path: string, line: number, parse: () => unknown): unknown {
  try {
    return parse();
  } catch {
    // Without its cause, because V8 quotes the source that it failed on, and that may be a Secret.
    throw new CorruptStoreError(path, `line ${line} is not JSON`);
  }
}

function truncateTo(path: string, length: number): void {
  const file = openSync(path, 'r+');
  try {
    ftruncateSync(file, length);
  } finally {
    closeSync(file);
  }
}

/** A file that lines are appended to. */
export interface Appender {
  readonly lines: number;
  /** Appends whole or not at all. @throws when the disk refuses */
  append(line: string): void;
  close(): void;
}

/** Opens a file for appending. `sync` waits for the disk at each line. */
export function createAppender(path: string, sync: boolean): Appender {
  const file = openSync(path, 'a', 0o600);
  let length = fstatSync(file).size;
  let lines = 0;
  return {
    get lines() {
      return lines;
    },
    append(line) {
      const bytes = Buffer.from(line);
      try {
        for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
        if (sync) fsyncSync(file);
      } catch (error) {
        ftruncateSync(file, length);
        throw error;
      }
      length += bytes.length;
      lines++;
    },
    close() {
      closeSync(file);
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Lock files that this process holds. In a container every start has the same pid, so a pid alone proves nothing. */
const openHere = new Set<string>();

/** Takes the lock file of a directory; a lock whose process is gone is taken over. Returns the release. */
export function lockDirectory(directory: string): () => void {
  const path = join(directory, 'lock');
  for (;;) {
    try {
      const file = openSync(path, 'wx', 0o600);
      writeSync(file, String(process.pid));
      closeSync(file);
      openHere.add(path);
      return () => {
        openHere.delete(path);
        rmSync(path, { force: true });
      };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      const holder = Number(readFileSync(path, 'utf8'));
      const isOurs = holder === process.pid && !openHere.has(path);
      if (holder > 0 && !isOurs && isAlive(holder)) throw new StoreLockedError(directory, holder);
      rmSync(path, { force: true });
    }
  }
}
