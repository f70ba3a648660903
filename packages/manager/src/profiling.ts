import { Session } from 'node:inspector/promises';
import { pipeline } from 'node:stream/promises';
import { getHeapSnapshot } from 'node:v8';
import type { Logger } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import { sleep } from '@kctl/wait';
import type { HttpHandler, HttpServer } from './http-server.js';
import { createHttpServer } from './http-server.js';

const defaultProfileSeconds = 30;
const maxProfileSeconds = 300;
const heapPath = '/debug/pprof/heap';
const profilePath = '/debug/pprof/profile';

/** Where the process can be profiled. Anybody who can reach it can read the memory of the process. */
export interface ProfilingOptions {
  /** 0: any free port. */
  readonly port: number;
  /** A loopback address; any other is refused. @default '127.0.0.1' */
  readonly host?: string;
}

/**
 * The equivalent of pprof: `GET /debug/pprof/profile?seconds=30` answers a CPU profile (`.cpuprofile`),
 * `GET /debug/pprof/heap` a heap snapshot (`.heapsnapshot`, stops the process while it is taken).
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
  return createHttpServer({ name: 'pprof', host, port, handlers: [serveProfile(clock), serveHeap], logger, clock });
}

function serveProfile(clock: Clock): HttpHandler {
  let isRunning = false;
  return async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (url.pathname !== profilePath) return false;
    const seconds = Number(url.searchParams.get('seconds') ?? defaultProfileSeconds);
    if (!(seconds > 0) || seconds > maxProfileSeconds || isRunning) {
      const message = isRunning
        ? 'a profile is being taken\n'
        : `seconds must be more than 0 and at most ${maxProfileSeconds}\n`;
      response.writeHead(isRunning ? 409 : 400).end(message);
      return true;
    }
    isRunning = true;
    try {
      const profile = await takeProfile(seconds * 1000, clock);
      attach(response, `cpu-${seconds}s.cpuprofile`);
      response.end(JSON.stringify(profile));
    } finally {
      isRunning = false;
    }
    return true;
  };
}

async function takeProfile(ms: number, clock: Clock): Promise<unknown> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    await sleep(ms, { clock, keepAlive: false });
    const { profile } = await session.post('Profiler.stop');
    return profile;
  } finally {
    session.disconnect();
  }
}

const serveHeap: HttpHandler = async (request, response) => {
  if (new URL(request.url ?? '/', 'http://localhost').pathname !== heapPath) return false;
  attach(response, 'heap.heapsnapshot');
  await pipeline(getHeapSnapshot(), response);
  return true;
};

function attach(response: Parameters<HttpHandler>[1], filename: string): void {
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-disposition': `attachment; filename="${filename}"`,
  });
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
