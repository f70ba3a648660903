// Pods as an API server prints them: about 4 KB, a third of it managedFields, five to an owner, a hundred to a node, in
// etcd order.

/** The first resourceVersion: all versions have ten digits, so that a prepared frame can be given another one. */
export const firstVersion = 1_000_000_000;

const namespaces = 100;
const podsPerNode = 100;

function uid(seed        )         {
  const hex = (n        , width        )         =>
    (Math.imul(n, 2_654_435_761) >>> 0).toString(16).padStart(8, '0').slice(0, width);
  return `${hex(seed, 8)}-${hex(seed + 1, 4)}-4${hex(seed + 2, 3)}-a${hex(seed + 3, 3)}-${hex(seed + 4, 8)}${hex(seed + 5, 4)}`;
}

/** The `i`-th of `count` pods at a version. */
export function pod(i        , count        , version        )         {
  const namespace = `team-${String(Math.floor((i * namespaces) / count)).padStart(3, '0')}`;
  const owner = Math.floor(i / 5);
  const app = `service-${String(owner).padStart(6, '0')}`;
  const name = `${app}-7d9c5b8f6d-${(i + 60_466_176).toString(36).slice(-5)}`;
  const ip = `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
  const node = `node-${String(i % Math.ceil(count / podsPerNode)).padStart(4, '0')}.eu-central-1.compute.internal`;
  const time = '2026-03-14T09:26:53Z';
  const field = (...keys          )         => Object.fromEntries(keys.map((key) => [`f:${key}`, {}]));
  const condition = (type        )         => ({
    type,
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: time,
    observedGeneration: 1,
  });
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      name,
      generateName: `${app}-7d9c5b8f6d-`,
      namespace,
      uid: uid(i * 7),
      resourceVersion: String(version),
      generation: 1,
      creationTimestamp: time,
      labels: {
        app,
        'pod-template-hash': '7d9c5b8f6d',
        'app.kubernetes.io/part-of': 'shop',
        'topology.kubernetes.io/zone': `eu-central-1${'abc'[i % 3] ?? 'a'}`,
      },
      annotations: {
        'prometheus.io/scrape': 'true',
        'prometheus.io/port': '8080',
        'checksum/config': uid(owner).repeat(2),
      },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: `${app}-7d9c5b8f6d`,
          uid: uid(owner * 7 + 3),
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: [
        {
          manager: 'kube-controller-manager',
          operation: 'Update',
          apiVersion: 'v1',
          time,
          fieldsType: 'FieldsV1',
          fieldsV1: {
            'f:metadata': {
              'f:annotations': { '.': {}, ...field('prometheus.io/scrape', 'prometheus.io/port') },
              'f:generateName': {},
              'f:labels': { '.': {}, ...field('app', 'pod-template-hash') },
              'f:ownerReferences': { '.': {}, [`k:{"uid":"${uid(owner * 7 + 3)}"}`]: {} },
            },
            'f:spec': {
              'f:containers': {
                'k:{"name":"main"}': {
                  '.': {},
                  ...field(
                    'image',
                    'imagePullPolicy',
                    'name',
                    'resources',
                    'terminationMessagePath',
                    'terminationMessagePolicy',
                  ),
                  'f:env': { '.': {}, 'k:{"name":"POD_IP"}': { '.': {}, ...field('name', 'valueFrom') } },
                },
              },
              ...field(
                'dnsPolicy',
                'enableServiceLinks',
                'restartPolicy',
                'schedulerName',
                'securityContext',
                'terminationGracePeriodSeconds',
              ),
            },
          },
        },
        {
          manager: 'kubelet',
          operation: 'Update',
          apiVersion: 'v1',
          time,
          fieldsType: 'FieldsV1',
          subresource: 'status',
          fieldsV1: {
            'f:status': {
              'f:conditions': {
                'k:{"type":"Ready"}': { '.': {}, ...field('lastProbeTime', 'lastTransitionTime', 'status', 'type') },
                'k:{"type":"Initialized"}': { '.': {}, ...field('status', 'type') },
              },
              ...field('containerStatuses', 'hostIP', 'phase', 'podIP', 'startTime'),
              'f:podIPs': { '.': {}, [`k:{"ip":"${ip}"}`]: { '.': {}, 'f:ip': {} } },
            },
          },
        },
      ],
    },
    spec: {
      volumes: [
        {
          name: 'kube-api-access-x2v9q',
          projected: {
            sources: [
              { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
              { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
            ],
            defaultMode: 420,
          },
        },
      ],
      containers: [
        {
          name: 'main',
          image: `registry.example.com/shop/${app}:1.42.${i % 10}`,
          ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
          env: [
            { name: 'POD_IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } },
            { name: 'LOG_LEVEL', value: 'info' },
          ],
          resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
          volumeMounts: [
            {
              name: 'kube-api-access-x2v9q',
              readOnly: true,
              mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
            },
          ],
          readinessProbe: {
            httpGet: { path: '/ready', port: 'http', scheme: 'HTTP' },
            timeoutSeconds: 1,
            periodSeconds: 10,
            successThreshold: 1,
            failureThreshold: 3,
          },
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          imagePullPolicy: 'IfNotPresent',
        },
      ],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      serviceAccountName: 'default',
      nodeName: node,
      securityContext: {},
      schedulerName: 'default-scheduler',
      priority: 0,
      enableServiceLinks: true,
      preemptionPolicy: 'PreemptLowerPriority',
    },
    status: {
      phase: 'Running',
      conditions: ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(
        condition,
      ),
      hostIP: `172.16.${i % 250}.${owner % 250}`,
      podIP: ip,
      podIPs: [{ ip }],
      startTime: time,
      qosClass: 'Burstable',
      containerStatuses: [
        {
          name: 'main',
          state: { running: { startedAt: time } },
          lastState: {},
          ready: true,
          restartCount: version % 7,
          image: `registry.example.com/shop/${app}:1.42.${i % 10}`,
          imageID: `registry.example.com/shop/${app}@sha256:${uid(owner).replaceAll('-', '').repeat(2)}`,
          containerID: `containerd://${uid(i).replaceAll('-', '').repeat(2)}`,
          started: true,
        },
      ],
    },
  };
}

/** A custom resource of the size and form of a pod. Its keys are in alphabetical order, as servers print them. */
export function workload(i        , count        , version        )         {
  return sorted({ ...pod(i, count, version), apiVersion: 'bench.kctl.dev/v1', kind: 'Workload' });
}

function sorted   (value   )    {
  if (Array.isArray(value)) return value.map(sorted)     ;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, part]) => [key, sorted(part)]))     ;
}
