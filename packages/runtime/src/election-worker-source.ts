/**
 * The source of `election-worker`, with everything that it imports: a bundle of the whole program has no files to start
 * a thread from. The build fills it in (`build/inline-election-worker.mjs`); in the workspace the file is there.
 */
export const electionWorkerSource: string | undefined = undefined;
