import {
  at,
  cloneJson,
  ensureObject,
  isObject,
  objectsOf,
  setDefault,
  stringOf,
  type JsonObject,
} from '@kctl/crd/internal/engine';

function setText(target: JsonObject, name: string, value: string): void {
  if (stringOf(target[name]) === '') target[name] = value;
}

function servicePorts(spec: JsonObject): void {
  for (const port of objectsOf(spec['ports'])) {
    setText(port, 'protocol', 'TCP');
    const target = port['targetPort'];
    if (target === undefined || target === 0 || target === '') port['targetPort'] = port['port'];
  }
}

function service(object: JsonObject): void {
  const spec = ensureObject(object, 'spec');
  setText(spec, 'sessionAffinity', 'None');
  if (spec['sessionAffinity'] === 'None') delete spec['sessionAffinityConfig'];
  if (spec['sessionAffinity'] === 'ClientIP') {
    setDefault(ensureObject(ensureObject(spec, 'sessionAffinityConfig'), 'clientIP'), 'timeoutSeconds', 10800);
  }
  setText(spec, 'type', 'ClusterIP');
  servicePorts(spec);
  const type = stringOf(spec['type']);
  const isExternal =
    type === 'NodePort' ||
    type === 'LoadBalancer' ||
    (type === 'ClusterIP' && objectsOf(spec['externalIPs']).length > 0);
  if (isExternal) setText(spec, 'externalTrafficPolicy', 'Cluster');
  if (['ClusterIP', 'NodePort', 'LoadBalancer'].includes(type)) setDefault(spec, 'internalTrafficPolicy', 'Cluster');
  if (type !== 'LoadBalancer') return;
  setDefault(spec, 'allocateLoadBalancerNodePorts', true);
  const status = ensureObject(ensureObject(object, 'status'), 'loadBalancer');
  for (const ingress of objectsOf(status['ingress'])) {
    if (stringOf(ingress['ip']) !== '') setDefault(ingress, 'ipMode', 'VIP');
  }
}

function endpoints(object: JsonObject): void {
  for (const subset of objectsOf(object['subsets'])) {
    for (const port of objectsOf(subset['ports'])) setText(port, 'protocol', 'TCP');
  }
}

function endpointSlice(object: JsonObject): void {
  for (const port of objectsOf(object['ports'])) {
    setDefault(port, 'name', '');
    setDefault(port, 'protocol', 'TCP');
  }
}

function namespace(object: JsonObject): void {
  const metadata = ensureObject(object, 'metadata');
  const name = stringOf(metadata['name']);
  if (name !== '') ensureObject(metadata, 'labels')['kubernetes.io/metadata.name'] = name;
  setText(ensureObject(object, 'status'), 'phase', 'Active');
}

function persistentVolume(object: JsonObject): void {
  setText(ensureObject(object, 'status'), 'phase', 'Pending');
  const spec = ensureObject(object, 'spec');
  setText(spec, 'persistentVolumeReclaimPolicy', 'Retain');
  setDefault(spec, 'volumeMode', 'Filesystem');
}

function nodeStatus(status: JsonObject): void {
  if (isObject(status['capacity'])) setDefault(status, 'allocatable', cloneJson(status['capacity']));
}

/** The first of several pod ranges stands in a separate field, too. */
function nodeSpec(spec: JsonObject): void {
  const { podCIDR: one, podCIDRs: many } = spec;
  if (Array.isArray(many) && many.length > 0) spec['podCIDR'] = many[0];
  else if (stringOf(one) !== '') spec['podCIDRs'] = [one];
}

const rbacGroup = 'rbac.authorization.k8s.io';

function roleBinding(object: JsonObject): void {
  setText(ensureObject(object, 'roleRef'), 'apiGroup', rbacGroup);
  for (const subject of objectsOf(object['subjects'])) {
    if (subject['kind'] === 'User' || subject['kind'] === 'Group') setText(subject, 'apiGroup', rbacGroup);
  }
}

function networkPolicy(object: JsonObject): void {
  const spec = ensureObject(object, 'spec');
  if (Array.isArray(spec['policyTypes']) && spec['policyTypes'].length > 0) return;
  const hasEgress = Array.isArray(spec['egress']) && spec['egress'].length > 0;
  spec['policyTypes'] = hasEgress ? ['Ingress', 'Egress'] : ['Ingress'];
}

function ingressClass(object: JsonObject): void {
  const { parameters } = ensureObject(object, 'spec');
  if (isObject(parameters)) setDefault(parameters, 'scope', 'Cluster');
}

function storageClass(object: JsonObject): void {
  setDefault(object, 'reclaimPolicy', 'Delete');
  setDefault(object, 'volumeBindingMode', 'Immediate');
}

function csiDriver(object: JsonObject): void {
  const spec = ensureObject(object, 'spec');
  setDefault(spec, 'attachRequired', true);
  for (const name of ['podInfoOnMount', 'storageCapacity', 'requiresRepublish', 'seLinuxMount']) {
    setDefault(spec, name, false);
  }
  setDefault(spec, 'fsGroupPolicy', 'ReadWriteOnceWithFSType');
  if (!Array.isArray(spec['volumeLifecycleModes'])) spec['volumeLifecycleModes'] = ['Persistent'];
}

function webhook(value: JsonObject): void {
  setDefault(value, 'failurePolicy', 'Fail');
  matchResources(value);
  setDefault(value, 'timeoutSeconds', 10);
}

function matchResources(value: JsonObject): void {
  setDefault(value, 'matchPolicy', 'Equivalent');
  setDefault(value, 'namespaceSelector', {});
  setDefault(value, 'objectSelector', {});
}

function mutatingWebhook(value: JsonObject): void {
  webhook(value);
  setDefault(value, 'reinvocationPolicy', 'Never');
}

function customResourceDefinition(object: JsonObject): void {
  const spec = ensureObject(object, 'spec');
  const names = ensureObject(spec, 'names');
  setText(names, 'singular', stringOf(names['kind']).toLowerCase());
  if (stringOf(names['kind']) !== '') setText(names, 'listKind', `${stringOf(names['kind'])}List`);
  setDefault(spec, 'conversion', { strategy: 'None' });
  const service = at(spec, 'conversion', 'webhook', 'clientConfig', 'service');
  if (isObject(service)) setDefault(service, 'port', 443);
  const status = ensureObject(object, 'status');
  const storage = objectsOf(spec['versions']).find((version) => version['storage'] === true);
  const isUnset = !Array.isArray(status['storedVersions']) || status['storedVersions'].length === 0;
  if (storage !== undefined && isUnset) status['storedVersions'] = [stringOf(storage['name'])];
}

function setZero(value: JsonObject, defaults: Readonly<Record<string, number>>): void {
  for (const [name, given] of Object.entries(defaults)) {
    if (value[name] === undefined || value[name] === 0) value[name] = given;
  }
}

/** Defaults of services, storage, policy, RBAC, admission and the rest. */
export const otherDefaults: readonly [string, (value: JsonObject) => void][] = [
  ['v1.Service', service],
  ['v1.Endpoints', endpoints],
  ['v1.EndpointSlice', endpointSlice],
  ['v1.Namespace', namespace],
  ['v1.NodeSpec', nodeSpec],
  ['v1.NodeStatus', nodeStatus],
  ['v1.Secret', (object) => setText(object, 'type', 'Opaque')],
  ['v1.PersistentVolume', persistentVolume],
  ['v1.PersistentVolumeClaim', (object) => setText(ensureObject(object, 'status'), 'phase', 'Pending')],
  ['v1.PersistentVolumeClaimSpec', (spec) => setDefault(spec, 'volumeMode', 'Filesystem')],
  ['v1.RoleBinding', roleBinding],
  ['v1.ClusterRoleBinding', roleBinding],
  ['v1.NetworkPolicy', networkPolicy],
  ['v1.NetworkPolicyPort', (value) => setDefault(value, 'protocol', 'TCP')],
  ['v1.IngressClass', ingressClass],
  ['v1.StorageClass', storageClass],
  ['v1.CSIDriver', csiDriver],
  ['v1.PriorityClass', (object) => setDefault(object, 'preemptionPolicy', 'PreemptLowerPriority')],
  ['v1.ValidatingWebhook', webhook],
  ['v1.MutatingWebhook', mutatingWebhook],
  ['v1.MatchResources', matchResources],
  ['v1.ValidatingAdmissionPolicySpec', (spec) => setDefault(spec, 'failurePolicy', 'Fail')],
  ['v1.MutatingAdmissionPolicySpec', (spec) => setDefault(spec, 'failurePolicy', 'Fail')],
  ['v1.Rule', (value) => setDefault(value, 'scope', '*')],
  ['v1.RuleWithOperations', (value) => setDefault(value, 'scope', '*')],
  ['v1.NamedRuleWithOperations', (value) => setDefault(value, 'scope', '*')],
  ['v1.ServiceReference', (value) => setDefault(value, 'port', 443)],
  ['v1.CustomResourceDefinition', customResourceDefinition],
  ['v1.FlowSchemaSpec', (spec) => setZero(spec, { matchingPrecedence: 1000 })],
  ['v1.QueuingConfiguration', (value) => setZero(value, { queues: 64, handSize: 8, queueLengthLimit: 50 })],
];
