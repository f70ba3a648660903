/**
 * A lock file between processes, kept alive by its modification time.
 *
 * It only spares double work: what it guards is published by an atomic rename, so that two holders at once
 * (possible after one of them was suspended for long) do no harm.
 */
import { open, rm, stat, utimes } from 'node:fs/promises';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const HEARTBEAT_MS = 3_000;
/** A lock untouched for so long belongs to a dead process. */
const STALE_MS = 20_000;
const POLL_MS = 250;

/**
 * Runs `task` while holding the lock file at `path`, waiting for its present holder.
 *
 * @template T
 * @param {string} path the lock file; its folder must exist
 * @param {{ signal?: AbortSignal | undefined, onWait?: () => void }} options `onWait` is called once when another one holds it
 * @param {() => Promise<T>} task
 * @returns {Promise<T>}
 */
export async function withLock(path, { signal, onWait }, task) {
  await acquire(path, signal, onWait);
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  }, HEARTBEAT_MS);
  const releaseOnExit = () => rmSync(path, { force: true });
  process.once('exit', releaseOnExit);
  try {
    return await task();
  } finally {
    clearInterval(heartbeat);
    process.off('exit', releaseOnExit);
    await rm(path, { force: true });
  }
}

/**
 * @param {string} path
 * @param {AbortSignal | undefined} signal
 * @param {(() => void) | undefined} onWait
 */
async function acquire(path, signal, onWait) {
  for (let waited = false; ; waited = true) {
    signal?.throwIfAborted();
    try {
      await (await open(path, 'wx')).close();
      return;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
    }
    if (await isStale(path)) {
      await rm(path, { force: true });
      continue;
    }
    if (!waited) onWait?.();
    await sleep(POLL_MS, undefined, { signal }).catch(() => {}); // Aborted: the loop throws the signal's reason.
  }
}

/** @param {string} path */
async function isStale(path) {
  try {
    return Date.now() - (await stat(path)).mtimeMs > STALE_MS;
  } catch {
    return false; // Released in between: the next attempt takes it.
  }
}
