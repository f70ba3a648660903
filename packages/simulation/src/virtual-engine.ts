import { createRequire } from 'node:module';
import { currentScope } from './network/activity.js';
import type { Scope } from './scope.js';
import type { Replace } from './virtual-io.js';

/** Puts a getter in the place of a property. */
export type ReplaceGetter = (target: object, name: PropertyKey, get: (this: never) => unknown) => void;

/** Receives uses of the real machine by code of a world. */
export interface EngineHost {
  stray(scope: Scope, what: string, remedy: string): void;
}

const requireBuiltin = createRequire(import.meta.url);
const useClock = 'take a Clock: clock.now() for wall time, clock.monotonicNow() for durations';

/**
 * Replaces decisions of the engine, such as when garbage is collected, how long a thread sleeps, and which time zone
 * the machine has. Returns a function that undoes the changes beyond `replace`.
 */
export function replaceEngine(host: EngineHost, replace: Replace, replaceGetter: ReplaceGetter): () => void {
  const letGo = replaceWeakness(host, replace);
  replaceAtomics(host, replace);
  replaceFormats(host, replace, replaceGetter);
  replacePerformance(host, replace, replaceGetter);
  replaceSystemTime(host, replace);
  const restoreZone = useUtc();
  return () => {
    letGo();
    restoreZone();
  };
}

const { WeakRef: RealRef, FinalizationRegistry: RealRegistry } = globalThis;

/** Objects of the running world, by reference. An object is kept as long as its reference and the world. */
let kept: WeakMap<WeakRef<WeakKey>, WeakKey> | undefined;

// Both have no link to a world, because a reference may outlive it, and would retain it by its class.
class KeepingRef<T extends WeakKey> extends RealRef<T> {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof RealRef;
  }

  constructor(target: T) {
    super(target);
    if (currentScope() !== undefined) kept?.set(this, target);
  }
}

class SilentRegistry<T> extends RealRegistry<T> {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof RealRegistry;
  }

  constructor(cleanup: (held: T) => void) {
    super(currentScope() === undefined ? cleanup : nothing);
  }
}

function nothing(): undefined {
  return undefined;
}

/**
 * In a world nothing is collected as far as its code can see, so a reference finds its object, and no finalizer runs.
 * Both are allowed by the language, and the same in each run. The returned function releases the objects.
 */
function replaceWeakness(host: EngineHost, replace: Replace): () => void {
  kept = new WeakMap();
  replace(globalThis, 'WeakRef', KeepingRef);
  replace(globalThis, 'FinalizationRegistry', SilentRegistry);
  const letGo = (): void => void (kept = undefined);
  const register: unknown = Reflect.get(RealRegistry.prototype, 'register');
  if (!isMethod(register)) return letGo;
  replace(RealRegistry.prototype, 'register', function (this: object, ...args: unknown[]): void {
    const scope = currentScope();
    // One that was made outside of the world calls back when the engine pleases.
    if (scope !== undefined && this.constructor !== SilentRegistry)
      host.stray(
        scope,
        'FinalizationRegistry.register()',
        'free what is held by a signal, `using` or a method: when garbage is collected follows from no seed',
      );
    Reflect.apply(register, this, args);
  });
  return letGo;
}

/** They hold up the thread, or wait for another one, in real time. */
function replaceAtomics(host: EngineHost, replace: Replace): void {
  for (const name of ['wait', 'waitAsync'] as const) {
    const real = Atomics[name] as ((...args: unknown[]) => unknown) | undefined;
    if (real === undefined) continue;
    replace(Atomics, name, (...args: unknown[]) => {
      const scope = currentScope();
      if (scope !== undefined) host.stray(scope, `Atomics.${name}()`, 'use sleep(ms, { clock, signal }) of @kctl/wait');
      return real(...args);
    });
  }
}

type DateFormat = Intl.DateTimeFormat;

/** A method, or what reads a property, to be applied to what it is called on. */
type Method = (this: unknown, ...args: unknown[]) => unknown;

function isMethod(value: unknown): value is Method {
  return typeof value === 'function';
}

/** A format without a date formats now. */
function replaceFormats(host: EngineHost, replace: Replace, replaceGetter: ReplaceGetter): void {
  const { prototype } = Intl.DateTimeFormat;
  const now = (what: string): number | undefined => {
    const scope = currentScope();
    if (scope === undefined) return undefined;
    host.stray(scope, what, useClock);
    return scope.clock.now();
  };
  const getFormat: unknown = Reflect.get(Object.getOwnPropertyDescriptor(prototype, 'format') ?? {}, 'get');
  if (isMethod(getFormat))
    replaceGetter(prototype, 'format', function (this: DateFormat): DateFormat['format'] {
      const format = Reflect.apply(getFormat, this, []) as DateFormat['format'];
      if (currentScope() === undefined) return format;
      return (date) => format(date ?? now('Intl.DateTimeFormat.format()'));
    });
  const formatToParts: unknown = Reflect.get(prototype, 'formatToParts');
  if (!isMethod(formatToParts)) return;
  replace(prototype, 'formatToParts', function (this: DateFormat, date?: Date | number): unknown {
    return Reflect.apply(formatToParts, this, [date ?? now('Intl.DateTimeFormat.formatToParts()')]);
  });
}

interface Marks {
  mark(name: string, options?: { readonly startTime?: number }): unknown;
  measure(name: string, start?: unknown, end?: unknown): unknown;
}

function replacePerformance(host: EngineHost, replace: Replace, replaceGetter: ReplaceGetter): void {
  const clock = performance as unknown as Marks & object;
  const realOrigin = performance.timeOrigin;
  const use = 'take a Clock: clock.monotonicNow()';
  replaceGetter(clock, 'timeOrigin', (): number => {
    const scope = currentScope();
    if (scope === undefined) return realOrigin;
    host.stray(scope, 'performance.timeOrigin', use);
    return scope.clock.now() - scope.clock.monotonicNow();
  });
  const realMark = clock.mark.bind(clock);
  replace(clock, 'mark', (name: string, options: { readonly startTime?: number } = {}) => {
    const scope = currentScope();
    if (scope === undefined) return realMark(name, options);
    host.stray(scope, 'performance.mark()', use);
    return realMark(name, { startTime: scope.clock.monotonicNow(), ...options });
  });
  const realMeasure = clock.measure.bind(clock);
  replace(clock, 'measure', (...args: Parameters<Marks['measure']>) => {
    const scope = currentScope();
    if (scope !== undefined) host.stray(scope, 'performance.measure()', use);
    return realMeasure(...args);
  });
}

/** The machine's uptime. */
function replaceSystemTime(host: EngineHost, replace: Replace): void {
  const os = requireBuiltin('node:os') as { uptime: () => number };
  const realUptime = os.uptime;
  replace(os, 'uptime', (): number => {
    const scope = currentScope();
    if (scope === undefined) return realUptime();
    host.stray(scope, 'uptime() of node:os', 'take a Clock: clock.monotonicNow()');
    return scope.clock.monotonicNow() / 1000;
  });
}

/** The time zone of a world is UTC, wherever it runs. It is that of the process, so code outside has it meanwhile. */
function useUtc(): () => void {
  const { TZ } = process.env;
  process.env['TZ'] = 'UTC';
  return () => {
    if (TZ === undefined) delete process.env['TZ'];
    else process.env['TZ'] = TZ;
  };
}
