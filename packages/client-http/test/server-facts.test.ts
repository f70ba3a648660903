import type { Transport } from '../src/index.js';
import { serverHealth, serverVersion } from '../src/index.js';
import { expect, it } from 'vitest';

function answering(status: number, text: string): Transport {
  return {
    server: 'https://127.0.0.1',
    send: () =>
      Promise.resolve({
        status,
        contentType: 'application/json',
        retryAfterMs: undefined,
        headers: {},
        body: (async function* body() {
          yield [Buffer.from(text)];
        })(),
      }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

it.each([
  ['a Status without a code', '{"kind":"Status","status":"Failure","message":"no"}', 'no'],
  ['a text', 'no', expect.any(String)],
])('fails with the code of the answer where that is %s', async (_, text, message) => {
  await expect(serverVersion(answering(401, text))).rejects.toMatchObject({ status: { code: 401 }, message });
  await expect(serverHealth(answering(403, text), 'readyz')).rejects.toMatchObject({ status: { code: 403 }, message });
});
