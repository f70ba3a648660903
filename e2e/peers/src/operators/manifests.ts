/** Manifests that come with a module, and where the webhooks in them are found on this machine. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { ApiFailure } from './api.js';
import { equal, condition } from './expect.js';
import type { Stage } from './stage.js';

export type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly webhooks?: readonly {
    readonly name: string;
    readonly clientConfig: { readonly service?: { readonly path?: string } };
  }[];
};

export async function readManifests(path: string): Promise<Manifest[]> {
  return parseAllDocuments(await readFile(path, 'utf8'))
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

export async function readFolder(folder: string): Promise<Manifest[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.yaml')).sort();
  return (await Promise.all(files.map((name) => readManifests(join(folder, name))))).flat();
}

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Creates definitions and waits until each is served. */
export async function installDefinitions(stage: Stage, crds: readonly Manifest[]): Promise<void> {
  for (const crd of crds)
    await stage.check(`definition ${crd.metadata.name} is accepted`, async () => {
      try {
        await stage.api.create(definitions, crd);
      } catch (error) {
        // The attempt before may have been answered too late.
        if (!(error instanceof ApiFailure && error.code === 409)) throw error;
      }
    });
  await stage.check('definitions are served', async () => {
    for (const { metadata } of crds)
      condition(await stage.api.get(`${definitions}/${metadata.name}`), 'Established', 'True');
  });
}

/** Where the webhook server of an operator listens, and who vouches for it. */
export interface WebhookPlace {
  readonly port: number;
  readonly caPem: string;
}

function clientConfig(path: string, { port, caPem }: WebhookPlace): object {
  return { url: `https://127.0.0.1:${port}${path}`, caBundle: Buffer.from(caPem).toString('base64') };
}

/** A webhook configuration whose services are found at a port of this machine. */
export function atPlace(configuration: Manifest, name: string, place: WebhookPlace): Manifest {
  return {
    ...configuration,
    metadata: { ...configuration.metadata, name },
    webhooks: (configuration.webhooks ?? []).map((webhook) => ({
      ...webhook,
      clientConfig: clientConfig(webhook.clientConfig.service?.path ?? '/', place),
    })),
  };
}

/** A definition whose versions are converted by the webhook at a place. */
export function convertedAt(crd: Manifest, place: WebhookPlace): Manifest {
  return {
    ...crd,
    spec: {
      ...crd.spec,
      conversion: {
        strategy: 'Webhook',
        webhook: { conversionReviewVersions: ['v1'], clientConfig: clientConfig('/convert', place) },
      },
    },
  };
}

export async function installWebhooks(stage: Stage, configurations: readonly Manifest[]): Promise<void> {
  const group = '/apis/admissionregistration.k8s.io/v1';
  for (const configuration of configurations) {
    const plural = `${configuration.kind.toLowerCase()}s`;
    await stage.api.create(`${group}/${plural}`, configuration);
    const stored = await stage.api.get(`${group}/${plural}/${configuration.metadata.name}`);
    equal('webhooks', stored.webhooks?.length, configuration.webhooks?.length);
  }
}
