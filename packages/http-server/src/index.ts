/**
 * An HTTP/1.1 and HTTP/2 server that is bounded in time, connections and bytes, and whose stop ends in time.
 *
 * @packageDocumentation
 */
export { createBodyBudget } from './body-budget.js';
export type { BodyBudget, HeldBody } from './body-budget.js';
export { BodyError, HttpServerError, isBodyError, isHttpServerError } from './errors.js';
export { createHttpServer } from './http-server.js';
export type { HttpServer } from './http-server.js';
export type {
  Http1ServerOptions,
  Http2ServerOptions,
  ListenTarget,
  HttpRequest,
  HttpResponse,
  HttpServerOptions,
  RequestContext,
  ServerTls,
} from './http-server-options.js';
export { readBody } from './read-body.js';
export type { ReadBodyOptions } from './body-receiver.js';
export type { ServerLimits } from './server-limits.js';
