import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { UntypedObject } from '@kctl/apimachinery';
import { formatTime } from '../protocol/go-text.js';
import type { Backend } from '../handlers/call.js';
import { isDeepEqual } from '../json/equality.js';

/** Address of a server. */
export interface Reachable {
  readonly host: string;
  readonly port: number;
}

const serviceIp = '10.0.0.1';
const serviceRange = '10.0.0.0/16';

/** The port of the Service if the server does not listen at all. */
const usualPort = 6443;

/** The address that a server advertises, which is its host, or one of this machine if that is loopback or any. */
function advertised(host: string): string {
  const isOpen =
    host === '0.0.0.0' || host === '::' || host === '::1' || host.startsWith('127.') || host === 'localhost';
  if (!isOpen) return host;
  for (const addresses of Object.values(networkInterfaces()))
    for (const { address, family, internal } of addresses ?? []) if (!internal && family === 'IPv4') return address;
  return host === 'localhost' ? '127.0.0.1' : host;
}

interface Wanted {
  readonly table: string;
  readonly key: string;
  readonly object: UntypedObject;
}

/** The range of the addresses of Services, and the address that the Service of the server has of it. */
function serviceAddresses(now: string): readonly Wanted[] {
  return [
    {
      table: 'networking.k8s.io/servicecidrs',
      key: 'kubernetes',
      object: {
        kind: 'ServiceCIDR',
        apiVersion: 'networking.k8s.io/v1',
        metadata: { name: 'kubernetes' },
        spec: { cidrs: [serviceRange] },
        status: {
          conditions: [
            {
              type: 'Ready',
              status: 'True',
              lastTransitionTime: now,
              reason: '',
              message: 'Kubernetes default Service CIDR is ready',
            },
          ],
        },
      },
    },
    {
      table: 'networking.k8s.io/ipaddresses',
      key: serviceIp,
      object: {
        kind: 'IPAddress',
        apiVersion: 'networking.k8s.io/v1',
        metadata: {
          name: serviceIp,
          labels: {
            'ipaddress.kubernetes.io/ip-family': 'IPv4',
            'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
          },
        },
        spec: { parentRef: { resource: 'services', namespace: 'default', name: 'kubernetes' } },
      },
    },
  ];
}

function kubernetesService(port: number): Wanted {
  return {
    table: '/services',
    key: 'default/kubernetes',
    object: {
      kind: 'Service',
      apiVersion: 'v1',
      metadata: { ...metadata, labels: { component: 'apiserver', provider: 'kubernetes' } },
      spec: {
        ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: port }],
        clusterIP: serviceIp,
        clusterIPs: [serviceIp],
        type: 'ClusterIP',
        sessionAffinity: 'None',
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
        internalTrafficPolicy: 'Cluster',
      },
      status: { loadBalancer: {} },
    },
  };
}

/** The same in both forms, of which clients read one. */
function kubernetesEndpoints(address: string, port: number): readonly Wanted[] {
  const ports = [{ name: 'https', port, protocol: 'TCP' }];
  return [
    {
      table: '/endpoints',
      key: 'default/kubernetes',
      object: {
        kind: 'Endpoints',
        apiVersion: 'v1',
        metadata: { ...metadata, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
        subsets: [{ addresses: [{ ip: address }], ports }],
      },
    },
    {
      table: 'discovery.k8s.io/endpointslices',
      key: 'default/kubernetes',
      object: {
        kind: 'EndpointSlice',
        apiVersion: 'discovery.k8s.io/v1',
        metadata: { ...metadata, generation: 1, labels: { 'kubernetes.io/service-name': 'kubernetes' } },
        addressType: isIPv6(address) ? 'IPv6' : 'IPv4',
        endpoints: [{ addresses: [address], conditions: { ready: true } }],
        ports: [{ name: 'https', protocol: 'TCP', port }],
      },
    },
  ];
}

const metadata = { name: 'kubernetes', namespace: 'default' };

function wantedObjects({ host, port: boundPort }: Reachable, now: string): readonly Wanted[] {
  const port = boundPort === 0 ? usualPort : boundPort;
  return [...serviceAddresses(now), kubernetesService(port), ...kubernetesEndpoints(advertised(host), port)];
}

/**
 * Keeps Service, Endpoints and EndpointSlice `default/kubernetes` as a real server does at each start. They are created
 * if missing, and the endpoints follow the address and the port of the server.
 */
export function bootKubernetesService({ store, clock, newUid }: Backend, reachable: Reachable): void {
  const now = formatTime(clock.now());
  for (const { table, key, object } of wantedObjects(reachable, now)) {
    const present = store.table(table).get(key);
    if (present === undefined) {
      const metadata = { ...object.metadata, uid: newUid(), creationTimestamp: now };
      store.commit({ table, key, expected: 0, object: { ...object, metadata } });
      continue;
    }
    // An existing Service belongs to the user; the addresses of the server do not.
    const isEndpoints = object.kind === 'Endpoints' || object.kind === 'EndpointSlice';
    const next: UntypedObject = { ...object, metadata: present.object.metadata };
    if (!isEndpoints || isDeepEqual(next, present.object)) continue;
    store.commit({ table, key, expected: present.revision, object: structuredClone(next) });
  }
}
