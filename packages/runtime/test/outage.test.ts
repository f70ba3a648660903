import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApiServerWorker, type ApiServerWorker } from '@kctl/apiserver';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createHttpClient, type Connection } from '@kctl/client-http';
import type { Logger } from '@kctl/telemetry';
import { createCertificateAuthority, eventually } from '@kctl/testing';
import { aborted } from '@kctl/wait';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { controllerManagedBy, createManager, noopLogger, webhookManagedBy } from '../src/index.js';

const host = '127.0.0.1';
const namespace = 'default';
const durations = { leaseDurationMs: 3_000, renewDeadlineMs: 1_500, retryPeriodMs: 200 };
const downMs = 8_000;
let server: ApiServerWorker;
let connection: Connection;
let certDir: string;
let authority: Awaited<ReturnType<typeof createCertificateAuthority>>;

beforeAll(async () => {
  server = await startApiServerWorker();
  connection = { server: server.url, ca: server.certificateAuthority, user: { token: server.token } };
  certDir = await mkdtemp(join(tmpdir(), 'kctl-outage-'));
  authority = await createCertificateAuthority('outage', Date.now());
  const pair = await authority.issueServing({ commonName: 'localhost', dnsNames: [], ipAddresses: [host] });
  await writeFile(join(certDir, 'tls.crt'), pair.certPem);
  await writeFile(join(certDir, 'tls.key'), pair.keyPem);
});

afterAll(async () => {
  await server.stop();
  await rm(certDir, { recursive: true, force: true });
});

/** What the webhook of a replica says to a ConfigMap with so many entries, on a connection of its own. */
function review(port: number, entries: number): Promise<string> {
  const data = Object.fromEntries(Array.from({ length: entries }, (_, index) => [`key${index}`, '']));
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'asked' }, data };
  const kind = { group: '', version: 'v1', kind: 'ConfigMap' };
  const resource = { group: '', version: 'v1', resource: 'configmaps' };
  const request = { uid: 'u', kind, resource, namespace, name: 'asked', operation: 'CREATE', userInfo: {}, object };
  const body = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request });
  const headers = { 'content-type': 'application/json' };
  const to = { host, port, path: '/validate--v1-configmap', method: 'POST', ca: authority.ca.certPem, headers };
  return new Promise((resolve, reject) => {
    const sent = httpsRequest({ ...to, agent: false, timeout: 5_000 }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        const { response: verdict } = JSON.parse(text) as {
          response: { allowed: boolean; status?: { message?: string } };
        };
        resolve(verdict.allowed ? 'allowed' : (verdict.status?.message ?? ''));
      });
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer in time')));
    sent.on('error', reject);
    sent.end(body);
  });
}

/** A replica as users have it: a controller, a webhook that reads the cache, something that needs no leadership, probes. */
async function startReplica(identity: string) {
  const addresses: { readonly port: number }[] = [];
  const logger: Logger = {
    ...noopLogger,
    info: (message, fields) => {
      if (message === 'starting server') addresses.push(fields?.['addr'] as { port: number });
    },
    child: () => logger,
  };
  const manager = await createManager({
    connection,
    logger,
    health: { host, port: 0 },
    webhook: { host, port: 0, certDir },
    cache: { defaultNamespaces: { [namespace]: {} } },
    leaderElection: { name: 'outage', namespace, identity, ...durations },
  });
  const reconciled: string[] = [];
  controllerManagedBy(manager)
    .for(ConfigMap)
    .complete(async ({ name }) => void reconciled.push(name));
  webhookManagedBy(manager, ConfigMap)
    .withValidator({
      validateCreate: async ({ data = {} }) => {
        const limits = await manager.client.get(ConfigMap, { namespace, name: 'limits' });
        const most = Number(limits.data?.['entries']);
        if (Object.keys(data).length > most) throw new Error(`more than ${most} entries`);
        return undefined;
      },
    })
    .complete();
  const others: string[] = [];
  manager.add({
    name: 'other',
    needLeaderElection: false,
    run: async (signal) => {
      others.push('started');
      await aborted(signal);
      others.push('ended');
    },
  });
  const stop = new AbortController();
  let outcome: unknown = 'running';
  const running = manager.run(stop.signal).then(
    () => (outcome = 'ended'),
    (error: unknown) => (outcome = error),
  );
  manager.elected.catch(() => undefined);
  const probe = async (path: string): Promise<number> =>
    (await fetch(`http://${host}:${addresses[0]?.port ?? 0}${path}`)).status;
  await eventually(async () => expect(await probe('/readyz')).toBe(200));
  return {
    manager,
    reconciled,
    probe,
    /** What its webhook says to a small object and to a large one. */
    verdicts: () => Promise.all([1, 9].map((entries) => review(manager.webhookServer.port ?? 0, entries))),
    /** What its runnable that needs no leadership went through. */
    others,
    outcome: () => outcome,
    end: async () => {
      stop.abort();
      await running;
    },
  };
}

it('outlives an outage of the API server: no exit, probes and webhooks well, one leader afterwards, no list', {
  timeout: 300_000,
}, async () => {
  await using client = createHttpClient({ connection });
  await client.create(ConfigMap, { metadata: { namespace, name: 'limits' }, data: { entries: '3' } });
  const verdicts = ['allowed', 'more than 3 entries'];
  const replicas = await Promise.all(['a', 'b', 'c'].map(startReplica));
  const leaders = (): number => replicas.filter(({ manager }) => manager.isLeader).length;
  await eventually(() => expect(leaders()).toBe(1));
  await client.create(ConfigMap, { metadata: { namespace, name: 'before' } });
  await eventually(() => expect(replicas.some(({ reconciled }) => reconciled.includes('before'))).toBe(true));
  for (const replica of replicas) expect(await replica.verdicts()).toEqual(verdicts);
  await server.clearJournal();

  const outage = server.faults.failover({ downMs });
  await eventually(() => expect(leaders()).toBe(0), { timeoutMs: downMs });
  for (const { probe } of replicas) expect([await probe('/healthz'), await probe('/readyz')]).toEqual([200, 200]);
  for (const replica of replicas) expect(await replica.verdicts()).toEqual(verdicts);
  await outage;
  for (const replica of replicas) expect(await replica.verdicts()).toEqual(verdicts);

  await eventually(() => expect(leaders()).toBe(1), { timeoutMs: 20_000 });
  expect(replicas.map(({ outcome }) => outcome())).toEqual(['running', 'running', 'running']);
  expect(replicas.map(({ others }) => others)).toEqual([['started'], ['started'], ['started']]);
  await client.create(ConfigMap, { metadata: { namespace, name: 'after' } });
  await eventually(
    () => {
      const seen = replicas.filter(({ reconciled }) => reconciled.includes('after'));
      expect(seen.map(({ manager }) => manager.isLeader)).toEqual([true]);
    },
    { timeoutMs: 40_000 },
  ); // a watch may be waiting for its next attempt

  for (const { probe } of replicas) expect([await probe('/healthz'), await probe('/readyz')]).toEqual([200, 200]);
  // Watches go on from where they were: three replicas that list at once would be the next outage.
  const lists = (await server.journal()).filter(
    (entry) =>
      entry.type === 'request' &&
      entry.resource === 'configmaps' &&
      (entry.verb === 'list' || entry.target.includes('sendInitialEvents=true')),
  );
  expect(lists).toEqual([]);
  await Promise.all(replicas.map(({ end }) => end()));
});
