import { Duplex } from 'node:stream';
import { FakeClock } from '@kctl/wait/testing';
import { expect, it } from 'vitest';
import { WebSocketConnection } from './web-socket.js';

function quietConnection(): { clock: FakeClock; connection: WebSocketConnection; ends: (Error | undefined)[] } {
  const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  const clock = new FakeClock();
  const ends: (Error | undefined)[] = [];
  const connection = new WebSocketConnection(socket, {
    clock,
    onMessage: () => undefined,
    onEnd: (error) => ends.push(error),
  });
  return { clock, connection, ends };
}

it('counts the silence of the server from when it is read again', () => {
  const { clock, connection, ends } = quietConnection();
  connection.pause();
  clock.advanceSync(120_000);
  connection.resume();
  clock.advanceSync(60_000);
  expect(ends).toEqual([]);
  clock.advanceSync(10_000);
  expect(ends.map(String)).toEqual(['PodStreamError: the server did not answer pings for 61 s']);
  expect(clock.pendingTimers).toBe(0);
});

it('leaves no timer when it is cut', () => {
  const { clock, connection, ends } = quietConnection();
  connection.destroy(undefined);
  expect([ends, clock.pendingTimers]).toEqual([[undefined], 0]);
});
