/** The longest turn of the server's event loop while it answers a hostile request, in CPU time of its thread. */
import { createApiServer, type ApiServer } from '@kctl/apiserver';
import type { HostileCase, HostileRequest } from './cases.js';

/** What one case came to. */
export interface Turns {
  readonly name: string;
  readonly status: number;
  readonly isExpected: boolean;
  /** CPU time of the longest turn. */
  readonly turnMs: number;
}

function send(server: ApiServer, hostile: HostileRequest): Promise<number> {
  const { method, path, contentType = 'application/json', body, accept = 'application/json' } = hostile;
  const headers = { accept, ...(body !== undefined && { 'content-type': contentType }) };
  return new Promise<number>((resolve, reject) => {
    let status = 0;
    const receiver = {
      start: (code: number) => void (status = code),
      data: () => undefined,
      end: () => resolve(status),
      destroy: () => reject(new Error(`${hostile.path}: the server cut the connection`)),
    };
    const request = { method, target: path, headers, ...(body !== undefined && { body: Buffer.from(body) }) };
    server.answer({ ...request, signal: new AbortController().signal }, receiver).catch(reject);
  });
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Runs a case on a server in this thread. */
export async function measureTurns(hostile: HostileCase): Promise<Turns> {
  const server = createApiServer({
    journalEntries: 0,
    ...(hostile.isAuthorized === true && { authorization: 'RBAC' }),
  });
  await server.start();
  try {
    for (const step of hostile.setUp ?? []) {
      const status = await send(server, step);
      if (status >= 300) throw new Error(`${hostile.name}: set-up answered ${status}`);
    }
    let turnMs = 0;
    let isDone = false;
    let before = cpuMs();
    const turn = (): void => {
      const now = cpuMs();
      turnMs = Math.max(turnMs, now - before);
      before = cpuMs();
      if (!isDone) setImmediate(turn);
    };
    setImmediate(turn);
    const status = await send(server, hostile.request);
    isDone = true;
    await new Promise((resolve) => setImmediate(resolve));
    turnMs = Math.max(turnMs, cpuMs() - before);
    return { name: hostile.name, status, isExpected: hostile.statuses.includes(status), turnMs };
  } finally {
    await server.stop();
  }
}
