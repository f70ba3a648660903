import { join } from 'node:path';
import type { Benchmark, Figure, LimitFigure, Measurement, Reading, Subject } from '../harness/benchmark.js';
import { bytesPerKey, cpu, pause, throughput } from '../harness/benchmark.js';
import { goSubject, nodeSubject } from '../harness/subjects.js';

// The full size is 100000 objects and 500000 events; Go's dynamic informer alone then takes minutes a round.
const objects = process.env['KCTL_BENCH_OBJECTS'] ?? '100000';
const events = process.env['KCTL_BENCH_EVENTS'] ?? '500000';

const list = (subject: string): Measurement => ({ subject, args: ['list', objects, '0'] });
const watch = (subject: string): Measurement => ({ subject, args: ['watch', objects, events] });
const reads: Measurement = { subject: '@kctl/informer', args: ['reads', objects, '0'] };

/** A subject whose program talks to a neutral server of its own, which `with-server.ts` starts beside it. */
function besideServer(subject: Subject): Subject {
  return {
    name: subject.name,
    prepare: async () => {
      const prepared = await subject.prepare();
      if ('skipped' in prepared) return prepared;
      const root = join(import.meta.dirname, '..', '..', '..');
      const runner = [
        process.execPath,
        '--import',
        join(root, 'scripts', 'typescript.mjs'),
        join(import.meta.dirname, 'with-server.ts'),
      ];
      return { command: [...runner, ...prepared.command], version: prepared.version };
    },
  };
}

interface Goal {
  readonly reach: number | null;
  readonly aim: number | null;
}
const none: Goal = { reach: null, aim: null };

function figure(
  name: string,
  of: (subject: string) => Measurement,
  peer: string,
  { reading, goal }: { reading: Reading; goal: Goal },
): Figure {
  return { figure: name, ours: of('@kctl/informer'), peer: of(peer), reading, ...goal };
}

const firstRead: Reading = { unit: 'µs', better: 'less', of: ({ wallMs }) => wallMs * 1000 };
const repeatedGet: Reading = { unit: 'gets/s', better: 'more', of: ({ cpuMs }) => 1000 / cpuMs };
const indexedList: Reading = { unit: 'lists/s', better: 'more', of: ({ pauseMs = Number.NaN }) => 1000 / pauseMs };

function limit(name: string, ours: Measurement, reading: Reading, at: number): LimitFigure {
  return { figure: name, ours, limit: at, reading, reach: 1, aim: null };
}

export const benchmark: Benchmark = {
  subjects: [
    nodeSubject('@kctl/informer', 'informer/kctl.ts', [], '@kctl/informer'),
    nodeSubject('client-node', 'informer/client-node.ts', [], '@kubernetes/client-node'),
    goSubject('client-go dynamic', 'informer', ['dynamic'], ['k8s.io/client-go']),
    goSubject('client-go typed', 'informer', ['typed'], ['k8s.io/client-go']),
  ].map(besideServer),
  figures: [
    figure('list to synced store, two indexes', list, 'client-node', {
      reading: throughput,
      goal: { reach: 3, aim: 6 },
    }),
    figure('list to synced store: CPU', list, 'client-node', { reading: cpu, goal: { reach: 3, aim: 6 } }),
    figure('list to synced store: CPU', list, 'client-go dynamic', { reading: cpu, goal: { reach: 3, aim: 8 } }),
    figure('list to synced store: CPU', list, 'client-go typed', { reading: cpu, goal: { reach: 1.5, aim: null } }),
    figure('watch events to two handlers: CPU', watch, 'client-node', { reading: cpu, goal: { reach: 3, aim: 5 } }),
    figure('watch events to two handlers: CPU', watch, 'client-go dynamic', {
      reading: cpu,
      goal: { reach: 4, aim: 12 },
    }),
    figure('watch events to two handlers: CPU', watch, 'client-go typed', {
      reading: cpu,
      goal: { reach: 1.5, aim: null },
    }),
    figure('watch events to two handlers', watch, 'client-node', { reading: throughput, goal: none }),
    figure('resident memory per object', list, 'client-node', { reading: bytesPerKey, goal: { reach: 2, aim: 3.3 } }),
    figure('resident memory per object', list, 'client-go dynamic', {
      reading: bytesPerKey,
      goal: { reach: 2.9, aim: 5 },
    }),
    limit('longest turn of the event loop, list', list('@kctl/informer'), pause, 25),
    limit('longest turn of the event loop, events', watch('@kctl/informer'), pause, 25),
    limit('first read of an object', reads, firstRead, 20),
    limit('repeated get by key', reads, repeatedGet, 1_000_000),
    limit('list by index, one object in 500', reads, indexedList, 50_000),
  ],
};
