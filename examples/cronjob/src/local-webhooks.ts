import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mutableCopy, type DeepReadonly, type KubeObject } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { apply, applyWebhookManifests, webhookConfigurations, withConversion, type Client } from '@kctl/runtime';
import { createSelfSignedCertificate } from '@kctl/webhook';
import { cronJobConverter } from './api/conversion.js';
import { CronJob } from './api/cron-job.js';
import { operator } from './main.js';

/** A certificate for `localhost` in a folder of its own, for tests and the scene: in a cluster cert-manager makes it. */
export interface LocalCertificate extends AsyncDisposable {
  /** For `webhookCertDir`. */
  readonly folder: string;
  /** Has the API server call an operator on this machine for CronJobs: admission, and conversion. */
  register(client: Client, port: number): Promise<void>;
}

/** Makes the certificate; disposing removes it. */
export async function createLocalCertificate(): Promise<LocalCertificate> {
  const folder = mkdtempSync(join(tmpdir(), 'cronjob-webhook-'));
  const { cert: caBundle, key } = await createSelfSignedCertificate();
  writeFileSync(join(folder, 'tls.crt'), caBundle);
  writeFileSync(join(folder, 'tls.key'), key);
  return {
    folder,
    register: async (client, port) => {
      const address = { url: `https://localhost:${port}` };
      const { name, webhooks } = await operator.graph();
      const manifests = webhookConfigurations(webhooks, { name, address, caBundle });
      const definition = withConversion(cronJobDefinition, { address, caBundle, converter: cronJobConverter });
      // Who installed the definition said that its versions differ by name alone.
      const { name: definitionName = '' } = definition.metadata;
      const metadata = { ...definition.metadata, name: definitionName };
      await apply(client, CustomResourceDefinition, { ...definition, metadata }, { fieldOwner: name, force: true });
      await applyWebhookManifests(client, manifests, { fieldOwner: name });
    },
    [Symbol.asyncDispose]: () => {
      rmSync(folder, { recursive: true, force: true });
      return Promise.resolve();
    },
  };
}

function isDefinition(manifest: DeepReadonly<KubeObject>): manifest is DeepReadonly<CustomResourceDefinition> {
  return manifest.kind === 'CustomResourceDefinition';
}

function typedDefinition({ manifest }: typeof CronJob): CustomResourceDefinition {
  if (!isDefinition(manifest)) throw new Error('unreachable: the manifest is not a CustomResourceDefinition');
  return mutableCopy(manifest);
}

/** Both versions, not converted. */
export const cronJobDefinition: CustomResourceDefinition = typedDefinition(CronJob);
