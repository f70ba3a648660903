import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { systemClock } from '@kctl/wait';

/** What the network between one candidate and the server does. */
export type Network =
  | { readonly mode: 'up' }
  /** Connections break and new ones are refused. */
  | { readonly mode: 'drop' }
  /** Nothing arrives, and nobody is told. */
  | { readonly mode: 'blackhole' }
  /** Everything arrives this much later. */
  | { readonly mode: 'delay'; readonly ms: number };

export interface Proxy extends AsyncDisposable {
  readonly port: number;
  set(network: Network): void;
  /** Ends a fault, unless another one has taken its place. */
  heal(network: Network): void;
}

/** A TCP proxy on this machine. What it accepted before its peer closed it still delivers, as a network would. */
export async function startProxy(target: { readonly port: number }): Promise<Proxy> {
  let network: Network = { mode: 'up' };
  const sockets = new Set<Socket>();
  const swallowed = new Set<Socket>();
  const add = (socket: Socket): void => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  };
  const forward = (from: Socket, to: Socket): void => {
    // In order, also when a delay ends while something is still under way: a network does not reorder a stream.
    const underWay: (() => void)[] = [];
    const later = (action: () => void): void => {
      if (network.mode !== 'delay' && underWay.length === 0) action();
      else {
        underWay.push(action);
        systemClock.setTimer(() => underWay.shift()?.(), network.mode === 'delay' ? network.ms : 0);
      }
    };
    from.on('data', (chunk) => {
      if (network.mode === 'blackhole') {
        // What is missing from a TLS stream cannot be made up for: this connection is dead, silently.
        swallowed.add(from).add(to);
      }
      if (!swallowed.has(from)) later(() => to.writable && to.write(chunk));
    });
    from.on('close', () => {
      if (!swallowed.has(from)) later(() => to.end());
    });
  };
  const server = createServer((inbound) => {
    add(inbound);
    if (network.mode === 'drop') {
      inbound.destroy();
      return;
    }
    if (network.mode === 'blackhole') {
      swallowed.add(inbound);
      inbound.resume();
      return;
    }
    const outbound = connect({ host: '127.0.0.1', port: target.port });
    add(outbound);
    forward(inbound, outbound);
    forward(outbound, inbound);
    outbound.on('error', () => inbound.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    set(next) {
      network = next;
      if (next.mode === 'drop') for (const socket of sockets) socket.destroy();
    },
    heal(fault) {
      if (network === fault) network = { mode: 'up' };
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
