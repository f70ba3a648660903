/** Sends a hostile request, and meanwhile small ones over another connection. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Agent, request } from 'undici';
import type { ApiServerWorker } from '@kctl/apiserver';
import type { HostileCase, HostileRequest } from './cases.js';
import type { Waits, WaitsData } from './waits-thread.js';

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

/** What another client waits while something is done. */
async function waitsDuring(other: Worker, work: () => Promise<unknown>): Promise<Waits> {
  const said = once(other, 'message');
  other.postMessage('start');
  try {
    await work();
  } finally {
    other.postMessage('stop');
  }
  const [waits] = await said;
  return waits;
}

/** Runs a case on a server. */
export async function measure(server: ApiServerWorker, hostile: HostileCase): Promise<Measured> {
  const connect = { ca: server.certificateAuthority };
  const own = new Agent({ connect, headersTimeout: 120_000 });
  const workerData: WaitsData = { url: server.url, token: server.token, ca: server.certificateAuthority };
  const other = new Worker(new URL('waits-thread.ts', import.meta.url), { workerData });
  try {
    for (const step of hostile.setUp ?? []) {
      const status = await send(server, own, step);
      if (status >= 300) throw new Error(`${hostile.name}: set-up answered ${status}`);
    }
    await waitsDuring(other, () => new Promise((resolve) => setTimeout(resolve, 200)));
    let status = 0;
    let ownMs = 0;
    const { longest, count } = await waitsDuring(other, async () => {
      const started = performance.now();
      status = await send(server, own, hostile.request);
      ownMs = performance.now() - started;
      await new Promise((resolve) => setTimeout(resolve, 20));
    });
    return {
      name: hostile.name,
      status,
      isExpected: hostile.statuses.includes(status),
      ownMs,
      foreignMs: longest,
      others: count,
    };
  } finally {
    await Promise.all([own.destroy(), other.terminate()]);
  }
}
