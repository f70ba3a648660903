/** A manager whose webhook server cannot start. */
import { createWebhookServer } from '@kctl/webhook';
import { createManager } from '../src/index.js';
import { fakeCluster } from './fakes.js';

const load = (): Promise<never> => Promise.reject(new Error('no certificate'));
const webhookServer = createWebhookServer({ certificate: { load } });
const manager = createManager({ cluster: fakeCluster(), webhookServer });
const answer = { body: {} };
manager.webhookServer.register('/hook', { maxBodyBytes: 1, handle: async () => answer, reject: () => answer });
const failure: unknown = await manager.run(new AbortController().signal).catch((error: unknown) => error);
console.log(failure instanceof Error ? failure.message : failure);
