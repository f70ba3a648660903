/** Sends a hostile request, and meanwhile small ones over another connection. */
import { Agent, request } from 'undici';
import type { ApiServerWorker } from '@kctl/apiserver';
import type { HostileCase, HostileRequest } from './cases.js';

/** What one case came to. */
export interface Measured {
  readonly name: string;
  readonly status: number;
  readonly isExpected: boolean;
  /** How long the request itself took. */
  readonly ownMs: number;
  /** Longest wait of another client, without what it waits on an idle server. */
  readonly foreignMs: number;
  /** Small requests that were answered meanwhile. */
  readonly others: number;
}

/** Between two small requests of the other client. */
const pauseMs = 1;

async function send(server: ApiServerWorker, agent: Agent, hostile: HostileRequest): Promise<number> {
  const { method, path, contentType = 'application/json', body, accept = 'application/json' } = hostile;
  const answer = await request(`${server.url}${path}`, {
    method: method as 'GET',
    dispatcher: agent,
    headers: {
      authorization: `Bearer ${server.token}`,
      accept,
      ...(body !== undefined && { 'content-type': contentType }),
    },
    ...(body !== undefined && { body }),
  });
  await answer.body.dump({ limit: 64 * 1024 * 1024 });
  return answer.statusCode;
}

/** Asks for a namespace over and over; returns the longest wait, and how many were answered. */
async function watchWaits(
  server: ApiServerWorker,
  agent: Agent,
  until: { done: boolean },
): Promise<{ longest: number; count: number }> {
  let longest = 0;
  let count = 0;
  while (!until.done) {
    const started = performance.now();
    await send(server, agent, { method: 'GET', path: '/api/v1/namespaces/default' });
    longest = Math.max(longest, performance.now() - started);
    count += 1;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return { longest, count };
}

/** Runs a case on a server. */
export async function measure(server: ApiServerWorker, hostile: HostileCase): Promise<Measured> {
  const connect = { ca: server.certificateAuthority };
  const own = new Agent({ connect, headersTimeout: 120_000 });
  const other = new Agent({ connect, connections: 1 });
  try {
    for (const step of hostile.setUp ?? []) {
      const status = await send(server, own, step);
      if (status >= 300) throw new Error(`${hostile.name}: set-up answered ${status}`);
    }
    const warm = { done: false };
    const idle = watchWaits(server, other, warm);
    await new Promise((resolve) => setTimeout(resolve, 200));
    warm.done = true;
    await idle;
    const during = { done: false };
    const waits = watchWaits(server, other, during);
    const started = performance.now();
    const status = await send(server, own, hostile.request);
    const ownMs = performance.now() - started;
    await new Promise((resolve) => setTimeout(resolve, 20));
    during.done = true;
    const { longest, count } = await waits;
    return {
      name: hostile.name,
      status,
      isExpected: hostile.statuses.includes(status),
      ownMs,
      foreignMs: longest,
      others: count,
    };
  } finally {
    await Promise.all([own.destroy(), other.destroy()]);
  }
}
