import type { CliIo } from './io.js';

/** The part of a terminal's input that is used. */
export interface KeyInput extends NodeJS.EventEmitter {
  readonly isTTY?: boolean;
  setRawMode?(mode: boolean): unknown;
  resume(): unknown;
  pause(): unknown;
}

const interrupt = '\u0003';

/** Keys as they are pressed; undefined without a terminal. Ctrl-C stays what it is: a terminal in raw mode sends it as text. */
export function keysOf(input: KeyInput, onInterrupt: () => void): CliIo['onKey'] {
  if (input.isTTY !== true || !('setRawMode' in input)) return undefined;
  return (listener) => {
    const onData = (data: Buffer | string): void => {
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
