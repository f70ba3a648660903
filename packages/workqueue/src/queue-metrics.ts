import { exponentialBuckets } from '@kctl/telemetry/internal';
import type { Counter, Family, Gauge, Histogram, Metrics } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import { SlotTimes } from './slot-times.js';

/** Twelve from 10 ns on, each ten times the one before. */
const durationBuckets = exponentialBuckets(10e-9, 10, 12);
/** Further priorities share one series, as in controller-runtime. */
const maxPriorities = 25;
const overflowLabel = 'exceeded_cardinality_limit';

/** Options of {@link QueueMetrics}. */
export interface QueueMetricsOptions {
  readonly metrics: Metrics;
  readonly name: string;
  readonly controller: string;
  readonly clock: Clock;
}

/** The measurements of one queue, with the names and labels of client-go as controller-runtime exports them. */
export class QueueMetrics {
  readonly #clock: Clock;
  readonly #depth: Family<Gauge>;
  readonly #labels: { readonly name: string; readonly controller: string };
  readonly #depthOf = new Map<number, Gauge>();
  #overflowDepth: Gauge | undefined;
  readonly #adds: Counter;
  readonly #retries: Counter;
  readonly #queueDuration: Histogram;
  readonly #workDuration: Histogram;
  readonly #stopCollecting: () => void;
  readonly #collect: () => void;
  /** When a waiting slot was first added; further adds of it do not get here. */
  readonly #addedAt = new SlotTimes();
  /** When the work on a slot began. */
  readonly #startedAt = new SlotTimes();
  readonly #withPriority: boolean;

  constructor(options: QueueMetricsOptions, withPriority: boolean) {
    const { metrics, name, controller } = options;
    const labelNames = ['name', 'controller'];
    const labels = { name, controller };
    const counter = (metric: string, help: string): Counter =>
      metrics.counter({ name: metric, help, labelNames }).with(labels);
    const gauge = (metric: string, help: string): Gauge =>
      metrics.gauge({ name: metric, help, labelNames }).with(labels);
    const histogram = (metric: string, help: string): Histogram =>
      metrics.histogram({ name: metric, help, labelNames, buckets: durationBuckets }).with(labels);
    this.#clock = options.clock;
    this.#labels = labels;
    this.#withPriority = withPriority;
    this.#depth = metrics.gauge({
      name: 'workqueue_depth',
      help: 'Current depth of workqueue by workqueue and priority',
      labelNames: [...labelNames, 'priority'],
    });
    this.#adds = counter('workqueue_adds_total', 'Total number of adds handled by workqueue');
    this.#retries = counter(
      'workqueue_retries_total',
      'Total number of items added to the workqueue with a non-zero delay (rate-limited requeues, explicit RequeueAfter or AddAfter calls)',
    );
    this.#queueDuration = histogram(
      'workqueue_queue_duration_seconds',
      'How long in seconds an item stays in workqueue before being requested',
    );
    this.#workDuration = histogram(
      'workqueue_work_duration_seconds',
      'How long in seconds processing an item from workqueue takes.',
    );
    const unfinished = gauge(
      'workqueue_unfinished_work_seconds',
      "How many seconds of work has been done that is in progress and hasn't been observed by work_duration. Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which this increases.",
    );
    const longest = gauge(
      'workqueue_longest_running_processor_seconds',
      'How many seconds has the longest running processor for workqueue been running.',
    );
    this.#collect = () => {
      const now = this.#clock.monotonicNow();
      let sum = 0;
      let oldest = 0;
      for (const startedAt of this.#startedAt.all()) {
        sum += now - startedAt;
        oldest = Math.max(oldest, now - startedAt);
      }
      unfinished.set(sum / 1000);
      longest.set(oldest / 1000);
    };
    this.#stopCollecting = metrics.onCollect(this.#collect);
    if (!withPriority) this.#depthFor(0).set(0);
    this.#collect();
  }

  added(slot: number, priority: number): void {
    this.#adds.inc();
    this.#depthFor(priority).inc();
    this.#addedAt.set(slot, this.#clock.monotonicNow());
  }

  /** A slot that was handed out waits again without having been added. */
  requeued(slot: number, priority: number): void {
    this.#depthFor(priority).inc();
    this.#addedAt.set(slot, this.#clock.monotonicNow());
  }

  moved(from: number, to: number): void {
    this.#depthFor(from).dec();
    this.#depthFor(to).inc();
  }

  taken(slot: number, priority: number): void {
    const now = this.#clock.monotonicNow();
    this.#depthFor(priority).dec();
    this.#startedAt.set(slot, now);
    const addedAt = this.#addedAt.take(slot);
    if (addedAt !== undefined) this.#queueDuration.observe((now - addedAt) / 1000);
  }

  /** The slot is given up without being worked on. */
  dropped(slot: number, priority: number): void {
    this.#depthFor(priority).dec();
    this.#addedAt.take(slot);
  }

  done(slot: number): void {
    const startedAt = this.#startedAt.take(slot);
    if (startedAt !== undefined) this.#workDuration.observe((this.#clock.monotonicNow() - startedAt) / 1000);
  }

  /** Slots are numbered anew, because no slot is in use. */
  reset(): void {
    this.#addedAt.release();
    this.#startedAt.release();
  }

  retried(): void {
    this.#retries.inc();
  }

  /** Sets the gauges of running work a last time and leaves the registry's collection. */
  close(): void {
    this.#collect();
    this.#stopCollecting();
  }

  #depthFor(priority: number): Gauge {
    const known = this.#depthOf.get(priority) ?? this.#overflowFor();
    if (known !== undefined) return known;
    const label = this.#withPriority ? String(priority) : '';
    const child = this.#depth.with({ ...this.#labels, priority: label });
    this.#depthOf.set(priority, child);
    return child;
  }

  #overflowFor(): Gauge | undefined {
    if (this.#depthOf.size < maxPriorities) return undefined;
    this.#overflowDepth ??= this.#depth.with({ ...this.#labels, priority: overflowLabel });
    return this.#overflowDepth;
  }
}
