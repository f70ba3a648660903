// Watch connections that count what arrives and do nothing else: a client that decoded would be the slower side.
import { connect } from 'node:tls';
import type { ServerInfo } from '../servers/server-info.js';

const newline = 10;
const closingBrace = 125;

export interface Watchers {
  /** Resolves when each watcher has had so many events since the last call. */
  received(events: number): Promise<void>;
  close(): void;
}

/** Opens `count` watches over HTTP/1.1 and waits until each has been answered. */
export async function openWatchers(server: ServerInfo, path: string, count: number): Promise<Watchers> {
  const { hostname, port } = new URL(server.url);
  let total = 0;
  let goal = Infinity;
  let reached = Promise.withResolvers<undefined>();
  const open = (): Promise<{ destroy(): void }> =>
    new Promise((resolve, reject) => {
      let last = 0;
      let isOpen = false;
      const socket = connect({ host: hostname, port: Number(port), ca: server.ca });
      socket.on('data', (chunk: Buffer) => {
        if (!isOpen) {
          const head = chunk.toString('latin1');
          if (!head.startsWith('HTTP/1.1 200')) {
            reject(new Error(head));
            return;
          }
          isOpen = true;
          resolve(socket);
        }
        // A document ends in `}` and a newline; what delimits the chunks of the body ends in a carriage return before it.
        for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1))
          if ((at === 0 ? last : chunk[at - 1]) === closingBrace) total++;
        last = chunk[chunk.length - 1] ?? last;
        if (total >= goal) reached.resolve(undefined);
      });
      socket.on('error', reject);
      socket.on('close', () => {
        if (!isClosing) reached.reject(new Error('the server ended a watch'));
      });
      socket.write(
        `GET ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${server.token}\r\naccept: application/json\r\n\r\n`,
      );
    });
  let isClosing = false;
  const sockets = await Promise.all(Array.from({ length: count }, open));
  return {
    received: async (events) => {
      goal = total + events * count;
      reached = Promise.withResolvers();
      await reached.promise;
    },
    close: () => {
      isClosing = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}
