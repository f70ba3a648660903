import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createHttpClient } from '@kctl/client-http';
import { createCertificateAuthority, eventually } from '@kctl/testing';
import { sleep, systemClock } from '@kctl/wait';
import { sharedNow } from '../protocol.js';
import { startServer } from '../server.js';
import { startCountingProxy, type CountingProxy } from './counting-proxy.js';
import { judge, type OutageReport } from './judge.js';
import { startProber } from './probes.js';
import { limitsName } from './protocol.js';
import { startReplica, type ReplicaProcess } from './replica-process.js';

/** Options of {@link runOutage}. */
export interface OutageOptions {
  readonly server: 'embedded' | 'real';
  /** How long the API server is away, in ms. */
  readonly awayMs: number;
  readonly log: (line: string) => void;
}

const namespace = 'default';
const identities = ['a', 'b', 'c'];
/** How long all is well before the outage, and is watched after a leader is back, in ms. */
const calmMs = 5_000;
const probeEveryMs = 250;

/** Three replicas, no API server for a while, and what came of it. */
export async function runOutage({ server: kind, awayMs, log }: OutageOptions): Promise<OutageReport> {
  await using server = await startServer(kind);
  await using client = createHttpClient({ connection: server.connection });
  const folder = await mkdtemp(join(tmpdir(), 'kctl-outage-'));
  const authority = await createCertificateAuthority('outage', systemClock.now());
  const certificate = await authority.issueServing({
    commonName: 'localhost',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
  });
  await writeFile(join(folder, 'tls.crt'), certificate.certPem);
  await writeFile(join(folder, 'tls.key'), certificate.keyPem);
  await eventually(
    () => client.create(ConfigMap, { metadata: { namespace, name: limitsName }, data: { entries: '3' } }),
    {
      timeoutMs: 30_000,
    },
  );
  const { port, connection } = server;
  const target = { port, ca: connection.ca };
  const proxies: CountingProxy[] = [];
  const replicas: ReplicaProcess[] = [];
  try {
    for (const identity of identities) {
      const proxy = await startCountingProxy(target, certificate);
      proxies.push(proxy);
      const settings = { identity, namespace, certDir: folder, token: connection.user.token, ca: authority.ca.certPem };
      const address = `https://127.0.0.1:${proxy.port}`;
      replicas.push(await startReplica({ ...settings, server: address }, join(folder, `${identity}.log`)));
    }
    const leaders = (): number => replicas.filter(({ states }) => states.at(-1)?.isLeader === true).length;
    const until = (what: string, holds: () => boolean, timeoutMs = 60_000): Promise<void> =>
      eventually(
        () => {
          if (!holds()) throw new Error(`${what}: not within ${timeoutMs} ms`);
        },
        { timeoutMs },
      );
    const sees = (name: string) => (replica: ReplicaProcess) => replica.states.at(-1)?.cached.includes(name) === true;
    await until('a leader', () => leaders() === 1);
    await until('the limits in all caches', () => replicas.every(sees(limitsName)));
    log(`${identities.length} replicas, one leads; the server goes`);
    await sleep(calmMs);
    const probers = replicas.map((replica) => startProber(replica, authority.ca.certPem, probeEveryMs));
    await sleep(calmMs);

    const downAt = sharedNow();
    for (const proxy of proxies) proxy.setAway(true);
    await server.kill();
    await sleep(awayMs);
    await server.restart();
    const upAt = sharedNow();
    for (const proxy of proxies) proxy.setAway(false);
    log(`the server is back after ${Math.round((upAt - downAt) / 1000)} s`);

    const problems: string[] = [];
    const note = (error: unknown): void => void problems.push(String(error));
    await until('one leader after the return', () => leaders() === 1).catch(note);
    await eventually(() => client.create(ConfigMap, { metadata: { namespace, name: 'after' } }), { timeoutMs: 30_000 });
    await until('a new object in all caches', () => replicas.every(sees('after'))).catch(note);
    const done = (): ReplicaProcess[] =>
      replicas.filter(({ reconciled }) => reconciled.some(({ name }) => name === 'after'));
    await until('a reconcile of a new object', () => done().length > 0).catch(note);
    await sleep(calmMs);
    const endAt = sharedNow();
    if (done().some(({ states }) => states.at(-1)?.isLeader !== true) || done().length !== 1)
      problems.push(
        `a new object was reconciled by ${done()
          .map(({ identity }) => identity)
          .join(', ')}`,
      );
    await Promise.all(probers.map((prober) => prober.stop()));
    const report = judge(
      replicas.map((replica, index) => ({
        replica,
        requests: proxies[index]?.requests ?? [],
        probes: probers[index]?.reports() ?? ({} as never),
      })),
      { downAt, upAt, endAt },
      {
        lostWithinMs: 12_000,
        againWithinMs: 25_000,
        pauseMs: 2_500,
        listsOfEach: 1,
        requestsInOneSecond: 12,
        attemptsPerSecond: 4,
      },
    );
    await Promise.all(replicas.map((replica) => replica.stop()));
    for (const { identity, exit } of replicas)
      if (exit !== 'code 0') problems.push(`${identity} stopped with ${exit ?? ''}`);
    const violations = [...report.violations, ...problems];
    if (violations.length > 0) log(`the logs of the replicas are in ${folder}`);
    else await rm(folder, { recursive: true, force: true });
    return { ...report, violations };
  } finally {
    for (const replica of replicas) replica.kill();
    for (const proxy of proxies) await proxy[Symbol.asyncDispose]();
  }
}
