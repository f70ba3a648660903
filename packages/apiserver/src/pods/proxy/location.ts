// Target of a request for `proxy` of a pod, of a Service, or of a node. Mirrors ResourceLocation of their registries.
import { BlockList, isIP, isIPv6 } from 'node:net';
import type { UntypedObject } from '@kctl/apimachinery';
import { arrayOf, at, objectOf, stringOf, goQuoted } from '@kctl/crd/internal/engine';
import { storageKeyOf, type Backend, type ResourceCall } from '../../handlers/call.js';
import { badRequest, notFound } from '../../protocol/status.js';
import { serviceUnavailable } from '../../protocol/http-statuses.js';
import { kubeletOf } from '../place.js';

/** Target of a request. */
export interface Location {
  readonly scheme: 'http' | 'https';
  /** `address:port`, as errors show it; without a port that of the scheme. */
  readonly host: string;
  readonly port: number;
  /** The pod behind the address; undefined for a node. */
  readonly pod: { readonly namespace: string; readonly name: string } | undefined;
}

/** `name`, `name:port` or `scheme:name:port`. */
interface Asked {
  readonly scheme: 'http' | 'https';
  readonly name: string;
  /** A number, or the name of a port; '' if no port is named. */
  readonly port: string;
}

/** Addresses that are not those of a pod. A request to them would reach the API server's machine or network. */
const refused = new BlockList();
refused.addSubnet('127.0.0.0', 8);
refused.addSubnet('169.254.0.0', 16);
refused.addSubnet('224.0.0.0', 4);
refused.addAddress('0.0.0.0');
refused.addAddress('255.255.255.255');
refused.addAddress('::', 'ipv6');
refused.addAddress('::1', 'ipv6');
refused.addSubnet('fe80::', 10, 'ipv6');
refused.addSubnet('ff00::', 8, 'ipv6');

/** Target of a request for the subresource `proxy`. @throws StatusError */
export function locate(backend: Backend, call: Pick<ResourceCall, 'definition' | 'path'>): Location {
  const { definition, path } = call;
  const asked = askedOf(path.name);
  if (asked === undefined) throw badRequest(`invalid ${definition.singular} request ${goQuoted(path.name)}`);
  switch (definition.plural) {
    case 'services':
      return serviceLocation(backend, { asked, id: path.name, namespace: path.namespace });
    case 'nodes':
      return nodeLocation(backend, asked);
    default:
      return podLocation(backend, asked, path.namespace);
  }
}

function askedOf(id: string): Asked | undefined {
  const parts = id.split(':');
  const [scheme = '', name = '', port = ''] = parts.length < 3 ? ['', ...parts] : parts;
  if (parts.length > 3 || name === '' || !['', 'http', 'https'].includes(scheme)) return undefined;
  return { scheme: scheme === 'https' ? 'https' : 'http', name, port };
}

function podLocation(backend: Backend, { scheme, name, port }: Asked, namespace: string): Location {
  const pod = requireObject(backend, 'pods', { namespace, name });
  const first = containerPorts(pod)[0];
  const wanted = port === '' && first !== undefined ? String(at(first, 'containerPort')) : port;
  const address = addressesOf(pod)[0] ?? '';
  // A script answers for the pod, whose address is then of no account.
  if (!backend.pods.covers({ namespace, name }) && !isAllowed(address)) throw badRequest('address not allowed');
  return { scheme, ...hostOf(scheme, address === '' ? name : address, wanted), pod: { namespace, name } };
}

interface AskedService {
  readonly asked: Asked;
  readonly id: string;
  readonly namespace: string;
}

function serviceLocation(backend: Backend, { asked, id, namespace }: AskedService): Location {
  const { scheme, name, port } = asked;
  const portName = /^[+-]?\d+$/.test(port) ? servicePortName(backend, asked, namespace) : port;
  const none = `no endpoints available for service `;
  const endpoints = find(backend, 'endpoints', { namespace, name });
  const subsets = listAt(endpoints, 'subsets');
  if (subsets.length === 0) {
    const scripted = scriptedEndpoint(backend, { namespace, name, portName });
    if (scripted !== undefined) return { scheme, ...scripted };
    // Upstream names services, although it looks for Endpoints, because the message is made from the request.
    if (endpoints === undefined) throw notFound({ group: '', plural: 'services' }, name);
    throw serviceUnavailable(none + goQuoted(name));
  }
  for (const subset of subsets) {
    const found = listAt(subset, 'ports').find((each) => stringOf(at(each, 'name')) === portName);
    if (found === undefined) continue;
    for (const address of listAt(subset, 'addresses')) {
      const pod = podBehind(backend, address, namespace);
      const ip = stringOf(at(address, 'ip'));
      if (pod !== undefined) return { scheme, ...hostOf(scheme, ip, String(at(found, 'port'))), pod };
    }
  }
  throw serviceUnavailable(none + goQuoted(id));
}

/** The name of a Service's port that is given as a number. */
function servicePortName(backend: Backend, { name, port }: Asked, namespace: string): string {
  const service = requireObject(backend, 'services', { namespace, name });
  const found = listAt(service, 'spec', 'ports').find((each) => at(each, 'port') === Number(port));
  if (found === undefined)
    throw serviceUnavailable(`no service port ${Number(port)} found for service ${goQuoted(name)}`);
  return stringOf(at(found, 'name'));
}

/** The pod of an address of Endpoints; undefined if it is not that of a pod of the namespace. */
function podBehind(backend: Backend, address: unknown, namespace: string): Location['pod'] {
  const name = stringOf(at(address, 'targetRef', 'name'));
  if (name === '' || stringOf(at(address, 'targetRef', 'namespace')) !== namespace) return undefined;
  const pod = find(backend, 'pods', { namespace, name });
  if (pod === undefined || !addressesOf(pod).includes(stringOf(at(address, 'ip')))) return undefined;
  return { namespace, name };
}

/**
 * If no controller writes Endpoints, a script also stands for them, with the first pod of the selector that has a
 * script.
 */
function scriptedEndpoint(
  backend: Backend,
  { namespace, name, portName }: { readonly namespace: string; readonly name: string; readonly portName: string },
): Omit<Location, 'scheme'> | undefined {
  const service = find(backend, 'services', { namespace, name });
  const port = listAt(service, 'spec', 'ports').find((each) => stringOf(at(each, 'name')) === portName);
  const selector = Object.entries(objectOf(at(service, 'spec', 'selector')));
  if (port === undefined || selector.length === 0) return undefined;
  const definition = backend.registry.find('', 'v1', 'pods');
  if (definition === undefined) return undefined;
  for (const [, { object }] of backend.store.table(definition.storageKey).scan({ prefix: `${namespace}/` })) {
    const key = { namespace, name: object.metadata.name ?? '' };
    const { labels = {} } = object.metadata;
    if (!selector.every(([label, value]) => labels[label] === value) || !backend.pods.covers(key)) continue;
    const target = at(port, 'targetPort') ?? at(port, 'port');
    const named = containerPorts(object).find((each) => at(each, 'name') === target);
    const number = named === undefined ? target : at(named, 'containerPort');
    return { ...hostOf('http', addressesOf(object)[0] ?? key.name, String(number)), pod: key };
  }
  return undefined;
}

function nodeLocation(backend: Backend, { scheme, name, port }: Asked): Location {
  requireObject(backend, 'nodes', { namespace: '', name });
  const kubelet = kubeletOf(backend, name);
  const mark = kubelet.lastIndexOf(':');
  const address = kubelet.slice(0, mark);
  const own = kubelet.slice(mark + 1);
  if (isIP(address) !== 0 && !isAllowed(address)) throw badRequest('address not allowed');
  if (port === '' || port === own) return { scheme: 'https', ...hostOf('https', address, own), pod: undefined };
  return { scheme, ...hostOf(scheme, address, port), pod: undefined };
}

function hostOf(scheme: string, address: string, port: string): Pick<Location, 'host' | 'port'> {
  const host = isIPv6(address) ? `[${address}]` : address;
  if (port === '') return { host, port: scheme === 'https' ? 443 : 80 };
  return { host: `${host}:${port}`, port: Number(port) };
}

function isAllowed(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && !refused.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

function addressesOf(pod: UntypedObject): readonly string[] {
  const all = listAt(pod, 'status', 'podIPs').map((each) => stringOf(at(each, 'ip')));
  const only = stringOf(at(pod, 'status', 'podIP'));
  return all.length > 0 || only === '' ? all : [only];
}

function containerPorts(pod: UntypedObject): readonly unknown[] {
  return listAt(pod, 'spec', 'containers').flatMap((container) => listAt(container, 'ports'));
}

function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  return arrayOf(at(value, ...path));
}

interface Key {
  readonly namespace: string;
  readonly name: string;
}

function find(backend: Backend, plural: string, { namespace, name }: Key): UntypedObject | undefined {
  const definition = backend.registry.find('', 'v1', plural);
  if (definition === undefined) return undefined;
  return backend.store.table(definition.storageKey).get(storageKeyOf(namespace, name))?.object;
}

function requireObject(backend: Backend, plural: string, key: Key): UntypedObject {
  const object = find(backend, plural, key);
  if (object === undefined) throw notFound({ group: '', plural }, key.name);
  return object;
}
