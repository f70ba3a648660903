import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { expect, it } from 'vitest';
import { createHttpClient, type RequestDispatcher } from '../src/index.js';

const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'demo', name: 'a', uid: '1' } };

/** Answers everything with the object, and notes what happens to it. */
function recordingDispatcher(steps: string[]): RequestDispatcher {
  return {
    dispatch: ({ method, path }, handler) => {
      steps.push(`${method} ${path}`);
      const control = { abort() {}, pause() {}, resume() {} };
      handler.onRequestStart(control);
      handler.onResponseStart(control, 200, { 'content-type': 'application/json' });
      handler.onResponseData(control, Buffer.from(JSON.stringify(object)));
      handler.onResponseEnd(control);
      return true;
    },
    close: async () => undefined,
    destroy: async () => void steps.push('destroy'),
  };
}

it('sends requests through the dispatcher of the connection, and destroys it with the client', async () => {
  const steps: string[] = [];
  const connection = { server: 'https://nowhere.invalid', newDispatcher: () => recordingDispatcher(steps) };
  const client = createHttpClient({ connection });
  const { metadata } = await client.get(ConfigMap, { namespace: 'demo', name: 'a' });
  await client[Symbol.asyncDispose]();
  await client[Symbol.asyncDispose]();
  expect([metadata.uid, ...steps]).toEqual(['1', 'GET /api/v1/namespaces/demo/configmaps/a', 'destroy']);
});

it('makes no dispatcher before the first request', async () => {
  let made = 0;
  const newDispatcher = (): RequestDispatcher => {
    made++;
    return recordingDispatcher([]);
  };
  await createHttpClient({ connection: { server: 'https://nowhere.invalid', newDispatcher } })[Symbol.asyncDispose]();
  expect(made).toBe(0);
});

it('refuses a dispatcher that is not made by a function', () => {
  const connection = { server: 'https://nowhere.invalid', newDispatcher: recordingDispatcher([]) as never };
  expect(() => createHttpClient({ connection })).toThrow(/newDispatcher is not a function/);
});
