/** An API server that is killed and started again on its data, a Secret that is deleted, replicas that race. */
import { isNotFound } from '@kctl/apimachinery';
import { Secret } from '@kctl/apimachinery/kinds/core/v1';
import { eventually } from '@kctl/testing';
import { sleep, systemClock } from '@kctl/wait';
import { expect, it } from 'vitest';
import { startLoad } from '../src/load.js';
import { authoritiesIn, handshake, names } from '../src/replica.js';
import { requireInEffect, setUp, type Stage } from '../src/stage.js';

const server = process.env['KCTL_TEST_SERVER'] === 'real' ? 'real' : 'embedded';
/** No renewal in the course of the test: whatever changes, changes for a fault. */
const times = { authorityValidityMs: 3_600_000, servingValidityMs: 3_600_000, overlapMs: 60_000, checkIntervalMs: 250 };
const secret = { namespace: names.namespace, name: names.secret };
/** A far limit: how long each step takes depends on the machine. */
const patience = { timeoutMs: 150_000 };

interface Outage {
  readonly fromMs: number;
  toMs: number;
}

it(`keeps its authority, its word and its certificates through restarts of the API server (${server})`, async () => {
  await using stage = await setUp(server, times);
  const { client, replicas } = stage;
  const [before] = await stage.bundles();
  expect(authoritiesIn(before ?? '')).toHaveLength(1);
  // Both replicas came to a cluster without a Secret at the same moment: one wrote it, both serve what it holds.
  expect(replicas.flatMap(({ counts }) => counts.writes)).toHaveLength(1);
  const certificate = await served(stage, before);

  const started = systemClock.monotonicNow();
  const outages: Outage[] = [];
  const load = startLoad(client, 40);
  /** Waits until 40 more writes were answered, of which two are denied. */
  const someAnswers = async (): Promise<void> => {
    const least = load.report.answered + 40;
    await eventually(() => expect(load.report.answered).toBeGreaterThanOrEqual(least), patience);
  };
  const duringOutage = async (fault: () => Promise<void>): Promise<void> => {
    const outage: Outage = { fromMs: systemClock.monotonicNow() - started, toMs: Infinity };
    outages.push(outage);
    await fault();
    await eventually(() => requireInEffect(client), patience);
    // What was sent before has had its answer by then.
    outage.toMs = systemClock.monotonicNow() - started + 1_000;
  };
  await someAnswers();
  await duringOutage(() => stage.server.crash());
  await someAnswers();

  await client.delete(Secret, secret);
  await eventually(async () => expect((await client.get(Secret, secret)).data?.['ca.key']).toBeDefined(), patience);

  // The server crashes right after the Secret was deleted, so that the write that restores it fails.
  await duringOutage(async () => {
    await client.delete(Secret, secret).catch(isNotFound);
    await stage.server.crash();
  });
  await eventually(async () => expect((await client.get(Secret, secret)).data?.['ca.key']).toBeDefined(), patience);

  // A replica is replaced while the server is away: it comes up without it, and takes the Secret once it is back.
  const [first] = replicas;
  if (first === undefined) throw new TypeError('there is no replica');
  await duringOutage(async () => {
    await stage.server.kill();
    await first.stop();
    const coming = stage.startReplica('third', first.port);
    await sleep(500);
    await stage.server.restart();
    await coming;
  });
  await someAnswers();
  const report = await load.stop();

  expect(await served(stage, before)).toBe(certificate);
  expect(new Set(await stage.bundles())).toEqual(new Set([before]));
  expect(report.wronglyAccepted).toBe(0);
  expect(report.denied).toBeGreaterThan(5);
  // Outside of outages nothing fails, and nowhere for a certificate that is not trusted.
  const isOutside = (failure: Outage): boolean =>
    outages.every(({ fromMs, toMs }) => failure.toMs < fromMs || failure.fromMs > toMs);
  expect(report.failures.filter(isOutside)).toEqual([]);
  expect(report.failures.filter(({ what }) => /x509|certificate|tls:/i.test(what))).toEqual([]);
  // The controllers are at work again: exactly one of the replicas leads.
  await eventually(() => expect(replicas.filter(({ isLeader }) => isLeader)).toHaveLength(1), patience);
}, 900_000);

/** What all replicas serve to those who trust `bundle`: one certificate. */
async function served({ replicas }: Stage, bundle = ''): Promise<string> {
  const certificates = await Promise.all(
    [...new Set(replicas.map(({ port }) => port))].map((port) => handshake(port, bundle)),
  );
  const [certificate = ''] = certificates;
  expect(new Set(certificates).size).toBe(1);
  return certificate;
}
