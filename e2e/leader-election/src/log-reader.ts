import { openSync, readSync } from 'node:fs';
import type { LogEntry } from './protocol.js';

/** Reads what a process has written so far; each call looks only at what is new. */
export interface LogReader {
  entries(): readonly LogEntry[];
}

const chunkBytes = 1 << 16;

/** A reader of a log that may not exist yet and whose last line may be half written: its process was killed. */
export function createLogReader(file: string): LogReader {
  const entries: LogEntry[] = [];
  const chunk = Buffer.alloc(chunkBytes);
  let descriptor: number | undefined;
  let position = 0;
  let rest = '';
  return {
    entries() {
      descriptor ??= openIfAny(file);
      if (descriptor === undefined) return entries;
      for (;;) {
        const length = readSync(descriptor, chunk, 0, chunkBytes, position);
        if (length === 0) return entries;
        position += length;
        const lines = (rest + chunk.toString('utf8', 0, length)).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) entries.push(JSON.parse(line) as LogEntry);
      }
    },
  };
}

/** All that a process has written. */
export function readLog(file: string): readonly LogEntry[] {
  return createLogReader(file).entries();
}

function openIfAny(file: string): number | undefined {
  try {
    return openSync(file, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
