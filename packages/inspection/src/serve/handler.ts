import type { IncomingMessage, ServerResponse } from 'node:http';
import { type HttpHandler, type HttpHandlerContext } from '@kctl/manager';
import { isForeignRequest } from '@kctl/manager/internal';
import { anySignal } from '@kctl/wait';
import type { Page } from '../page/page.js';
import { graphView } from '../views/graph.js';
import { informersView } from '../views/informers.js';
import { keysView } from '../views/keys.js';
import { overviewView } from '../views/overview.js';
import { rightsView } from '../views/rights.js';
import type { InspectedState } from '../views/state.js';
import { timelineView } from '../views/timeline.js';
import { send, sendJson, sendText } from './answer.js';
import { LiveStreams } from './live.js';
import { keysQuery, QueryError, timelineQuery } from './query.js';

/** The path of all pages. */
export const basePath = '/debug/kctl/';

/** Options of {@link createHandler}. */
export interface HandlerOptions {
  readonly state: () => InspectedState;
  readonly page: Page;
  /**
   * Whether the `Host` header must name a loopback address, for a dedicated listener, which a page of another site
   * could reach under a name that resolves to it. A server that authenticates does not need it.
   */
  readonly onlyLoopbackHosts: boolean;
}

/** Answers everything below {@link basePath}: GET and HEAD, to nothing that a page of another site sends. */
export function createHandler({ state, page, onlyLoopbackHosts }: HandlerOptions): HttpHandler {
  const live = new LiveStreams({
    clock: state().clock,
    version: () => state().store.version,
    overview: () => overviewView(state()),
  });
  const views: Readonly<Record<string, (query: URLSearchParams) => unknown>> = {
    overview: () => overviewView(state()),
    keys: (query) => keysView(state(), keysQuery(query)),
    timeline: (query) => timelineView(state(), timelineQuery(query)),
    informers: () => informersView(state()),
    graph: () => graphView(state()),
    rights: () => rightsView(state()).rows,
  };
  return (request, response, context) => {
    const { path, query } = targetOf(request);
    if (path === basePath.slice(0, -1)) return redirect(response);
    if (!path.startsWith(basePath)) return false;
    if (isForeignRequest(request, { onlyLoopbackHosts }))
      return sendText(response, 403, 'requests of other hosts and sites are refused');
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return sendText(response, 405, 'only GET is answered here', { allow: 'GET, HEAD' });
    const name = path.slice(basePath.length);
    if (name === '') return sendPage(response, page);
    if (name === 'events' && request.method === 'GET') return stream(live, response, context);
    const view = Object.hasOwn(views, name) ? views[name] : undefined;
    if (view === undefined) return sendText(response, 404, `not found: known are ${Object.keys(views).join(', ')}`);
    try {
      return sendJson(response, view(query));
    } catch (error) {
      if (error instanceof QueryError) return sendText(response, 400, error.message);
      throw error;
    }
  };
}

/** Streams end when a stop begins, because they would delay it, and with it the release of the lease. */
async function stream(
  live: LiveStreams,
  response: ServerResponse,
  { signal, stopping }: HttpHandlerContext,
): Promise<true> {
  using either = anySignal([signal, stopping]);
  return await live.serve(response, either.signal);
}

function sendPage(response: ServerResponse, { html, contentSecurityPolicy }: Page): true {
  const more = { 'content-security-policy': contentSecurityPolicy };
  return send(response, { contentType: 'text/html; charset=utf-8', body: html, headers: more });
}

function redirect(response: ServerResponse): true {
  return sendText(response, 308, 'see below', { location: basePath });
}

function targetOf({ url = '/' }: IncomingMessage): { readonly path: string; readonly query: URLSearchParams } {
  // A proxy may send the absolute form.
  const relative = url.replace(/^https?:\/\/[^/?#]*/i, '');
  const [path = '', query = ''] = /^([^?#]*)\??([^#]*)/.exec(relative)?.slice(1) ?? [];
  return { path, query: new URLSearchParams(query) };
}
