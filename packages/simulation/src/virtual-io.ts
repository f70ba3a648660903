import { createRequire } from 'node:module';
import { currentScope } from './network/activity.js';
import type { Scope } from './scope.js';

const requireBuiltin = createRequire(import.meta.url);

/** Receives real-time actions of code of a world. */
export interface IoHost {
  stray(scope: Scope, what: string, remedy: string): void;
}

/** Puts a replacement in the place of a property, and remembers the way back. */
export type Replace = (target: object, name: PropertyKey, replacement: unknown) => void;

const filesRemedy =
  'read files before simulate() or synchronously, and hand what follows from them to the operator as an option';
const processRemedy =
  'what runs in another process is not simulated: take it as an option, and give the simulation another one';
const lookupRemedy = "hand the world's connection to whatever talks to the API server";
const poolRemedy = 'use the synchronous one: what runs in the threads of Node ends at a moment that no seed decides';

/** Of `node:fs` what is neither synchronous nor only makes a value. */
const isFileCall = (name: string): boolean => /^[a-z]/.test(name) && !name.endsWith('Sync') && !atOnce.has(name);
const atOnce = new Set(['toUnixTimestamp', 'unwatchFile', 'promises', 'constants']);
const isLookup = (name: string): boolean => /^(?:lookup|resolve|reverse)/.test(name);
const always = (): boolean => true;
const hasCallback = (args: readonly unknown[]): boolean => typeof args.at(-1) === 'function';

/** Functions that answer in real time, at a moment that no seed decides. */
export interface Outside {
  readonly module: string;
  readonly isMeant: (name: string) => boolean;
  /** Which calls of them. @default all */
  readonly isNoted?: (args: readonly unknown[]) => boolean;
  readonly remedy: string;
}

export const outside: readonly Outside[] = [
  { module: 'node:fs', isMeant: isFileCall, remedy: filesRemedy },
  { module: 'node:fs/promises', isMeant: isFileCall, remedy: filesRemedy },
  {
    module: 'node:child_process',
    isMeant: (name) => /^(?:spawn|exec|execFile|fork)(?:Sync)?$/.test(name),
    remedy: processRemedy,
  },
  { module: 'node:dns', isMeant: isLookup, remedy: lookupRemedy },
  { module: 'node:dns/promises', isMeant: isLookup, remedy: lookupRemedy },
  {
    module: 'node:dgram',
    isMeant: (name) => name === 'createSocket',
    remedy: 'a simulated world has no sockets: take what sends as an option',
  },
  {
    module: 'node:crypto',
    isMeant: (name) =>
      /^(?:pbkdf2|scrypt|hkdf|generateKeyPair|generateKey|generatePrime|checkPrime|sign|verify)$/.test(name),
    isNoted: hasCallback,
    remedy: poolRemedy,
  },
  { module: 'node:zlib', isMeant: (name) => /^[a-z]/.test(name), isNoted: hasCallback, remedy: poolRemedy },
];

type AnyFunction = (...args: unknown[]) => unknown;

/** Notes what the code of a replica does in real time, and does it. Code outside of a world is not looked at. */
export function replaceIo(host: IoHost, replace: Replace): void {
  for (const { module, isMeant, isNoted = always, remedy } of outside) {
    const functions = requireBuiltin(module) as Record<string, unknown>;
    for (const [name, real] of Object.entries(functions))
      if (typeof real === 'function' && isMeant(name))
        replace(
          functions,
          name,
          noting(real as AnyFunction, { host, what: `${name}() of ${module}`, isNoted, remedy }),
        );
  }
  replaceResolvers(host, replace);
  replaceSubtle(host, replace);
  replaceFetch(host, replace);
  replaceWorker(host, replace);
}

interface Note {
  readonly host: IoHost;
  readonly what: string;
  readonly isNoted: (args: readonly unknown[]) => boolean;
  readonly remedy: string;
}

/** The same function, which notes that code of a world calls it. */
function noting(real: AnyFunction, { host, what, isNoted, remedy }: Note): AnyFunction {
  const noted = function (this: unknown, ...args: unknown[]): unknown {
    const scope = currentScope();
    if (scope !== undefined && isNoted(args)) host.stray(scope, what, remedy);
    return Reflect.apply(real, this, args);
  };
  // Symbols that `promisify` looks up.
  for (const symbol of Object.getOwnPropertySymbols(real))
    Object.defineProperty(noted, symbol, { value: Reflect.get(real, symbol), configurable: true });
  return noted;
}

/** Methods of a class, or of an object, that answer in real time. */
function noteMethods(
  target: object,
  isMeant: (name: string) => boolean,
  note: Omit<Note, 'isNoted'> & { readonly replace: Replace },
): void {
  const { replace, what, ...rest } = note;
  for (const name of Object.getOwnPropertyNames(target)) {
    const real: unknown = Object.getOwnPropertyDescriptor(target, name)?.value;
    if (typeof real === 'function' && isMeant(name))
      replace(target, name, noting(real as AnyFunction, { ...rest, what: `${name}() of ${what}`, isNoted: always }));
  }
}

/** Each of a resolver's own, too. */
function replaceResolvers(host: IoHost, replace: Replace): void {
  for (const module of ['node:dns', 'node:dns/promises']) {
    const { Resolver } = requireBuiltin(module) as { readonly Resolver: { readonly prototype: object } };
    const note = { host, what: `a Resolver of ${module}`, remedy: lookupRemedy, replace };
    // Those of `node:dns` are of a class above, which nothing else has.
    for (let at = Resolver.prototype; at !== Object.prototype; at = Object.getPrototypeOf(at) as object)
      noteMethods(at, isLookup, note);
  }
}

function replaceSubtle(host: IoHost, replace: Replace): void {
  const { subtle } = globalThis.crypto;
  const remedy =
    'use node:crypto, which computes at once: what runs in the threads of Node ends at a moment that no seed decides';
  const prototype = Object.getPrototypeOf(subtle) as object;
  noteMethods(prototype, (name) => name !== 'constructor', { host, what: 'crypto.subtle', remedy, replace });
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

/** Replaces classes that communicate with others in real time as soon as they are constructed. */
function replaceWorker(host: IoHost, replace: Replace): void {
  const threads = requireBuiltin('node:worker_threads') as Record<string, Constructor>;
  const threadsRemedy = 'threads are not simulated: let the operator do without them by an option';
  const socketRemedy =
    "hand the world's connection to whatever talks to the API server, and take other services as options";
  const made: readonly (readonly [name: string, homes: readonly object[], remedy: string])[] = [
    ['Worker', [threads], threadsRemedy],
    ['MessageChannel', [globalThis, threads], threadsRemedy],
    ['BroadcastChannel', [globalThis, threads], threadsRemedy],
    ['WebSocket', [globalThis], socketRemedy],
    ['EventSource', [globalThis], socketRemedy],
  ];
  for (const [name, homes, remedy] of made) {
    const real: unknown = Reflect.get(homes[0] ?? {}, name);
    if (typeof real !== 'function') continue; // not in each release of Node
    const noted = notingClass(real as Constructor, () => {
      const scope = currentScope();
      if (scope !== undefined) host.stray(scope, `new ${name}()`, remedy);
    });
    for (const home of homes) replace(home, name, noted);
  }
}

type Constructor = new (...args: never[]) => object;

/** The same class, which notes that one is made; what is made is of the real one. */
function notingClass(real: Constructor, note: () => void): Constructor {
  return new Proxy(real, {
    construct(target, args, newTarget: NewableFunction) {
      note();
      return Reflect.construct(target, args, newTarget) as object;
    },
  });
}
