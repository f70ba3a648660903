import { duplexPair, type Duplex } from 'node:stream';
import type { Scope } from '../scope.js';

/** The required part of a server of Node, which accepts connections as an event. */
export interface ListeningServer {
  emit(event: 'connection', socket: Duplex): boolean;
  close(): unknown;
}

/** Listening servers of replicas. Nothing is bound, because connections are made in memory. */
export class Listeners {
  readonly #servers = new Map<Scope, Set<ListeningServer>>();
  #ports = 30_000;

  /** A server of a scope listens until the returned function is called. */
  add(scope: Scope, server: ListeningServer): () => void {
    const servers = this.#servers.get(scope) ?? new Set();
    this.#servers.set(scope, servers.add(server));
    return () => void servers.delete(server);
  }

  of(scope: Scope): readonly ListeningServer[] {
    return [...(this.#servers.get(scope) ?? [])];
  }

  /** The process has died, so its servers are closed and nothing real outlives it. */
  bury(scope: Scope): void {
    for (const server of this.of(scope)) server.close();
    this.#servers.delete(scope);
  }

  /** The status of `GET path`; 0: the connection ended without an answer. */
  get(server: ListeningServer, path: string): Promise<number> {
    const [client, remote] = duplexPair();
    const socket = Object.assign(remote, {
      remoteAddress: '10.0.0.1',
      remotePort: ++this.#ports,
      localAddress: '10.0.0.2',
      localPort: 8081,
      bytesRead: 0,
      destroySoon: () => void remote.end(),
    });
    return new Promise((resolve) => {
      let text = '';
      const done = (): void => {
        resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0));
        client.destroy();
        remote.destroy();
      };
      client.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
        if (text.includes('\r\n\r\n')) done();
      });
      client.on('error', done);
      client.on('close', done);
      server.emit('connection', socket);
      client.write(`GET ${path} HTTP/1.1\r\nhost: probe\r\nconnection: close\r\n\r\n`);
    });
  }
}
