import { expect, it } from 'vitest';
import { failureOf, parseStatus } from './client.js';

it('leaves out what is not what the type of a Status promises', () => {
  expect(parseStatus('{"status":"Failure","message":5,"details":{"causes":{"a":1}}}')).toEqual({
    status: 'Failure',
    details: {},
  });
});

it('has the code of the answer where the Status has none', async () => {
  async function* body(): AsyncGenerator<Buffer[]> {
    yield [Buffer.from('{"kind":"Status","status":"Failure","message":"no"}')];
  }
  expect(await failureOf({ status: 403, headers: {}, body: body() }, 'exec')).toMatchObject({ httpCode: 403 });
});
