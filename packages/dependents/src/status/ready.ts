import { isJsonObject } from '@kctl/apimachinery/internal';
import { readiness } from '@kctl/client';
import type { AnyObject, ChildNode } from '../definition/node.js';
import type { NodeResult } from '../results.js';

type Ready = Pick<NodeResult, 'state' | 'reason' | 'message' | 'data'>;

const isReady: Ready = { state: 'ready', reason: 'Ready', message: '' };

/** How far an object is, according to its node. */
export function stateOf(node: ChildNode, object: AnyObject): Ready {
  const report = node.ready === undefined ? byKind(object) : node.ready(object);
  if (report === true) return isReady;
  if (report === false) return { state: 'progressing', reason: 'NotReady', message: 'the object is not ready' };
  if (typeof report === 'string') return { state: 'progressing', reason: 'NotReady', message: report };
  if ('state' in report) return report;
  const { ready, reason, message, data } = report;
  return {
    state: ready ? 'ready' : 'progressing',
    reason: reason ?? (ready ? 'Ready' : 'NotReady'),
    message: message ?? '',
    ...(data === undefined ? {} : { data }),
  };
}

/** The convention of the kind. Of kinds that get an address, the address counts. */
function byKind(object: AnyObject): Ready {
  const { kind, spec, status }: { kind?: unknown; spec?: unknown; status?: unknown } = object;
  const isLoadBalancer = kind === 'Service' && isJsonObject(spec) && spec['type'] === 'LoadBalancer';
  if (isLoadBalancer || kind === 'Ingress') {
    const balancer = isJsonObject(status) ? status['loadBalancer'] : undefined;
    const addresses = isJsonObject(balancer) ? balancer['ingress'] : undefined;
    if (Array.isArray(addresses) && addresses.length > 0) return isReady;
    return { state: 'progressing', reason: 'NoAddress', message: 'the load balancer has no address' };
  }
  return readiness(object);
}
