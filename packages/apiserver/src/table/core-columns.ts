import type { UntypedObject } from '@kctl/apimachinery';
import {
  at,
  compareText,
  isObject,
  numberOf,
  objectOf,
  objectsOf,
  stringOf,
  stringsOf,
} from '@kctl/crd/internal/engine';
import { ageColumn, firstOf, integer, nameColumn, orElse, text, wide, type PrintedColumn } from './column.js';
import { ageOf } from './duration.js';
import { formatLabels } from './workload-columns.js';

function size(...names: readonly string[]): PrintedColumn['cell'] {
  return (object) => names.reduce((sum, name) => sum + Object.keys(objectOf(object[name])).length, 0);
}

function loadBalancer(object: UntypedObject): string {
  const names = objectsOf(at(object, 'status', 'loadBalancer', 'ingress')).map((each) => {
    const ip = stringOf(each['ip']);
    return ip === '' ? stringOf(each['hostname']) : ip;
  });
  return [...new Set(names)]
    .filter((name) => name !== '')
    .sort(compareText)
    .join(',');
}

function externalIp(object: UntypedObject): string {
  const external = stringsOf(at(object, 'spec', 'externalIPs'));
  switch (at(object, 'spec', 'type')) {
    case 'ClusterIP':
    case 'NodePort':
      return orElse(external.join(','));
    case 'LoadBalancer': {
      const own = loadBalancer(object);
      return orElse([...(own === '' ? [] : [own]), ...external].join(','), '<pending>');
    }
    case 'ExternalName':
      return stringOf(at(object, 'spec', 'externalName'));
    default:
      return '<unknown>';
  }
}

function servicePorts(object: UntypedObject): string {
  const ports = objectsOf(at(object, 'spec', 'ports')).map((port) => {
    const nodePort = numberOf(port['nodePort']) ?? 0;
    return `${numberOf(port['port']) ?? 0}${nodePort > 0 ? `:${nodePort}` : ''}/${stringOf(port['protocol'])}`;
  });
  return orElse(ports.join(','));
}

function endpoints(object: UntypedObject): string {
  const all = objectsOf(object['subsets']).flatMap((subset) => {
    const addresses = objectsOf(subset['addresses']).map((each) => stringOf(each['ip']));
    const ports = objectsOf(subset['ports']).map((each) => numberOf(each['port']) ?? 0);
    if (ports.length === 0) return addresses;
    const host = (ip: string): string => (ip.includes(':') ? `[${ip}]` : ip);
    return ports.flatMap((port) => addresses.map((ip) => `${host(ip)}:${port}`));
  });
  return objectsOf(object['subsets']).length === 0 ? '<none>' : all.length === 0 ? '' : firstOf(all, 3);
}

function slicePorts(object: UntypedObject): string {
  const ports = objectsOf(object['ports']).map((port) => {
    const number = numberOf(port['port']);
    return number === undefined ? orElse(port['name'], '*') : `${number}`;
  });
  return orElse(ports.length === 0 ? '' : firstOf(ports, 3), '<unset>');
}

function sliceEndpoints(object: UntypedObject): string {
  const all = objectsOf(object['endpoints']).flatMap((each) => stringsOf(each['addresses']));
  return all.length === 0 ? '<unset>' : firstOf(all, 3);
}

function nodeStatus(object: UntypedObject): string {
  const ready = objectsOf(at(object, 'status', 'conditions')).find((each) => each['type'] === 'Ready');
  const status = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady';
  return at(object, 'spec', 'unschedulable') === true ? `${status},SchedulingDisabled` : status;
}

const rolePrefix = 'node-role.kubernetes.io/';

function nodeRoles(object: UntypedObject): string {
  const roles = new Set<string>();
  for (const [label, value] of Object.entries(object.metadata.labels ?? {})) {
    if (label.startsWith(rolePrefix)) roles.add(label.slice(rolePrefix.length));
    else if (label === 'kubernetes.io/role') roles.add(value);
  }
  roles.delete('');
  return orElse([...roles].sort(compareText).join(','));
}

function nodeInfo(name: string): string[] {
  return ['status', 'nodeInfo', name];
}

function address(type: string): PrintedColumn['cell'] {
  return (object) =>
    orElse(objectsOf(at(object, 'status', 'addresses')).find((each) => each['type'] === type)?.['address']);
}

function kernel(object: UntypedObject): string {
  const architecture = stringOf(at(object, ...nodeInfo('architecture')));
  const version = orElse(at(object, ...nodeInfo('kernelVersion')), '<unknown>');
  return architecture === '' ? version : `${version} (${architecture})`;
}

/** A field of an event of either version. */
function eventField(object: UntypedObject, core: string, other: string): unknown {
  const value = object[core];
  return value === undefined || value === null ? object[other] : value;
}

function firstSeen(object: UntypedObject, now: number): string {
  const first = stringOf(eventField(object, 'firstTimestamp', 'deprecatedFirstTimestamp'));
  return ageOf(first === '' ? object['eventTime'] : first, now);
}

function lastSeen(object: UntypedObject, now: number): string {
  const series = at(object, 'series', 'lastObservedTime');
  if (isObject(object['series'])) return ageOf(series, now);
  const last = stringOf(eventField(object, 'lastTimestamp', 'deprecatedLastTimestamp'));
  return last === '' ? firstSeen(object, now) : ageOf(last, now);
}

function eventTarget(object: UntypedObject): string {
  const target = objectOf(eventField(object, 'involvedObject', 'regarding'));
  const kind = stringOf(target['kind']).toLowerCase();
  const name = stringOf(target['name']);
  return name === '' ? kind : `${kind}/${name}`;
}

function eventSource(object: UntypedObject): string {
  const source = objectOf(eventField(object, 'source', 'deprecatedSource'));
  const component = orElse(
    source['component'],
    stringOf(eventField(object, 'reportingComponent', 'reportingController')),
  );
  const instance = orElse(source['host'], stringOf(object['reportingInstance']));
  return instance === '' ? component : `${component}, ${instance}`;
}

function eventCount(object: UntypedObject): number {
  const series = numberOf(at(object, 'series', 'count'));
  if (series !== undefined) return series;
  const count = numberOf(eventField(object, 'count', 'deprecatedCount')) ?? 0;
  return count === 0 ? 1 : count;
}

function quotas(isLimit: boolean): PrintedColumn['cell'] {
  return (object) => {
    const hard = objectOf(at(object, 'status', 'hard'));
    const used = objectOf(at(object, 'status', 'used'));
    return Object.keys(hard)
      .filter((name) => name.startsWith('limits.') === isLimit)
      .sort(compareText)
      .map((name) => `${name}: ${orElse(used[name], '0')}/${stringOf(hard[name])}`)
      .join(', ');
  };
}

/** Columns of the core kinds. */
export const coreColumns: Readonly<Record<string, readonly PrintedColumn[]>> = {
  '/ConfigMap': [nameColumn, text('Data', size('data', 'binaryData')), ageColumn],
  '/Secret': [nameColumn, text('Type', (object) => stringOf(object['type'])), text('Data', size('data')), ageColumn],
  '/ServiceAccount': [nameColumn, ageColumn],
  '/Namespace': [
    nameColumn,
    text('Status', (object) => stringOf(at(object, 'status', 'phase')), 'The status of the namespace'),
    ageColumn,
  ],
  '/Service': [
    nameColumn,
    text('Type', (object) => stringOf(at(object, 'spec', 'type'))),
    text('Cluster-IP', (object) => orElse(stringsOf(at(object, 'spec', 'clusterIPs'))[0])),
    text('External-IP', externalIp),
    text('Port(s)', servicePorts),
    ageColumn,
    wide(text('Selector', (object) => formatLabels(at(object, 'spec', 'selector')))),
  ],
  '/Endpoints': [nameColumn, text('Endpoints', endpoints), ageColumn],
  'discovery.k8s.io/EndpointSlice': [
    nameColumn,
    text('AddressType', (object) => stringOf(object['addressType'])),
    text('Ports', slicePorts),
    text('Endpoints', sliceEndpoints),
    ageColumn,
  ],
  '/Node': [
    nameColumn,
    text('Status', nodeStatus, 'The status of the node'),
    text('Roles', nodeRoles, 'The roles of the node'),
    ageColumn,
    text('Version', (object) => stringOf(at(object, ...nodeInfo('kubeletVersion')))),
    wide(text('Internal-IP', address('InternalIP'))),
    wide(text('External-IP', address('ExternalIP'))),
    wide(text('OS-Image', (object) => orElse(at(object, ...nodeInfo('osImage')), '<unknown>'))),
    wide(text('Kernel-Version', kernel)),
    wide(
      text('Container-Runtime', (object) => orElse(at(object, ...nodeInfo('containerRuntimeVersion')), '<unknown>')),
    ),
  ],
  ...Object.fromEntries(
    ['/Event', 'events.k8s.io/Event'].map((kind) => [
      kind,
      [
        text('Last Seen', lastSeen),
        text('Type', (object) => stringOf(object['type'])),
        text('Reason', (object) => stringOf(object['reason'])),
        text('Object', eventTarget),
        wide(
          text('Subobject', (object) => stringOf(at(eventField(object, 'involvedObject', 'regarding'), 'fieldPath'))),
        ),
        wide(text('Source', eventSource)),
        text('Message', (object) => stringOf(eventField(object, 'message', 'note')).trim()),
        wide(text('First Seen', firstSeen)),
        wide(text('Count', eventCount)),
        wide(nameColumn),
      ],
    ]),
  ),
  '/ResourceQuota': [
    nameColumn,
    text('Request', quotas(false), 'Request represents a minimum amount of cpu/memory that a container may consume.'),
    text(
      'Limit',
      quotas(true),
      'Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node.',
    ),
    ageColumn,
  ],
  'coordination.k8s.io/Lease': [
    nameColumn,
    text('Holder', (object) => stringOf(at(object, 'spec', 'holderIdentity'))),
    ageColumn,
  ],
  'networking.k8s.io/Ingress': [
    nameColumn,
    text(
      'Class',
      (object) => orElse(at(object, 'spec', 'ingressClassName')),
      'The name of the IngressClass resource that should be used for additional configuration',
    ),
    text(
      'Hosts',
      (object) => {
        const hosts = objectsOf(at(object, 'spec', 'rules')).map((rule) => stringOf(rule['host']));
        const named = hosts.filter((host) => host !== '');
        return named.length === 0 ? '*' : firstOf(named, 3);
      },
      'Hosts that incoming requests are matched against before the ingress rule',
    ),
    text('Address', loadBalancer, 'Address is a list containing ingress points for the load-balancer'),
    text(
      'Ports',
      (object) => (objectsOf(at(object, 'spec', 'tls')).length > 0 ? '80, 443' : '80'),
      'Ports of TLS configurations that open',
    ),
    ageColumn,
  ],
  'networking.k8s.io/IngressClass': [
    nameColumn,
    text(
      'Controller',
      (object) => stringOf(at(object, 'spec', 'controller')),
      'Controller that is responsible for handling this class',
    ),
    text(
      'Parameters',
      (object) => {
        const parameters = at(object, 'spec', 'parameters');
        if (!isObject(parameters)) return '<none>';
        const group = stringOf(parameters['apiGroup']);
        const kind = stringOf(parameters['kind']);
        return `${group === '' ? kind : `${kind}.${group}`}/${stringOf(parameters['name'])}`;
      },
      'A reference to a resource with additional parameters',
    ),
    ageColumn,
  ],
  'networking.k8s.io/NetworkPolicy': [
    nameColumn,
    text('Pod-Selector', (object) => formatLabels(at(object, 'spec', 'podSelector'))),
    ageColumn,
  ],
  'scheduling.k8s.io/PriorityClass': [
    nameColumn,
    integer('Value', (object) => numberOf(object['value']) ?? 0),
    { ...text('Global-Default', (object) => object['globalDefault'] === true), type: 'boolean' },
    ageColumn,
    text('PreemptionPolicy', (object) => stringOf(object['preemptionPolicy'])),
  ],
  'node.k8s.io/RuntimeClass': [nameColumn, text('Handler', (object) => stringOf(object['handler'])), ageColumn],
};
