import type { Kind } from '@kctl/apimachinery';
import { formatGroupKind } from '@kctl/apimachinery/internal';
import type { Counter, Family, Gauge, Histogram, Metrics } from '@kctl/telemetry';
import type { NodeResult } from '../results.js';

const buckets = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600];

/** Measures the nodes of all primaries of a definition. Names of objects are no labels. */
export class NodeMetrics {
  readonly #primary: string;
  readonly #nodes: Family<Gauge>;
  readonly #writes: Family<Counter>;
  readonly #ready: Family<Histogram>;

  constructor(metrics: Metrics, primary: Kind) {
    this.#primary = formatGroupKind(primary);
    const labelNames = ['primary', 'node'];
    this.#nodes = metrics.gauge({
      name: 'kctl_dependents_nodes',
      help: 'Number of children and refs by state',
      labelNames: [...labelNames, 'state'],
    });
    this.#writes = metrics.counter({
      name: 'kctl_dependents_writes_total',
      help: 'Total number of changes of children by action',
      labelNames: [...labelNames, 'action'],
    });
    this.#ready = metrics.histogram({
      name: 'kctl_dependents_ready_seconds',
      help: 'Seconds until a child that was not ready was ready',
      labelNames,
      buckets,
    });
  }

  /** A node has another state than before; undefined for one that is new, or gone. */
  moved(node: string, from: string | undefined, to: string | undefined): void {
    const labels = { primary: this.#primary, node };
    if (from !== undefined) this.#nodes.with({ ...labels, state: from }).dec();
    if (to !== undefined) this.#nodes.with({ ...labels, state: to }).inc();
  }

  wrote(node: string, { action }: Pick<NodeResult, 'action'>): void {
    if (action !== 'none') this.#writes.with({ primary: this.#primary, node, action }).inc();
  }

  becameReady(node: string, afterMs: number): void {
    this.#ready.with({ primary: this.#primary, node }).observe(afterMs / 1000);
  }
}
