import { describe, expect, it } from 'vitest';
import { EventCounter, type Framing } from '../src/apiserver/event-counter.js';

const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
const chunk = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n`;
const event = '{"type":"MODIFIED","object":{"kind":"ConfigMap"}}\n';

function countIn(response: string, pieceLength: number, framing: Framing = 'lines'): number {
  const counter = new EventCounter(framing);
  const bytes = Buffer.from(response, 'latin1');
  let events = 0;
  for (let at = 0; at < bytes.length; at += pieceLength) events += counter.count(bytes.subarray(at, at + pieceLength));
  return events;
}

describe('EventCounter', () => {
  const bodies: [string, string[]][] = [
    ['an event in each chunk', [event, event, event]],
    ['several events in a chunk', [event + event + event]],
    ['a chunk that ends between an event and its newline', [event.slice(0, -1), `\n${event}`, event]],
    ['chunks that end inside of events', [event + event.slice(0, 9), event.slice(9, 11), event.slice(11) + event]],
  ];

  it.each(bodies)('counts %s, however the bytes come', (_, chunks) => {
    const events = chunks.join('').split('\n').length - 1;
    const response = head + chunks.map(chunk).join('');
    for (let pieceLength = 1; pieceLength <= response.length; pieceLength++)
      expect(countIn(response, pieceLength)).toBe(events);
  });

  const frame = (length: number): string =>
    `${String.fromCharCode(0, 0, length >> 8, length & 255)}${'\n'.repeat(length)}`;
  const frames: [string, string[]][] = [
    ['a frame in each chunk', [frame(3), frame(300), frame(1)]],
    ['several frames in a chunk', [frame(3) + frame(7) + frame(5)]],
    ['a chunk that ends in the length of a frame', [frame(9).slice(0, 2), frame(9).slice(2) + frame(4), frame(1)]],
  ];

  it.each(frames)('counts %s, whose bytes may be newlines', (_, chunks) => {
    const response = head + chunks.map(chunk).join('');
    for (let pieceLength = 1; pieceLength <= response.length; pieceLength++)
      expect(countIn(response, pieceLength, 'frames')).toBe(3);
  });
});
