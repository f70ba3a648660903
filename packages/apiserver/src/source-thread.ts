import type { WorkerOptions } from 'node:worker_threads';

/** Inside the workspace, in which nothing is built, lets the thread resolve `./x.js` to `./x.ts`. */
const sourceLoader = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module';
registerHooks({
  resolve(specifier, context, next) {
    const isOurs = specifier.startsWith('.') && specifier.endsWith('.js') && context.parentURL?.endsWith('.ts');
    return next(isOurs ? specifier.replace(/js$/, 'ts') : specifier, context);
  },
});`)}`;

/** A thread of this package. */
export interface PackageThread {
  readonly url: URL;
  readonly options: WorkerOptions;
}

/** How to start a module of this package as a thread, built or from its sources. `entry` has no extension. */
export function packageThread(entry: string): PackageThread {
  const isSource = import.meta.url.endsWith('.ts');
  return {
    url: new URL(`./${entry}.${isSource ? 'ts' : 'js'}`, import.meta.url),
    options: isSource ? { execArgv: ['--conditions=@kctl/source', '--import', sourceLoader] } : {},
  };
}
