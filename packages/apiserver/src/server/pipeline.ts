import { randomUUID } from 'node:crypto';
import type { Clock } from '@kctl/wait';
import { anonymousUser } from '../authentication/user-names.js';
import { forbiddenRequest, requestAttributes, type Attributes } from '../authorization/attributes.js';
import { discover } from '../discovery/discovery.js';
import { createOpenApi } from '../discovery/openapi/openapi.js';
import { crdTable, type Backend, type RequestAudit } from '../handlers/call.js';
import { dispatch, verbOf, WarnedError } from './dispatch.js';
import { negotiatedStatusReply, toStatusError } from '../handlers/reply.js';
import { withWarnings } from '../protocol/warnings.js';
import { createImpersonator, type Impersonator } from '../impersonation/impersonate.js';
import { wantedUserOf } from '../impersonation/wanted-user.js';
import type { WritableJournal } from '../journal/journal.js';
import type { Verb } from '../resource/resource.js';
import { notFound, serviceUnavailable, timedOut } from '../protocol/http-statuses.js';
import type { FaultEngine, FaultPlan } from '../faults/engine.js';
import type { ApiRequest, Reply, User } from '../protocol/api-request.js';
import { openId } from '../authentication/openid.js';
import { pageNotFound } from '../protocol/plain-reply.js';
import { health, pathList, version } from './health.js';
import {
  decodePath,
  parseResourcePath,
  pathSegments,
  splitTarget,
  type ResourcePath,
} from '../protocol/request-info.js';

/** Parts of the chain of filters and handlers. */
export interface PipelineParts {
  readonly backend: Backend;
  readonly journal: WritableJournal;
  readonly faults: FaultEngine;
  readonly clock: Clock;
  /** `host:port`, for discovery. */
  readonly serverAddress: () => string;
  /** URL of the keys of the token issuer, for its discovery. */
  readonly jwksUri: () => string;
  readonly isReady: () => boolean;
  readonly requestTimeoutMs: number;
  /** Called with what no client is to blame for. */
  readonly onError: (error: unknown) => void;
}

/** Answers every request, whatever it is, and never throws. */
export type Pipeline = (request: ApiRequest) => Promise<Reply>;

const openPaths = new Set(['healthz', 'livez', 'readyz', 'version']);

interface Parsed {
  readonly segments: readonly string[];
  /** Whether a segment of the path is empty, in which case no router finds anything there. */
  readonly hasGap: boolean;
  /** Without the query. */
  readonly decodedPath: string;
  readonly path: ResourcePath | undefined;
  readonly verb: Verb | undefined;
  readonly query: URLSearchParams;
}

/** Number of request lines that are kept if they are not too long, since clients repeat the same requests. */
const mostParsed = 1_000;
const longestParsed = 512;

/** Reads request lines. Its results are shared, to be read only. */
function createParser(): (request: Pick<ApiRequest, 'method' | 'target'>) => Parsed {
  const byMethod = new Map<string, Map<string, Parsed>>();
  return ({ method, target }) => {
    const known = byMethod.get(method) ?? new Map<string, Parsed>();
    const before = known.get(target);
    if (before !== undefined) return before;
    const { path, query } = splitTarget(target);
    const segments = pathSegments(path);
    const hasGap = path.startsWith('//') || path.slice(0, -1).includes('//');
    const resource = hasGap ? undefined : parseResourcePath(segments);
    const verb = resource === undefined ? undefined : verbOf(method, resource, query);
    const parsed: Parsed = { segments, decodedPath: decodePath(path), hasGap, path: resource, verb, query };
    if (target.length > longestParsed || verb === undefined) return parsed;
    if (known.size >= mostParsed) known.clear();
    byMethod.set(method, known.set(target, parsed));
    return parsed;
  };
}

function requestedAs(user: User, { method }: ApiRequest, { decodedPath, path, verb, query }: Parsed): Attributes {
  return requestAttributes({ user, method, decodedPath, path, verb, query });
}

/** As Go's server, which reads no head of a request that is longer. */
const maxTargetLength = 1024 * 1024;
const targetTooLong: Reply = {
  status: 431,
  headers: { 'content-type': 'text/plain; charset=utf-8', connection: 'close' },
  body: '431 Request Header Fields Too Large',
};

/** Users that a request is made as, and its refusal, which comes when the request has been noted in the journal. */
interface Actor {
  readonly user: User;
  readonly refuse: () => void;
}

/**
 * The user that a request is made as, which is the user of its `Impersonate-*` headers, if it has them and is allowed
 * to.
 */
function actorOf(impersonator: Impersonator, requestor: User, request: ApiRequest, parsed: Parsed): Actor {
  try {
    const wanted = wantedUserOf(request);
    if (wanted === undefined) return { user: requestor, refuse: () => undefined };
    const user = impersonator.userOf(wanted, requestedAs(requestor, request, parsed));
    return { user, refuse: () => undefined };
  } catch (refusal) {
    const refuse = (): never => {
      throw refusal;
    };
    return { user: requestor, refuse };
  }
}

/** Notes a request in the journal. @returns its id there */
function noteRequest(
  journal: WritableJournal,
  request: ApiRequest,
  { user, requestor }: { readonly user: User; readonly requestor: User },
  { path, verb }: Parsed,
): number {
  const id = journal.nextId();
  journal.add({
    type: 'request',
    id,
    method: request.method,
    target: request.target,
    verb,
    group: path?.group,
    resource: path?.resource,
    subresource: path?.subresource,
    namespace: path?.namespace,
    name: path?.name,
    user: user.name,
    ...(user !== requestor && { impersonatedBy: requestor.name }),
    userAgent: request.header('user-agent') ?? '',
  });
  return id;
}

/** What the filters have found out about a request that is routed. */
interface Routed {
  readonly user: User;
  readonly plan: FaultPlan | undefined;
  readonly audit: RequestAudit;
}

type Route = (request: ApiRequest, parsed: Parsed, routed: Routed) => Promise<Reply>;

/** Chooses the handler of a path. */
function createRouter(parts: PipelineParts): Route {
  const { backend, clock } = parts;
  const { registry, offload } = backend;
  const openApi = createOpenApi({ registry, crd: (name) => backend.store.table(crdTable).get(name), clock, offload });
  return async (request, parsed, { user, plan, audit }) => {
    const { segments, path, query } = parsed;
    const [root] = segments;
    if (parsed.hasGap) return answerGap(backend, request.target, segments);
    if (root === 'version' && segments.length === 1) return version();
    const healthReply = health({ isReady: parts.isReady() }, segments, query);
    if (healthReply !== undefined) return healthReply;
    const discovery = await discover(
      {
        registry,
        serverAddress: parts.serverAddress(),
        accept: request.header('accept'),
        ifNoneMatch: request.header('if-none-match'),
      },
      segments,
    );
    if (discovery !== undefined) return discovery;
    if (path !== undefined) {
      const tap = plan?.tap;
      const revisionsBehind = plan?.revisionsBehind ?? 0;
      const reply = await dispatch(backend, {
        request,
        path,
        query,
        user,
        audit,
        revisionsBehind,
        ...(tap !== undefined && { tap }),
      });
      return reply ?? unserved(backend, path.group);
    }
    if (root === 'api') return unserved(backend, '');
    if (root === 'apis') return unserved(backend, segments[1] ?? '-');
    const openIdReply = openId({ tokens: backend.identities.tokens, jwksUri: parts.jwksUri() }, segments);
    if (openIdReply !== undefined) return openIdReply;
    if (root === 'openapi') return openApi.answer(request, segments, query);
    return root === undefined ? pathList(allPaths(parts)) : pageNotFound();
  };
}

/** The one chain that sockets and the in-process transport share. */
export function createPipeline(parts: PipelineParts): Pipeline {
  const { backend, journal, faults } = parts;
  const parse = createParser();
  const route = createRouter(parts);
  const { authenticator } = backend.identities;
  const { authorizer } = backend.access;
  const authorize = (attributes: Attributes): void => {
    const { allowed, reason } = authorizer.authorize(attributes);
    if (!allowed) throw forbiddenRequest(attributes, reason);
  };
  const impersonator = createImpersonator(authorizer);

  const answer = async (request: ApiRequest, auditId: string): Promise<Reply> => {
    const parsed = parse(request);
    const [root = ''] = parsed.segments;
    const isOpen = openPaths.has(root);
    if (isOpen && backend.access.mode === 'AlwaysAllow')
      return route(request, parsed, { user: { name: '', groups: [] }, plan: undefined, audit: {} });
    const authenticated = authenticator.authenticate(request);
    const requestor = authenticated instanceof Promise ? await authenticated : authenticated;
    if (requestor.name !== anonymousUser.name) request.onAuthenticated?.();
    const { user, refuse } = actorOf(impersonator, requestor, request, parsed);
    if (isOpen) {
      refuse();
      authorize(requestedAs(user, request, parsed));
      return route(request, parsed, { user, plan: undefined, audit: {} });
    }
    if (!parts.isReady()) throw serviceUnavailable('the server is shutting down');
    const id = noteRequest(journal, request, { user, requestor }, parsed);
    const facts = {
      id,
      verb: parsed.verb,
      path: parsed.path,
      user,
      userAgent: request.header('user-agent') ?? '',
    };
    const plan = faults.plan(facts);
    const audit: RequestAudit = {};
    const noteAnswer = (reply: Reply): Reply => {
      const { annotations } = audit;
      const status = reply.destroy === true ? 0 : reply.status;
      journal.add({
        type: 'response',
        id,
        status,
        auditId,
        ...(annotations !== undefined && { auditAnnotations: annotations }),
      });
      return reply;
    };
    try {
      return noteAnswer(
        await plan.around(
          () =>
            withinTime(parts, facts, async () => {
              refuse();
              authorize(requestedAs(user, request, parsed));
              return route(request, parsed, { user, plan, audit });
            }),
          request,
        ),
      );
    } catch (error) {
      return noteAnswer(await failure(error, request, parts.onError));
    }
  };

  return async (request) => {
    if (request.target.length > maxTargetLength) return targetTooLong;
    const auditId = request.header('audit-id') ?? '';
    const id = auditId === '' ? randomUUID() : auditId;
    try {
      return withAuditId(await answer(request, id), id);
    } catch (error) {
      return withAuditId(await failure(error, request, parts.onError), id);
    }
  };
}

/** Groups of built-ins answer with a Status if they do not serve a path; all others with Go's bare page. */
function unserved({ registry }: Backend, group: string): Reply {
  const isBuiltIn = registry.list().some((definition) => definition.group === group && !definition.isCustom);
  if (!isBuiltIn) return pageNotFound();
  throw notFound('the server could not find the requested resource');
}

/** As in Go's router, a path with an empty segment names nothing; which of the two answers depends on its start. */
function answerGap(backend: Backend, target: string, [root, group = '-']: readonly string[]): Reply {
  if (target.startsWith('//')) return pageNotFound();
  if (root === 'api') return unserved(backend, '');
  return root === 'apis' ? unserved(backend, group) : pageNotFound();
}

/** Every answer has an id, either that of its client or a fresh one. */
function withAuditId(reply: Reply, id: string): Reply {
  return { ...reply, headers: { ...reply.headers, 'audit-id': id } };
}

/** Requests end after a minute, except for watches and requests to a pod. */
async function withinTime(
  parts: PipelineParts,
  { verb, path }: Pick<Parsed, 'verb' | 'path'>,
  work: () => Promise<Reply>,
): Promise<Reply> {
  if (verb === 'watch' || path?.subresource.split('/', 1)[0] === 'proxy') return work();
  let timer: { cancel(): void } | undefined;
  try {
    return await new Promise<Reply>((resolve, reject) => {
      timer = parts.clock.setTimer(() => reject(timedOut()), parts.requestTimeoutMs, { keepAlive: false });
      work().then(resolve, reject);
    });
  } finally {
    timer?.cancel();
  }
}

/** A failure as an answer to a request. */
async function failure(error: unknown, request: ApiRequest, onError: (error: unknown) => void): Promise<Reply> {
  const cause = error instanceof WarnedError ? error.cause : error;
  const status = toStatusError(cause);
  if (status !== cause) onError(cause);
  const reply = await negotiatedStatusReply(status.status, request.header('accept'));
  return withWarnings(reply, error instanceof WarnedError ? error.warnings : []);
}

function allPaths({ backend }: PipelineParts): string[] {
  const { registry } = backend;
  const paths = new Set(['/api', '/api/', '/apis', '/apis/', '/healthz', '/livez', '/readyz', '/version']);
  for (const { name, versions } of registry.groups()) {
    if (name !== '') paths.add(`/apis/${name}`).add(`/apis/${name}/`);
    for (const served of versions) paths.add(name === '' ? `/api/${served}` : `/apis/${name}/${served}`);
  }
  return [...paths].sort();
}
