// What a hostile or broken server can make this process keep: a limit for each stream.
import { createHash } from 'node:crypto';
import { duplexPair, type Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { openPort, podLogText, startExec, type PodsClient } from '../src/index.js';

const key = { namespace: 'shop', name: 'web' };

/** A client whose server upgrades each request, and what it sends over it. */
function upgraded(onOpen: (socket: Duplex, protocol: string) => void): PodsClient {
  const send: PodsClient['transport']['send'] = ({ headers = {} }) => {
    const [ours, theirs] = duplexPair();
    theirs.on('error', () => undefined).resume();
    const accept = createHash('sha1')
      .update(`${String(headers['sec-websocket-key'])}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64');
    const protocol = String(headers['sec-websocket-protocol']).split(', ')[0] ?? '';
    queueMicrotask(() => onOpen(theirs, protocol));
    return Promise.resolve({
      status: 101,
      headers: { 'sec-websocket-accept': accept, 'sec-websocket-protocol': protocol },
      socket: ours,
      body: [] as never,
    });
  };
  return clientOf(send);
}

const clientOf = (send: unknown): PodsClient => {
  const unused = (): never => {
    throw new Error('no object is read');
  };
  return { get: unused, list: unused, transport: { send } } as unknown as PodsClient;
};

/** A binary message of a server, which is not masked. */
function frame(channel: number, data: Buffer): Buffer {
  const length = data.length + 1;
  const head = Buffer.alloc(length < 126 ? 2 : 4);
  head[0] = 0x82;
  head[1] = length < 126 ? length : 126;
  if (length >= 126) head.writeUInt16BE(length, 2);
  return Buffer.concat([head, Buffer.from([channel]), data]);
}

describe('what a server sends', () => {
  it('has a limit in the status channel of exec', async () => {
    let sent = 0;
    const client = upgraded((socket) => {
      const more = (): void => {
        while (!socket.destroyed && sent < 64 * 1024 * 1024) {
          sent += 32_000;
          if (!socket.write(frame(3, Buffer.alloc(32_000, 0x61)))) {
            socket.once('drain', more);
            return;
          }
        }
      };
      more();
    });
    const process = await startExec(client, key, ['true'], { container: 'app' });
    await expect(process.exited).rejects.toThrow('the server sent a status of more than 65536 bytes');
    expect(sent).toBeLessThan(8 * 1024 * 1024);
  });

  it('has a limit in the error of a port', async () => {
    const client = upgraded((socket) => {
      socket.write(frame(1, Buffer.from([80, 0])));
      socket.write(frame(1, Buffer.alloc(60_000, 0x61)));
    });
    const stream = await openPort(client, key, 80);
    const error = await new Promise<Error>((resolve) => stream.once('error', resolve));
    expect(error.message.length).toBeLessThan(1200);
  });

  it('has a limit in a log that is read as one string', async () => {
    let pieces = 0;
    const piece = Buffer.from(`${'x'.repeat(1023)}\n`.repeat(1024));
    const body = (async function* () {
      for (; pieces < 1024; pieces++) yield [piece];
    })();
    const send = () => Promise.resolve({ status: 200, headers: {}, body });
    const client = clientOf(send);
    await expect(podLogText(client, key, { container: 'app' })).rejects.toThrow(
      'the log has more than 268435456 characters: set limitBytes or tailLines, or use podLogs',
    );
    expect(pieces).toBeLessThan(300);
  });
});
