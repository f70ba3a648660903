import type { Stream } from 'node:stream';

/** Settles as the work with a file does, when the file is closed. */
export async function untilClosed(file: Stream, work: Promise<void>): Promise<void> {
  const closed = new Promise<void>((resolve) => file.once('close', () => resolve()));
  try {
    await work;
  } finally {
    await closed;
  }
}
