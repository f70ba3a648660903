// The parts of `ws` that read and write frames. The package has no types, and those of @types/ws leave these two out.
declare module 'ws' {
  import type { Duplex, Writable } from 'node:stream';

  /** Reads frames; emits `message`, `ping`, `conclude` and `error`. */
  export interface FrameReceiver extends Writable {
    on(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): this;
    on(event: 'ping', listener: (data: Buffer) => void): this;
    on(event: 'conclude', listener: (code: number, reason: Buffer) => void): this;
    on(event: 'error', listener: (error: Error) => void): this;
    on(event: 'drain', listener: () => void): this;
    on(event: string, listener: (...args: never[]) => void): this;
  }
  export const Receiver: new (options: { readonly isServer: boolean; readonly maxPayload: number }) => FrameReceiver;

  /** Writes frames. */
  export interface FrameSender {
    send(
      data: Buffer,
      options: { readonly binary: boolean; readonly compress: boolean; readonly fin: boolean; readonly mask: boolean },
      done: (error?: Error | null) => void,
    ): void;
    ping(data: Buffer, mask: boolean, done: (error?: Error | null) => void): void;
    pong(data: Buffer, mask: boolean, done: (error?: Error | null) => void): void;
    close(code: number, reason: string, mask: boolean, done: (error?: Error | null) => void): void;
  }
  export const Sender: new (socket: Duplex, extensions: object) => FrameSender;
}
