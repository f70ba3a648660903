import type { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { withConversion, type RuntimeWebhookOptions } from '@kctl/runtime';
import { applicationCrd } from './application.js';
import { bothVersions } from './application-v2.js';
import { applicationConverter } from './conversion.js';

/** The definition with both versions, converted by a webhook at this address. */
export function convertibleCrd(url: string): CustomResourceDefinition {
  return withConversion(bothVersions(), { address: { url }, converter: applicationConverter });
}

/**
 * The webhook server of the operator: its certificate is its own, kept in a Secret of `namespace`, for the Service
 * `application-operator` there and for this machine, and the definition gets its CA.
 */
export function webhookOn(
  namespace: string,
  listen: { readonly port: number; readonly host?: string },
): RuntimeWebhookOptions {
  const name = 'application-operator';
  return {
    ...listen,
    selfManagedCertificates: {
      secret: { name: `${name}-tls`, namespace },
      service: { name, namespace },
      dnsNames: ['localhost'],
      inject: { crds: [applicationCrd.metadata.name ?? ''] },
    },
  };
}
