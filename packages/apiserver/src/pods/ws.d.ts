// Server side of `ws`, because the package has no types.
declare module 'ws' {
  import type { IncomingMessage } from 'node:http';
  import type { Duplex } from 'node:stream';

  /** An open connection. */
  export interface ServerSocket {
    readonly protocol: string;
    on(event: 'message', listener: (data: Buffer) => void): this;
    on(event: 'close', listener: () => void): this;
    on(event: 'error', listener: (error: Error) => void): this;
    send(data: Buffer, done?: (error?: Error | null) => void): void;
    close(code?: number, reason?: string): void;
    terminate(): void;
    pause(): void;
    resume(): void;
  }
  export interface SocketServer {
    handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, opened: (socket: ServerSocket) => void): void;
  }
  export const WebSocketServer: new (options: {
    readonly noServer: true;
    readonly clientTracking: false;
    readonly maxPayload: number;
    readonly handleProtocols: (offered: Set<string>) => string | false;
  }) => SocketServer;
}
