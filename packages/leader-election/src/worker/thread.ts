import { Worker } from 'node:worker_threads';
import type { WorkerInput } from './protocol.js';

/** Inside the workspace, where nothing is built: lets the thread resolve `./x.js` to `./x.ts`. */
const sourceLoader = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module';
registerHooks({
  resolve(specifier, context, next) {
    const isOurs = specifier.startsWith('.') && specifier.endsWith('.js') && context.parentURL?.endsWith('.ts');
    return next(isOurs ? specifier.replace(/js$/, 'ts') : specifier, context);
  },
});`)}`;

/**
 * Starts the thread; it keeps the process alive until it is told to stop.
 *
 * @throws TypeError when the input cannot cross to a thread
 */
export function startThread(input: WorkerInput): Worker {
  const isSource = import.meta.url.endsWith('.ts');
  // Built, this file is part of a chunk at the root of `dist`.
  const file = isSource ? './worker-main.ts' : './worker/worker-main.js';
  try {
    return new Worker(new URL(file, import.meta.url), {
      workerData: input,
      ...(isSource && { execArgv: ['--conditions=@kctl/source', '--import', sourceLoader] }),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'DataCloneError')
      throw new TypeError(
        `createWorkerLeaderElector: lockData cannot be cloned into the thread: ${error.message}: pass plain data, and make functions and connections in createLock`,
        { cause: error },
      );
    throw error;
  }
}
