import { requireOptionsObject } from '@kctl/client/internal';
import type { PolicyRule } from '@kctl/apimachinery/kinds/rbac.authorization.k8s.io/v1';
import type { SelfManagedCertificatesOptions } from './self-managed.js';

/** The rights of the operator's service account. */
export interface CertificateRules {
  /** For a Role in the Secret's namespace. */
  readonly role: readonly PolicyRule[];
  /** For a ClusterRole. */
  readonly clusterRole: readonly PolicyRule[];
}

/**
 * The least that self-managed certificates need, by `resourceNames`: no list, no watch. To create cannot be bound to a
 * name, so that the Secret is better created by the installation, empty; then leave `create` out.
 *
 * @example
 * ```ts
 * import { certificateRules } from '@kctl/webhook';
 *
 * const { role, clusterRole } = certificateRules({
 *   secret: { namespace: 'shop', name: 'webhook-certificate' },
 *   inject: { validating: ['settings-validating'] },
 * });
 * ```
 */
export function certificateRules(options: Pick<SelfManagedCertificatesOptions, 'secret' | 'inject'>): CertificateRules {
  requireOptionsObject('certificateRules', options, 'those of selfManagedCertificates, with secret');
  const { secret, inject = {} } = options;
  requireOptionsObject('certificateRules: secret', secret, 'the namespace and the name of the Secret');
  const { mutating = [], validating = [], crds = [] } = inject;
  const rule = (apiGroup: string, resource: string, names: readonly string[]): PolicyRule[] =>
    names.length === 0
      ? []
      : [{ apiGroups: [apiGroup], resources: [resource], resourceNames: [...names], verbs: ['get', 'update'] }];
  return {
    role: [...rule('', 'secrets', [secret.name]), { apiGroups: [''], resources: ['secrets'], verbs: ['create'] }],
    clusterRole: [
      ...rule('admissionregistration.k8s.io', 'mutatingwebhookconfigurations', mutating),
      ...rule('admissionregistration.k8s.io', 'validatingwebhookconfigurations', validating),
      ...rule('apiextensions.k8s.io', 'customresourcedefinitions', crds),
    ],
  };
}
