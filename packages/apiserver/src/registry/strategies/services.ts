import type { UntypedObject } from '@kctl/apimachinery';
import { isIPv4, isIPv6 } from 'node:net';
import {
  at,
  dns1123Subdomain,
  duplicate,
  ensureObject,
  forbidden,
  invalidValue,
  labelName,
  notSupported,
  numberOf,
  objectOf,
  objectsOf,
  portName,
  rangeError,
  required,
  stringOf,
  stringsOf,
  validateLabels,
  type FieldError,
  type JsonObject,
} from '@kctl/crd/internal/engine';
import type { KindStrategy } from '../kind-strategy.js';
import type { WriteContext } from '../../resource/resource.js';
import { invalid } from '../../protocol/status.js';
import { oneOf } from './pod-spec.js';

const serviceTypes = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const nodePorts: readonly [number, number] = [30_000, 32_767];

function isKind(spec: JsonObject, ...types: readonly string[]): boolean {
  return types.includes(stringOf(spec['type']));
}

function needsIp(spec: JsonObject): boolean {
  return !isKind(spec, 'ExternalName') && stringOf(spec['clusterIP']) !== 'None';
}

/** A free address of 10.0.0.0/16. The lower 16 are kept for clients that request a fixed one. */
function freeIp(context: WriteContext): string {
  const used = new Set<string>();
  for (const service of context.objects('/services')) {
    for (const ip of stringsOf(at(service, 'spec', 'clusterIPs'))) used.add(ip);
  }
  const size = 65_535 - 17;
  const start = Math.floor(context.random() * size);
  for (let step = 0; step < size; step += 1) {
    const number = 16 + ((start + step) % size);
    const ip = `10.0.${number >> 8}.${number & 255}`;
    if (!used.has(ip)) return ip;
  }
  return '';
}

function allocateIp(spec: JsonObject, context: WriteContext): void {
  if (isKind(spec, 'ExternalName')) return;
  if (stringOf(spec['clusterIP']) === '') {
    const [first = ''] = stringsOf(spec['clusterIPs']);
    spec['clusterIP'] = first === '' ? freeIp(context) : first;
  }
  const ip = stringOf(spec['clusterIP']);
  if (stringsOf(spec['clusterIPs']).length === 0) spec['clusterIPs'] = [ip];
  if (!Array.isArray(spec['ipFamilies']) && ip !== 'None') spec['ipFamilies'] = [isIPv6(ip) ? 'IPv6' : 'IPv4'];
  const isSelectorless = ip === 'None' && Object.keys(objectOf(spec['selector'])).length === 0;
  if (!Array.isArray(spec['ipFamilies'])) spec['ipFamilies'] = isSelectorless ? ['IPv4', 'IPv6'] : ['IPv4'];
  if (stringOf(spec['ipFamilyPolicy']) === '') {
    spec['ipFamilyPolicy'] = isSelectorless ? 'RequireDualStack' : 'SingleStack';
  }
}

function allocateNodePorts(spec: JsonObject, context: WriteContext): void {
  const wants =
    isKind(spec, 'NodePort') || (isKind(spec, 'LoadBalancer') && spec['allocateLoadBalancerNodePorts'] !== false);
  if (!wants) return;
  const used = new Set<number>();
  for (const service of [...context.objects('/services'), { spec }]) {
    for (const port of objectsOf(at(service, 'spec', 'ports'))) used.add(numberOf(port['nodePort']) ?? 0);
  }
  const [low, high] = nodePorts;
  for (const port of objectsOf(spec['ports'])) {
    if ((numberOf(port['nodePort']) ?? 0) !== 0) continue;
    let candidate = low + Math.floor(context.random() * (high - low + 1));
    while (used.has(candidate)) candidate = candidate === high ? low : candidate + 1;
    used.add(candidate);
    port['nodePort'] = candidate;
  }
}

/** Releases values that a service of another type no longer has, unless the client sets them anew. */
function release(spec: JsonObject, before: JsonObject): void {
  const wasNode = isKind(before, 'NodePort', 'LoadBalancer');
  const isNode = isKind(spec, 'NodePort', 'LoadBalancer');
  if (wasNode && !isNode) {
    for (const [index, port] of objectsOf(spec['ports']).entries()) {
      if (port['nodePort'] === objectsOf(before['ports'])[index]?.['nodePort']) delete port['nodePort'];
    }
    delete spec['externalTrafficPolicy'];
  }
  if (isKind(before, 'LoadBalancer') && !isKind(spec, 'LoadBalancer')) {
    for (const name of ['allocateLoadBalancerNodePorts', 'loadBalancerClass']) delete spec[name];
  }
  if (isKind(spec, 'ExternalName') && !isKind(before, 'ExternalName')) {
    for (const name of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy']) {
      delete spec[name];
    }
  }
}

/** Old clients know clusterIP only, new ones clusterIPs, so a change of one counts for both. */
function normalizeIps(spec: JsonObject, before: JsonObject): void {
  const ip = stringOf(spec['clusterIP']);
  const [first = ''] = stringsOf(spec['clusterIPs']);
  const [was = ''] = stringsOf(before['clusterIPs']);
  if (ip !== '' && ip !== stringOf(before['clusterIP']) && (first === was || first === '')) spec['clusterIPs'] = [ip];
  else if (first !== '' && first !== was && ip === stringOf(before['clusterIP'])) spec['clusterIP'] = first;
}

/** A client that leaves out what the server allocated means to keep it. */
function keepAllocated(spec: JsonObject, before: JsonObject): void {
  if (isKind(spec, 'ExternalName') || isKind(before, 'ExternalName')) return;
  normalizeIps(spec, before);
  for (const name of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'healthCheckNodePort']) {
    if (spec[name] === undefined && before[name] !== undefined) spec[name] = before[name];
  }
  if (!isKind(spec, 'NodePort', 'LoadBalancer')) return;
  const old = objectsOf(before['ports']);
  for (const port of objectsOf(spec['ports'])) {
    const match = old.find((each) => each['port'] === port['port'] && each['protocol'] === port['protocol']);
    if (port['nodePort'] === undefined && match?.['nodePort'] !== undefined) port['nodePort'] = match['nodePort'];
  }
}

function validatePort(port: JsonObject, index: number, isSingle: boolean): FieldError[] {
  const field = `spec.ports[${index}]`;
  const errors: FieldError[] = [];
  const name = stringOf(port['name']);
  if (name === '') {
    if (!isSingle) errors.push(required(`${field}.name`));
  } else {
    for (const message of labelName(name)) errors.push(invalidValue(`${field}.name`, name, message));
  }
  const number = numberOf(port['port']) ?? 0;
  if (number < 1 || number > 65_535) errors.push(invalidValue(`${field}.port`, number, rangeError(1, 65_535)));
  errors.push(...oneOf(port['protocol'], `${field}.protocol`, ['SCTP', 'TCP', 'UDP']));
  const target = port['targetPort'];
  if (typeof target === 'number' && (target < 1 || target > 65_535)) {
    errors.push(invalidValue(`${field}.targetPort`, target, rangeError(1, 65_535)));
  }
  if (typeof target === 'string') {
    for (const message of portName(target)) errors.push(invalidValue(`${field}.targetPort`, target, message));
  }
  return errors;
}

/**
 * All services but the one that is written, by its present uid. Only its validation refuses another uid or another
 * name.
 */
function othersThan(self: UntypedObject, context: WriteContext): UntypedObject[] {
  const { uid, name, namespace } = self.metadata;
  const isSelf = ({ metadata }: UntypedObject): boolean =>
    uid === undefined ? metadata.name === name && metadata.namespace === namespace : metadata.uid === uid;
  return [...context.objects('/services')].filter((other) => !isSelf(other));
}

/** Ports are taken only once everything else is in order. */
function validateNodePorts(spec: JsonObject, context: WriteContext, self: UntypedObject): FieldError[] {
  const [low, high] = nodePorts;
  const taken = new Set(
    othersThan(self, context)
      .flatMap((other) => objectsOf(at(other, 'spec', 'ports')))
      .map((port) => port['nodePort']),
  );
  const text = `provided port is not in the valid range. The range of valid ports is ${low}-${high}`;
  return objectsOf(spec['ports']).flatMap((port, index) => {
    const nodePort = numberOf(port['nodePort']) ?? 0;
    const field = `spec.ports[${index}].nodePort`;
    if (nodePort === 0) return [];
    if (nodePort < low || nodePort > high) return [invalidValue(field, nodePort, text)];
    return taken.has(nodePort) ? [invalidValue(field, nodePort, 'provided port is already allocated')] : [];
  });
}

function validateIps(spec: JsonObject, context: WriteContext, self: UntypedObject): FieldError[] {
  const ip = stringOf(spec['clusterIP']);
  if (!needsIp(spec) || ip === '') return [];
  if (!isIPv4(ip) && !isIPv6(ip)) {
    return [invalidValue('spec.clusterIPs[0]', ip, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];
  }
  if (isIPv4(ip) && !ip.startsWith('10.0.')) {
    return [
      invalidValue(
        'spec.clusterIPs',
        [ip],
        `failed to allocate IP ${ip}: the provided IP (${ip}) is not in the valid range. The range of valid IPs is 10.0.0.0/16`,
      ),
    ];
  }
  const isTaken = othersThan(self, context).some((other) => stringsOf(at(other, 'spec', 'clusterIPs')).includes(ip));
  return isTaken
    ? [invalidValue('spec.clusterIPs', [ip], `failed to allocate IP ${ip}: provided IP is already allocated`)]
    : [];
}

/** Fields that make no sense without a virtual IP are accepted all the same. */
function serviceWarnings(object: UntypedObject): string[] {
  const spec = objectOf(object['spec']);
  const warnings: string[] = [];
  if (stringOf(spec['clusterIP']) !== 'None') return warnings;
  if (stringOf(spec['loadBalancerIP']) !== '') warnings.push('spec.loadBalancerIP is ignored for headless services');
  if (stringsOf(spec['externalIPs']).length > 0) warnings.push('spec.externalIPs is ignored for headless services');
  if (stringOf(spec['sessionAffinity']) === 'ClientIP') {
    warnings.push('spec.SessionAffinity is ignored for headless services');
  }
  return warnings;
}

function validateService(object: UntypedObject, context: WriteContext, old = object): FieldError[] {
  const spec = objectOf(object['spec']);
  const errors: FieldError[] = [];
  const ports = objectsOf(spec['ports']);
  const isHeadless = stringOf(spec['clusterIP']) === 'None';
  if (ports.length === 0 && !isHeadless && !isKind(spec, 'ExternalName')) errors.push(required('spec.ports'));
  if (isHeadless && isKind(spec, 'NodePort', 'LoadBalancer')) {
    errors.push(
      invalidValue('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${stringOf(spec['type'])} services`),
    );
  }
  if (isKind(spec, 'ExternalName')) {
    const name = stringOf(spec['externalName']);
    if (name === '') errors.push(required('spec.externalName'));
    else for (const message of dns1123Subdomain(name)) errors.push(invalidValue('spec.externalName', name, message));
  }
  const names = new Set<string>();
  const numbers = new Set<string>();
  for (const [index, port] of ports.entries()) {
    errors.push(...validatePort(port, index, ports.length === 1));
    const name = stringOf(port['name']);
    if (name !== '' && names.has(name)) errors.push(duplicate(`spec.ports[${index}].name`, name));
    names.add(name);
    const identity = `${stringOf(port['protocol'])}/${numberOf(port['port'])}`;
    if (numbers.has(identity)) {
      errors.push(duplicate(`spec.ports[${index}]`, { protocol: port['protocol'], port: port['port'] }));
    }
    numbers.add(identity);
  }
  errors.push(
    ...validateLabels(spec['selector'], 'spec.selector'),
    ...oneOf(spec['sessionAffinity'], 'spec.sessionAffinity', ['ClientIP', 'None']),
    ...oneOf(spec['type'], 'spec.type', serviceTypes),
  );
  if (errors.length > 0) return errors;
  return [...validateIps(spec, context, old), ...validateNodePorts(spec, context, old)];
}

function validateServiceChange(object: UntypedObject, old: UntypedObject): FieldError[] {
  const spec = objectOf(object['spec']);
  const before = objectOf(old['spec']);
  if (isKind(spec, 'ExternalName') || isKind(before, 'ExternalName')) return [];
  const [ip] = stringsOf(spec['clusterIPs']);
  const [was] = stringsOf(before['clusterIPs']);
  const errors: FieldError[] = [];
  if (was !== undefined && was !== '' && ip !== was) {
    errors.push(invalidValue('spec.clusterIPs[0]', stringsOf(spec['clusterIPs']), `may not change once set`));
  } else if (stringOf(spec['clusterIP']) !== stringOf(before['clusterIP'])) {
    errors.push(invalidValue('spec.clusterIP', spec['clusterIP'], 'field is immutable'));
  }
  return errors;
}

/** Addresses belong to load balancers alone; their mode is virtual IP unless stated otherwise. */
function validateLoadBalancer(object: UntypedObject): FieldError[] {
  const ingress = objectsOf(at(object, 'status', 'loadBalancer', 'ingress'));
  const field = 'status.loadBalancer.ingress';
  if (ingress.length > 0 && !isKind(objectOf(object['spec']), 'LoadBalancer')) {
    return [forbidden(field, "may only be used when `spec.type` is 'LoadBalancer'")];
  }
  return ingress.flatMap((each, index) => ingressErrors(each, `${field}[${index}]`));
}

const ipModes = ['Proxy', 'VIP'];

function ingressErrors(each: JsonObject, field: string): FieldError[] {
  const [ip, host] = [stringOf(each['ip']), stringOf(each['hostname'])];
  const errors: FieldError[] = [];
  if (ip !== '' && !isIPv4(ip) && !isIPv6(ip))
    errors.push(invalidValue(`${field}.ip`, ip, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'));
  const mode = each['ipMode'];
  // Its default comes with the type of the body, which may be another than the one that stays.
  if (mode === undefined) {
    if (ip !== '') errors.push(required(`${field}.ipMode`, 'must be specified when `ip` is set'));
  } else if (ip === '') errors.push(forbidden(`${field}.ipMode`, 'may not be specified when `ip` is not set'));
  else if (!ipModes.includes(stringOf(mode))) errors.push(notSupported(`${field}.ipMode`, stringOf(mode), ipModes));
  if (host === '') return errors;
  errors.push(...dns1123Subdomain(host).map((message) => invalidValue(`${field}.hostname`, host, message)));
  if (isIPv4(host) || isIPv6(host))
    errors.push(invalidValue(`${field}.hostname`, host, 'must be a DNS name, not an IP address'));
  return errors;
}

/**
 * A headless service without a selector is of both families; with a selector that would take addresses of both, and
 * there is only one range. Upstream fails at once, before it validates.
 */
function refuseDualStack(object: UntypedObject, spec: JsonObject, given: readonly string[]): void {
  const policy = stringOf(spec['ipFamilyPolicy']);
  const isHeadless = stringOf(spec['clusterIP']) === 'None';
  const hasSelector = Object.keys(objectOf(spec['selector'])).length > 0;
  if (policy !== 'RequireDualStack' || (isHeadless && !hasSelector)) return;
  throw invalid({ group: '', kind: 'Service' }, object.metadata.name ?? '', [
    ...given.flatMap((family, index) =>
      family === 'IPv6' ? [invalidValue(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster')] : [],
    ),
    invalidValue('spec.ipFamilyPolicy', policy, 'this cluster is not configured for dual-stack services'),
  ]);
}

function defaultIpMode(object: UntypedObject): void {
  if (!isKind(objectOf(object['spec']), 'LoadBalancer')) return;
  for (const each of objectsOf(at(object, 'status', 'loadBalancer', 'ingress'))) {
    if (stringOf(each['ip']) !== '' && each['ipMode'] === undefined) each['ipMode'] = 'VIP';
  }
}

const service: KindStrategy = {
  nameRule: labelName,
  allowCreateOnUpdate: true,
  default: defaultIpMode,
  prepareForCreate(object, context) {
    const spec = ensureObject(object, 'spec');
    object['status'] = { loadBalancer: {} };
    allocateIp(spec, context);
    allocateNodePorts(spec, context);
  },
  prepareForUpdate(object, old, context) {
    const spec = ensureObject(object, 'spec');
    const before = objectOf(old['spec']);
    const givenFamilies = stringsOf(spec['ipFamilies']);
    release(spec, before);
    keepAllocated(spec, before);
    refuseDualStack(object, spec, givenFamilies);
    // Addresses of a load balancer go with it.
    if (isKind(before, 'LoadBalancer') && !isKind(spec, 'LoadBalancer')) object['status'] = { loadBalancer: {} };
    allocateIp(spec, context);
    allocateNodePorts(spec, context);
  },
  validate: validateService,
  warnings: serviceWarnings,
  status: { validateUpdate: validateLoadBalancer },
  validateChange: validateServiceChange,
  fields: {
    'spec.clusterIP': (object) => stringOf(at(object, 'spec', 'clusterIP')),
    'spec.type': (object) => stringOf(at(object, 'spec', 'type')),
  },
};

const addressTypes = ['FQDN', 'IPv4', 'IPv6'];

const endpointSlice: KindStrategy = {
  generation: 'content',
  validate(object) {
    const type = stringOf(object['addressType']);
    const errors =
      type === ''
        ? [required('addressType')]
        : addressTypes.includes(type)
          ? []
          : [notSupported('addressType', type, addressTypes)];
    for (const [index, endpoint] of objectsOf(object['endpoints']).entries()) {
      const addresses = stringsOf(endpoint['addresses']);
      const field = `endpoints[${index}].addresses`;
      if (addresses.length === 0) errors.push(required(field, 'must contain at least 1 address'));
      for (const [at, address] of addresses.entries()) {
        const isValid = type === 'IPv4' ? isIPv4(address) : type !== 'IPv6' || isIPv6(address);
        if (!isValid) errors.push(invalidValue(`${field}[${at}]`, address, `must be an ${type} address`));
      }
    }
    return errors;
  },
  validateChange: (object, old) =>
    object['addressType'] === old['addressType']
      ? []
      : [invalidValue('addressType', object['addressType'], 'field is immutable')],
};

/** Services and their endpoints. */
export const serviceStrategies: Readonly<Record<string, KindStrategy>> = {
  '/Service': service,
  '/Endpoints': { allowCreateOnUpdate: true },
  'discovery.k8s.io/EndpointSlice': endpointSlice,
};
