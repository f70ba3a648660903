import { join } from 'node:path';
import { cpu, peakMemory, throughput } from '../harness/benchmark.js';
import type { Benchmark, Figure, Measurement, Reading, Subject } from '../harness/benchmark.js';
import { goSubject, nodeSubject } from '../harness/subjects.js';
import { extra } from '../servers/extra-reading.js';
import { firstOf, onServer, sharedServer } from '../servers/shared-server.js';

const objects = process.env['KCTL_BENCH_OBJECTS'] ?? '10000';
const passes = process.env['KCTL_BENCH_PASSES'] ?? '5';

const seed = join(import.meta.dirname, 'seed.ts');
const server = firstOf(sharedServer('real', seed), sharedServer('embedded', seed));

/** A subject whose objects are updated while it runs, by a process of its own. */
function besideUpdates(subject: Subject): Subject {
  return {
    name: subject.name,
    prepare: async () => {
      const prepared = await subject.prepare();
      if ('skipped' in prepared) return prepared;
      const typescript = join(import.meta.dirname, '..', '..', '..', 'scripts', 'typescript.mjs');
      const runner = [process.execPath, '--import', typescript, join(import.meta.dirname, 'with-updates.ts')];
      return { command: [...runner, ...prepared.command], version: prepared.version };
    },
  };
}

const ours = '@kctl/runtime';
const go = 'controller-runtime';
const residentMemory: Reading = extra('residentMb', 'MB RSS');

interface Goal {
  readonly reach: number | null;
  readonly aim: number | null;
}
const none: Goal = { reach: null, aim: null };
const asFast: Goal = { reach: 1, aim: 2 };

function figure(name: string, scenario: string, reading: Reading, goal: Goal): Figure {
  const of = (subject: string): Measurement => ({ subject, args: [scenario, objects, passes] });
  return { figure: name, ours: of(ours), peer: of(go), reading, ...goal };
}

const start = `from the manager's start to ${objects} reconciled`;
const events = `generic events for ${objects} keys, ${passes} times`;
const updates = '200 updates a second';

export const benchmark: Benchmark = {
  subjects: [
    nodeSubject(ours, 'reconcile/kctl.ts', [], '@kctl/runtime'),
    goSubject(go, 'reconcile', [], ['sigs.k8s.io/controller-runtime']),
  ].map((subject) => besideUpdates(onServer(subject, server))),
  figures: [
    figure(`no-op reconciles: ${events}`, 'events', throughput, asFast),
    figure(`no-op reconciles: ${events}: CPU time`, 'events', cpu, none),
    figure(`no-op reconciles: ${start}`, 'initial', throughput, asFast),
    figure(`no-op reconciles: ${start}: CPU time`, 'initial', cpu, none),
    figure(`memory with ${objects} resources cached`, 'initial', residentMemory, none),
    figure(`peak memory with ${objects} resources cached`, 'initial', peakMemory, none),
    figure(`${updates}: write sent to reconcile, p50`, 'updates', extra('p50Ms', 'ms'), none),
    figure(`${updates}: write sent to reconcile, p99`, 'updates', extra('p99Ms', 'ms'), none),
    figure(`${updates}: CPU time per reconcile`, 'updates', cpu, none),
  ],
};
