import { defineKind, isAlreadyExists, type DeepReadonly, type KubeObject } from '@kctl/apimachinery';
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { Namespace } from '@kctl/apimachinery/kinds/core/v1';
import type { HttpClient } from '@kctl/client-http';

const known = [CustomResourceDefinition, Namespace, MutatingWebhookConfiguration, ValidatingWebhookConfiguration].map(
  (kind) => defineKind({ ...kind }),
);

/**
 * Creates what a world begins with, and waits until definitions are served.
 *
 * @throws TypeError for a kind that a world does not know without discovery
 */
export async function installResources(
  client: HttpClient,
  resources: readonly DeepReadonly<KubeObject>[],
  sleep: (ms: number) => Promise<void>,
): Promise<void> {
  for (const resource of resources) {
    const kind = known.find((candidate) => candidate.kind === resource.kind);
    if (kind === undefined)
      throw new TypeError(
        `simulate: resources has an object of kind ${JSON.stringify(resource.kind ?? '')}: expected CustomResourceDefinitions, Namespaces and webhook configurations; create others in the workload`,
      );
    try {
      await client.create(kind, resource);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }
  for (const { kind, metadata } of resources) {
    if (kind !== CustomResourceDefinition.kind) continue;
    while (!(await isEstablished(client, metadata.name ?? ''))) await sleep(50);
  }
}

async function isEstablished(client: HttpClient, name: string): Promise<boolean> {
  const { status } = await client.get(CustomResourceDefinition, { name });
  return status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True') === true;
}
