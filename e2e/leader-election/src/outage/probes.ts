import { request as httpsRequest } from 'node:https';
import { sharedNow } from '../protocol.js';
import type { ReplicaProcess } from './replica-process.js';

/** How a replica answered, and how long that took. */
export interface ProbeReport {
  readonly sent: number;
  readonly longestMs: number;
  /** What was not answered as expected. */
  readonly failures: readonly string[];
}

/** What is asked of each replica, again and again. */
export type ProbeName = 'livez' | 'readyz' | 'webhook allows' | 'webhook denies';

/** Asks a replica until it is told to stop. */
export interface Prober {
  reports(): Readonly<Record<ProbeName, ProbeReport>>;
  stop(): Promise<void>;
}

interface Probe {
  readonly name: ProbeName;
  readonly ask: () => Promise<string>;
  readonly expected: string;
}

const timeoutMs = 5_000;

/** Begins to ask health, readiness and the webhook of a replica, each every `everyMs` ms. */
export function startProber(replica: ReplicaProcess, ca: string, everyMs: number): Prober {
  const probes: readonly Probe[] = [
    { name: 'livez', ask: () => statusOf(`http://127.0.0.1:${replica.health}/healthz`), expected: '200' },
    { name: 'readyz', ask: () => statusOf(`http://127.0.0.1:${replica.health}/readyz`), expected: '200' },
    { name: 'webhook allows', ask: () => review(replica.webhook, ca, 1), expected: 'allowed' },
    {
      name: 'webhook denies',
      ask: () => review(replica.webhook, ca, 9),
      expected: 'denied: 9 entries are more than 3',
    },
  ];
  const reports = Object.fromEntries(
    probes.map(({ name }) => [name, { sent: 0, longestMs: 0, failures: [] as string[] }]),
  ) as Record<ProbeName, { sent: number; longestMs: number; failures: string[] }>;
  let isStopped = false;
  const loops = probes.map(async ({ name, ask, expected }) => {
    const report = reports[name];
    while (!isStopped) {
      const begun = sharedNow();
      const answer = await ask().catch((error: unknown) => String(error));
      report.sent++;
      report.longestMs = Math.max(report.longestMs, Math.round(sharedNow() - begun));
      if (answer !== expected) report.failures.push(`at ${Math.round(begun)}: ${answer}`);
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  });
  return {
    reports: () => structuredClone(reports),
    async stop() {
      isStopped = true;
      await Promise.all(loops);
    },
  };
}

async function statusOf(url: string): Promise<string> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
  const text = await answer.text();
  return answer.status === 200 ? '200' : `${answer.status} ${text.slice(0, 500)}`;
}

/** Sends the review of a ConfigMap with so many entries, on a connection of its own, as a new API server would. */
function review(port: number, ca: string, entries: number): Promise<string> {
  const data = Object.fromEntries(Array.from({ length: entries }, (_, index) => [`key${index}`, 'value']));
  const metadata = { namespace: 'default', name: 'asked' };
  const body = JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'a0000000-0000-4000-8000-000000000000',
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      ...metadata,
      operation: 'CREATE',
      userInfo: { username: 'tester' },
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data },
      dryRun: false,
    },
  });
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      {
        host: '127.0.0.1',
        port,
        path: '/validate--v1-configmap',
        method: 'POST',
        ca,
        agent: false,
        timeout: timeoutMs,
        headers: { 'content-type': 'application/json' },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => {
          if (response.statusCode !== 200) {
            resolve(`${response.statusCode ?? 0} ${text}`);
            return;
          }
          const { response: verdict } = JSON.parse(text) as {
            response: { allowed: boolean; status?: { message?: string } };
          };
          resolve(verdict.allowed ? 'allowed' : `denied: ${verdict.status?.message ?? ''}`);
        });
      },
    );
    request.on('timeout', () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    request.on('error', reject);
    request.end(body);
  });
}
