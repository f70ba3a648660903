/**
 * Lets an ES module bundle contain CommonJS packages. esbuild turns their `require('node:net')` into a call of
 * `require`, which ES modules do not have, so the bundle would fail when it starts. This module, imported before such a
 * package, defines it if this file has been bundled into another one; otherwise it does nothing.
 *
 * @packageDocumentation
 */
// By another name, because programs that were bundled with a banner for the same purpose declare `createRequire`.
import { createRequire as createRequireOfBundle } from 'node:module';

/**
 * Whether a module runs from a bundle, i.e. from a file other than its own. Bundles of CommonJS have no URL, and
 * `require`.
 */
export function isBundled(url: string | undefined): url is string {
  return url !== undefined && !/[\\/]require-in-bundles\.[jt]s(?:[?#].*)?$/.test(url);
}

const url: string | undefined = import.meta.url;
if (isBundled(url) && !('require' in globalThis))
  Object.defineProperty(globalThis, 'require', {
    value: createRequireOfBundle(url),
    configurable: true,
    enumerable: false,
    writable: true,
  });
