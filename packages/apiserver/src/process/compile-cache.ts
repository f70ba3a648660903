import { enableCompileCache } from 'node:module';

/**
 * Lets Node keep the code that it compiles, for the next start, in `NODE_COMPILE_CACHE`, else in the directory for
 * temporary files. `NODE_DISABLE_COMPILE_CACHE=1` turns it off. If it cannot be written, nothing is kept.
 */
export function keepCompiledCode(): void {
  enableCompileCache();
}
