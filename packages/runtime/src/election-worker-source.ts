/**
 * The program of `election-worker`, with everything that it imports, compressed by Brotli, in base64: a bundle of the
 * whole program has no files to start a thread from. The build fills it in (`build/inline-election-worker.mjs`); in the
 * workspace the file is there.
 */
export const compressedElectionWorker: string | undefined = undefined;
