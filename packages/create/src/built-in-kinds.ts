/** A kind of Kubernetes that an operator can reconcile. */
export interface BuiltInKind {
  /** '' is the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  /** Whether it has a status subresource. */
  readonly hasStatus: boolean;
  /** Fields of a valid object, beside its metadata. */
  readonly sample: object;
  /** Name of the sample. */
  readonly name: string;
}

type Row = readonly [kind: string, scope: 'namespaced' | 'cluster', has: 'status' | '', sample: object, name?: string];

const labels = { app: 'hello' };
const selector = { matchLabels: labels };
const containers = [{ name: 'hello', image: 'registry.k8s.io/pause:3.10' }];
const template = { metadata: { labels }, spec: { containers } };
const jobSpec = { template: { spec: { containers, restartPolicy: 'Never' } } };
const scaled = { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'hello' }, maxReplicas: 2 };
const configMaps = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
const claimed = { devices: { requests: [{ name: 'hello', exactly: { deviceClassName: 'hello' } }] } };
/** A request for a certificate of the name `hello`, in PEM and base64; its key is gone. */
const certificateRequest =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlITE1ISUNBUUF3RURFT01Bd0dBMVVFQXd3RmFHVnNiRzh3V1RBVEJnY3Foa2pPUFFJQkJnZ3Foa2pPUFFNQgpCd05DQUFTU3AwTGYwRy9PZ0ZtclZlMW5xNldXOVhDamEvaHJncTdRZEEybndxUkFMaHFFRUVtYnZ6VmVqL3NxCm9rOExhWVpoL0ljNHJIV09CamN5RGNxYld1QlpvQUF3Q2dZSUtvWkl6ajBFQXdJRFNRQXdSZ0loQU9LanhHcDQKRzhZQnJWK2pDOEhEYjdGYUJ1QTBJNURDbVFlRCtLVWRwVG1CQWlFQWwvVkkrNVlndjRBdEFmNnpqUWRTQ1l5RAo5U3ZaOVBhSFhYUjJFY0RCZWI0PQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K';

/**
 * Kinds by group version, newest version first, that a current API server has in stable versions and that can be
 * watched. A test names those that are left out, because a server of the oldest release has no such version, a sample
 * would need other objects or keys, or the server refuses each write by an operator without the rights that the object
 * grants.
 */
const rows: Readonly<Record<string, readonly Row[]>> = {
  v1: [
    ['ConfigMap', 'namespaced', '', { data: { colour: 'blue' } }],
    ['Endpoints', 'namespaced', '', { subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 80 }] }] }],
    ['LimitRange', 'namespaced', '', { spec: { limits: [{ type: 'Container', default: { memory: '64Mi' } }] } }],
    ['Namespace', 'cluster', 'status', {}],
    ['Node', 'cluster', 'status', {}],
    [
      'PersistentVolume',
      'cluster',
      'status',
      { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/mnt/data' } } },
    ],
    [
      'PersistentVolumeClaim',
      'namespaced',
      'status',
      { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    ],
    ['Pod', 'namespaced', 'status', { spec: { containers } }],
    ['PodTemplate', 'namespaced', '', { template }],
    ['ReplicationController', 'namespaced', 'status', { spec: { replicas: 1, selector: labels, template } }],
    ['ResourceQuota', 'namespaced', 'status', { spec: { hard: { pods: '10' } } }],
    ['Secret', 'namespaced', '', { stringData: { colour: 'blue' } }],
    ['Service', 'namespaced', 'status', { spec: { selector: labels, ports: [{ port: 80 }] } }],
    ['ServiceAccount', 'namespaced', '', {}],
  ],
  'admissionregistration.k8s.io/v1': [
    [
      'MutatingAdmissionPolicy',
      'cluster',
      '',
      {
        spec: {
          matchConstraints: { resourceRules: [configMaps] },
          reinvocationPolicy: 'Never',
          mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }],
        },
      },
    ],
    ['MutatingAdmissionPolicyBinding', 'cluster', '', { spec: { policyName: 'hello' } }],
    ['MutatingWebhookConfiguration', 'cluster', '', {}],
    [
      'ValidatingAdmissionPolicy',
      'cluster',
      'status',
      { spec: { matchConstraints: { resourceRules: [configMaps] }, validations: [{ expression: 'true' }] } },
    ],
    ['ValidatingAdmissionPolicyBinding', 'cluster', '', { spec: { policyName: 'hello', validationActions: ['Warn'] } }],
    ['ValidatingWebhookConfiguration', 'cluster', '', {}],
  ],
  'apiextensions.k8s.io/v1': [
    [
      'CustomResourceDefinition',
      'cluster',
      'status',
      {
        spec: {
          group: 'hello.example.com',
          names: { kind: 'Hello', plural: 'hellos' },
          scope: 'Namespaced',
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
        },
      },
      'hellos.hello.example.com',
    ],
  ],
  'apps/v1': [
    ['ControllerRevision', 'namespaced', '', { data: { colour: 'blue' }, revision: 1 }],
    ['DaemonSet', 'namespaced', 'status', { spec: { selector, template } }],
    ['Deployment', 'namespaced', 'status', { spec: { selector, template } }],
    ['ReplicaSet', 'namespaced', 'status', { spec: { selector, template } }],
    ['StatefulSet', 'namespaced', 'status', { spec: { serviceName: 'hello', selector, template } }],
  ],
  'autoscaling/v2': [['HorizontalPodAutoscaler', 'namespaced', 'status', { spec: scaled }]],
  'autoscaling/v1': [['HorizontalPodAutoscaler', 'namespaced', 'status', { spec: scaled }]],
  'batch/v1': [
    ['CronJob', 'namespaced', 'status', { spec: { schedule: '0 * * * *', jobTemplate: { spec: jobSpec } } }],
    ['Job', 'namespaced', 'status', { spec: jobSpec }],
  ],
  'certificates.k8s.io/v1': [
    [
      'CertificateSigningRequest',
      'cluster',
      'status',
      { spec: { request: certificateRequest, signerName: 'example.com/hello', usages: ['client auth'] } },
    ],
  ],
  'coordination.k8s.io/v1': [['Lease', 'namespaced', '', { spec: { holderIdentity: 'hello' } }]],
  'discovery.k8s.io/v1': [
    ['EndpointSlice', 'namespaced', '', { addressType: 'IPv4', endpoints: [{ addresses: ['192.0.2.1'] }] }],
  ],
  'flowcontrol.apiserver.k8s.io/v1': [
    ['FlowSchema', 'cluster', 'status', { spec: { priorityLevelConfiguration: { name: 'global-default' } } }],
    [
      'PriorityLevelConfiguration',
      'cluster',
      'status',
      { spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } } },
    ],
  ],
  'networking.k8s.io/v1': [
    [
      'IPAddress',
      'cluster',
      '',
      { spec: { parentRef: { resource: 'services', namespace: 'default', name: 'hello' } } },
      '192.0.2.1',
    ],
    [
      'Ingress',
      'namespaced',
      'status',
      { spec: { defaultBackend: { service: { name: 'hello', port: { number: 80 } } } } },
    ],
    ['IngressClass', 'cluster', '', { spec: { controller: 'example.com/hello' } }],
    ['NetworkPolicy', 'namespaced', '', { spec: { podSelector: {} } }],
    ['ServiceCIDR', 'cluster', 'status', { spec: { cidrs: ['192.0.2.0/24'] } }],
  ],
  'node.k8s.io/v1': [['RuntimeClass', 'cluster', '', { handler: 'hello' }]],
  'policy/v1': [['PodDisruptionBudget', 'namespaced', 'status', { spec: { minAvailable: 1, selector } }]],
  'resource.k8s.io/v1': [
    ['DeviceClass', 'cluster', '', { spec: {} }],
    ['ResourceClaim', 'namespaced', 'status', { spec: claimed }],
    ['ResourceClaimTemplate', 'namespaced', '', { spec: { spec: claimed } }],
    [
      'ResourceSlice',
      'cluster',
      '',
      {
        spec: {
          driver: 'hello.example.com',
          pool: { name: 'hello', generation: 1, resourceSliceCount: 1 },
          nodeName: 'hello',
        },
      },
    ],
  ],
  'scheduling.k8s.io/v1': [['PriorityClass', 'cluster', '', { value: 1000 }]],
  'storage.k8s.io/v1': [
    ['CSIDriver', 'cluster', '', { spec: { attachRequired: false } }],
    ['CSINode', 'cluster', '', { spec: { drivers: [] } }],
    ['CSIStorageCapacity', 'namespaced', '', { storageClassName: 'hello' }],
    ['StorageClass', 'cluster', '', { provisioner: 'hello.example.com' }],
    [
      'VolumeAttachment',
      'cluster',
      'status',
      { spec: { attacher: 'hello.example.com', nodeName: 'hello', source: { persistentVolumeName: 'hello' } } },
    ],
    ['VolumeAttributesClass', 'cluster', '', { driverName: 'hello.example.com', parameters: { colour: 'blue' } }],
  ],
};

/** Kinds that can be reconciled, the preferred version of each first. */
export const builtInKinds: readonly BuiltInKind[] = Object.entries(rows).flatMap(([apiVersion, kinds]) => {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  return kinds.map(([kind, scope, has, sample, name = 'hello']) => ({
    group,
    version,
    kind,
    isNamespaced: scope === 'namespaced',
    hasStatus: has === 'status',
    sample,
    name,
  }));
});
