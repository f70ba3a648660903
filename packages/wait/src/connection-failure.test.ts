import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { isConnectionFailure } from './connection-failure.js';

describe('isConnectionFailure', () => {
  const coded = (code: string): Error => Object.assign(new Error(code), { code });

  it('knows what fetch rejects with where nothing listens', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const error: unknown = await fetch(`http://127.0.0.1:${port}/`).catch((reason: unknown) => reason);
    expect(isConnectionFailure(error)).toBe(true);
  });

  it.each([
    ['a code', coded('ECONNRESET')],
    ['the code of a cause', new Error('watch', { cause: new Error('request', { cause: coded('EAI_AGAIN') }) })],
    ['the code of one address', new AggregateError([coded('EACCES'), coded('ECONNREFUSED')])],
    ['fetch without a reason', new TypeError('fetch failed')],
  ])('finds %s', (_what, error) => {
    expect(isConnectionFailure(error)).toBe(true);
  });

  it.each([undefined, null, 'ECONNREFUSED', new Error('forbidden'), coded('ENOENT'), new TypeError('x is undefined')])(
    'is not %s',
    (error) => {
      expect(isConnectionFailure(error)).toBe(false);
    },
  );

  it('ends with causes that form a circle', () => {
    const error = new Error('round');
    error.cause = error;
    expect(isConnectionFailure(error)).toBe(false);
  });
});
