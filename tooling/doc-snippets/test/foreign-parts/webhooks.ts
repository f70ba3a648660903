// Parts of webhooks.
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import * as webhook from '@kctl/webhook';
import { type Scenario, type Stage } from './play.js';
import { object } from '../parts.js';
import { nothing, functionsOf, runnable } from './kit.js';

const review = {
  uid: 'u',
  kind: { group: '', version: 'v1', kind: 'ConfigMap' },
  resource: { group: '', version: 'v1', resource: 'configmaps' },
  ...{ name: 'a', namespace: 'default', operation: 'CREATE', userInfo: { username: 'jane' }, object, oldObject: null },
};
async function admit(handler: webhook.WebhookHandler, { attempt, logger, signal }: Stage): Promise<void> {
  for (const operation of ['CREATE', 'UPDATE', 'DELETE']) {
    const body = {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: {
        ...review,
        operation,
        oldObject: operation === 'CREATE' ? null : object,
        object: operation === 'DELETE' ? null : object,
      },
    };
    await answered(handler, body, { attempt, logger, signal });
  }
}
async function answered(
  handler: webhook.WebhookHandler,
  body: object,
  { attempt, logger, signal }: Pick<Stage, 'attempt' | 'logger' | 'signal'>,
): Promise<void> {
  await attempt(async () => {
    const { body: answer } = (await handler.handle({
      body,
      path: '/hook',
      signal,
      logger,
    })) as { body: unknown };
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
    const messages = [...text.matchAll(/"message":"((?:[^"\\]|\\.)*)"/g)].map(([, message]) => message ?? '');
    for (const message of messages) if (message !== '') throw new Error(message);
  });
}
const noCertificate = async (): Promise<never> => await Promise.reject(new Error('expected by the scenario'));

export const webhooks: readonly Scenario[] = [
  {
    name: 'a source of certificates',
    part: { load: noCertificate, accessNeeds: () => [] },
    except: ['accessNeeds'],
    named: /the source of the certificate returned|webhook server: /,
    play: async (stage, certificate) => {
      const { clock, logger } = stage;
      const server = webhook.createWebhookServer({ port: 0, certificate, clock, logger });
      await runnable(server, stage, (signal) => server.run(signal));
    },
  },
  {
    name: 'a callback for certificates',
    part: { getCertificate: noCertificate },
    named: /getCertificate returned|webhook server: /,
    play: async (stage, { getCertificate }: { readonly getCertificate: () => never }) => {
      const { clock, logger } = stage;
      const server = webhook.createWebhookServer({ port: 0, getCertificate, clock, logger });
      await runnable(server, stage, (signal) => server.run(signal));
    },
  },
  {
    name: 'a validator',
    part: { validateCreate: nothing, validateUpdate: nothing, validateDelete: nothing },
    play: async (stage, part) => await admit(webhook.validatingWebhook(ConfigMap, part), stage),
  },
  {
    name: 'a defaulter, an admission handler and others in a chain',
    part: { defaulter: nothing, handle: () => webhook.allowed(), when: () => true },
    play: async (stage, part: object) => {
      const { defaulter, handle } = functionsOf(part, ['defaulter', 'handle']) as Readonly<
        Record<
          | 'mutate'
          | 'until'
          | 'isRetriable'
          | 'condition'
          | 'attemptOnce'
          | 'add'
          | 'onAdd'
          | 'accepts'
          | 'index'
          | 'defaulter'
          | 'handle',
          never
        >
      >;
      const other = webhook.admissionWebhook(async () => await Promise.resolve(webhook.allowed()));
      for (const each of [
        webhook.defaultingWebhook(ConfigMap, defaulter),
        webhook.defaultingWebhook(ConfigMap, webhook.chainDefaulters(defaulter, nothing as never)),
        webhook.admissionWebhook(handle),
        other,
      ])
        await admit(each, stage);
    },
  },
];
