import type { CliIo } from './io.js';

/** A piece of input, in the encoding of the stream or as bytes. */
export interface KeyData {
  toString(): string;
}

/**
 * The used part of a terminal's input, which `process.stdin` implements. Types of Node.js are not named, because a
 * consumer may not have `@types/node`.
 */
export interface KeyInput {
  readonly isTTY?: boolean;
  on(event: 'data', listener: (data: KeyData) => void): unknown;
  off(event: 'data', listener: (data: KeyData) => void): unknown;
  setRawMode?(mode: boolean): unknown;
  resume(): unknown;
  pause(): unknown;
}

const interrupt = '\u0003';

/**
 * Keys as they are pressed; undefined without a terminal. Ctrl-C stays what it is, because a terminal in raw mode sends
 * it as a character.
 */
export function keysOf(input: KeyInput, onInterrupt: () => void): CliIo['onKey'] {
  if (input.isTTY !== true || !('setRawMode' in input)) return undefined;
  return (listener) => {
    const onData = (data: KeyData): void => {
      for (const key of data.toString()) {
        if (key === interrupt) onInterrupt();
        else listener(key);
      }
    };
    input.setRawMode?.(true);
    input.on('data', onData);
    input.resume();
    return () => {
      input.off('data', onData);
      input.setRawMode?.(false);
      input.pause();
    };
  };
}
