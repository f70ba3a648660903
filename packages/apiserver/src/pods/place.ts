// Target of a request for a pod, as pod, container and node. Mirrors pkg/registry/core/pod/strategy.go and the
// kubelet's client.
import { StatusError, type UntypedObject } from '@kctl/apimachinery';
import { at, stringOf } from '@kctl/crd/internal/engine';
import type { Backend, ResourceCall } from '../handlers/call.js';
import { requirePresent } from '../handlers/update.js';
import { badRequest, notFound } from '../protocol/status.js';

/** The names of all containers, which may be init, regular or ephemeral. */
function containersOf(pod: UntypedObject, lists: readonly string[]): readonly string[] {
  return lists.flatMap((list) => {
    const containers = at(pod, 'spec', list);
    return Array.isArray(containers) ? containers.map((container) => stringOf(at(container, 'name'))) : [];
  });
}

/** The container that a request means. @throws StatusError 400, if it is ambiguous or does not exist */
export function requireContainer(pod: UntypedObject, asked: string): string {
  const name = pod.metadata.name ?? '';
  const all = containersOf(pod, ['initContainers', 'containers', 'ephemeralContainers']);
  if (asked !== '') {
    if (!all.includes(asked)) throw badRequest(`container ${asked} is not valid for pod ${name}`);
    return asked;
  }
  const [first = '', ...others] = containersOf(pod, ['containers']);
  if (others.length > 0)
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${all.join(' ')}]`);
  return first;
}

/** The pod of a request. @throws StatusError 404 */
export function requirePod(backend: Backend, call: ResourceCall): UntypedObject {
  return requirePresent(backend, call).object;
}

/** The node of a pod; '' if it is on no node. */
export function nodeOf(pod: UntypedObject): string {
  return stringOf(at(pod, 'spec', 'nodeName'));
}

/** kubelet's port, if a node does not state another one. */
const kubeletPort = 10_250;
/** The types of addresses in the order of kube-apiserver's default. */
const addressTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'];

/** `host:port` of the kubelet of a node. @throws StatusError 404 for a node that does not exist, 500 for one without addresses */
export function kubeletOf(backend: Backend, node: string): string {
  const definition = backend.registry.find('', 'v1', 'nodes');
  const present = definition === undefined ? undefined : backend.store.table(definition.storageKey).get(node);
  // Upstream names pods, because the message is made from the request.
  if (present === undefined) throw notFound({ group: '', plural: 'pods' }, node);
  const listed = at(present.object, 'status', 'addresses');
  const addresses: readonly unknown[] = Array.isArray(listed) ? listed : [];
  for (const type of addressTypes) {
    const found = addresses.find((each) => at(each, 'type') === type);
    if (found === undefined) continue;
    const port = at(present.object, 'status', 'daemonEndpoints', 'kubeletEndpoint', 'Port');
    return `${stringOf(at(found, 'address'))}:${typeof port === 'number' && port > 0 ? port : kubeletPort}`;
  }
  const known = addresses.map((each) => `{${stringOf(at(each, 'type'))} ${stringOf(at(each, 'address'))}}`);
  throw plainError(`no preferred addresses found; known addresses: [${known.join(' ')}]`);
}

/** 500 without a reason, as upstream words an error that it does not know. */
export function plainError(message: string): StatusError {
  return new StatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 });
}

/** Message of a dial to a missing kubelet. */
export function refusedDial(kubelet: string): string {
  return `dial tcp ${kubelet}: connect: connection refused`;
}
