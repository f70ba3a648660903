import { withoutUndefined } from '@kctl/options';
import type { ManifestInput } from './manifest-input.js';
import type { ContainerManifest, DeploymentManifest } from './manager.js';
import {
  budgetOf,
  defaultResources,
  deploymentOf,
  labelsOf,
  metricsServiceOf,
  networkPolicyOf,
  serviceMonitorOf,
} from './manager.js';
import { generatedMark } from './yaml.js';
import { writeYaml } from '@kctl/yaml';

type Files = readonly (readonly [string, string])[];

/** Parts that the chart shares with the kustomization. */
export interface ChartParts {
  readonly crds: readonly object[];
  readonly rbac: readonly object[];
  readonly webhooks: readonly object[];
}

/** Fields of a pod that are inserted if set in the values; block values are indented by the template. */
const podFields = ['nodeSelector', 'tolerations', 'affinity', 'imagePullSecrets', 'topologySpreadConstraints'] as const;

/** Whether a template of a chart is one of {@link chartFiles}, of any operator. */
export function isChartTemplate(name: string): boolean {
  const names =
    /^(?:rbac|webhook|deployment|pod-disruption-budget|network-policy|metrics-service|service-monitor|crd-\d+)\.yaml$/;
  return names.test(name);
}

/** A Helm chart with the same objects, of an operator {@link inReleaseNamespace}: what platform teams set are values. */
export function chartFiles(input: ManifestInput, { crds, rbac, webhooks }: ChartParts): Files {
  const { name } = input.graph;
  const { version = '0.1.0' } = input;
  const inRelease = (object: object): string => releaseNamespace(template(object));
  const metrics = metricsServiceOf(input);
  return [
    [
      'chart/Chart.yaml',
      text({
        apiVersion: 'v2',
        name,
        type: 'application',
        version,
        appVersion: version,
        description: `Deploys ${name}.`,
      }),
    ],
    ['chart/values.yaml', valuesFile(input)],
    ['chart/templates/rbac.yaml', rbac.map(inRelease).join('---\n')],
    ...(webhooks.length === 0
      ? []
      : [['chart/templates/webhook.yaml', webhooks.map(inRelease).join('---\n')] as const]),
    ['chart/templates/deployment.yaml', releaseNamespace(deploymentTemplate(input))],
    ['chart/templates/pod-disruption-budget.yaml', when('podDisruptionBudget.enabled', inRelease(budgetOf(input)))],
    ['chart/templates/network-policy.yaml', when('networkPolicy.enabled', inRelease(networkPolicyOf(input)))],
    ...(metrics === undefined
      ? []
      : [
          ['chart/templates/metrics-service.yaml', inRelease(metrics)] as const,
          [
            'chart/templates/service-monitor.yaml',
            when('serviceMonitor.enabled', inRelease(serviceMonitorOf(input))),
          ] as const,
        ]),
    ...crds.map((crd, index) => [`chart/templates/crd-${index}.yaml`, releaseNamespace(crdTemplate(crd))] as const),
  ];
}

function valuesFile({ image }: ManifestInput): string {
  const values = {
    image: { reference: image, pullPolicy: 'IfNotPresent' },
    replicas: 2,
    resources: defaultResources,
    nodeSelector: {},
    tolerations: [],
    affinity: {},
    topologySpreadConstraints: [],
    imagePullSecrets: [],
    env: [],
    volumes: [],
    volumeMounts: [],
    podDisruptionBudget: { enabled: true },
    networkPolicy: { enabled: true },
    serviceMonitor: { enabled: false },
    crds: { install: true, keep: true },
  };
  return text(values);
}

/**
 * The Deployment, with what platform teams set as values. The parts that follow from the operator are those of the
 * manifest; the rest is written around them.
 */
function deploymentTemplate(input: ManifestInput): string {
  const { namespace } = input.graph;
  // One such as `on` is quoted.
  const name = writeYaml(input.graph.name).trimEnd();
  const parts = podParts(deploymentOf(input, { image: '', replicas: 1, resources: {} }));
  const { ports, livenessProbe, readinessProbe, securityContext, args } = parts.container;
  const given = { args, ...(ports === undefined ? {} : { ports }), livenessProbe, readinessProbe, securityContext };
  return `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  namespace: ${namespace}
  labels:
${indent(template(labelsOf(input.graph.name)), 4)}spec:
  replicas: {{ .Values.replicas }}
  selector:
    matchLabels:
      app.kubernetes.io/name: ${name}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: ${name}
    spec:
      serviceAccountName: ${name}
      terminationGracePeriodSeconds: ${parts.graceSeconds}
      securityContext:
${indent(template(parts.podSecurityContext), 8)}${podFields.map((field) => optional(field, 6)).join('')}      containers:
        - name: operator
          image: {{ .Values.image.reference | quote }}
          imagePullPolicy: {{ .Values.image.pullPolicy }}
${indent(template(withoutUndefined(given)), 10)}          resources:
            {{- toYaml .Values.resources | nindent 12 }}
          env:
${indent(template(parts.container.env), 12)}${more('env', 12)}${lists('volumeMounts', parts.container.volumeMounts, 10)}${lists('volumes', parts.volumes, 6)}`;
}

interface PodParts {
  readonly container: ContainerManifest;
  readonly volumes: object | undefined;
  readonly podSecurityContext: object;
  readonly graceSeconds: number;
}

function podParts(deployment: DeploymentManifest): PodParts {
  const { containers, volumes, securityContext, terminationGracePeriodSeconds } = deployment.spec.template.spec;
  const [container] = containers;
  return { container, volumes, podSecurityContext: securityContext, graceSeconds: terminationGracePeriodSeconds };
}

/** A field of the pod, if set in the values. */
function optional(field: string, spaces: number): string {
  const pad = ' '.repeat(spaces);
  return `${pad}{{- with .Values.${field} }}\n${pad}${field}:\n${pad}  {{- toYaml . | nindent ${spaces + 2} }}\n${pad}{{- end }}\n`;
}

/** Further items of a list that is there already. */
function more(field: string, spaces: number): string {
  const pad = ' '.repeat(spaces);
  return `${pad}{{- with .Values.${field} }}\n${pad}{{- toYaml . | nindent ${spaces} }}\n${pad}{{- end }}\n`;
}

/** A list of the operator and of the values, or of the values alone. */
function lists(field: string, own: object | undefined, spaces: number): string {
  if (own === undefined) return optional(field, spaces);
  return `${' '.repeat(spaces)}${field}:\n${indent(template(own), spaces + 2)}${more(field, spaces + 2)}`;
}

function when(value: string, content: string): string {
  return `{{- if .Values.${value} }}\n${content}{{- end }}\n`;
}

/** A CRD is kept with its objects when the release is removed, unless the values state otherwise. */
function crdTemplate(manifest: object): string {
  const { metadata } = manifest as { readonly metadata: { readonly annotations?: object } };
  const kept = '{{- if .Values.crds.keep }}\n    helm.sh/resource-policy: keep\n    {{- end }}';
  const marked = {
    ...manifest,
    metadata: { ...metadata, annotations: { ...metadata.annotations, 'kctl.dev/keep': 'marker' } },
  };
  return when(
    'crds.install',
    template(marked).replace(/kctl\.dev\/keep: marker/, `kctl.dev/chart: "true"\n    ${kept}`),
  );
}

/** Placeholder for the namespace of the release until the YAML is a template. It is as valid as a namespace. */
const placeholder = 'kctl-release-namespace';

/** The operator as a release deploys it, with the namespace, including that of its rights, of the release. */
export function inReleaseNamespace(input: ManifestInput): ManifestInput {
  const { namespace, accessNeeds } = input.graph;
  const moved = accessNeeds.map((need) =>
    need.namespaces === undefined
      ? need
      : { ...need, namespaces: need.namespaces.map((each) => (each === namespace ? placeholder : each)) },
  );
  return { ...input, graph: { ...input.graph, namespace: placeholder, accessNeeds: moved } };
}

/** A namespace alone is quoted, because it may look like a number. */
function releaseNamespace(content: string): string {
  return content
    .replace(new RegExp(`(?<=[:-] )${placeholder}$`, 'gm'), '{{ .Release.Namespace | quote }}')
    .replaceAll(placeholder, '{{ .Release.Namespace }}');
}

/** YAML whose braces are literal for Helm, too. */
function template(object: object): string {
  return writeYaml(object).replaceAll('{{', '{{ "{{" }}');
}

function text(object: object): string {
  return `${generatedMark} Do not edit: give helm values of your own.\n${writeYaml(object)}`;
}

function indent(content: string, spaces: number): string {
  return content.replace(/^(?=.)/gm, ' '.repeat(spaces));
}
