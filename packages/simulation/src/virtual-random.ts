import { createRequire } from 'node:module';
import type { Random } from '@kctl/wait';
import { currentScope } from './network/activity.js';
import type { Scope } from './scope.js';
import type { Replace } from './virtual-io.js';

/** Requirements for the randomness of a world. */
export interface RandomHost {
  /** Randomness that need not be secret there. */
  readonly random: Random;
  stray(scope: Scope, what: string, remedy: string): void;
}

const requireBuiltin = createRequire(import.meta.url);

const hex = Array.from({ length: 2 ** 16 }, (_, value) => value.toString(16).padStart(4, '0'));

/** The lower 16 bits of a number. */
function hexOf(value: number): string {
  return hex[value & 0xffff] ?? '';
}

interface CryptoModule {
  randomUUID: () => string;
  randomBytes: (size: number, callback?: unknown) => Buffer;
  randomInt: (...args: unknown[]) => unknown;
  randomFillSync: (target: ArrayBufferView, offset?: number, size?: number) => ArrayBufferView;
  randomFill: (...args: unknown[]) => void;
}

type Answer = (error: unknown, value?: unknown) => void;

/** Calls back in the next turn of the world's event loop, because the real ones draw in a thread. */
function answerLater(callback: unknown, value: unknown): void {
  setImmediate(() => (callback as Answer)(null, value));
}

/** Replaces functions that fill memory with randomness, and `randomInt`, by virtual ones, as for uids. */
function replaceFill(host: RandomHost, crypto: CryptoModule, replace: Replace): void {
  const { randomInt: realInt, randomFillSync: realFill, randomFill: realFillLater } = crypto;
  const realValues = globalThis.crypto.getRandomValues.bind(globalThis.crypto) as (
    target: ArrayBufferView,
  ) => ArrayBufferView;
  const fill = (target: ArrayBufferView, offset = 0, size = target.byteLength - offset): void => {
    const bytes = new Uint8Array(target.buffer, target.byteOffset + offset, size);
    for (let index = 0; index < bytes.length; index++) bytes[index] = Math.floor(host.random() * 256);
  };
  const values = (target: ArrayBufferView): ArrayBufferView => {
    if (currentScope() === undefined) return realValues(target);
    fill(target);
    return target;
  };
  const fillSync: typeof realFill = (target, offset, size) => {
    if (currentScope() === undefined) return realFill(target, offset, size);
    fill(target, offset, size);
    return target;
  };
  const integer = (...args: unknown[]): unknown => {
    const [first, second] = args;
    const [least, most] = typeof second === 'number' ? [Number(first), second] : [0, Number(first)];
    if (currentScope() === undefined || !(most > least)) return realInt(...args);
    const drawn = least + Math.floor(host.random() * (most - least));
    const callback = args.at(-1);
    if (typeof callback !== 'function') return drawn;
    answerLater(callback, drawn);
    return undefined;
  };
  const fillLater = (...args: unknown[]): void => {
    const [target, offset, size] = args;
    const callback = args.at(-1);
    if (currentScope() === undefined || typeof callback !== 'function' || !ArrayBuffer.isView(target)) {
      realFillLater(...args);
      return;
    }
    fill(target, typeof offset === 'number' ? offset : 0, typeof size === 'number' ? size : undefined);
    answerLater(callback, target);
  };
  replace(globalThis.crypto, 'getRandomValues', values);
  replace(crypto, 'randomFillSync', fillSync);
  replace(crypto, 'randomFill', fillLater);
  replace(crypto, 'randomInt', integer);
}

/** Replaces sources of randomness with that of the world. */
export function replaceRandomness(host: RandomHost, replace: Replace): void {
  const dice = Math;
  const realRandom = dice.random.bind(dice);
  const random = (): number => {
    const scope = currentScope();
    if (scope === undefined) return realRandom();
    host.stray(scope, 'Math.random()', 'take a `random: () => number`: hand it the random of the world');
    return host.random();
  };
  replace(Math, 'random', random);
  const crypto = requireBuiltin('node:crypto') as CryptoModule;
  const { randomUUID: realUuid, randomBytes: realBytes } = crypto;
  replaceFill(host, crypto, replace);
  const bytes = (size: number): Buffer => {
    const made = Buffer.alloc(size);
    for (let index = 0; index < size; index++) made[index] = Math.floor(host.random() * 256);
    return made;
  };
  const word = (): number => host.random() * 2 ** 32;
  const uuid = (): string => {
    const time = word();
    const rest = word();
    const node = word();
    const end = word();
    const variant = '89ab'.charAt(Math.floor(host.random() * 4));
    const version = `4${hexOf(rest).slice(1)}`;
    const sequence = `${variant}${hexOf(node / 2 ** 16).slice(1)}`;
    const last = `${hexOf(node)}${hexOf(end / 2 ** 16)}${hexOf(end)}`;
    return `${hexOf(time / 2 ** 16)}${hexOf(time)}-${hexOf(rest / 2 ** 16)}-${version}-${sequence}-${last}`;
  };
  const virtualUuid = (): string => (currentScope() === undefined ? realUuid() : uuid());
  replace(crypto, 'randomUUID', virtualUuid);
  replace(globalThis.crypto, 'randomUUID', virtualUuid);
  replace(crypto, 'randomBytes', (size: number, callback?: unknown) => {
    if (currentScope() === undefined || !(size >= 0)) return realBytes(size, callback);
    if (callback === undefined) return bytes(size);
    answerLater(callback, bytes(size));
    return undefined;
  });
}
