import { readFile } from 'node:fs/promises';
import type { Clock } from '@kctl/wait';

/** Options of {@link createFileSource}. */
export interface FileSourceOptions {
  readonly clock: Clock;
  /** How old the content may be before it is read again, in ms. */
  readonly maxAgeMs: number;
  /** Called when a re-read failed and the previous content stays in use. */
  readonly onStale?: (error: Error) => void;
  /** @throws when the content is of no use; counts as a failed read */
  readonly check?: (content: Buffer) => void;
}

/** The content of a file that is replaced from time to time, such as a token, a certificate or a CA. */
export interface FileSource {
  /** The content, read again when it is too old. A failed re-read keeps the old content. @throws when the first read fails */
  read(): Buffer | Promise<Buffer>;
  /** Returns the content as it is now or later, whatever the age; one read for all concurrent callers. */
  reread(): Promise<Buffer>;
}

/** Reads on demand and keeps no watch on the file, so there is nothing to close. */
export function createFileSource(path: string, options: FileSourceOptions): FileSource {
  const { clock, maxAgeMs, onStale, check } = options;
  let content: Buffer | undefined;
  let readAt = 0;
  let running: Promise<Buffer> | undefined;
  let next: Promise<Buffer> | undefined;

  const load = async (): Promise<Buffer> => {
    try {
      const fresh = await readFile(path);
      check?.(fresh);
      content = content?.equals(fresh) === true ? content : fresh;
    } catch (error) {
      if (content === undefined) throw error;
      onStale?.(error instanceof Error ? error : new Error(String(error)));
    }
    readAt = clock.monotonicNow();
    return content;
  };
  const start = (): Promise<Buffer> => {
    next = undefined;
    running = load().finally(() => {
      running = undefined;
    });
    return running;
  };
  // A read that is under way may have begun before the file was replaced, so it would not do.
  const reread = (): Promise<Buffer> => {
    if (running === undefined) return start();
    next ??= running.then(start, start);
    return next;
  };
  return {
    read: () => (content !== undefined && clock.monotonicNow() - readAt < maxAgeMs ? content : (running ?? start())),
    reread,
  };
}
