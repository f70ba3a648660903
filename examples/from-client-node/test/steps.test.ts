// Every step of the port is the same controller: the same story is played with each, on the embedded server.
import { ConfigMap, Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { Lease } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1';
import { createEnvironment, eventually } from '@kctl/testing';
import type { TestEnvironment } from '@kctl/testing';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Step } from '../src/start.js';
import { run as byHand } from '../src/steps/0-by-hand.js';
import { run as queue } from '../src/steps/1-queue.js';
import { run as client } from '../src/steps/2-client.js';
import { run as informer } from '../src/steps/3-informer.js';
import { run as election } from '../src/steps/4-election.js';
import { run as manager } from '../src/steps/5-manager.js';

const steps: Readonly<Record<string, Step>> = { byHand, queue, client, informer, election, manager };
let environment: TestEnvironment;

const teams = { namespace: 'default', name: 'teams' };

beforeAll(async () => {
  environment = await createEnvironment();
  await environment.client.create(ConfigMap, { metadata: teams, data: { rice: 'rice@example.com' } });
});
afterAll(async () => {
  await environment.stop();
});

interface Replica {
  readonly lines: string[];
  stop(): Promise<void>;
}

function start(run: Step, identity: string): Replica {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(environment.kubeconfigPath);
  const controller = new AbortController();
  const lines: string[] = [];
  const running = run({ kubeConfig, identity, signal: controller.signal, log: (line) => lines.push(line) });
  running.catch(() => undefined); // awaited by stop
  return {
    lines,
    stop: async () => {
      controller.abort();
      await running;
    },
  };
}

describe.each(Object.entries(steps))('the controller of step %s', (step, run) => {
  it('retries, writes what differs, and hands its lease over', async () => {
    const { client: kube } = environment;
    const name = `shop-${step.toLowerCase()}`;
    const contact = async (): Promise<string | undefined> =>
      (await kube.get(ConfigMap, { namespace: name, name: 'contact' })).data?.['contact'];
    const team = `tea-${step.toLowerCase()}`;
    const first = start(run, 'first');
    await eventually(() => expect(first.lines).toContain('leads'));
    const second = start(run, 'second');

    // The team has no contact yet: the work fails, and only a retry can find out that it has one now.
    await kube.create(Namespace, { metadata: { name, labels: { team } } });
    await eventually(() => expect(first.lines).toContain(`${name}: team ${team} has no contact`));
    await kube.patch(ConfigMap, teams, { type: 'merge', body: { data: { [team]: 'tea@example.com' } } });
    await eventually(async () => expect(await contact()).toBe('tea@example.com'));
    await kube.patch(Namespace, { name }, { type: 'merge', body: { metadata: { labels: { team: 'rice' } } } });
    await eventually(async () => expect(await contact()).toBe('rice@example.com'));
    expect(second.lines).toEqual([]);

    await first.stop();
    await eventually(() => expect(second.lines).toContain('leads'));
    await kube.patch(Namespace, { name }, { type: 'merge', body: { metadata: { labels: { team } } } });
    await eventually(async () => expect(await contact()).toBe('tea@example.com'));
    await second.stop();
    const { spec } = await kube.get(Lease, { namespace: 'default', name: 'contacts' });
    expect(spec?.holderIdentity ?? '').toBe('');
  });
});
