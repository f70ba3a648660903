import { createRequire } from 'node:module';
import type { Worker } from 'node:worker_threads';
import { currentScope } from './activity.js';
import type { Scope } from './scope.js';

const requireBuiltin = createRequire(import.meta.url);

/** Where it is noted that code of a world did something in real time. */
export interface IoHost {
  stray(scope: Scope, what: string, remedy: string): void;
}

/** Puts a replacement in the place of a property, and remembers the way back. */
export type Replace = (target: object, name: PropertyKey, replacement: unknown) => void;

const files = [
  ...['access', 'appendFile', 'copyFile', 'cp', 'lstat', 'mkdir', 'mkdtemp', 'open', 'readFile', 'readdir', 'realpath'],
  ...['rename', 'rm', 'rmdir', 'stat', 'truncate', 'unlink', 'utimes', 'watch', 'writeFile'],
];
const lookups = ['lookup', 'resolve', 'resolve4', 'resolve6', 'resolveSrv', 'resolveTxt', 'reverse'];

/** What answers in real time, at a moment that no seed decides: module, functions, what to do instead. */
const outside: readonly (readonly [module: string, names: readonly string[], remedy: string])[] = [
  [
    'node:fs',
    [...files, 'watchFile', 'createReadStream', 'createWriteStream'],
    'read files before simulate() or synchronously, and hand what follows from them to the operator as an option',
  ],
  [
    'node:fs/promises',
    files,
    'read files before simulate() or synchronously, and hand what follows from them to the operator as an option',
  ],
  [
    'node:child_process',
    ['spawn', 'exec', 'execFile', 'fork'],
    'what runs in another process is not simulated: take it as an option, and give the simulation another one',
  ],
  ['node:dns', lookups, "hand the world's connection to whatever talks to the API server"],
  ['node:dns/promises', lookups, "hand the world's connection to whatever talks to the API server"],
  ['node:dgram', ['createSocket'], 'a simulated world has no sockets: take what sends as an option'],
];

type AnyFunction = (...args: unknown[]) => unknown;

/** Notes what the code of a replica does in real time, and does it. Code outside of a world is not looked at. */
export function replaceIo(host: IoHost, replace: Replace): void {
  for (const [module, names, remedy] of outside) {
    const functions = requireBuiltin(module) as Record<string, AnyFunction | undefined>;
    for (const name of names) {
      const real = functions[name];
      if (real === undefined) continue;
      const what = `${name}() of ${module}`;
      const noted = function (this: unknown, ...args: unknown[]): unknown {
        const scope = currentScope();
        if (scope !== undefined) host.stray(scope, what, remedy);
        return Reflect.apply(real, this, args);
      };
      // What `promisify` looks for.
      for (const symbol of Object.getOwnPropertySymbols(real))
        Object.defineProperty(noted, symbol, { value: Reflect.get(real, symbol), configurable: true });
      replace(functions, name, noted);
    }
  }
  replaceFetch(host, replace);
  replaceWorker(host, replace);
}

function replaceFetch(host: IoHost, replace: Replace): void {
  const realFetch = globalThis.fetch;
  replace(globalThis, 'fetch', (...args: Parameters<typeof fetch>) => {
    const scope = currentScope();
    if (scope === undefined) return realFetch(...args);
    host.stray(
      scope,
      'fetch()',
      "hand the world's connection to whatever talks to the API server, and take other services as options",
    );
    return Promise.reject(new TypeError('a simulated world has no sockets: use world.connection'));
  });
}

function replaceWorker(host: IoHost, replace: Replace): void {
  const threads = requireBuiltin('node:worker_threads') as { readonly Worker: typeof Worker };
  const RealWorker = threads.Worker;
  class NotedWorker extends RealWorker {
    constructor(...args: ConstructorParameters<typeof RealWorker>) {
      const scope = currentScope();
      if (scope !== undefined)
        host.stray(scope, 'new Worker()', 'threads are not simulated: let the operator do without them by an option');
      super(...args);
    }
  }
  replace(threads, 'Worker', NotedWorker);
}
