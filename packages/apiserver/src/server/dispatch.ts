import { goTimeQuoted } from '@kctl/crd/internal/engine';
import { negotiate } from '../codecs/negotiate.js';
import { parseBoolParameter, parseGoDuration } from '../protocol/go-text.js';
import type { Subresource, Verb } from '../resource/resource.js';
import { answerProxy } from '../pods/proxy/answer-proxy.js';
import { answerConnect } from '../pods/connect.js';
import { badRequest, methodNotAllowed, notFound } from '../protocol/status.js';
import type { ApiRequest, Reply, User } from '../protocol/api-request.js';
import type { ResourcePath } from '../protocol/request-info.js';
import type { WatchTap } from '../watch/session.js';
import { answerAction, answerUnstored } from '../handlers/actions.js';
import type { Backend, RequestAudit, ResourceCall } from '../handlers/call.js';
import { remove, removeCollection } from '../handlers/delete.js';
import { isApply } from '../handlers/apply.js';
import { patchTypeOf } from '../handlers/patch.js';
import { get, list, watch } from '../handlers/read.js';
import { objectReply } from '../handlers/reply.js';
import { withWarnings } from '../protocol/warnings.js';
import { writeHereOrThere } from '../long-writes/write-here-or-there.js';
import { getView, viewReply } from '../handlers/view.js';
import { writePlanOf } from '../handlers/write-plan.js';

/** A request for a resource, before it is looked up. */
export interface ResourceRequest {
  readonly request: ApiRequest;
  readonly path: ResourcePath;
  readonly query: URLSearchParams;
  readonly user: User;
  readonly tap?: WatchTap;
  readonly audit: RequestAudit;
  /** @default 0 */
  readonly revisionsBehind?: number;
}

/** Upstream's word for what a request does; the journal, faults and later authorisation go by it. */
export function verbOf(method: string, path: ResourcePath, query: URLSearchParams): Verb | undefined {
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (path.isWatchPath) return 'watch';
      if (path.name !== '') return 'get';
      return parseBoolParameter(query, 'watch') ? 'watch' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return path.name === '' ? 'deletecollection' : 'delete';
    default:
      return undefined;
  }
}

/**
 * Answers a request for a resource; undefined if no such path is served (the bare `404 page not found`).
 *
 * @throws StatusError
 */
export async function dispatch(backend: Backend, resourceRequest: ResourceRequest): Promise<Reply | undefined> {
  const { request, user, tap, revisionsBehind = 0, audit } = resourceRequest;
  const { path, query } = watchPathAsQuery(resourceRequest);
  const definition = backend.registry.find(path.group, path.version, path.resource);
  if (definition === undefined) return undefined;
  const isCreate = request.method === 'POST';
  if (!definition.namespaced && path.namespace !== '') return undefined;
  if (definition.namespaced && path.namespace === '' && path.name !== '') return undefined;
  if (definition.namespaced && path.namespace === '' && isCreate && definition.isStored) {
    if (definition.isCustom) return undefined;
    throw methodNotAllowed();
  }
  const [subresource = ''] = path.subresource.split('/');
  if (subresource !== '' && !definition.subresources.has(subresource)) {
    if (definition.isCustom) throw notFound(definition, path.name);
    return undefined;
  }
  const streamed = definition.subresources.get(subresource);
  if (streamed?.type === 'connect' && streamed.name === 'proxy') {
    const texts: string[] = [];
    const proxied = { definition, path, query, request, user, audit, warnings: texts };
    return await warned(texts, () => answerProxy(backend, proxied));
  }
  checkTimeout(query);
  const verb = verbOf(request.method, path, query);
  if (verb === undefined) throw methodNotAllowed();
  const warnings: string[] = definition.deprecationWarning === undefined ? [] : [definition.deprecationWarning];
  const isStreamed = path.name === '' && (verb === 'list' || verb === 'watch');
  // As upstream, a patch of an unknown type is refused before an answer that cannot be given.
  const isPatched = verb === 'patch' && path.name !== '' && (subresource !== '' || definition.verbs.includes(verb));
  if (isPatched && !isApply({ request })) patchTypeOf({ request, definition });
  const negotiated = negotiate(request.header('accept'), { isCustom: definition.isCustom, isStreamed });
  const { offload } = backend;
  const facts = { path, definition, query, negotiated, request, user, offload };
  const call: ResourceCall = { ...facts, revisionsBehind, warnings, audit };
  return await warned(warnings, () =>
    path.subresource === '' ? answer(backend, call, { verb, tap }) : answerSubresource(backend, call, verb),
  );
}

/** An answer, or a failure, with the warnings that are collected on the way. */
async function warned(warnings: string[], reply: () => Promise<Reply | undefined>): Promise<Reply | undefined> {
  try {
    const answered = await reply();
    return answered === undefined ? undefined : withWarnings(answered, warnings);
  } catch (error) {
    throw new WarnedError(error, warnings);
  }
}

/** A failure, and the warnings that were collected before it, which go out with the Status. */
export class WarnedError extends Error {
  override readonly name = 'WarnedError';
  override readonly cause: unknown;
  readonly warnings: readonly string[];

  constructor(cause: unknown, warnings: readonly string[]) {
    super('failed with warnings');
    this.cause = cause;
    this.warnings = warnings;
  }
}

/** `/watch/…/name` is a watch with a field selector. */
function watchPathAsQuery({ path, query }: ResourceRequest): Pick<ResourceRequest, 'path' | 'query'> {
  if (!path.isWatchPath) return { path, query };
  const next = new URLSearchParams(query);
  next.set('watch', 'true');
  if (path.name !== '') next.set('fieldSelector', `metadata.name=${path.name}`);
  return { path: { ...path, name: '' }, query: next };
}

function checkTimeout(query: URLSearchParams): void {
  const text = query.get('timeout');
  if (text === null || text === '' || parseGoDuration(text) !== undefined) return;
  throw badRequest(`invalid timeout specified in the request URL - time: invalid duration ${goTimeQuoted(text)}`);
}

interface Wanted {
  readonly verb: Verb;
  readonly tap: WatchTap | undefined;
}

async function answer(backend: Backend, call: ResourceCall, { verb, tap }: Wanted): Promise<Reply> {
  const { definition, path } = call;
  if (verb === 'update' && path.name === '' && definition.isCustom) throw badRequest('name must be provided');
  if (!definition.verbs.includes(verb)) throw methodNotAllowed();
  if (!definition.isStored) return answerUnstored(backend, call);
  switch (verb) {
    case 'get':
      return get(backend, call);
    case 'list':
      return list(backend, call);
    case 'watch':
      return watch(backend, call, tap);
    case 'create':
      if (path.name !== '' && !definition.isCustom) throw methodNotAllowed();
      return write(backend, call);
    case 'update':
    case 'patch':
      return write(backend, call);
    case 'delete':
      return remove(backend, call);
    case 'deletecollection':
      return removeCollection(backend, call);
  }
}

/** A write of an object, or through a subresource that shows it. */
async function write(backend: Backend, call: ResourceCall): Promise<Reply> {
  const plan = writePlanOf(call);
  if (plan === undefined) throw methodNotAllowed();
  const written = await writeHereOrThere(backend, call, plan);
  const { view } = plan;
  return view === undefined
    ? objectReply(backend, call, written)
    : viewReply(backend, call, { view, rendering: written.rendering });
}

async function answerSubresource(backend: Backend, call: ResourceCall, verb: Verb): Promise<Reply | undefined> {
  const { definition, path } = call;
  const [name = ''] = path.subresource.split('/');
  const subresource = definition.subresources.get(name);
  if (subresource === undefined) throw notFound(definition, path.name);
  if (!subresource.verbs.includes(verb)) throw methodNotAllowed();
  return answerBy(backend, call, { subresource, verb });
}

function answerBy(
  backend: Backend,
  call: ResourceCall,
  { subresource, verb }: { readonly subresource: Subresource; readonly verb: Verb },
): Promise<Reply> {
  switch (subresource.type) {
    case 'self':
      return verb === 'get' ? get(backend, call) : write(backend, call);
    case 'view':
      return verb === 'get' ? getView(backend, call, subresource.view) : write(backend, call);
    case 'action':
      return answerAction(backend, call, subresource.name);
    case 'connect':
      return answerConnect(backend, call, subresource.name);
  }
}
