import type { Kind } from '@kctl/apimachinery';

/** Built-in resources without a status subresource, by group, as the discovery of Kubernetes 1.36 lists them. */
const withoutStatus: Readonly<Record<string, readonly string[]>> = {
  '': [
    'bindings',
    'componentstatuses',
    'configmaps',
    'endpoints',
    'events',
    'limitranges',
    'podtemplates',
    'secrets',
    'serviceaccounts',
  ],
  'admissionregistration.k8s.io': [
    'mutatingadmissionpolicies',
    'mutatingadmissionpolicybindings',
    'mutatingwebhookconfigurations',
    'validatingadmissionpolicybindings',
    'validatingwebhookconfigurations',
  ],
  apps: ['controllerrevisions'],
  'authentication.k8s.io': ['selfsubjectreviews', 'tokenreviews'],
  'authorization.k8s.io': [
    'localsubjectaccessreviews',
    'selfsubjectaccessreviews',
    'selfsubjectrulesreviews',
    'subjectaccessreviews',
  ],
  'certificates.k8s.io': ['clustertrustbundles'],
  'coordination.k8s.io': ['leasecandidates', 'leases'],
  'discovery.k8s.io': ['endpointslices'],
  'events.k8s.io': ['events'],
  'networking.k8s.io': ['ingressclasses', 'ipaddresses', 'networkpolicies'],
  'node.k8s.io': ['runtimeclasses'],
  'rbac.authorization.k8s.io': ['clusterrolebindings', 'clusterroles', 'rolebindings', 'roles'],
  'resource.k8s.io': ['deviceclasses', 'resourceclaimtemplates', 'resourceslices'],
  'scheduling.k8s.io': ['priorityclasses', 'workloads'],
  'storage.k8s.io': ['csidrivers', 'csinodes', 'csistoragecapacities', 'storageclasses', 'volumeattributesclasses'],
};

/** Whether a kind may have a status subresource. True for custom kinds, because their tokens do not state it. */
export function mayHaveStatus({ group, plural }: Kind): boolean {
  return !(Object.hasOwn(withoutStatus, group) && withoutStatus[group]?.includes(plural) === true);
}
