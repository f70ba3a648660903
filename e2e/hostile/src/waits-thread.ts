/**
 * The other client: asks for a namespace over and over, and says how long it waited at most. A thread of its own, so
 * that the hostile client, which reads answers of many MB, does not make it wait.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { Agent, request } from 'undici';

/** Where the server is. */
export interface WaitsData {
  readonly url: string;
  readonly token: string;
  readonly ca: string;
}

/** What the waits came to. */
export interface Waits {
  readonly longest: number;
  readonly count: number;
}

/** Between two requests. */
const pauseMs = 1;

const { url, token, ca } = workerData as WaitsData;
const dispatcher = new Agent({ connect: { ca }, connections: 1 });
let isAsked = false;

async function watchWaits(): Promise<Waits> {
  let longest = 0;
  let count = 0;
  while (isAsked) {
    const started = performance.now();
    const answer = await request(`${url}/api/v1/namespaces/default`, {
      dispatcher,
      headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
    });
    await answer.body.dump();
    longest = Math.max(longest, performance.now() - started);
    count += 1;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return { longest, count };
}

parentPort?.on('message', (order: 'start' | 'stop') => {
  isAsked = order === 'start';
  if (isAsked) void watchWaits().then((waits) => parentPort?.postMessage(waits));
});
