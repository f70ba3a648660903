import type { Plugin } from 'esbuild';

/** Fills in the source of the election's thread: a program in one file, of all that `election-worker.ts` imports. */
export const inlineElectionWorker: Plugin;
