import type { Kind, KubeObject } from '@kctl/apimachinery';
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { apply, type Writer } from '@kctl/client';
import { requireClient, requireList, requireObject, requireOptionsObject } from '@kctl/client/internal';
import { requireOptions, signalOption, type OptionNames } from '@kctl/options';
import { WebhookServerError } from '../errors.js';

const what = 'applyWebhookManifests';

const optionNames: OptionNames<{ readonly fieldOwner: string; readonly signal?: AbortSignal }> = {
  fieldOwner: true,
  signal: signalOption,
};

const kinds: readonly Kind<KubeObject, 'Cluster'>[] = [
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  CustomResourceDefinition,
];

/**
 * Applies webhook configurations and CRDs server-side, for development. Production applies the output of
 * `printManifests`.
 *
 * @throws ApplyConflictError when others own a field with another value; errors of the client
 *
 * @example
 * ```ts
 * import { createWebhookServer, applyWebhookManifests, webhookConfigurations } from '@kctl/webhook';
 *
 * const { webhooks = new Map() } = createWebhookServer();
 * const address = { url: 'https://10.0.0.7:9443' };
 * await applyWebhookManifests(client, webhookConfigurations(webhooks, { name: 'settings', address }), { fieldOwner: 'settings' });
 * ```
 */
export async function applyWebhookManifests(
  client: Writer,
  manifests: readonly KubeObject[],
  given: { readonly fieldOwner: string; readonly signal?: AbortSignal },
): Promise<void> {
  requireClient(what, client, ['patch']);
  requireList(what, 'manifests', manifests, 'a list of objects, such as webhookConfigurations returns');
  for (const manifest of manifests) requireObject(what, 'manifest', manifest);
  requireOptionsObject(what, given, 'fieldOwner');
  requireOptions(what, given, optionNames);
  const { fieldOwner, signal } = given;
  const options = { fieldOwner, ...(signal === undefined ? {} : { signal }) };
  const known = manifests.map((manifest) => {
    const kind = kinds.find((one) => one.kind === manifest.kind && one.apiVersion === manifest.apiVersion);
    if (kind === undefined || manifest.metadata.name === undefined)
      throw new WebhookServerError(
        `applyWebhookManifests: ${manifest.kind ?? 'an object without kind'} is not a webhook configuration or CRD with a name`,
      );
    return { kind, manifest: { ...manifest, metadata: { ...manifest.metadata, name: manifest.metadata.name } } };
  });
  for (const { kind, manifest } of known) await apply(client, kind, manifest, options);
}
