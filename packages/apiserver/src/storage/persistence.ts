import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parseJsonFast } from '../json/strict-json.js';
import { CorruptStoreError } from './errors.js';
import {
  createAppender,
  isStoredObject,
  lockDirectory,
  readRecords,
  recordLine,
  storeFiles,
  type Appender,
} from './log-files.js';
import type { LogRecord, Store, StoreSnapshot } from './store.js';

/** Options of {@link openPersistence}. */
export interface PersistenceOptions {
  readonly directory: string;
  /** Wait for the disk at each write, so that acknowledged writes survive a power cut and not only a kill. @default false */
  readonly sync?: boolean;
}

/**
 * The data directory of a server, with a log that every commit is appended to before it takes effect, and snapshots
 * that keep it short. Acknowledged commits are there after a kill.
 */
export interface Persistence {
  /** Whether the directory held anything. */
  readonly hadData: boolean;
  append(record: LogRecord): void;
  /** Fills an empty store. @throws CorruptStoreError */
  load(store: Store): void;
  /** Replaces the log by a snapshot if that makes the files much shorter. */
  tidy(store: Store): void;
  /** Restarts the log from a snapshot, after a restore. */
  reset(snapshot: StoreSnapshot): void;
  close(): void;
}

/** A log that is shorter than this is never worth a snapshot. */
const shortLog = 10_000;

/**
 * Opens a directory, creating it if it is absent.
 *
 * @throws StoreLockedError when another live process has it open
 */
export function openPersistence(options: PersistenceOptions): Persistence {
  const { directory, sync = false } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const unlock = lockDirectory(directory);
  const files = storeFiles(directory);
  let log: Appender | undefined;

  const openLog = (revision: number): Appender => createAppender(join(directory, `log-${revision}.jsonl`), sync);
  const begin = ({ revision, records }: StoreSnapshot): void => {
    log?.close();
    const path = join(directory, `snapshot-${revision}.jsonl`);
    writeWhole(`${path}.tmp`, records);
    renameSync(`${path}.tmp`, path);
    const stale = storeFiles(directory).filter((file) => file.path !== path);
    for (const file of stale) rmSync(file.path, { force: true });
    log = openLog(revision);
  };

  return {
    hadData: files.length > 0,
    load(store) {
      const snapshot = files.findLast((file) => file.type === 'snapshot');
      const from = snapshot?.revision ?? 0;
      if (snapshot !== undefined) {
        for (const record of readRecords(snapshot.path, parseJsonFast)) store.replay(checked(snapshot.path, record));
        store.replay({ revision: from, table: '', key: '' });
        store.raiseFloor();
      }
      for (const file of files.filter(({ type, revision }) => type === 'log' && revision >= from)) {
        for (const record of readRecords(file.path, parseJsonFast)) store.replay(checked(file.path, record));
      }
      const last = files.findLast((file) => file.type === 'log' && file.revision >= from);
      log = openLog(last?.revision ?? store.revision);
    },
    append(record) {
      log ??= openLog(0);
      log.append(recordLine(record));
    },
    tidy(store) {
      let live = 0;
      for (const table of store.tables()) live += table.size;
      if (log !== undefined && log.lines > shortLog && log.lines > live * 2) begin(store.snapshot());
    },
    reset: begin,
    close() {
      log?.close();
      log = undefined;
      unlock();
    },
  };
}

function checked(path: string, record: LogRecord): LogRecord {
  if (record.object !== undefined && !isStoredObject(record.object))
    throw new CorruptStoreError(path, `the record of revision ${record.revision} holds no object`);
  return record;
}

function writeWhole(path: string, records: readonly LogRecord[]): void {
  const file = openSync(path, 'w', 0o600);
  try {
    for (const record of records) writeSync(file, recordLine(record));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
