import { requireOptions, signalOption } from '@kctl/options';
import { anySignal } from '@kctl/wait';
import { throwIfAborted } from '@kctl/wait/internal';
import type { OptionNames } from '@kctl/options';
import { requireFunction, requireInteger } from './errors.js';

/** Options of {@link parallelizeUntil}. */
export interface ParallelizeOptions {
  /** How many pieces are worked on at once, ≥ 1. */
  readonly workers: number;
  /** Number of pieces; the work gets the numbers from 0 on. */
  readonly pieces: number;
  /** How many pieces a worker takes at a time, ≥ 1. Raise it if a piece is tiny. @default 1 */
  readonly chunkSize?: number;
  /** Aborting it starts no further pieces, and aborts the signal of those in progress. */
  readonly signal?: AbortSignal;
}

const optionNames: OptionNames<ParallelizeOptions> = {
  workers: true,
  pieces: true,
  chunkSize: true,
  signal: signalOption,
};

/**
 * Works on `pieces` numbered pieces, some at a time, in ascending order. Mirrors `workqueue.ParallelizeUntil`, except
 * that it can fail. After the first failure no further piece is started, and the signal of those in progress is
 * aborted.
 *
 * @returns when every piece is done
 * @throws the first failure of a piece, or the signal's reason, when the pieces in progress have ended;
 *   QueueArgumentError for an option out of range
 */
export async function parallelizeUntil(
  options: ParallelizeOptions,
  work: (piece: number, context: { readonly signal: AbortSignal }) => unknown,
): Promise<void> {
  requireOptions('parallelizeUntil', options, optionNames);
  requireFunction('work', work);
  const { workers, pieces, chunkSize = 1 } = options;
  requireInteger('workers', workers, 1);
  requireInteger('pieces', pieces, 0);
  requireInteger('chunkSize', chunkSize, 1);
  using link = anySignal([options.signal]);
  const { signal } = link;
  const context = { signal };
  let next = 0;
  let failure: { readonly error: unknown } | undefined;
  const worker = async (): Promise<void> => {
    while (next < pieces) {
      const end = Math.min(pieces, next + chunkSize);
      const start = next;
      next = end;
      for (let piece = start; piece < end; piece++) {
        throwIfAborted(signal);
        await work(piece, context);
      }
    }
  };
  const runs = Array.from({ length: Math.min(workers, Math.ceil(pieces / chunkSize)) }, async () => {
    try {
      await worker();
    } catch (error) {
      // The first failure is the reason of the abort, and with that of every other worker's end.
      failure ??= { error };
      link.abort(error);
    }
  });
  await Promise.all(runs);
  if (failure !== undefined) throw failure.error;
  throwIfAborted(signal);
}
