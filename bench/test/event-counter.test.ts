import { describe, expect, it } from 'vitest';
import { EventCounter } from '../src/apiserver/event-counter.js';

const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
const chunk = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n`;
const event = '{"type":"MODIFIED","object":{"kind":"ConfigMap"}}\n';

function countIn(response: string, pieceLength: number): number {
  const counter = new EventCounter();
  const bytes = Buffer.from(response);
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
});
