import type { Manifest } from './manifest.js';

/** Kinds in the order in which they need each other; webhooks last, because they may refuse what comes after them. */
const first = [
  'Namespace',
  'CustomResourceDefinition',
  'PriorityClass',
  'RuntimeClass',
  'StorageClass',
  'CSIDriver',
  'IngressClass',
  'GatewayClass',
  'NetworkPolicy',
  'ResourceQuota',
  'LimitRange',
  'PodDisruptionBudget',
  'ServiceAccount',
  'Secret',
  'ConfigMap',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
  'Service',
  'DaemonSet',
  'Pod',
  'ReplicationController',
  'ReplicaSet',
  'Deployment',
  'StatefulSet',
  'HorizontalPodAutoscaler',
  'Job',
  'CronJob',
  'Ingress',
];
const last = [
  'APIService',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
];
const ranks = new Map([
  ...first.map((kind, index): [string, number] => [kind, index]),
  ...last.map((kind, index): [string, number] => [kind, first.length + 1 + index]),
]);

/** Where a kind stands; kinds that are not known, such as custom resources, between the built-in ones and webhooks. */
export function rankOf(kind: string): number {
  return ranks.get(kind) ?? first.length;
}

/** In order of dependency; what is of one kind stays in its order. */
export function inOrder(manifests: readonly Manifest[]): readonly Manifest[] {
  return manifests.toSorted((a, b) => rankOf(a.object.kind) - rankOf(b.object.kind));
}
