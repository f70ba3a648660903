import { StatusError, type Kind, type KubeObject } from '@kctl/apimachinery';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { noopLogger } from '@kctl/telemetry';
import { FakeClock, settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createAccessFilter } from '../src/index.js';

interface Review {
  readonly kind: string;
  readonly token: string | undefined;
}

function setUp(reply: (review: Review) => Promise<object>, random = () => 0) {
  const clock = new FakeClock();
  const asked: Review[] = [];
  const logged: unknown[] = [];
  const filter = createAccessFilter({
    clock,
    logger: { ...noopLogger, error: (...line) => void logged.push(line) },
    random,
    client: {
      create: async <K extends Kind>(kind: K, object: unknown) => {
        const { spec } = object as { spec: { token?: string } };
        const review = { kind: kind.kind, token: spec.token };
        asked.push(review);
        return { metadata: {}, spec, status: await reply(review) } as KubeObject as never;
      },
    },
  });
  /** The status that a request with the token is answered with; 200 where it passes. */
  const ask = async (token: string, remoteAddress?: string): Promise<number> => {
    let status = 200;
    const response = {
      writeHead: (code: number) => {
        status = code;
        return { end: () => undefined };
      },
    };
    const incoming = {
      headers: { authorization: `Bearer ${token}` },
      url: '/metrics',
      method: 'GET',
      socket: { remoteAddress },
    };
    const context = { signal: new AbortController().signal };
    await filter(incoming as unknown as IncomingMessage, response as unknown as ServerResponse, context);
    return status;
  };
  return { clock, asked, ask, logged };
}

const well = async ({ kind, token }: Review): Promise<object> =>
  kind === 'TokenReview'
    ? { authenticated: token?.startsWith('good') === true, user: { username: token } }
    : { allowed: true };

describe('createAccessFilter', () => {
  it.each([401, 403, 422])('answers at once when its own review is refused with %s', async (code) => {
    const t = setUp(() => Promise.reject(new StatusError({ reason: 'Forbidden', code, message: 'no' })));
    expect(await t.ask('good')).toBe(500);
    expect(t.asked).toHaveLength(1);
    expect(t.clock.pendingTimers).toBe(0);
  });

  it('logs why a review failed without the token, where an API server repeats it', async () => {
    const reply = ({ token = '' }: Review): Promise<object> => {
      const details = { causes: [{ field: 'spec.token', message: `Invalid value: "${token}"` }] };
      const message = `TokenReview is invalid: spec.token: Invalid value: "${token}"`;
      const error = new StatusError({ reason: 'Invalid', code: 422, message, details });
      return Promise.reject(new Error('review failed', { cause: error }));
    };
    const t = setUp(reply);
    const answer = t.ask('canary-4711');
    await settle();
    await t.clock.advance(10_000);
    expect(await answer).toBe(500);
    const logged = inspect(t.logged, { depth: Infinity, showHidden: true });
    expect(logged).toContain('review failed: TokenReview is invalid');
    expect(logged).not.toContain('canary-4711');
  });

  it.each([429, 500, 503])('asks again after %s', async (code) => {
    const t = setUp(() => Promise.reject(new StatusError({ reason: 'InternalError', code, message: 'later' })));
    const answer = t.ask('good');
    await settle();
    await t.clock.advance(10_000);
    expect(await answer).toBe(500);
    expect(t.asked).toHaveLength(5);
  });

  it('reports once that random fails', async () => {
    const reply = (): Promise<object> =>
      Promise.reject(new StatusError({ reason: 'InternalError', code: 500, message: 'later' }));
    const t = setUp(reply, () => Number.NaN);
    for (const token of ['good-1', 'good-2']) {
      const answer = t.ask(token);
      await settle();
      await t.clock.advance(10_000);
      expect(await answer).toBe(500);
    }
    expect(t.logged.filter((line) => inspect(line).includes('random failed'))).toHaveLength(1);
  });

  it('refuses what is allowed and denied at once', async () => {
    const t = setUp(async (review) =>
      review.kind === 'TokenReview' ? await well(review) : { allowed: true, denied: true },
    );
    expect(await t.ask('good')).toBe(403);
  });

  it('asks for at most 32 reviews at a time, and lets the rest try again later', async () => {
    const gate = Promise.withResolvers<undefined>();
    const t = setUp(async (review) => {
      await gate.promise;
      return await well(review);
    });
    const answers = Array.from({ length: 100 }, (_, index) => t.ask(`guess-${index}`));
    await settle();
    expect(t.asked).toHaveLength(32);
    gate.resolve(undefined);
    const codes = await Promise.all(answers);
    expect(codes.filter((code) => code === 503)).toHaveLength(68);
    expect(codes.filter((code) => code === 401)).toHaveLength(32);
    expect(await t.ask('good')).toBe(200);
  });

  it('has room for other addresses, and for tokens that it knows, while one address guesses', async () => {
    let isSlow = false;
    const gate = Promise.withResolvers<undefined>();
    const t = setUp(async (review) => {
      if (isSlow && review.token?.startsWith('guess') === true) await gate.promise;
      return await well(review);
    });
    expect(await t.ask('good-known', '10.0.0.1')).toBe(200);
    await t.clock.advance(60_000);
    isSlow = true;
    const guesses = Array.from({ length: 100 }, (_, index) => t.ask(`guess-${index}`, '10.0.0.1'));
    await settle();
    expect(t.asked.filter(({ token }) => token?.startsWith('guess'))).toHaveLength(32);
    expect(await t.ask('good-known', '10.0.0.1')).toBe(200);
    expect(await t.ask('good-new', '10.0.0.2')).toBe(200);
    expect(await t.ask('good-late', '10.0.0.1')).toBe(503);
    gate.resolve(undefined);
    await Promise.all(guesses);
    expect(await t.ask('good-late', '10.0.0.1')).toBe(200);
  });

  it('answers after 10 s where the client never does, and takes up no room after that', async () => {
    let isAway = true;
    const t = setUp((review) => (isAway ? new Promise(() => undefined) : well(review)));
    const answers = Array.from({ length: 32 }, (_, index) => t.ask(`good-${index}`));
    await t.clock.advance(10_000);
    expect(new Set(await Promise.all(answers))).toEqual(new Set([500]));
    isAway = false;
    expect(await t.ask('good')).toBe(200);
    expect(t.clock.pendingTimers).toBe(0);
  });

  it('remembers honest tokens however many are guessed', async () => {
    const t = setUp(well);
    expect(await t.ask('good')).toBe(200);
    for (let index = 0; index < 3_000; index++) await t.ask(`guess-${index}`);
    t.asked.length = 0;
    expect(await t.ask('good')).toBe(200);
    expect(t.asked).toEqual([]);
  });
});
