import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Logger } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import { anySignal, isAbortError, sleep, timeoutSignal } from '@kctl/wait';
import type { HttpHandler, HttpServer } from './http-server.js';
import { createHttpServer } from './http-server.js';
import { isForeignRequest, isLoopback } from './loopback.js';
import { targetOf } from './request-target.js';

const defaultProfileSeconds = 30;
const maxProfileSeconds = 300;
const heapPath = '/debug/pprof/heap';
const profilePath = '/debug/pprof/profile';

/** Options of the profiling server. Every client that can connect to it can read the memory of the process. */
export interface ProfilingOptions {
  /** 0: any free port. */
  readonly port: number;
  /** A loopback address; any other is refused. @default '127.0.0.1' */
  readonly host?: string;
}

/**
 * The equivalent of pprof: `GET /debug/pprof/profile?seconds=30` answers a CPU profile (`.cpuprofile`),
 * `GET /debug/pprof/heap` a heap snapshot (`.heapsnapshot`, stops the process while it is taken). One of them at a time;
 * it ends when the client hangs up, and without an answer when the server stops. Requests that name another host, or that a page of another site makes a browser
 * send, are refused with 403.
 *
 * @throws TypeError when the host is not a loopback address
 */
export function createProfilingServer(
  options: ProfilingOptions & { readonly logger: Logger; readonly clock: Clock },
): HttpServer {
  const { port, host = '127.0.0.1', logger, clock } = options;
  if (!isLoopback(host))
    throw new TypeError(
      `profiling: host ${JSON.stringify(host)} is not a loopback address: use 127.0.0.1 and a port-forward, profiles show the memory of the process`,
    );
  return createHttpServer({
    name: 'pprof',
    host,
    port,
    handlers: [createProfiler(clock)],
    logger,
    clock,
    // A profile takes up to 5 min, and a stop releases the lease at its end.
    shutdownTimeoutMs: 0,
  });
}

function createProfiler(clock: Clock): HttpHandler {
  let isTaken = false;
  return async (request, response, { signal }) => {
    const { pathname, searchParams } = targetOf(request);
    if (pathname !== profilePath && pathname !== heapPath) return false;
    if (isForeignRequest(request)) return refuse(response, 403, 'requests of other hosts and sites are refused');
    const seconds = Number(searchParams.get('seconds') ?? defaultProfileSeconds);
    if (pathname === profilePath && !(seconds > 0 && seconds <= maxProfileSeconds))
      return refuse(response, 400, `seconds must be more than 0 and at most ${maxProfileSeconds}`);
    if (isTaken) return refuse(response, 409, 'a profile is being taken');
    isTaken = true;
    // A client that stops reading must not keep the others out.
    using limit = timeoutSignal(clock, 2 * maxProfileSeconds * 1000);
    using either = anySignal([signal, limit.signal]);
    try {
      if (pathname === heapPath) await sendHeap(response, either.signal);
      else await sendProfile(response, seconds, { clock, signal: either.signal });
    } catch (error) {
      if (!either.signal.aborted && !isAbortError(error)) throw error;
      response.destroy();
    } finally {
      isTaken = false;
    }
    return true;
  };
}

function refuse(response: ServerResponse, status: number, message: string): true {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${message}\n`);
  return true;
}

async function sendProfile(
  response: ServerResponse,
  seconds: number,
  options: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const profile = await takeProfile(seconds * 1000, options);
  attach(response, `cpu-${seconds}s.cpuprofile`);
  response.end(JSON.stringify(profile));
}

async function takeProfile(
  ms: number,
  options: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<unknown> {
  const { Session } = process.getBuiltinModule('node:inspector/promises');
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    await sleep(ms, { ...options, keepAlive: false });
    const { profile } = await session.post('Profiler.stop');
    return profile;
  } finally {
    session.disconnect();
  }
}

async function sendHeap(response: ServerResponse, signal: AbortSignal): Promise<void> {
  attach(response, 'heap.heapsnapshot');
  await pipeline(process.getBuiltinModule('node:v8').getHeapSnapshot(), response, { signal });
}

function attach(response: ServerResponse, filename: string): void {
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-disposition': `attachment; filename="${filename}"`,
    'x-content-type-options': 'nosniff',
  });
}
