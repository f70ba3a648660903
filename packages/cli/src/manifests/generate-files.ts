import { generateRbac } from '@kctl/rbac';
import { webhookConfigurations } from '@kctl/webhook';
import { chartFiles, inReleaseNamespace } from './chart.js';
import { definitionsOf, webhookServiceOf } from './definitions.js';
import type { GeneratedFiles, ManifestInput } from './manifest-input.js';
import {
  budgetOf,
  defaultResources,
  deploymentOf,
  hasWebhooks,
  labelsOf,
  metricsServiceOf,
  namespaceOf,
  networkPolicyOf,
  serviceMonitorOf,
} from './manager.js';
import { boundedName } from './names.js';
import { yamlFile } from './yaml.js';

/** The groups of generated files, in the order in which they are applied. */
export const fileGroups = ['crds', 'rbac', 'webhooks', 'manager', 'kustomize', 'chart'] as const;

/** A group of generated files. */
export type FileGroup = (typeof fileGroups)[number];

/** The files of some groups. Pure, with the same output for the same operator. */
export function generateFiles(input: ManifestInput, groups: readonly FileGroup[]): GeneratedFiles {
  const makers: Readonly<Record<FileGroup, () => readonly (readonly [string, string])[]>> = {
    crds: () => crdFiles(input),
    rbac: () => [['rbac/rbac.yaml', yamlFile(rbacObjects(input))]],
    webhooks: () => (hasWebhooks(input) ? [['webhook/webhook.yaml', yamlFile(webhookObjects(input))]] : []),
    manager: () => managerFiles(input),
    kustomize: () => [['kustomization.yaml', kustomization(input)]],
    chart: () => {
      const released = inReleaseNamespace(input);
      return chartFiles(released, {
        crds: definitionsOf(released.graph),
        rbac: rbacObjects(released),
        webhooks: webhookObjects(released),
      });
    },
  };
  return new Map(fileGroups.filter((group) => groups.includes(group)).flatMap((group) => makers[group]()));
}

function crdFiles({ graph }: ManifestInput): readonly (readonly [string, string])[] {
  return definitionsOf(graph).map((manifest) => [`crds/${manifest.metadata.name ?? ''}.yaml`, yamlFile([manifest])]);
}

/** The service account, roles and bindings. */
export function rbacObjects({ graph }: ManifestInput): readonly object[] {
  const { name, namespace, accessNeeds } = graph;
  return generateRbac(accessNeeds, { name, namespace, labels: labelsOf(name) });
}

/** The Service of the webhooks and their configurations; the certificate is cert-manager's, which also owns caBundle. */
function webhookObjects(input: ManifestInput): readonly object[] {
  if (!hasWebhooks(input)) return [];
  const { name, namespace, webhooks } = input.graph;
  const labels = labelsOf(name);
  const { name: service } = webhookServiceOf(input.graph);
  const metadata = { name: service, namespace, labels };
  const secretName = boundedName(name, '-webhook-certificate');
  const dnsNames = [`${service}.${namespace}.svc`, `${service}.${namespace}.svc.cluster.local`];
  const certManager = 'cert-manager.io/v1';
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: {
        selector: { 'app.kubernetes.io/name': name },
        ports: [{ name: 'webhook', port: 443, targetPort: 'webhook' }],
      },
    },
    { apiVersion: certManager, kind: 'Issuer', metadata, spec: { selfSigned: {} } },
    {
      apiVersion: certManager,
      kind: 'Certificate',
      metadata,
      spec: { secretName, dnsNames, issuerRef: { kind: 'Issuer', name: service } },
    },
    ...webhookConfigurations(webhooks, {
      name,
      labels,
      address: { service: { name: service, namespace } },
      injectCaFrom: `${namespace}/${service}`,
    }),
  ];
}

/** Everything that is deployed beside the CRDs, in the order in which it is applied. */
export function deploymentObjects(input: ManifestInput): readonly object[] {
  return [namespaceOf(input), ...rbacObjects(input), ...webhookObjects(input), ...managerObjects(input)];
}

function managerObjects(input: ManifestInput): readonly object[] {
  const metrics = metricsServiceOf(input);
  return [
    deploymentOf(input, { image: input.image, replicas: 2, resources: defaultResources }),
    budgetOf(input),
    networkPolicyOf(input),
    ...(metrics === undefined ? [] : [metrics]),
  ];
}

function managerFiles(input: ManifestInput): readonly (readonly [string, string])[] {
  const monitor = metricsServiceOf(input) === undefined ? [] : serviceMonitorFiles(input);
  return [
    ['manager/namespace.yaml', yamlFile([namespaceOf(input)])],
    ['manager/manager.yaml', yamlFile(managerObjects(input))],
    ...monitor,
  ];
}

/** A component, because resources that need the prometheus-operator are left to an overlay to request. */
function serviceMonitorFiles(input: ManifestInput): readonly (readonly [string, string])[] {
  const component = {
    apiVersion: 'kustomize.config.k8s.io/v1alpha1',
    kind: 'Component',
    resources: ['service-monitor.yaml'],
  };
  return [
    ['components/service-monitor/service-monitor.yaml', yamlFile([serviceMonitorOf(input)])],
    ['components/service-monitor/kustomization.yaml', yamlFile([component])],
  ];
}

function kustomization(input: ManifestInput): string {
  const crds = crdFiles(input).map(([path]) => path);
  const webhooks = hasWebhooks(input) ? ['webhook/webhook.yaml'] : [];
  const resources = ['manager/namespace.yaml', ...crds, 'rbac/rbac.yaml', ...webhooks, 'manager/manager.yaml'];
  return yamlFile([{ apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources }]);
}
