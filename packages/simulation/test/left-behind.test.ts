import { createServer } from 'node:http';
import { untilAborted } from '@kctl/wait';
import { expect, it } from 'vitest';
import { isSimulationFailed, simulate, type Operator, type SimulateOptions } from '../src/index.js';

const small: Omit<SimulateOptions, 'operator'> = {
  replicas: 1,
  seeds: 1,
  simulatedMinutes: 1,
  quietMs: 60_000,
  compare: false,
  shrink: false,
  faults: 'none',
  verifyReplay: false,
};
const waits = (signal: AbortSignal): Promise<unknown> => untilAborted(new Promise(() => undefined), signal);

async function violationOf(operator: () => Operator, more: Partial<SimulateOptions> = {}) {
  const outcome: unknown = await simulate({ ...small, ...more, operator }).catch((error: unknown) => error);
  if (!isSimulationFailed(outcome)) throw new Error(`no rule is broken: ${String(outcome)}`);
  return outcome.violation;
}

/** Metrics of a queue with so many keys. */
const metricsOf = (depth: () => number): Operator['metrics'] => ({
  export: () =>
    Promise.resolve({
      body: `# TYPE workqueue_depth gauge\nworkqueue_depth{name="widget",controller="widget",priority="0"} ${depth()}\n`,
    }),
});

it('finds keys that wait in a queue when nothing moves', async () => {
  const { rule, message } = await violationOf(() => ({ run: waits, metrics: metricsOf(() => 3) }));
  expect(rule).toBe('piles-up');
  expect(message).toContain('replica-1: keys wait when nothing moves: 3 in the queue "widget"; a reconcile that waits');
});

it('leaves the keys of a replica that does not lead alone, until it has stopped', async () => {
  const { rule, message } = await violationOf(() => ({ run: waits, isLeader: false, metrics: metricsOf(() => 2) }));
  expect(rule).toBe('left-behind');
  expect(message).toBe('replica-1: run has ended and keys are left behind: 2 in the queue "widget"');
});

it('finds keys that a replica leaves behind which is restarted in the middle of a run', async () => {
  const faults = { restart: 120 };
  const { rule, message, at } = await violationOf(
    () => ({ run: waits, isLeader: false, metrics: metricsOf(() => 2) }),
    { faults, simulatedMinutes: 10 },
  );
  expect([rule, message]).toEqual([
    'left-behind',
    'replica-1: run has ended and keys are left behind: 2 in the queue "widget"',
  ]);
  expect(at).toBeLessThan(600_000);
});

it('finds a server that listens after the end', async () => {
  const { rule, message } = await violationOf(() => ({
    run: async (signal) => {
      createServer().listen(8080);
      await waits(signal);
    },
  }));
  expect(rule).toBe('left-behind');
  expect(message).toContain('1 servers that listen');
});
