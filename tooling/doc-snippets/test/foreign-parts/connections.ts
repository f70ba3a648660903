// What a connection calls: its provider of credentials, its dispatcher, its observer; and hooks of clients.
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import * as client from '@kctl/client';
import * as http from '@kctl/client-http';
import { goodClient, nothing } from './kit.js';
import { callAll } from './clients.js';
import type { Scenario, Stage } from './play.js';
import { object } from '../parts.js';

const server = 'https://127.0.0.1:1';
const environment = {};

/** Answers each request with an object. */
function dispatcherOf(): http.RequestDispatcher {
  return {
    dispatch: (_request, callbacks) => {
      const control = { abort: nothing, pause: nothing, resume: nothing };
      callbacks.onRequestStart(control);
      callbacks.onResponseStart(control, 200, { 'content-type': 'application/json' });
      callbacks.onResponseData(control, Buffer.from(JSON.stringify(object)));
      callbacks.onResponseEnd(control);
      return true;
    },
    close: async () => await Promise.resolve(),
    destroy: async () => await Promise.resolve(),
  };
}

async function read({ attempt, clock, logger, signal }: Stage, connection: http.Connection): Promise<void> {
  const options = { clock, logger, environment, maxRetries: 0 };
  await attempt(async () => {
    await using own = http.createHttpClient({ transport: http.createTransport(connection, options) });
    const reading = own.get(ConfigMap, { namespace: 'default', name: 'a' }, { signal });
    reading.catch(nothing);
    for (let turn = 0; turn < 8; turn++) await clock.advance(10_000);
    await reading;
  });
}

export const connections: readonly Scenario[] = [
  {
    name: 'a provider of credentials',
    part: { authorization: async () => await Promise.resolve('Bearer a') },
    named: /auth provider/,
    fine: /^(?:undefined|a promise of undefined|a string)$/,
    play: async (stage, provider) => await read(stage, { server, user: { provider }, newDispatcher: dispatcherOf }),
  },
  {
    name: 'a maker of dispatchers',
    part: { newDispatcher: dispatcherOf },
    named: /newDispatcher|foreign/,
    fine: /undefined that it throws/,
    play: async (stage, part: { readonly newDispatcher: () => http.RequestDispatcher }) =>
      await read(stage, { server, newDispatcher: () => part.newDispatcher() }),
  },
  {
    name: 'a dispatcher',
    part: dispatcherOf(),
    play: async (stage, dispatcher) => await read(stage, { server, newDispatcher: () => dispatcher }),
  },
  {
    name: 'an observer of requests',
    part: { observe: nothing },
    play: async (stage, { observe }: { readonly observe: () => void }) =>
      await read(stage, { server, newDispatcher: dispatcherOf, observe }),
  },
  {
    name: 'hooks of a client',
    part: {
      ...{ get: goodClient.get, list: goodClient.list, create: goodClient.create, update: goodClient.update },
      ...{ patch: goodClient.patch, delete: goodClient.delete, deleteAllOf: goodClient.deleteAllOf },
      ...{ watch: goodClient.watch, subResource: goodClient.subResource },
    },
    named: /intercept/,
    fine: /throws|rejection|items of null|^(?:a promise of )?(?:an object|undefined$)/,
    without: /cannot be read/,
    play: async ({ attempt, signal }, hooks) => {
      await attempt(async () => {
        await callAll(
          attempt,
          client.intercept(goodClient as never, () => hooks),
          signal,
        );
      });
    },
  },
  {
    name: 'a maker of hooks',
    part: { hooks: () => ({}) },
    named: /intercept|foreign/,
    fine: /^an object|undefined that it throws/,
    without: /cannot be read/,
    play: async ({ attempt, signal }, { hooks }: { readonly hooks: () => object }) => {
      await attempt(async () => {
        await callAll(attempt, client.intercept(goodClient as never, hooks), signal);
      });
    },
  },
];
