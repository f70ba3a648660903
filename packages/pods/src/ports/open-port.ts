import { Duplex } from 'node:stream';
import type { AbortOptions } from '@kctl/client';
import { clockOption, numberProblem, requireOptions, signalOption, shownType } from '@kctl/options';
import { systemClock } from '@kctl/wait';
import { abortReason } from '@kctl/wait/internal';
import type { OptionNames } from '@kctl/options';
import type { Clock } from '@kctl/wait';
import { Channels } from '../channels/channels.js';
import { openWebSocket } from '../channels/open-web-socket.js';
import type { PodsClient } from '../client.js';
import { PodStreamError } from '../errors.js';
import { podPath } from '../pod-path.js';
import { describeTarget } from '../target.js';
import type { PodTarget } from '../target.js';
import { portRange, resolvePort } from './resolve-port.js';
import { requireTransportTo } from '../require-target.js';

/** Options of {@link openPort}. */
export interface OpenPortOptions extends AbortOptions {
  /** @default systemClock */
  readonly clock?: Clock;
}

const optionNames: OptionNames<OpenPortOptions> = { clock: clockOption, signal: signalOption };

const channel = { data: 0, error: 1 } as const;
/** Longest part of the server's message in an error, in bytes. */
const maxErrorBytes = 1000;
/** Each channel begins with the number of its port. */
const portBytes = 2;

/**
 * Opens one connection to a port of a pod, as a stream in both directions, without a socket on this machine. For a
 * Service it is the Service's port, which is translated to that of the pod; a name is that of a port of the pod's
 * containers.
 *
 * Ending the stream ends both directions, because the protocol cannot close one of them.
 *
 * @throws StatusError, PodTargetError, TypeError; a port on which nothing listens destroys the stream with a PodStreamError
 */
export async function openPort(
  client: PodsClient,
  target: PodTarget,
  port: number | string,
  options: OpenPortOptions = {},
): Promise<Duplex> {
  requireTransportTo('openPort', client, target);
  if (typeof port !== 'number' && typeof port !== 'string')
    throw new TypeError(`openPort: the port is ${shownType(port)}: expected a number, or the name of a port`);
  requireOptions('openPort', options, optionNames);
  const { signal, clock = systemClock } = options;
  const { pod, number } = await resolvePort(client, target, port, options);
  const problem = numberProblem('port', number, portRange);
  if (problem !== undefined) throw new TypeError(`openPort: ${problem}`);
  const what = `port ${number} of ${describeTarget(pod)}`;
  const path = podPath(pod, 'portforward', { ports: number });
  const opened = await openWebSocket(client.transport, { path, protocols: ['v4.channel.k8s.io'], what, signal });
  const stream = new PortStream(opened, { clock, what });
  if (signal !== undefined) {
    const onAbort = (): void => void stream.destroy(abortReason(signal));
    if (signal.aborted) {
      onAbort();
      throw abortReason(signal);
    }
    signal.addEventListener('abort', onAbort, { once: true });
    stream.once('close', () => signal.removeEventListener('abort', onAbort));
  }
  return stream;
}

class PortStream extends Duplex {
  readonly #channels: Channels;
  /** How much of the port's number has still to come, by channel. */
  readonly #head = new Map<number, number>([
    [channel.data, portBytes],
    [channel.error, portBytes],
  ]);

  constructor(
    opened: ConstructorParameters<typeof Channels>[0],
    { clock, what }: { readonly clock: Clock; readonly what: string },
  ) {
    super({ allowHalfOpen: false });
    this.on('error', () => undefined);
    this.#channels = new Channels(opened, {
      clock,
      onEnd: (error) => {
        if (error === undefined) this.push(null);
        else this.destroy(error);
      },
    });
    this.#channels.listen(channel.data, (data) => {
      const rest = this.#withoutHead(channel.data, data);
      return rest.length === 0 || this.push(rest);
    });
    this.#channels.listen(channel.error, (data) => {
      const text = this.#withoutHead(channel.error, data).toString('utf8', 0, maxErrorBytes);
      if (text !== '') this.destroy(new PodStreamError(`${what}: ${text}`));
      return true;
    });
  }

  override _read(): void {
    this.#channels.drained(channel.data);
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#channels.send(channel.data, chunk, done);
  }

  override _final(done: () => void): void {
    this.#channels.close();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#channels.destroy(error ?? undefined);
    done(error);
  }

  #withoutHead(of: number, data: Buffer): Buffer {
    const missing = this.#head.get(of) ?? 0;
    const taken = Math.min(missing, data.length);
    this.#head.set(of, missing - taken);
    return data.subarray(taken);
  }
}
