// The subresource `portforward` of pods, over v4.channel.k8s.io, with two channels for each port, data and errors.
import { goQuoted } from '@kctl/crd/internal/engine';
import { Duplex } from 'node:stream';
import { messageOf } from '@kctl/telemetry/internal';
import type { Backend, ResourceCall } from '../handlers/call.js';
import { badRequest } from '../protocol/status.js';
import type { Reply } from '../protocol/api-request.js';
import { chooseProtocol, openChannels, type ServerChannels } from './server-channels.js';

const protocols = ['v4.channel.k8s.io', ''];

/** @throws StatusError 400 */
function portsOf(query: URLSearchParams): readonly number[] {
  const ports = query.getAll('ports').flatMap((text) => text.split(','));
  if (ports.length === 0) throw badRequest('query parameter "ports" is required');
  return ports.map((text) => {
    const port = Number(text);
    if (!Number.isInteger(port))
      throw badRequest(
        `unable to parse ${goQuoted(text)} as a port: strconv.ParseUint: parsing ${goQuoted(text)}: invalid syntax`,
      );
    if (port < 1 || port > 65_535) throw badRequest(`port ${goQuoted(text)} must be > 0`);
    return port;
  });
}

/** Answers an upgrade with connections to ports of a pod. @throws StatusError */
export function answerPortForward(backend: Backend, call: ResourceCall): Reply {
  const { path, query, request } = call;
  const ports = portsOf(query);
  const offered = request.header('sec-websocket-protocol');
  const protocol = offered === undefined ? '' : chooseProtocol(offered, protocols);
  if (protocol === undefined) return { status: 403, headers: {} };
  const { stopping } = backend.watch;
  return {
    status: 101,
    headers: {},
    upgrade: async (upgrade) => {
      const channels = await openChannels(upgrade, protocol);
      const stop = (): void => channels.close(1001);
      stopping.addEventListener('abort', stop, { once: true });
      const forwards = ports.map((port, index) =>
        forward(channels, { port, index }, backend.pods.findPort(path, port)),
      );
      await Promise.all(forwards);
      stopping.removeEventListener('abort', stop);
      channels.close(1000);
    },
  };
}

/** Resolves when a connection has ended. */
async function forward(
  channels: ServerChannels,
  { port, index }: { readonly port: number; readonly index: number },
  accept: ((connection: Duplex) => void) | undefined,
): Promise<void> {
  const head = Buffer.alloc(2);
  head.writeUInt16LE(port);
  const data = index * 2;
  channels.send(data, head);
  channels.send(data + 1, head);
  const fail = (why: string): void => channels.send(data + 1, `error forwarding port ${port} to pod: ${why}`);
  if (accept === undefined) {
    fail(
      `failed to connect to localhost:${port} inside namespace: dial tcp4 127.0.0.1:${port}: connect: connection refused`,
    );
    return;
  }
  const input = channels.readable(data);
  const output = channels.writable(data);
  const connection = Duplex.from({ readable: input, writable: output });
  connection.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => {
    output.once('finish', resolve);
    connection.once('close', () => resolve());
    channels.gone.addEventListener('abort', () => resolve(), { once: true });
  });
  try {
    accept(connection);
  } catch (error) {
    fail(messageOf(error));
    return;
  }
  await ended;
}
