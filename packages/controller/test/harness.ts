import { FakeClock, settle } from '@kctl/wait/testing';
import type { Controller, ControllerOptions, ReconcileContext, ReconcileRequest } from '../src/index.js';
import { createController, enqueueRequestForObject, kindSource } from '../src/index.js';
import { type FakeInformer, FakeInformers, Pod } from './fakes.js';
import { createRecordingLogger } from './recording-logger.js';
import { RecordingMetrics } from './recording-metrics.js';

export interface Run {
  readonly name: string;
  readonly attempt: number;
  readonly priority: number;
  readonly at: number;
}

export type TestReconcile = (request: ReconcileRequest, context: ReconcileContext) => Promise<unknown>;

/** What {@link createHarness} makes. */
export interface Harness {
  readonly clock: FakeClock;
  readonly informers: FakeInformers;
  readonly pods: FakeInformer;
  readonly metrics: RecordingMetrics;
  readonly logger: ReturnType<typeof createRecordingLogger>;
  readonly runs: Run[];
  readonly controller: Controller;
  readonly stop: AbortController;
  readonly run: () => Promise<void>;
  readonly start: () => Promise<{ done: Promise<void> }>;
  readonly total: (result: string) => number | undefined;
  readonly count: (name: string) => number | undefined;
}

/** A controller of pods on a fake informer and a fake clock; `start` runs it with the pods synced. */
export function createHarness(
  reconcile: TestReconcile = async () => undefined,
  options: Partial<ControllerOptions<ReconcileRequest>> = {},
  informers: FakeInformers = new FakeInformers(),
): Harness {
  const clock = new FakeClock();
  const metrics = new RecordingMetrics();
  const logger = createRecordingLogger();
  const runs: Run[] = [];
  const controller: Controller = createController({
    name: 'test',
    clock,
    metrics,
    logger,
    random: () => 0.5,
    ...options,
    reconciler: (request, context) => {
      runs.push({ name: request.name, attempt: context.attempt, priority: context.priority, at: clock.monotonicNow() });
      return reconcile(request, context) as Promise<undefined>;
    },
  });
  controller.watch(kindSource({ informers, kind: Pod, handler: enqueueRequestForObject() }));
  const stop = new AbortController();
  const pods = informers.of(Pod);
  const run = (): Promise<void> => {
    const done = controller.run(stop.signal);
    done.catch(() => undefined);
    return done;
  };
  const start = async (): Promise<{ done: Promise<void> }> => {
    pods.sync();
    const done = run();
    await settle();
    return { done };
  };
  const total = (result: string): number | undefined =>
    metrics.read('controller_runtime_reconcile_total', { controller: 'test', result });
  const count = (name: string): number | undefined => metrics.read(name, { controller: 'test' });
  return { clock, informers, pods, metrics, logger, runs, controller, stop, run, start, total, count };
}
