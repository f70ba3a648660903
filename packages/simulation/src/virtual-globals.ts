import { createRequire, syncBuiltinESMExports } from 'node:module';
import { promisify } from 'node:util';
import type { Random } from '@kctl/wait';
import { currentScope } from './network/activity.js';
import type { ListeningServer } from './network/listeners.js';
import type { Scope } from './scope.js';
import { replaceEngine } from './virtual-engine.js';
import { replaceIo, type Replace } from './virtual-io.js';
import { replaceRandomness } from './virtual-random.js';

/** Behavior of the globals for code in a world. Code outside of any world has the real ones. */
export interface VirtualHost {
  /** Sets a timer of a scope. */
  setTimer(scope: Scope, callback: () => void, delayMs: number): { cancel(): void };
  /** Runs it in the next turn of the world's event loop. */
  setImmediate(scope: Scope, callback: () => void): { cancel(): void };
  /** Randomness that need not be secret there. */
  readonly random: Random;
  /** A server of a scope begins to listen, until the returned function is called. */
  listen(scope: Scope, server: ListeningServer): () => void;
  /** Notes that time, randomness or a socket was used without having been injected. */
  stray(scope: Scope, what: string, remedy: string): void;
}

const requireBuiltin = createRequire(import.meta.url);
const realDate = Date;
/** Loaded before anything is replaced, because it captures the existing timers. */
const promises = requireBuiltin('node:timers/promises') as {
  setTimeout: (ms?: number, value?: unknown, options?: { signal?: AbortSignal }) => Promise<unknown>;
  setImmediate: (value?: unknown, options?: { signal?: AbortSignal }) => Promise<unknown>;
  setInterval: (ms?: number, value?: unknown, options?: { signal?: AbortSignal }) => AsyncIterable<unknown>;
  scheduler: {
    wait: (ms: number, options?: { signal?: AbortSignal }) => Promise<unknown>;
    yield: () => Promise<unknown>;
  };
};

let installed: VirtualHost | undefined;

/** The running world, through an indirection, so that functions captured by a module do not retain it. */
const current: Pick<VirtualHost, 'stray'> = {
  stray(scope, what, remedy) {
    installed?.stray(scope, what, remedy);
  },
};

/**
 * Replaces timers, `Date`, randomness and sockets for the code of a world, until it is disposed. One world at a time.
 *
 * @throws Error while another world has them
 */
export function installVirtualGlobals(host: VirtualHost): Disposable {
  if (installed !== undefined)
    throw new Error('a simulation is running in this process already: await it before the next one');
  const undo: (() => void)[] = [];
  installed = host;
  const restoreAll = (): void => {
    for (const restore of undo.reverse()) restore();
    installed = undefined;
    syncBuiltinESMExports();
  };
  const put: Replace = (target, name, replacement) => replace(target, name, replacement, undo);
  try {
    replaceTimers(host, undo);
    replaceDate(host, undo);
    replaceRandomness(host, put);
    replaceSockets(host, undo);
    replaceListen(host, undo);
    replaceIo(current, put);
    undo.push(
      replaceEngine(current, put, (target, name, get) => substitute(target, name, { get, configurable: true }, undo)),
    );
  } catch (error) {
    restoreAll(); // a runtime that does not let something be replaced: nothing stays half replaced
    throw error;
  }
  syncBuiltinESMExports();
  return { [Symbol.dispose]: restoreAll };
}

/** Puts `replacement` in the place of a property, and remembers the way back. */
function replace(target: object, name: PropertyKey, replacement: unknown, undo: (() => void)[]): void {
  substitute(target, name, { value: replacement, writable: true, configurable: true }, undo);
}

function substitute(target: object, name: PropertyKey, property: PropertyDescriptor, undo: (() => void)[]): void {
  const before = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, { ...property, enumerable: before?.enumerable ?? true });
  undo.push(() => {
    if (before === undefined) Reflect.deleteProperty(target, name);
    else Object.defineProperty(target, name, before);
  });
}

type Callback = (...args: unknown[]) => void;

/** Return type of `setTimeout` and related functions in a world. */
class VirtualTimeout {
  readonly #arm: () => { cancel(): void };
  #timer: { cancel(): void };
  #hasRef = true;

  constructor(arm: () => { cancel(): void }) {
    this.#arm = arm;
    this.#timer = arm();
  }

  ref(): this {
    this.#hasRef = true;
    return this;
  }

  unref(): this {
    this.#hasRef = false;
    return this;
  }

  hasRef(): boolean {
    return this.#hasRef;
  }

  refresh(): this {
    this.#timer.cancel();
    this.#timer = this.#arm();
    return this;
  }

  close(): this {
    this.#timer.cancel();
    return this;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

const useClock = 'take a Clock: hand the clock of the world to whatever waits or measures';

/** A delay that no run reaches, which only keeps a process alive. */
const neverMs = 2 ** 31 - 2;

function replaceTimers(host: VirtualHost, undo: (() => void)[]): void {
  const { setTimeout: realTimeout, setInterval: realInterval, setImmediate: realImmediate } = globalThis;
  const timeout = (callback: Callback, delayMs?: number, ...args: unknown[]): unknown => {
    const scope = currentScope();
    if (scope === undefined) return realTimeout(callback, delayMs, ...args);
    if ((delayMs ?? 1) < neverMs) host.stray(scope, 'setTimeout()', useClock);
    return new VirtualTimeout(() => host.setTimer(scope, () => callback(...args), Math.max(1, delayMs ?? 1)));
  };
  const interval = (callback: Callback, delayMs?: number, ...args: unknown[]): unknown => {
    const scope = currentScope();
    if (scope === undefined) return realInterval(callback, delayMs, ...args);
    host.stray(scope, 'setInterval()', useClock);
    return new VirtualTimeout(() => {
      let timer: { cancel(): void };
      const arm = (): void => {
        timer = host.setTimer(
          scope,
          () => {
            arm();
            callback(...args);
          },
          Math.max(1, delayMs ?? 1),
        );
      };
      arm();
      return { cancel: () => timer.cancel() };
    });
  };
  const immediate = (callback: Callback, ...args: unknown[]): unknown => {
    const scope = currentScope();
    if (scope === undefined) return realImmediate(callback, ...args);
    return new VirtualTimeout(() => host.setImmediate(scope, () => callback(...args)));
  };
  const clear =
    (real: (timer: never) => void) =>
    (timer: unknown): void => {
      if (timer instanceof VirtualTimeout) timer.close();
      else real(timer as never);
    };
  const replacements = {
    setTimeout: timeout,
    setInterval: interval,
    setImmediate: immediate,
    clearTimeout: clear(globalThis.clearTimeout),
    clearInterval: clear(globalThis.clearInterval),
    clearImmediate: clear(globalThis.clearImmediate),
  };
  // Functions that `promisify` returns for them.
  Object.defineProperty(timeout, promisify.custom, { get: () => promises.setTimeout });
  Object.defineProperty(immediate, promisify.custom, { get: () => promises.setImmediate });
  const timersModule = requireBuiltin('node:timers') as object;
  for (const [name, replacement] of Object.entries(replacements)) {
    replace(globalThis, name, replacement, undo);
    replace(timersModule, name, replacement, undo);
  }
  replaceTimerPromises(host, undo);
  const realAbortTimeout = AbortSignal.timeout.bind(AbortSignal);
  replace(
    AbortSignal,
    'timeout',
    (ms: number): AbortSignal => {
      const scope = currentScope();
      if (scope === undefined) return realAbortTimeout(ms);
      host.stray(scope, 'AbortSignal.timeout()', 'use timeoutSignal(clock, ms) of @kctl/wait');
      const controller = new AbortController();
      host.setTimer(
        scope,
        () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
        ms,
      );
      return controller.signal;
    },
    undo,
  );
}

function replaceTimerPromises(host: VirtualHost, undo: (() => void)[]): void {
  const { setTimeout: realTimeout, setImmediate: realImmediate } = promises;
  const wait = (signal: AbortSignal | undefined, value: unknown, arm: (done: () => void) => { cancel(): void }) =>
    new Promise((resolve, reject) => {
      const abort = (): void => {
        timer.cancel();
        reject(new DOMException('The operation was aborted', 'AbortError'));
      };
      const timer = arm(() => {
        signal?.removeEventListener('abort', abort);
        resolve(value);
      });
      if (signal?.aborted === true) abort();
      else signal?.addEventListener('abort', abort, { once: true });
    });
  const timeout: typeof realTimeout = (ms, value, options) => {
    const scope = currentScope();
    if (scope === undefined) return realTimeout(ms, value, options);
    host.stray(scope, 'setTimeout() of node:timers/promises', 'use sleep(ms, { clock, signal }) of @kctl/wait');
    return wait(options?.signal, value, (done) => host.setTimer(scope, done, ms ?? 1));
  };
  const immediate: typeof realImmediate = (value, options) => {
    const scope = currentScope();
    if (scope === undefined) return realImmediate(value, options);
    return wait(options?.signal, value, (done) => host.setImmediate(scope, done));
  };
  const { setInterval: realInterval, scheduler } = promises;
  const interval: typeof realInterval = (ms, value, options) => {
    if (currentScope() === undefined) return realInterval(ms, value, options);
    return (async function* () {
      for (;;) yield await timeout(ms, value, options);
    })();
  };
  const { wait: realWait, yield: realYield } = scheduler;
  const virtualWait: typeof realWait = (ms, options) =>
    currentScope() === undefined ? realWait.call(scheduler, ms, options) : timeout(ms, undefined, options);
  const virtualYield: typeof realYield = () => (currentScope() === undefined ? realYield.call(scheduler) : immediate());
  replace(promises, 'setTimeout', timeout, undo);
  replace(promises, 'setImmediate', immediate, undo);
  replace(promises, 'setInterval', interval, undo);
  replace(scheduler, 'wait', virtualWait, undo);
  replace(scheduler, 'yield', virtualYield, undo);
}

function replaceDate(host: VirtualHost, undo: (() => void)[]): void {
  const now = (scope: Scope, what: string): number => {
    host.stray(scope, what, 'take a Clock: clock.now() for wall time, clock.monotonicNow() for durations');
    return scope.clock.now();
  };
  const virtualNow = (): number => {
    const scope = currentScope();
    return scope === undefined ? realNow() : now(scope, 'Date.now()');
  };
  const realNow = realDate.now.bind(realDate);
  replace(realDate, 'now', virtualNow, undo);
  const scopeNow = (): number | undefined => {
    const scope = currentScope();
    return scope === undefined ? undefined : now(scope, 'new Date()');
  };
  replace(globalThis, 'Date', virtualDateConstructor(scopeNow), undo);
  const clock = performance;
  const realPerformanceNow = clock.now.bind(clock);
  const performanceNow = (): number => {
    const scope = currentScope();
    if (scope === undefined) return realPerformanceNow();
    host.stray(scope, 'performance.now()', 'take a Clock: clock.monotonicNow()');
    return scope.clock.monotonicNow();
  };
  replace(performance, 'now', performanceNow, undo);
  replaceProcessTime(host, undo);
}

/** The clocks of `process`: they follow the monotonic clock of the scope. */
function replaceProcessTime(host: VirtualHost, undo: (() => void)[]): void {
  const realHrtime = process.hrtime;
  const realUptime = process.uptime.bind(process);
  const nowMs = (what: string): number | undefined => {
    const scope = currentScope();
    if (scope === undefined) return undefined;
    host.stray(scope, what, 'take a Clock: clock.monotonicNow()');
    return scope.clock.monotonicNow();
  };
  const hrtime = (since?: [number, number]): [number, number] => {
    const ms = nowMs('process.hrtime()');
    if (ms === undefined) return realHrtime(since);
    const nanoseconds = Math.floor(ms * 1e6) - (since === undefined ? 0 : since[0] * 1e9 + since[1]);
    return [Math.floor(nanoseconds / 1e9), nanoseconds % 1e9];
  };
  const bigint = (): bigint => {
    const ms = nowMs('process.hrtime.bigint()');
    return ms === undefined ? realHrtime.bigint() : BigInt(Math.floor(ms * 1e6));
  };
  replace(process, 'hrtime', Object.assign(hrtime, { bigint }), undo);
  const uptime = (): number => {
    const ms = nowMs('process.uptime()');
    return ms === undefined ? realUptime() : ms / 1000;
  };
  replace(process, 'uptime', uptime, undo);
}

/** A Date whose present is that of the world; its objects are real ones. */
function virtualDateConstructor(scopeNow: () => number | undefined): unknown {
  function VirtualDate(this: unknown, ...args: unknown[]): unknown {
    if (new.target === undefined) {
      const ms = scopeNow();
      return ms === undefined ? realDate() : new realDate(ms).toString();
    }
    if (args.length === 0) {
      const ms = scopeNow();
      if (ms !== undefined) args = [ms];
    }
    if (new.target === VirtualDate && args.length === 1) return new realDate(args[0] as number);
    return Reflect.construct(realDate, args, new.target === VirtualDate ? realDate : new.target);
  }
  Object.setPrototypeOf(VirtualDate, realDate); // `now`, `parse` and `UTC`
  VirtualDate.prototype = realDate.prototype;
  return VirtualDate;
}

/** The part of a Node server that holds its listening handle. */
interface NodeServer extends ListeningServer {
  _handle: unknown;
  once(event: 'listening', listener: Callback): unknown;
  emit(event: string, ...args: unknown[]): boolean;
}

/** A server binds nothing; the world connects to it in memory. */
function replaceListen(host: VirtualHost, undo: (() => void)[]): void {
  const { Server } = requireBuiltin('node:net') as { Server: { prototype: { listen: Callback } } };
  const realListen = Server.prototype.listen;
  replace(
    Server.prototype,
    'listen',
    function listen(this: NodeServer, ...args: unknown[]): unknown {
      const scope = currentScope();
      if (scope === undefined) {
        Reflect.apply(realListen, this, args);
        return this;
      }
      const listener = args.find((argument) => typeof argument === 'function') as Callback | undefined;
      if (listener !== undefined) this.once('listening', listener);
      const close = host.listen(scope, this);
      this._handle = {
        close,
        ref: () => undefined,
        unref: () => undefined,
        getsockname: (address: object) =>
          void Object.assign(address, { address: '10.0.0.2', family: 'IPv4', port: 8081 }),
      };
      process.nextTick(() => this.emit('listening'));
      return this;
    },
    undo,
  );
}

function replaceSockets(host: VirtualHost, undo: (() => void)[]): void {
  const { Socket } = requireBuiltin('node:net') as { Socket: { prototype: { connect: Callback } } };
  const realConnect = Socket.prototype.connect;
  replace(
    Socket.prototype,
    'connect',
    function connect(this: object, ...args: unknown[]): unknown {
      const scope = currentScope();
      if (scope === undefined) {
        Reflect.apply(realConnect, this, args);
        return;
      }
      host.stray(scope, 'a socket', "hand the world's connection to whatever talks to the API server");
      throw new Error('a simulated world has no sockets: use world.connection');
    },
    undo,
  );
}
