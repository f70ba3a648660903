import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { WorkerInput } from './protocol.js';
import type { ThreadModule } from './worker-options.js';

/** Inside the workspace, in which nothing is built, lets the thread resolve `./x.js` to `./x.ts`. */
const sourceLoader = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module';
registerHooks({
  resolve(specifier, context, next) {
    const isOurs = specifier.startsWith('.') && specifier.endsWith('.js') && context.parentURL?.endsWith('.ts');
    return next(isOurs ? specifier.replace(/js$/, 'ts') : specifier, context);
  },
});`)}`;

/**
 * Starts the thread; it keeps the process alive until it is stopped.
 *
 * @throws TypeError when the input cannot cross to a thread; Error when the thread's module does not exist
 */
export function startThread(input: WorkerInput, module: ThreadModule = ownModule()): Worker {
  try {
    if (typeof module === 'object' && 'source' in module)
      return new Worker(module.source, { eval: true, workerData: input });
    const url = new URL(module);
    const isSource = url.pathname.endsWith('.ts');
    return new Worker(url, {
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

/** @throws Error in a bundle, which does not contain this package's files */
function ownModule(): URL {
  const here = ownUrl();
  // Built, this file is part of a chunk at the root of `dist`.
  const file = here?.endsWith('.ts') === true ? './worker-main.ts' : './worker/worker-main.js';
  const url = here === undefined ? undefined : new URL(file, here);
  if (url !== undefined && existsSync(url)) return url;
  throw new Error(
    `createWorkerLeaderElector: the thread's module ${url?.href ?? file} does not exist: in a bundle, make a module that calls runElectionThread of @kctl/leader-election/election-thread an entry point, and set threadModule to its URL`,
  );
}

/** A bundle of CommonJS has none. */
function ownUrl(): string | undefined {
  return import.meta.url;
}
