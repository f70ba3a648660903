import { ServiceAccount } from '@kctl/apimachinery/kinds/core/v1';
import { inNamespace, intercept, record, withFieldOwner, withFieldValidation } from '@kctl/client';
import type { WatchingClient } from '@kctl/client';
import { clientConformance } from '@kctl/client/conformance';
import { createHttpClient } from '@kctl/client-http';
import { afterAll } from 'vitest';
import { createEnvironment } from '../src/index.js';

// One server for all; KCTL_TEST_SERVER names another kind of server than the embedded one.
const environment = await createEnvironment();
const clients: AsyncDisposable[] = [];
const skip = await missing();

afterAll(async () => {
  for (const client of clients) await client[Symbol.asyncDispose]();
  await environment.stop();
});

/** What the embedded server does not implement yet. It is asked, so that the cases run as soon as it has them. */
async function missing(): Promise<{ token?: string }> {
  if (environment.server !== 'embedded') return {};
  const { client } = environment;
  const metadata = { namespace: 'default', name: 'probe' };
  await client.create(ServiceAccount, { metadata });
  const tokens = client.subResource<typeof ServiceAccount, object>(ServiceAccount, 'token');
  const token = await refusal(() => tokens.create(metadata, { spec: { audiences: [] } }));
  return token === undefined ? {} : { token };
}

/** The answer of a server that does not implement a call; any other failure is for the cases to show. */
async function refusal(call: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return message.includes('not implemented') ? `${environment.server} server: ${message}` : undefined;
  }
}

async function http2Client(): Promise<WatchingClient> {
  const client = createHttpClient({ connection: environment.connection, http2: true });
  clients.push(client);
  return client;
}

clientConformance('over HTTP', { create: async () => environment.client, skip });
clientConformance('over HTTP/2', { create: http2Client, skip });
clientConformance('wrappers around it, one in the other', {
  create: async () =>
    intercept(record(withFieldValidation(withFieldOwner(environment.client, 'conformance'), 'Warn')), () => ({})),
  skip,
});
clientConformance('a client of one namespace', {
  create: async () => inNamespace(environment.client, 'default'),
  skip: { ...skip, allNamespaces: 'it reads one namespace' },
});
