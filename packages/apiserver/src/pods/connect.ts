import { goQuoted } from '@kctl/crd/internal/engine';
import { queryOfOptions } from '../admission/connect-options.js';
import type { Backend, ResourceCall } from '../handlers/call.js';
import { badRequest, internalError, notImplemented } from '../protocol/status.js';
import { forbiddenRequest, resourceAttributes } from '../authorization/attributes.js';
import type { Reply } from '../protocol/api-request.js';
import { admitConnect } from './admit-connect.js';
import { answerLog } from './log.js';
import { kubeletOf, nodeOf, plainError, refusedDial, requireContainer, requirePod } from './place.js';
import { answerPortForward } from './port-forward.js';
import { answerProcess } from './processes.js';

/** Subresources that lead to a kubelet. There is no kubelet, so scripts answer for it. @throws StatusError */
export async function answerConnect(backend: Backend, call: ResourceCall, name: string): Promise<Reply> {
  if (call.definition.plural !== 'pods' || call.definition.group !== '') throw missing(call, name);
  switch (name) {
    case 'log':
      return await answerLog(backend, call);
    case 'exec':
    case 'attach':
    case 'portforward':
      return answerUpgrade(backend, await admitted(backend, call, name), name);
    default:
      throw missing(call, name);
  }
}

/** The call as admission leaves it. @throws StatusError */
async function admitted(backend: Backend, call: ResourceCall, name: string): Promise<ResourceCall> {
  const found = call.definition.subresources.get(name);
  if (found?.type !== 'connect') throw missing(call, name);
  const options = await admitConnect(backend, call, { subresource: name, kind: found.kind });
  return options === undefined ? call : { ...call, query: queryOfOptions(options) };
}

function missing({ definition }: ResourceCall, name: string): Error {
  return notImplemented(`${definition.plural}/${name} is not implemented by this server yet`);
}

function answerUpgrade(backend: Backend, call: ResourceCall, name: 'exec' | 'attach' | 'portforward'): Reply {
  const { path, query, request } = call;
  requireCreate(backend, call, name);
  const pod = requirePod(backend, call);
  const container = name === 'portforward' ? '' : requireContainer(pod, query.get('container') ?? '');
  const node = nodeOf(pod);
  if (node === '') throw badRequest(`pod ${path.name} does not have a host assigned`);
  const isScripted = backend.pods.covers(path);
  const kubelet = isScripted ? '' : kubeletOf(backend, node);
  const upgrade = request.canUpgrade === true ? (request.header('upgrade') ?? '').toLowerCase() : '';
  if (upgrade === '') throw badRequest('Upgrade request required');
  if (upgrade !== 'websocket')
    throw notImplemented(`${upgrade} is not implemented by this server: use WebSockets, as kubectl does by default`);
  const of = { namespace: path.namespace, name: path.name, container };
  if (name === 'portforward') {
    if (!isScripted) throw plainError(`error dialing backend: ${refusedDial(kubelet)}`);
    return answerPortForward(backend, call);
  }
  const url = `https://${kubelet}/${name}/${of.namespace}/${of.name}/${container}?${query.toString()}`;
  const failure = (): Error => internalError(`error sending request: Post ${goQuoted(url)}: ${refusedDial(kubelet)}`);
  return answerProcess(backend, call, { of, what: name, failure: isScripted ? undefined : failure });
}

/** A stream may do anything, so that a right to `get` it is not enough. Mirrors AuthorizePodWebsocketUpgradeCreatePermission. */
function requireCreate(backend: Backend, { path, user }: ResourceCall, subresource: string): void {
  const attributes = resourceAttributes(user, 'create', {
    version: path.version,
    resource: 'pods',
    subresource,
    namespace: path.namespace,
    name: path.name,
  });
  const { allowed, reason } = backend.access.authorizer.authorize(attributes);
  if (!allowed) throw forbiddenRequest(attributes, reason);
}
