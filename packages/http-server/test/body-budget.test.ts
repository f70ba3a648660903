import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { FakeClock } from '@kctl/wait/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BodyBudget, createBodyBudget, type HeldBody, type HttpRequest, readBody } from '../src/index.js';

const MiB = 1 << 20;

/** A request without a socket of its own; `send` hands bytes to whoever reads. */
interface Sender {
  readonly request: HttpRequest;
  /** Bytes that were sent so far. */
  sent: number;
  send(bytes: number): Promise<void>;
  end(): void;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function sender({ address = '10.0.0.1', connection = new EventEmitter(), announced = 0 } = {}): Sender {
  const stream = new Readable({ read: () => undefined });
  const socket = Object.assign(connection, { remoteAddress: address });
  const headers = announced === 0 ? {} : { 'content-length': String(announced) };
  const request = Object.assign(stream, { headers, socket }) as never;
  return {
    request,
    sent: 0,
    async send(bytes) {
      this.sent += bytes;
      stream.push(Buffer.alloc(bytes));
      await turn();
    },
    end: () => void stream.push(null),
  };
}

interface Reading {
  readonly held: HeldBody;
  readonly outcome: Promise<unknown>;
  readonly isOpen: () => Promise<boolean>;
}

function read(budget: BodyBudget, { request }: Sender, maxBytes = 64 * MiB): Reading {
  const held = budget.hold(request);
  const outcome = held.read({ maxBytes, clock: new FakeClock() }).then(
    (body) => body.length,
    (error: unknown) => error,
  );
  return { held, outcome, isOpen: async () => (await Promise.race([outcome, turn()])) === undefined };
}

describe('a budget of bodies', () => {
  it('counts what has arrived, not what is announced', async () => {
    const budget = createBodyBudget(256 * MiB);
    const slow = Array.from({ length: 100 }, () => sender({ announced: 64 * MiB }));
    const readings = slow.map((one) => read(budget, one));
    for (const one of slow) await one.send(1);
    expect(budget.heldBytes).toBe(100);
    for (const reading of readings) expect(await reading.isOpen()).toBe(true);
  });

  it.each([
    ['of another address', () => sender({ address: '10.0.0.2' })],
    ['of another connection', () => sender()],
  ])('takes room from the largest body that arrives for one %s', async (_what, makeSmall) => {
    const budget = createBodyBudget(1_000);
    const [large, larger, small] = [sender(), sender(), makeSmall()];
    const readings = [large, larger].map((one) => read(budget, one));
    await large.send(300);
    await larger.send(440);
    const reading = read(budget, small);
    await small.send(300);
    small.end();
    expect(await reading.outcome).toBe(300);
    expect(await readings[1]?.outcome).toMatchObject({ code: 'KCTL_HTTP_BODY', httpCode: 503 });
    expect(await readings[0]?.isOpen()).toBe(true);
    expect(budget.heldBytes).toBe(600);
  });

  it('takes nothing from a body that is complete', async () => {
    const budget = createBodyBudget(1_000);
    const [complete, late] = [sender(), sender({ address: '10.0.0.2' })];
    const first = read(budget, complete);
    await complete.send(900);
    complete.end();
    expect(await first.outcome).toBe(900);
    const second = read(budget, late);
    await late.send(101);
    expect(await second.outcome).toMatchObject({ httpCode: 503 });
    first.held[Symbol.dispose]();
    expect(budget.heldBytes).toBe(0);
  });

  it('leaves room for other connections and addresses than the one that holds most', async () => {
    const budget = createBodyBudget(1_000);
    const connection = new EventEmitter();
    const outcomes: unknown[] = [];
    const hold = async (from: Sender): Promise<void> => {
      const reading = read(budget, from);
      await from.send(250);
      from.end();
      outcomes.push(await reading.outcome);
    };
    for (let count = 0; count < 3; count++) await hold(sender({ connection }));
    for (let count = 0; count < 2; count++) await hold(sender());
    await hold(sender({ address: '10.0.0.2' }));
    const refused = { httpCode: 503 };
    expect(outcomes).toMatchObject([250, 250, refused, 250, refused, 250]);
  });

  it('always takes one body alone', async () => {
    const budget = createBodyBudget(10);
    const one = sender();
    const reading = read(budget, one);
    await one.send(100);
    one.end();
    expect(await reading.outcome).toBe(100);
  });

  it('holds what is there and nothing else, whatever comes in which order', async () => {
    const step = fc.record({
      kind: fc.constantFrom('begin', 'send', 'end', 'hangUp', 'dispose'),
      place: fc.nat(7),
      bytes: fc.integer({ min: 1, max: 700 }),
      address: fc.constantFrom('10.0.0.1', '10.0.0.2'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const budget = createBodyBudget(1_000);
        const open: { sender: Sender; reading: Reading }[] = [];
        for (const { kind, place, bytes, address } of steps) {
          const one = open[place % Math.max(open.length, 1)];
          if (kind === 'begin' || one === undefined) {
            const from = sender({ address });
            open.push({ sender: from, reading: read(budget, from) });
          } else if (kind === 'send') {
            if (!one.sender.request.readableEnded && !one.sender.request.destroyed) await one.sender.send(bytes);
          } else if (kind === 'end') one.sender.end();
          else if (kind === 'hangUp') one.sender.request.destroy();
          else one.reading.held[Symbol.dispose]();
          await turn();
          expect(budget.heldBytes).toBeGreaterThanOrEqual(0);
          const isAlone = open.some(({ sender: { sent } }) => sent === budget.heldBytes);
          if (!isAlone) expect(budget.heldBytes).toBeLessThanOrEqual(1_000);
        }
        for (const { reading } of open) reading.held[Symbol.dispose]();
        expect(budget.heldBytes).toBe(0);
      }),
      { numRuns: 50 },
    );
  });
});

describe('readBody', () => {
  it('copies small chunks together, in order', async () => {
    const stream = new Readable({ read: () => undefined });
    const request = Object.assign(stream, { headers: {}, socket: new EventEmitter() }) as never;
    const reading = readBody(request, { maxBytes: MiB });
    const parts = [1, 2, 4_096, 3, 16_000, 1, 4_095, 4_095, 4_095, 4_095, 4_095, 7];
    const whole = Buffer.concat(parts.map((size, index) => Buffer.alloc(size, index + 1)));
    for (const [index, size] of parts.entries()) stream.push(Buffer.alloc(size, index + 1));
    stream.push(null);
    expect((await reading).equals(whole)).toBe(true);
  });

  it('ends with 408 for a body that stands still, and not for one that goes on', async () => {
    const clock = new FakeClock();
    const from = sender();
    const reading = readBody(from.request, { maxBytes: MiB, clock }).catch((error: unknown) => error);
    await from.send(10 * 1_024);
    clock.advanceSync(10_000);
    await from.send(10 * 1_024);
    clock.advanceSync(10_000);
    await from.send(10 * 1_024 - 1);
    clock.advanceSync(9_999);
    expect(await Promise.race([reading, turn()])).toBeUndefined();
    clock.advanceSync(1);
    expect(await reading).toMatchObject({ code: 'KCTL_HTTP_BODY', httpCode: 408 });
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends with the signal, and with a body that has ended before', async () => {
    const stop = new AbortController();
    const from = sender();
    const reading = readBody(from.request, { maxBytes: MiB, signal: stop.signal }).catch((error: unknown) => error);
    stop.abort();
    expect(await reading).toMatchObject({ httpCode: 400 });
    const gone = sender();
    gone.request.destroy();
    await turn();
    await expect(readBody(gone.request, { maxBytes: MiB })).rejects.toMatchObject({ httpCode: 400 });
  });
});
