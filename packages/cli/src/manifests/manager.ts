import { parsePort } from './ports.js';
import { boundedName } from './names.js';
import type { ManifestInput } from './manifest-input.js';

/** Time between the end of the manager's own grace and SIGKILL, in seconds. */
const graceMarginSeconds = 15;

/** The labels of everything that is deployed. */
export function labelsOf(name: string): Readonly<Record<string, string>> {
  return { 'app.kubernetes.io/name': name, 'app.kubernetes.io/managed-by': 'kctl' };
}

/** Whether the API server calls the operator. */
export function hasWebhooks({ graph }: ManifestInput): boolean {
  return [...graph.webhooks].some(([, { target }]) => target !== undefined);
}

/** The Namespace, under the restricted Pod Security profile. */
export function namespaceOf({ graph }: ManifestInput): object {
  const labels = { ...labelsOf(graph.name), 'pod-security.kubernetes.io/enforce': 'restricted' };
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: graph.namespace, labels } };
}

/** Variables of a Deployment, which are fields of a chart's values, or their defaults. */
export interface PodVariables {
  readonly image: string;
  readonly replicas: number;
  readonly resources: object;
}

/** The container's resources; the limit has no CPU, which would delay lease renewals. */
export const defaultResources = {
  requests: { cpu: '50m', memory: '128Mi' },
  limits: { memory: '256Mi' },
};

/** The container of the operator. */
export interface ContainerManifest {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly object[];
  readonly ports?: readonly object[];
  readonly livenessProbe?: object;
  readonly readinessProbe?: object;
  readonly resources: object;
  readonly securityContext: object;
  readonly volumeMounts?: readonly object[];
}

/** The parts of the Deployment that the chart takes over. */
export interface DeploymentManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: object;
  readonly spec: {
    readonly replicas: unknown;
    readonly selector: object;
    readonly template: {
      readonly metadata: object;
      readonly spec: {
        readonly serviceAccountName: string;
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: object;
        readonly containers: readonly [ContainerManifest];
        readonly volumes?: object;
      };
    };
  };
}

/** The Deployment, with two replicas, one of which leads. */
export function deploymentOf(input: ManifestInput, variables: PodVariables): DeploymentManifest {
  const { graph } = input;
  const { name, namespace, settings } = graph;
  const selector = { 'app.kubernetes.io/name': name };
  const health = parsePort(settings.healthProbeBindAddress);
  const metrics = parsePort(settings.metricsBindAddress);
  const webhook = hasWebhooks(input);
  const probe = (path: string, more: object): object => ({
    httpGet: { path, port: 'health' },
    timeoutSeconds: 6,
    ...more,
  });
  const ports = [
    ...(metrics === undefined ? [] : [{ name: 'metrics', containerPort: metrics }]),
    ...(health === undefined ? [] : [{ name: 'health', containerPort: health }]),
    ...(webhook ? [{ name: 'webhook', containerPort: settings.webhookPort }] : []),
  ];
  const container = {
    name: 'operator',
    image: variables.image,
    args: ['--leader-elect'],
    env: [
      { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
      ...(webhook ? [{ name: 'WEBHOOK_CERT_DIR', value: '/certificates' }] : []),
    ],
    ...(ports.length === 0 ? {} : { ports }),
    ...(health === undefined
      ? {}
      : {
          livenessProbe: probe('/healthz', { initialDelaySeconds: 15, periodSeconds: 20 }),
          readinessProbe: probe('/readyz', { initialDelaySeconds: 5, periodSeconds: 10 }),
        }),
    resources: variables.resources,
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    ...(webhook ? { volumeMounts: [{ name: 'certificate', mountPath: '/certificates', readOnly: true }] } : {}),
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels: labelsOf(name) },
    spec: {
      replicas: variables.replicas,
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: selector },
        spec: {
          serviceAccountName: name,
          terminationGracePeriodSeconds: Math.ceil(settings.gracefulShutdownTimeoutMs / 1000) + graceMarginSeconds,
          securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [container],
          ...(webhook
            ? { volumes: [{ name: 'certificate', secret: { secretName: boundedName(name, '-webhook-certificate') } }] }
            : {}),
        },
      },
    },
  };
}

/**
 * A PodDisruptionBudget that allows eviction of one replica at a time. It limits the unavailable replicas, since
 * requiring an available one blocks every drain if there is only one; and a replica that is not ready blocks no drain.
 */
export function budgetOf({ graph: { name, namespace } }: ManifestInput): object {
  const selector = { matchLabels: { 'app.kubernetes.io/name': name } };
  const metadata = { name, namespace, labels: labelsOf(name) };
  const spec = { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow', selector };
  return { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec };
}

/** A Service of the metrics, for a ServiceMonitor. Undefined if there are no metrics. */
export function metricsServiceOf({ graph: { name, namespace, settings } }: ManifestInput): object | undefined {
  if (parsePort(settings.metricsBindAddress) === undefined) return undefined;
  const metadata = {
    name: boundedName(name, '-metrics'),
    namespace,
    labels: { ...labelsOf(name), 'app.kubernetes.io/component': 'metrics' },
  };
  const ports = [{ name: 'metrics', port: 8080, targetPort: 'metrics' }];
  return { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: { 'app.kubernetes.io/name': name }, ports } };
}

/** A ServiceMonitor of the prometheus-operator. */
export function serviceMonitorOf({ graph: { name, namespace } }: ManifestInput): object {
  const selector = { matchLabels: { 'app.kubernetes.io/name': name, 'app.kubernetes.io/component': 'metrics' } };
  const metadata = { name, namespace, labels: labelsOf(name) };
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    metadata,
    spec: { selector, endpoints: [{ port: 'metrics' }] },
  };
}

/** A NetworkPolicy that allows only the ports that the operator serves. */
export function networkPolicyOf(input: ManifestInput): object {
  const { name, namespace, settings } = input.graph;
  const open = [
    parsePort(settings.metricsBindAddress) === undefined ? undefined : 'metrics',
    parsePort(settings.healthProbeBindAddress) === undefined ? undefined : 'health',
    hasWebhooks(input) ? 'webhook' : undefined,
  ].filter((port) => port !== undefined);
  const ingress = open.length === 0 ? [] : [{ ports: open.map((port) => ({ port, protocol: 'TCP' })) }];
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name, namespace, labels: labelsOf(name) },
    spec: { podSelector: { matchLabels: { 'app.kubernetes.io/name': name } }, policyTypes: ['Ingress'], ingress },
  };
}
