import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { NamespacedKey } from '@kctl/apimachinery';
import type { AbortOptions } from '@kctl/client';
import {
  clockOption,
  functionOption,
  numberProblem,
  optionProblems,
  requireOptions,
  shownType,
  signalOption,
  textOption,
} from '@kctl/options';
import { anySignal, systemClock } from '@kctl/wait';
import { abortReason } from '@kctl/wait/internal';
import type { OptionNames } from '@kctl/options';
import type { Clock } from '@kctl/wait';
import type { PodsClient } from '../client.js';
import type { PodTarget } from '../target.js';
import { openPort } from './open-port.js';
import { portRange, resolvePort } from './resolve-port.js';
import { requireTransportTo } from '../require-target.js';

/** A port to forward. */
export interface ForwardedPort {
  /** A number, or a name; of a Service the Service's port. */
  readonly remote: number | string;
  /** The port on this machine; 0 takes a free one. @default the number of `remote`, of a name that of the pod */
  readonly local?: number;
}

/** Options of {@link portForward}. */
export interface PortForwardOptions extends AbortOptions {
  /**
   * A number stands for the same port on both sides; a string has kubectl's format, such as `8080:80`, and `:80` uses a
   * free one.
   */
  readonly ports: readonly (number | string | ForwardedPort)[];
  /** Address to listen on. @default '127.0.0.1' */
  readonly address?: string;
  /** Called with what a single connection failed with; the others go on. */
  readonly onError?: (error: unknown) => void;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** A port that is forwarded. */
export interface ForwardedAddress {
  readonly address: string;
  /** The port on this machine. */
  readonly local: number;
  /** The port of the pod. */
  readonly remote: number;
}

/** Ports of a pod on this machine, until it is disposed of or its signal is aborted. */
export interface PortForward extends AsyncDisposable {
  readonly pod: NamespacedKey;
  /** In the order of the options. */
  readonly ports: readonly ForwardedAddress[];
}

const optionNames: OptionNames<PortForwardOptions> = {
  ports: true,
  address: textOption,
  onError: functionOption,
  clock: clockOption,
  signal: signalOption,
};

/**
 * Listens on this machine and carries each connection to a port of a pod. Mirrors `kubectl port-forward`. For a
 * workload or Service one pod is chosen at the start, and connections fail when it is gone. Each connection has a
 * separate stream to the server, so that one that fails, such as if the port has no listener, ends no other.
 *
 * @throws StatusError, PodTargetError, TypeError; an error with code EADDRINUSE when a port is taken
 *
 * @example
 * ```ts
 * import { Service } from '@kctl/apimachinery/kinds/core/v1';
 * import { createHttpClient, loadConnection } from '@kctl/client-http';
 * import { portForward } from '@kctl/pods';
 *
 * await using client = createHttpClient({ connection: await loadConnection() });
 * const web = { kind: Service, namespace: 'shop', name: 'web' };
 * await using forward = await portForward(client, web, { ports: [{ remote: 'http', local: 0 }] });
 * console.log(await (await fetch(`http://127.0.0.1:${forward.ports[0]?.local}/healthz`)).text());
 * ```
 */
export async function portForward(
  client: PodsClient,
  target: PodTarget,
  options: PortForwardOptions,
): Promise<PortForward> {
  requireTransportTo('portForward', client, target);
  requireOptions('portForward', options, optionNames);
  const { ports, address = '127.0.0.1', onError, clock = systemClock, signal } = options;
  if (!Array.isArray(ports))
    throw new TypeError(`portForward: ports is ${shownType(ports)}: expected an array, such as [8080] or ['8080:80']`);
  if (ports.length === 0) throw new TypeError('portForward: ports is empty: name a port');
  const within = signal === undefined ? {} : { signal };
  const wanted = ports.map(parsePort);
  const left = new AbortController();
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  const close = async (): Promise<void> => {
    left.abort();
    signal?.removeEventListener('abort', onAbort);
    for (const socket of sockets) socket.destroy();
    await Promise.all(servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))));
  };
  const onAbort = (): void => void close();
  const report = (error: unknown): void => {
    if (!left.signal.aborted) onError?.(error);
  };
  const carry = async (socket: Socket, pod: NamespacedKey, remote: number): Promise<void> => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    const gone = new AbortController();
    const giveUp = (): void => gone.abort();
    socket.once('close', giveUp);
    const link = anySignal([left.signal, gone.signal]);
    try {
      const stream = await openPort(client, pod, remote, { clock, signal: link.signal });
      stream.once('close', () => link[Symbol.dispose]());
      join(socket, stream, report);
    } catch (error) {
      link[Symbol.dispose]();
      socket.destroy();
      if (!gone.signal.aborted) report(error);
    } finally {
      socket.off('close', giveUp);
    }
  };
  try {
    const [first] = wanted;
    // One pod for all ports.
    const { pod } = await resolvePort(client, target, first?.remote ?? 0, within);
    const forwarded: ForwardedAddress[] = [];
    for (const { remote, local } of wanted) {
      const resolved = await resolvePort(client, target, remote, within);
      if (signal?.aborted === true) throw abortReason(signal);
      const server = createServer((socket) => void carry(socket, pod, resolved.number));
      servers.push(server);
      const bound = await listen(server, local ?? resolved.number, address);
      server.on('error', report);
      forwarded.push({ address, local: bound, remote: resolved.number });
    }
    if (signal?.aborted === true) throw abortReason(signal);
    signal?.addEventListener('abort', onAbort, { once: true });
    return { pod, ports: forwarded, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Carries both directions. Data that this machine has sent before its connection ends is still delivered. */
function join(socket: Socket, stream: Duplex, report: (error: unknown) => void): void {
  stream.on('error', (error) => {
    socket.destroy();
    report(error);
  });
  stream.once('end', () => {
    socket.unpipe(stream);
    socket.resume();
    socket.end();
  });
  socket.once('close', () => {
    if (stream.writableEnded) stream.resume();
    else stream.destroy();
  });
  socket.pipe(stream);
  stream.pipe(socket, { end: false });
}

const portOptionNames: OptionNames<ForwardedPort> = { remote: true, local: true };

function parsePort(port: number | string | ForwardedPort): ForwardedPort {
  const wanted = asForwarded(port);
  const { remote, local = 0 } = wanted;
  const isNumber = typeof remote === 'number' || (typeof remote === 'string' && /^\d+$/.test(remote));
  const problems = [
    ...optionProblems(wanted, portOptionNames),
    isNumber ? numberProblem('remote', Number(remote), portRange) : undefined,
    isNumber || (typeof remote === 'string' && remote !== '')
      ? undefined
      : `remote is ${remote === '' ? 'empty' : shownType(remote)}: expected a number, or the name of a port`,
    numberProblem('local', local, { ...portRange, least: 0 }),
  ].filter((problem) => problem !== undefined);
  if (problems.length > 0) throw new TypeError(`portForward: a port is not valid: ${problems.join('; ')}`);
  return wanted;
}

function asForwarded(port: number | string | ForwardedPort): ForwardedPort {
  if (typeof port === 'number') return { remote: port };
  if (typeof port === 'object' && port !== null) return port;
  if (typeof port !== 'string')
    throw new TypeError(`portForward: a port is ${shownType(port)}: expected 8080:80, :80, 80 or { remote }`);
  const [, local, remote = ''] = /^(?:(\d*):)?([^:]+)$/.exec(port) ?? [];
  if (remote === '')
    throw new TypeError(`portForward: port ${JSON.stringify(port)} is not valid: expected 8080:80, :80 or 80`);
  return local === undefined ? { remote } : { remote, local: Number(local) };
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const bound = server.address();
      resolve(typeof bound === 'object' && bound !== null ? bound.port : port);
    });
  });
}
